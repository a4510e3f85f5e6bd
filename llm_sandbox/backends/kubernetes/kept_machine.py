"""Machine of a pod that outlives its clients, at the side of one of them."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from llm_sandbox.backends.base import ProcessSpec, RawProcess, RunningProgram
from llm_sandbox.backends.connection import read_exit
from llm_sandbox.backends.kept import Place
from llm_sandbox.backends.kubernetes.machine import PodMachine
from llm_sandbox.backends.supervised import launch_error
from llm_sandbox.backends.supervisor_host import SupervisorHost
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    ProcessNotFoundError,
    SandboxError,
)
from llm_sandbox.guest.control import Message
from llm_sandbox.guest.descriptors import open_pipe

__all__ = ["KeptPodHost", "KeptPodMachine"]

_END_S: Final = 60.0
_LEAVE_S: Final = 15.0
_RELEASE_S: Final = 3.0
_MOST_PROGRAMS: Final = 4096


class KeptPodHost(SupervisorHost):
    """Supervisor host whose events are those of `guest.hub`."""

    def _on_event(self, message: Message) -> None:
        for machine in list(self.machines.values()):
            if isinstance(machine, KeptPodMachine):
                # trust: process 1 says it; it decides about nothing but itself.
                if message["event"] == "tags":
                    machine.tags = {str(name): str(v) for name, v in message["tags"].items()}
                elif message["event"] == "ended" and message["reason"] != "memory":
                    machine.set_exit_code(int(message["exit_code"]))
        super()._on_event(message)


class KeptPodMachine(PodMachine):
    """See `Machine` and `KeptMachine`.

    Args:
        place: Place of the pod.
        owns: Called with whether the pod is to be deleted at the end of this connection.
        others: Arguments of `PodMachine`.
    """

    def __init__(
        self, *args: Any, place: Place, owns: Callable[[bool], None] = lambda _: None, **others: Any
    ) -> None:
        self.info: Any = None
        self._owns = owns
        self.place = place
        self.rewrite: Callable[..., None] = lambda **_: None
        self.is_released = False
        self._exit_code: int | None = None
        self._leaving: threading.Thread | None = None
        others["no_rules"] = "it outlives this process, through which its connections would go"
        super().__init__(*args, on_destroyed=lambda _: self._leave_soon(), **others)

    # --- programs

    def start_entry(self, spec: ProcessSpec) -> None:
        """See `KeptMachine`."""
        terminal = spec.terminal
        reply = self._request(
            "start",
            machine=self.id,
            process=os.urandom(8).hex(),
            argv=list(spec.argv),
            env=dict(spec.env),
            cwd=spec.cwd,
            timeout_s=None,
            wraps=False,
            terminal=None if terminal is None else [terminal.rows, terminal.cols],
            stdout=spec.stdout,
            stderr=spec.stderr,
            entry=True,
        )
        if "launch_error" in reply:
            where = self.spec.workdir, self.isolation.backend
            raise launch_error(spec, *where, reply["launch_error"])

    def programs(self) -> list[RunningProgram]:
        found = self._request("programs")["programs"]
        return [
            RunningProgram(
                str(one["process"]),
                tuple(map(str, one["argv"])),
                float(one["started_at"]),
                None if one["exit"] is None else read_exit(one["exit"]),
                bool(one["is_entry"]),
            )
            for one in found[:_MOST_PROGRAMS]
        ]

    def reattach(self, process_id: str) -> RawProcess:
        out_read, out_write = open_pipe()
        err_read, err_write = open_pipe()
        in_read, in_write = open_pipe()
        name = os.urandom(8).hex()
        ending = self._connection.watch(name, lambda: False)
        try:
            given = (out_write, err_write, in_read)
            reply = self._request("reattach", given, process=process_id, follow=name)
            if reply.get("missing"):
                raise ProcessNotFoundError(process_id, backend=self.isolation.backend)
        except BaseException:
            self._connection.forget(name)
            for fd in (out_read, err_read, in_write):
                os.close(fd)
            raise
        finally:
            for fd in (out_write, err_write, in_read):
                os.close(fd)
        stdin: int | None = in_write
        if not reply["is_entry"]:
            os.close(in_write)
            stdin = None
        has_terminal = bool(reply["has_terminal"])
        return RawProcess(process_id, stdin, out_read, err_read, ending, has_terminal=has_terminal)

    # --- its life

    def keep(
        self, words: str, tags: Mapping[str, str], *, idle_timeout: float | None, owned: bool
    ) -> None:
        """See `KeptMachine`."""
        self.tags = dict(tags)
        self._owns(owned)
        self._request("keep", words=words, tags=dict(tags), idle_timeout=idle_timeout, owned=owned)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        self._request("tags", tags=dict(tags))
        self.tags = dict(tags)
        self.rewrite(tags=dict(tags))

    def set_deadline(self, seconds: float | None) -> None:
        super().set_deadline(seconds)
        self.rewrite(ends_at=None if seconds is None else time.time() + seconds)

    def active(self, begins: bool) -> None:
        if self.info is not None and self.info.request.idle_timeout is not None:
            self._connection.notify("busy", begins=begins)

    @property
    def exit_code(self) -> int | None:
        return self._exit_code

    def set_exit_code(self, code: int) -> None:
        """Note the exit code, before the end is."""
        self._exit_code = code

    def ended(self, reason: str) -> None:
        if reason != "memory" and self._exit_code is None:
            self._exit_code = 137
        super().ended(reason)

    def destroy(self) -> None:
        self._end("closed")

    def terminate(self) -> None:
        self._end("terminated")

    def _end(self, reason: str) -> None:
        """End the pod, and return when it is deleted.

        Raises:
            BackendError: It could not be ended, or cannot be reached.
        """
        if self._end_reason is None:
            try:
                self._connection.request("destroy", answer_s=_END_S, machine=self.id, reason=reason)
            except ContainerGoneError:
                if not self._connection.is_alive and self._end_reason is None:
                    raise BackendError(
                        "the sandbox was not ended: it belongs to another process",
                        backend=self.isolation.backend,
                    ) from None
        if self._leaving is not None:
            self._leaving.join(_LEAVE_S)

    def _leave_soon(self) -> None:
        """Take the last output after the end, and delete the pod, in a thread."""
        if self.is_released or self._end_reason in ("gone", "oom"):
            return
        self._leaving = threading.Thread(target=self._leave, name="llm-sandbox-leave", daemon=True)
        self._leaving.start()

    def _leave(self) -> None:
        with contextlib.suppress(SandboxError):
            self._connection.request("leave", answer_s=_LEAVE_S)
        self._connection.close(wait_s=_RELEASE_S)
        with contextlib.suppress(SandboxError):
            self.pods.delete(self.pod, self.place["uid"])

    def detach(self) -> None:
        if not self.lets_go and self._end_reason is None:
            self._request("disown")
            self._owns(False)
            self.rewrite(owner=None)
        self.release()

    def release(self) -> None:
        """See `KeptMachine`."""
        self.is_released = True
        self._connection.close(wait_s=_RELEASE_S)
