"""How what we make in an engine is marked, so that whoever made it can be told from a leftover."""

import datetime

from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.const import VERSION

__all__ = ["MARK", "OWNER", "STARTED", "new_labels"]

MARK = "llm-sandbox"
"""Label of everything of ours; its value is the library's version."""
OWNER = "llm-sandbox.owner"
"""Label that says which process made it; see `Owner`."""
STARTED = "llm-sandbox.started"
"""Label with the moment it was made, ISO 8601 in UTC."""


def new_labels() -> dict[str, str]:
    """The labels of something that this process makes now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {MARK: VERSION, OWNER: str(current_owner()), STARTED: now}
