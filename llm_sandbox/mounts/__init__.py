"""Mounts of a sandbox: folders of this computer, volumes and memory."""

from llm_sandbox.mounts.kinds import Bind, Mount, Tmpfs
from llm_sandbox.mounts.targets import check_mounts
from llm_sandbox.mounts.volume import Volume

__all__ = ["Bind", "Mount", "Tmpfs", "Volume", "check_mounts"]
