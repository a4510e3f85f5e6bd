"""What is done with a sandbox: programs, tags, snapshots, tunnels."""

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
    """The part of `Sandbox` that does something with it."""

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
            cmds: Its words, 65,536 characters together at most; no shell sees them.
            pty_info: As `pty`, with a size.
            stdout: Where its output goes.
            stderr: Where its errors go.
            timeout: Seconds until it is killed with all that it started; its exit code is then -1.
                None for no limit but the sandbox's.
            workdir: Where it begins, absolute; None for the sandbox's.
            secrets: Variables for this program, over the sandbox's.
            text: Whether its output is text; else it is bytes.
            bufsize: 1 for whole lines when its output is iterated over, if it is text; -1 for
                pieces as they come.
            _pty_info: As `pty_info`.
            env: More variables, over those of `secrets`; those that are None are left out.
            pty: Whether it has a terminal; its errors are then among its output.

        Raises:
            ConflictError: The sandbox has ended.
            InvalidError: An argument is not acceptable.
            NotFoundError: There is no such program or directory.
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
        """Replace all its tags; an empty dict leaves none.

        Raises:
            InvalidError: They are no tags.
        """
        refuse_environment(client, None)
        checked = check_tags(tags)
        with translated():
            self._open().set_tags(checked)

    @Method
    def get_tags(self) -> dict[str, str]:
        """Return its tags."""
        with translated(), contextlib.closing(_Look(self._open().id)) as look:
            return dict(look.machine.tags)

    @Method
    def snapshot_filesystem(self, timeout: int = _SNAPSHOT_S, *, ttl: int | None = None) -> Image:
        """Save its files, and return an image that other sandboxes can begin with.

        Volumes, mounted files, ``/tmp`` and programs that run are not part of it.

        Args:
            timeout: Seconds that it may take.
            ttl: Seconds until it stops to be usable; None for never.

        Raises:
            ExecutionError: It could not be saved.
            SandboxTimeoutError: It took longer; what comes of it is removed.
            UnimplementedError: The backend cannot; `snapshot_directory` works everywhere.
        """
        return self._saved(timeout, lambda: self._open().snapshot(kind="filesystem", ttl=ttl))

    @Method
    def snapshot_directory(
        self, path: str | os.PathLike[str], *, timeout: int = _SNAPSHOT_S, ttl: int | None = None
    ) -> Image:
        """Save one of its directories, and return an image that has it at the same place.

        Args:
            path: The directory, absolute.
            timeout: As of `snapshot_filesystem`.
            ttl: The same.

        Raises:
            SandboxTimeoutError: It took longer; what comes of it is removed.
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
        """Return at once: what others write to a volume is there."""
        check_timeout(timeout, "timeout")
        self._open()

    @Method
    def tunnels(self, timeout: int = 50) -> dict[int, Tunnel]:
        """Return where its ports are reached, by port.

        Args:
            timeout: Seconds to wait at most; they are there from the start.

        Raises:
            ConflictError: It has ended.
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
        """Wait until its ``readiness_probe`` succeeds.

        Raises:
            InvalidError: It has none.
            SandboxTimeoutError: It took longer.
        """
        check_timeout(timeout, "timeout")
        with translated():
            self._open().wait_until_ready(timeout)


class _Look:
    """Another handle, which knows what is now."""

    def __init__(self, sandbox_id: str) -> None:
        self.machine = Machine.attach(sandbox_id)

    def close(self) -> None:
        self.machine.detach()


class _Attempt:
    """A snapshot that is being made, and removed if nobody waits for it any longer."""

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
