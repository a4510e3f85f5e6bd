"""Sanitised text, and progress messages, for terminals."""

import re
import sys

__all__ = ["announce", "strip_controls"]

# Every repetition is possessive and stops at the next introducer, so that hostile text of many
# unfinished sequences costs linear time.
_CONTROLS = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\x90\x98\x9d\x9e\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|\x1b[ -/]*+[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def strip_controls(text: str) -> str:
    """Return `text` without terminal control sequences.

    C0 and C1 controls, escape, CSI, OSC and other string sequences are removed; tab and newline
    stay, a carriage return becomes a newline, a lone surrogate becomes U+FFFD.
    """
    # trust: text comes from inside; a terminal would obey what is removed here.
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", lines))


def announce(words: str) -> None:
    """Print to stderr what is being waited for, if it is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"llm-sandbox: {words}\n")
