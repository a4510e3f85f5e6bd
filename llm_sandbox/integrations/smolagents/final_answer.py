"""Final answer tool in the sandbox, and the transfer of its value."""

import contextlib
from typing import Any

import PIL.Image

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    MissingDependencyError,
    ValueNotTransferableError,
    VariableNotFoundError,
)
from llm_sandbox.session.session import BaseSession

__all__ = ["PROGRAM", "NoAnswerError", "is_final", "read_answer"]

_ERROR = "FinalAnswerException"
_KIND = "_final_answer_kind"
_VALUE = "_final_answer_value"
_TEXT = "_final_answer_text"

PROGRAM = f'''
class {_ERROR}(BaseException):
    """Ends a step: the answer is in variables that the host reads as plain data."""


def _pixels_of(value):
    import sys

    figure = getattr(sys.modules.get("matplotlib.figure"), "Figure", ())
    picture = getattr(sys.modules.get("PIL.Image"), "Image", ())
    if isinstance(value, figure):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(value)
        canvas.draw()
        return canvas.buffer_rgba()
    return value.convert("RGBA") if isinstance(value, picture) else None


def _delivering(tool):
    def final_answer(*args, **kwargs):
        global {_KIND}, {_VALUE}, {_TEXT}
        value = tool(*args, **kwargs)
        try:
            {_TEXT} = str(value)[:100_000]
        except Exception:
            {_TEXT} = f"<{{type(value).__name__}}>"
        {_KIND}, {_VALUE} = "value", value
        pixels = _pixels_of(value)
        if pixels is not None:
            import numpy

            {_KIND}, {_VALUE} = "picture", numpy.asarray(pixels)
        raise {_ERROR}({_TEXT}[:200])

    return final_answer


final_answer = _delivering(final_answer)
'''
"""Code that defines the tool in the sandbox. It raises a `BaseException`, which `except Exception`
does not catch.
"""


class NoAnswerError(Exception):
    """An exception of that name was raised by other code."""


def is_final(result: ExecutionResult) -> bool:
    """Return whether a run ended with a final answer."""
    return result.error is not None and result.error.name == _ERROR


def read_answer(session: BaseSession) -> Any:
    """Return the final answer: plain data, an array, a table, an image, or otherwise text.

    Raises:
        NoAnswerError: There is no final answer.
    """
    try:
        kind = session.get(_KIND)
        value = session.get(_VALUE)
    except VariableNotFoundError as error:
        raise NoAnswerError from error
    except (ValueNotTransferableError, MissingDependencyError):
        return session.get(_TEXT)
    return _picture(value) if kind == "picture" else value


def _picture(value: object) -> object:
    import numpy as np

    # trust: an array that has the shape of a picture, or it stays what it is.
    if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 3:
        with contextlib.suppress(TypeError, ValueError):
            return PIL.Image.fromarray(value)
    return value
