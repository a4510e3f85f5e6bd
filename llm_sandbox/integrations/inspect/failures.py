"""Our errors as those that inspect documents: its tools answer them to the model."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
)

from llm_sandbox.exceptions import (
    ContainerGoneError,
    OutputLimitError,
    PathError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
    SessionClosedError,
    TransportError,
)

__all__ = ["file_failures", "unavailable"]


@contextmanager
def file_failures(path: str) -> Iterator[None]:
    """Raise what inspect expects of `read_file` and `write_file`.

    Args:
        path: The file, as the caller named it.

    Raises:
        FileNotFoundError: Nothing can be at the path.
        IsADirectoryError: It is a directory.
        PermissionError: The sandbox's user may not.
        OutputLimitExceededError: The file has more than inspect reads.
        SandboxUnavailableError: The sandbox has ended.
    """
    try:
        with unavailable():
            yield
    except OutputLimitError as error:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
        raise OutputLimitExceededError(limit, None) from error
    # inspect tells a model of `strerror` and `filename`, which only these constructors set.
    except SandboxIsADirectoryError as error:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from error
    except SandboxPermissionError as error:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from error
    except SandboxNotADirectoryError as error:
        # A file within a file: inspect knows no kind of its own for it, and would end the sample.
        raise FileNotFoundError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from error
    except PathError as error:
        raise FileNotFoundError(errno.ENOENT, error.message, path) from error
    except SandboxFileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error


@contextmanager
def unavailable() -> Iterator[None]:
    """Raise SandboxUnavailableError where the sandbox is no longer there."""
    try:
        yield
    except (ContainerGoneError, SessionClosedError, TransportError) as error:
        raise SandboxUnavailableError(str(error)) from error
