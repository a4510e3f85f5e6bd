"""Modules for Linux alone: those that run in a sandbox, and those that make one of a Linux kernel.

Other systems never load them: what leads to them is refused there in words.
"""

from __future__ import annotations

import re

# What both ends of a connection run, whatever the host is.
_SHARED = (
    "audit_events", "bulk", "constants", "control", "descriptors", "frames", "json_limits", "mux",
    "relay",
)  # fmt: skip
LINUX_ONLY = (
    rf"llm_sandbox\.guest\.(?!({'|'.join(_SHARED)})$)",
    r"llm_sandbox\.egress\.",
    r"llm_sandbox\.backends\.(bubblewrap|gvisor|hardening|local)\.",
    r"llm_sandbox\.backends\.containers\.entering$",
    r"llm_sandbox\.sandbox\.detached\.(?!record$|registry$|request$|state_dir$)",
    r"llm_sandbox\.cli\.daemon\.",
    r"llm_sandbox\.images\.",
    r"llm_sandbox\.security\.scan_worker$",
    r"llm_sandbox\.language_handlers\.\w+\.shim\.",
)
"""Regular expressions of their names, matched from the start."""


def is_linux_only(module: str) -> bool:
    """Whether a module is for Linux alone."""
    return any(re.match(pattern, module) for pattern in LINUX_ONLY)
