"""How long a sandbox lives, and what it came to."""

import io
import tarfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from llm_sandbox.backends.base import Machine
from llm_sandbox.backends.snapshot import Snapshot, SnapshotKind, expiry
from llm_sandbox.exceptions import SandboxTimeoutError, UnsupportedError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.facts import SandboxFacts
from llm_sandbox.sandbox.secret_files import check_snapshot_path
from llm_sandbox.sandbox.snapshots import (
    check_kind,
    save_directory,
    save_workdir,
    saves_file_systems,
)

__all__ = ["SandboxLifetime"]

_EXIT_CODES = {"deadline": 124, "idle": 124}
_TERMINATED = 137
_LOOK_S = 0.05


class SandboxLifetime(SandboxFacts):
    """The part of `Sandbox` that is about its end."""

    _lets_go = False
    """Whether the end of a `with` block leaves the sandbox alone."""

    def poll(self) -> int | None:
        """None while it lives; then the entry command's exit code if it ended with that, 124 after
        its timeout or idle timeout, 137 after any other end.
        """
        reason = self.end_reason
        if reason is None:
            return None
        code = self._machine.exit_code
        return _EXIT_CODES.get(reason, _TERMINATED) if code is None else code

    @property
    def returncode(self) -> int | None:
        """As `poll`."""
        return self.poll()

    @property
    def end_reason(self) -> str | None:
        """Why it has ended: ``closed``, ``terminated``, ``exited`` with its entry command,
        ``deadline``, ``idle``, ``oom`` where too much memory ended the whole of it, ``gone``; None
        while it lives.
        """
        return self._machine.end_reason

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the sandbox has ended, and return what `poll` does then.

        Args:
            timeout: Seconds to wait at most; None for no limit. The sandbox lives on.

        Raises:
            SandboxTimeoutError: It lives still.
        """
        timeout = validate_timeout(timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise SandboxTimeoutError(
                    f"the sandbox still lives after {timeout} s",
                    timeout,
                    op="wait",
                    backend=self.backend,
                )
            time.sleep(_LOOK_S if left is None else min(_LOOK_S, left))
        return code

    def set_timeout(self, seconds: float | None) -> None:
        """Have it end `seconds` from now, whatever was said before; None for never."""
        self._check_open()
        self._machine.set_deadline(validate_timeout(seconds, "seconds"))

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Replace all its tags; an empty mapping leaves none.

        Raises:
            UnsupportedError: It has no daemon; see `create`.
            ValidationError: They are no tags.
        """
        self._check_open()
        from llm_sandbox.sandbox.detached.machine import DetachedMachine
        from llm_sandbox.sandbox.detached.record import check_tags

        checked = check_tags(tags)
        if not isinstance(self._machine, DetachedMachine):
            raise self._unkept("set_tags()")
        self._machine.set_tags(checked)

    def snapshot(
        self,
        name: str | None = None,
        *,
        kind: SnapshotKind = "filesystem",
        path: str | None = None,
        ttl: float | None = None,
    ) -> Snapshot:
        """Save the sandbox's files, from which others can be made: ``Sandbox.create(image=...)``.

        The sandbox goes on. Processes, variables, secrets, what is mounted, ``/tmp`` and
        ``/dev/shm`` are not part of it. What changes while it is saved is in it or not.

        Args:
            name: Its name: of the image in an engine, else for people; None makes one up.
            kind: ``filesystem`` for all that could be changed, which can be restored on the same
                backend; ``directory`` for one directory, which every backend of this user's can
                restore.
            path: That directory; relative ones, and the default None, are of the working directory.
            ttl: Seconds after which it is not restored any more, and removed by `gc`; None for
                never.

        Raises:
            UnsupportedError: The backend cannot save a file system.
            OutputLimitError: The directory holds more than 256 MiB.
            ValidationError: An argument is not acceptable, or there is no such directory.
            ContainerGoneError: The sandbox has ended.
        """
        self._check_open()
        check_kind(kind, name, path)
        ends = expiry(ttl)
        if kind == "directory":
            check_snapshot_path(self._files.resolve(self.workdir if path is None else path))
            return save_directory(
                self._machine, self._service, name=name, path=path, expires_at=ends
            )
        if not self._saves_file_systems():
            # What cannot be saved is not packed: the refusal comes at once.
            return Machine.snapshot(self._machine, b"", name)
        mounted = self.workdir in self._machine.spec.mounts
        workdir = _empty_folder() if mounted else save_workdir(self._service, self.workdir)
        return self._machine.snapshot(workdir, name, expires_at=ends)

    def _saves_file_systems(self) -> bool:
        from llm_sandbox.sandbox.detached.machine import DetachedMachine

        if isinstance(self._machine, DetachedMachine):
            return self._machine.info.saves_file_systems
        return saves_file_systems(self._machine)

    def terminate(self) -> None:
        """End it with everything in it, and return when it has ended; harmless after its end.

        Unlike `destroy` this leaves the handle open: `poll` is 137, and what `entry` wrote can be
        read.
        """
        from llm_sandbox.sandbox.detached.machine import DetachedMachine

        if isinstance(self._machine, DetachedMachine):
            self._machine.end("terminated")
        else:
            self._machine.destroy()
        self._service.close()

    def detach(self) -> None:
        """Let go of the sandbox, which lives on; this handle is closed. May be called twice.

        It then lives until its timeout, its idle timeout, its entry command's end, or until
        somebody attaches and destroys it.

        Raises:
            UnsupportedError: It has no daemon, and so lives in this process only.
        """
        from llm_sandbox.sandbox.detached.machine import DetachedMachine

        if self._closed_because is not None:
            return
        if not isinstance(self._machine, DetachedMachine):
            raise self._unkept("detach()")
        if not self._lets_go and self._machine.end_reason is None:
            self._machine.disown()
        self._close("this handle has let go of the sandbox")
        self._machine.let_go()

    def destroy(self) -> None:
        """End it with everything in it. May be called twice.

        Raises:
            BackendError: It could not be ended; the handle stays open, to try again.
        """
        self._machine.destroy()
        self._close("the sandbox was destroyed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if self._lets_go:
            self.detach()
        else:
            self.destroy()

    def _close(self, because: str) -> None:
        self._closed_because = self._closed_because or because
        self._service.close()

    def _unkept(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            what,
            self.backend,
            "this sandbox lives in the process that made it",
            hint="create it with a name, tags or on_exit='keep'",
        )


def _empty_folder() -> bytes:
    """An archive of a folder with nothing in it: what there is of one that is mounted."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        folder = tarfile.TarInfo("workdir")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
    return packed.getvalue()
