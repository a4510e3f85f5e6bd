"""inspect_ai: evaluations whose programs run in sandboxes, ``sandbox="llm_sandbox"``.

Needs the extra ``inspect``; inspect finds the provider by its entry point. Start reading at
`provider`.
"""

from llm_sandbox.integrations.extras import require

# Said here, as whatever imports this package is built on it.
require("inspect_ai", "inspect")

from llm_sandbox.integrations.inspect.config import CONFIG_FILE, SandboxConfig  # noqa: E402
from llm_sandbox.integrations.inspect.provider import InspectSandbox  # noqa: E402

__all__ = ["CONFIG_FILE", "InspectSandbox", "SandboxConfig"]
