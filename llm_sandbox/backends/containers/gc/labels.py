"""Labels of the containers, volumes and images of this library, which name their owner."""

import datetime

from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.const import VERSION

__all__ = ["MARK", "OWNER", "STARTED", "new_labels"]

MARK = "llm-sandbox"
"""Label of every resource; its value is the version of this library."""
OWNER = "llm-sandbox.owner"
"""Label with the process that created it; see `Owner`."""
STARTED = "llm-sandbox.started"
"""Label with the time of creation, ISO 8601 in UTC."""


def new_labels() -> dict[str, str]:
    """Return the labels of a resource that this process creates now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {MARK: VERSION, OWNER: str(current_owner()), STARTED: now}
