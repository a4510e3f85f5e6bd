"""Sanitising of text from inside, for quotation to a model or a person."""

import re

from llm_sandbox.host.terminal import strip_controls

__all__ = ["clean", "cut_middle", "fenced", "one_line"]

_LONGEST_FENCE = 30
_RUN = re.compile("`{3,}")
_LONG_RUN = re.compile(f"`{{{_LONGEST_FENCE},}}")

# Characters that no reader sees: direction overrides, tags, and fillers that hide words in a text.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("[\u2028\u2029]")


def clean(text: str) -> str:
    """Return text as a terminal would display it, in plain characters.

    Control sequences and invisible characters are removed, of an overwritten line (progress bars)
    the last state is kept, and runs of 30 or more backticks are shortened.

    Args:
        text: Text from inside; the time is linear in its length.
    """
    # trust: text from inside that a model will read next to our own words.
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    text = _BREAKS.sub("\n", _INVISIBLE.sub("", strip_controls(text)))
    return _LONG_RUN.sub("`" * (_LONGEST_FENCE - 1), text)


def _last_state(line: str) -> str:
    states = line.rstrip("\r").rsplit("\r", 1)
    return states[-1]


def one_line(text: str, longest: int = 200) -> str:
    """Return text in one clean line.

    Args:
        text: Text from inside.
        longest: Length above which the middle is cut out.
    """
    # More than is shown, less than costs time: what is removed may be most of it.
    return cut_middle(" ".join(clean(cut_middle(text, 8 * longest)).split()), longest)


def cut_middle(text: str, longest: int) -> str:
    """Return text without its middle, if it is longer than `longest` characters."""
    if len(text) <= longest:
        return text
    kept = max(0, longest - len(f" ... {len(text)} characters left out ... "))
    head = (kept + 1) // 2
    left_out = len(text) - kept
    return f"{text[:head]} ... {left_out} characters left out ... {text[len(text) - kept + head :]}"


def fenced(text: str) -> str:
    """Return clean text between two fences that it cannot imitate.

    The fence is longer than any run of backticks in the text, so that it depends on nothing but the
    text: the same result reads the same every time, which prompt caches need.

    Args:
        text: Result of `clean`.
    """
    longest = max((len(run) for run in _RUN.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
