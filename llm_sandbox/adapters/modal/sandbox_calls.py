"""Operations on a sandbox: programs, tags, snapshots, tunnels."""

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from llm_sandbox.adapters.modal.app import refuse_environment
from llm_sandbox.adapters.modal.calls import Method, method_undone_by
from llm_sandbox.adapters.modal.checks import (
    check_args,
    check_env,
    check_tags,
    check_timeout,
    check_workdir,
)
from llm_sandbox.adapters.modal.container_process import ContainerProcess
from llm_sandbox.adapters.modal.creation import terminal_of
from llm_sandbox.adapters.modal.exception import (
    ConflictError,
    ExecutionError,
    SandboxTimeoutError,
)
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.sandbox_handle import SandboxHandle
from llm_sandbox.adapters.modal.secret import Secret, merge_secrets
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.adapters.modal.tunnel import Tunnel
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.sandbox import PIPE
from llm_sandbox.sandbox import Sandbox as Machine

__all__ = ["SandboxCalls"]

_SNAPSHOT_S = 55


class SandboxCalls(SandboxHandle):
    """Operations of `Sandbox` that act on a living sandbox."""

    @method_undone_by(lambda process: process._process.kill())
    def exec(
        self,
        *cmds: str,
        pty_info: object = None,
        stdout: StreamType = StreamType.PIPE,
        stderr: StreamType = StreamType.PIPE,
        timeout: int | None = None,
        workdir: str | None = None,
        secrets: Collection[Secret] | None = (),
        text: bool = True,
        bufsize: Literal[-1, 1] = -1,
        _pty_info: object = None,
        env: Mapping[str, str | None] | None = None,
        pty: bool = False,
    ) -> ContainerProcess[Any]:
        """Start a program.

        Args:
            cmds: Program and arguments, 65,536 characters in total at most; no shell is involved.
            pty_info: As `pty`, with a size.
            stdout: Destination of standard output.
            stderr: Destination of standard error.
            timeout: Seconds until the program and its children are killed, with exit code -1; None
                for the lifetime of the sandbox.
            workdir: Absolute working directory; None for that of the sandbox.
            secrets: Variables of this program, which override those of the sandbox.
            text: Whether output is text; otherwise bytes.
            bufsize: 1 to iterate over text output by lines; -1 for chunks as they arrive.
            _pty_info: As `pty_info`.
            env: Further variables, which override those of `secrets`; None values are omitted.
            pty: Whether the program has a terminal, which merges standard error into its output.

        Raises:
            ConflictError: The sandbox has ended.
            InvalidError: An argument is invalid.
            NotFoundError: The program or the directory does not exist.
            ValueError: `bufsize` is 1, and `text` False.
        """
        check_args(cmds)
        check_workdir(workdir)
        check_timeout(timeout, "timeout", most=None)
        if bufsize not in (-1, 1):
            raise ValueError("bufsize is -1, for pieces as they come, or 1, for lines")
        if bufsize == 1 and not text:
            raise ValueError("bufsize=1 is for text: text=True")
        terminal = terminal_of(pty=pty, pty_info=_pty_info or pty_info)
        machine = self._open()
        if self.poll() is not None:
            raise ConflictError(
                f"the sandbox has ended, with {self.returncode}", hint="create another one"
            )
        variables, hidden = check_env(env, "env"), merge_secrets(secrets)
        with translated():
            process = machine.exec(
                *cmds,
                env=variables,
                secrets={key: hidden[key] for key in hidden.keys() - variables.keys()},
                cwd=workdir,
                stdin=PIPE,
                timeout=timeout,
                pty=terminal or False,
                stdout="null" if stdout is StreamType.DEVNULL else "pipe",
                stderr="null" if stderr is StreamType.DEVNULL and terminal is None else "pipe",
            )
        return ContainerProcess(
            process, stdout=stdout, stderr=stderr, text=text, by_line=bufsize == 1
        )

    @Method
    def set_tags(self, tags: Mapping[str, str], *, client: object = None) -> None:
        """Replace all tags; an empty dict removes them.

        Raises:
            InvalidError: The tags are invalid.
        """
        refuse_environment(client, None)
        checked = check_tags(tags)
        with translated():
            self._open().set_tags(checked)

    @Method
    def get_tags(self) -> dict[str, str]:
        """Return the tags of the sandbox."""
        with translated(), contextlib.closing(_Look(self._open().id)) as look:
            return dict(look.machine.tags)

    @Method
    def snapshot_filesystem(self, timeout: int = _SNAPSHOT_S, *, ttl: int | None = None) -> Image:
        """Save the file system, and return an image for other sandboxes.

        Volumes, mounted files, ``/tmp`` and running programs are not included.

        Args:
            timeout: Seconds until the operation is abandoned.
            ttl: Seconds until the image expires; None for never.

        Raises:
            ExecutionError: The snapshot failed.
            SandboxTimeoutError: The timeout passed; the unfinished snapshot is deleted.
            UnimplementedError: The backend does not support it; `snapshot_directory` works
                everywhere.
        """
        return self._saved(timeout, lambda: self._open().snapshot(kind="filesystem", ttl=ttl))

    @Method
    def snapshot_directory(
        self, path: str | os.PathLike[str], *, timeout: int = _SNAPSHOT_S, ttl: int | None = None
    ) -> Image:
        """Save a directory, and return an image that has it at the same path.

        Args:
            path: The directory, absolute.
            timeout: As of `snapshot_filesystem`.
            ttl: The same.

        Raises:
            SandboxTimeoutError: The timeout passed; the unfinished snapshot is deleted.
        """
        place = check_workdir(os.fspath(path))
        return self._saved(
            timeout, lambda: self._open().snapshot(kind="directory", path=place, ttl=ttl)
        )

    def _saved(self, timeout: float, save: Callable[[], Snapshot]) -> Image:
        check_timeout(timeout, "timeout")
        machine = self._open()
        attempt = _Attempt(save)
        with translated():
            snapshot = attempt.result(timeout)
        return Image._from_snapshot(snapshot, machine.workdir)

    @Method
    def reload_volumes(self, *, timeout: int = _SNAPSHOT_S) -> None:
        """Return at once: volumes are shared folders and always current."""
        check_timeout(timeout, "timeout")
        self._open()

    @Method
    def tunnels(self, timeout: int = 50) -> dict[int, Tunnel]:
        """Return the tunnels of the exposed ports, by port.

        Args:
            timeout: Accepted for compatibility: tunnels exist from the start.

        Raises:
            ConflictError: The sandbox has ended.
        """
        check_timeout(timeout, "timeout")
        machine = self._open()
        with translated():
            found = machine.tunnels()
        return {
            port: Tunnel(tunnel.host, tunnel.port, tunnel.host, tunnel.port)
            if tunnel.certificate is None
            else Tunnel(tunnel.host, tunnel.port, certificate=tunnel.certificate)
            for port, tunnel in found.items()
        }

    @Method
    def wait_until_ready(self, *, timeout: int = 300) -> None:
        """Wait until the ``readiness_probe`` succeeds.

        Raises:
            InvalidError: The sandbox has no probe.
            SandboxTimeoutError: The timeout passed.
        """
        check_timeout(timeout, "timeout")
        with translated():
            self._open().wait_until_ready(timeout)


class _Look:
    """Fresh handle with the current state."""

    def __init__(self, sandbox_id: str) -> None:
        self.machine = Machine.attach(sandbox_id)

    def close(self) -> None:
        self.machine.detach()


class _Attempt:
    """Snapshot in progress, which is deleted if the caller stops waiting."""

    def __init__(self, save: Callable[[], Snapshot]) -> None:
        self._save = save
        self._lock = threading.Lock()
        self._is_given_up = False
        self._made: Snapshot | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="llm-sandbox-save")
        self._thread.start()

    def _work(self) -> None:
        try:
            made = self._save()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
            return
        with self._lock:
            self._made = made
            unwanted = self._is_given_up
        if unwanted:
            made.delete()

    def result(self, timeout: float) -> Snapshot:
        self._thread.join(timeout)
        with self._lock:
            if self._made is not None:
                return self._made
            self._is_given_up = True
        if self._thread.is_alive():
            raise SandboxTimeoutError(f"saving took more than {timeout} s", float(timeout))
        raise self._error or ExecutionError("nothing was saved")
