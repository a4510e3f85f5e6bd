"""Sandboxes: isolated machines for programs, with processes, streams, files and a lifetime.

May import backends and what is below them; sessions and everything above are built on it.
Start reading at `sandbox`, then `process`.
"""

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.sandbox.process import PIPE, Process
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["PIPE", "Process", "Sandbox", "Terminal"]
