"""A machine for programs: processes with streams, files, a lifetime.

May import backends and what is below them; sessions and everything above are built on it.
Start reading at `sandbox`, then `process`.
"""

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.sandbox.process import PIPE, Process
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["PIPE", "Process", "Sandbox", "Terminal"]
