"""Which modules are for Linux alone: what runs in a sandbox, and what makes one of a Linux kernel.

Nobody else loads them: other systems refuse in words what leads to them.
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
    r"llm_sandbox\.sandbox\.kept\.(?!place$|record$|registry$)",
    r"llm_sandbox\.images\.",
    r"llm_sandbox\.security\.scan_worker$",
    r"llm_sandbox\.language_handlers\.\w+\.shim\.",
)
"""Regular expressions of their names, matched from the start."""


def is_linux_only(module: str) -> bool:
    """Whether a module is for Linux alone."""
    return any(re.match(pattern, module) for pattern in LINUX_ONLY)
