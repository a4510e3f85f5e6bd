"""A file of a run whose content stayed in the sandbox, and can be brought from it."""

import weakref
from pathlib import Path

from llm_sandbox.exceptions import ArtifactLimitError, SandboxError
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["RemoteFile"]

_NS = 1e-9
_SAME_S = 1e-3
"""Times that differ by less are one: a float does not hold them to the nanosecond."""


class RemoteFile:
    """Brings the content of a file for as long as the file is as the run left it.

    It is copied and pickled as None: whoever gets a copy has no sandbox.

    Args:
        sandbox: Where it is.
        path: Relative to the working directory.
        size: Bytes, as listed after the run.
        mtime_ns: When it was changed last, as listed after the run; None when that is not known.
    """

    def __init__(self, sandbox: Sandbox, path: str, size: int, mtime_ns: int | None) -> None:
        self._sandbox = weakref.ref(sandbox)
        self._path = path
        self._size = size
        self._mtime_ns = mtime_ns

    def __reduce__(self) -> tuple[object, ...]:
        return _nothing, ()

    def __call__(self, target: Path) -> Path:
        """Write the content to a file of this machine.

        Args:
            target: The file; its parent must exist.

        Raises:
            ArtifactLimitError: The sandbox has ended, or the file is another one by now.
            OSError: The file cannot be written.
        """
        sandbox = self._sandbox()
        if sandbox is None or sandbox.end_reason is not None:
            raise ArtifactLimitError(
                f"the content of {self._path!r} stayed in the sandbox, which has ended",
                hint="save it while the session is open, or raise Limits(artifact_bytes=...)",
            )
        inside = f"{sandbox.workdir}/{self._path}"
        try:
            found = sandbox.files.stat(inside, follow=False)
            is_same = found.size == self._size and (
                self._mtime_ns is None or abs(found.mtime - self._mtime_ns * _NS) < _SAME_S
            )
        except SandboxError as error:
            raise ArtifactLimitError(
                f"the content of {self._path!r} cannot be brought: {error.message}"
            ) from error
        if not is_same:
            raise ArtifactLimitError(
                f"{self._path!r} has changed since the run that this is the result of",
                hint="session.copy_from_runtime(path, dest) copies what is there now",
            )
        sandbox.files.download(inside, target, limit=self._size)
        return target


def _nothing() -> None:
    return None
