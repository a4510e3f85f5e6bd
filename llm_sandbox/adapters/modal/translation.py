"""Translation of the library's errors to Modal's."""

import contextlib
from collections.abc import Callable, Iterator

import llm_sandbox.exceptions as core
from llm_sandbox.adapters.modal import exception

__all__ = ["translated", "translated_files"]

_NOT_EMPTY = "not empty"

_Made = Callable[[core.SandboxError], exception.Error]


def _same(kind: type[exception.Error]) -> _Made:
    return lambda error: kind(error.message, backend=error.backend, hint=error.hint, op=error.op)


def _unsupported(error: core.SandboxError) -> exception.Error:
    assert isinstance(error, core.UnsupportedError)  # noqa: S101 - by the table below
    made = exception.UnimplementedError(
        error.feature, error.backend, error.reason, hint=error.hint, op=error.op
    )
    made.message = error.message
    made.args = (error.message,)
    return made


def _launch(error: core.SandboxError) -> exception.Error:
    absent = isinstance(error, core.LaunchError) and error.kind in ("not_found", "bad_cwd")
    kind = exception.NotFoundError if absent else exception.ExecutionError
    return _same(kind)(error)


def _closed(error: core.SandboxError) -> exception.Error:
    del error
    return exception.ClientClosed()


_TABLE: tuple[tuple[type[core.SandboxError], _Made], ...] = (
    (core.UnsupportedError, _unsupported),
    (core.ValidationError, _same(exception.InvalidError)),
    (core.NameInUseError, _same(exception.AlreadyExistsError)),
    (core.SandboxNotFoundError, _same(exception.NotFoundError)),
    (core.ImageNotFoundError, _same(exception.NotFoundError)),
    (core.LaunchError, _launch),
    (core.SessionClosedError, _closed),
    (core.ContainerGoneError, _same(exception.ConflictError)),
    (core.SandboxTimeoutError, _same(exception.SandboxTimeoutError)),
    (core.ResourceError, _same(exception.ResourceExhaustedError)),
    (core.SecurityError, _same(exception.PermissionDeniedError)),
    (core.SandboxError, _same(exception.ExecutionError)),
)

_FILES: tuple[tuple[type[core.SandboxError], type[exception.Error]], ...] = (
    (core.SandboxFileNotFoundError, exception.SandboxFilesystemNotFoundError),
    (core.SandboxFileExistsError, exception.SandboxFilesystemPathAlreadyExistsError),
    (core.SandboxIsADirectoryError, exception.SandboxFilesystemIsADirectoryError),
    (core.SandboxNotADirectoryError, exception.SandboxFilesystemNotADirectoryError),
    (core.SandboxPermissionError, exception.SandboxFilesystemPermissionError),
    (core.NoSpaceError, exception.SandboxFilesystemFileTooLargeError),
    (core.OutputLimitError, exception.SandboxFilesystemFileTooLargeError),
    (core.PathError, exception.InvalidError),
)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise errors of the block as Modal's exceptions, with the library's error as cause."""
    try:
        yield
    except exception.Error:
        raise
    except core.SandboxError as error:
        made = next(make for kind, make in _TABLE if isinstance(error, kind))
        raise made(error) from error


@contextlib.contextmanager
def translated_files() -> Iterator[None]:
    """Translate errors of file operations; see `translated`."""
    with translated():
        try:
            yield
        except exception.Error:
            raise
        except core.SandboxError as error:
            if isinstance(error, core.FileError) and _NOT_EMPTY in error.message.lower():
                kind: type[exception.Error] = exception.SandboxFilesystemDirectoryNotEmptyError
            else:
                kinds = (made for known, made in _FILES if isinstance(error, known))
                found = next(kinds, None)
                if found is None and isinstance(error, core.FileError):
                    found = exception.SandboxFilesystemError
                if found is None:
                    raise
                kind = found
            raise _same(kind)(error) from error
