"""Programs that outlive their clients: those that run, and those that ended last."""

from __future__ import annotations

import contextlib
import os
import threading
import time

from .kept_output import Follower, Output, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .control import Message

_MOST_ENDED = 128
_CHUNK = 1 << 16
_GONE_S = 0.5


class Program:
    """A program with its output.

    Attributes:
        exit: The supervisor's event; None while it runs.
        stdin: Input of the entry command, which clients share; None for other programs.
    """

    def __init__(
        self,
        key: str,
        argv: list[str],
        outputs: list[Output],
        *,
        is_entry: bool,
        stdin: int | None,
        has_terminal: bool,
    ) -> None:
        self.key, self.argv, self.outputs = key, argv, outputs
        self.is_entry = is_entry
        self.stdin = stdin
        self.exit: Message | None = None
        self.has_terminal = has_terminal
        self._started_at = time.time()
        self._waiting: list[tuple[object, str, list[Follower]]] = []
        self._held: list[tuple[object, list[Follower]]] = []
        self._inputs: list[_Input] = []

    def describe(self) -> Message:
        """Return its description for clients."""
        return {
            "process": self.key,
            "argv": self.argv,
            "started_at": self._started_at,
            "exit": self.exit,
            "is_entry": self.is_entry,
        }

    def follow(self, client: object, fds: list[int]) -> list[Follower]:
        """Give a client the output from the first byte.

        Args:
            client: The client.
            fds: Pipes for stdout and stderr, which are taken.
        """
        followers = [output.follow(fds.pop(0)) for output in self.outputs]
        self._held.append((client, followers))
        return followers

    def attach(self, client: object, follow: str, fds: list[int], wake: Callable[[], None]) -> None:
        """Give a client the output from the first byte, and the exit after the last.

        Args:
            client: The client.
            follow: The client's name for the program.
            fds: Pipes for stdout and stderr, and of the entry command one with input; those that
                are taken are removed.
            wake: Called by another thread when the input was used or closed.
        """
        followers = self.follow(client, fds)
        self._waiting.append((client, follow, followers))
        if fds and self.stdin is not None:
            self._inputs.append(_Input(client, fds.pop(0), os.dup(self.stdin), wake))

    def forget_client(self, client: object) -> None:
        """Forget a client that is gone."""
        self._waiting = [one for one in self._waiting if one[0] is not client]
        for holder, followers in self._held:
            if holder is client:
                for each in followers:
                    each.close()
        for one in self._inputs:
            if one.client is client:
                one.client_is_gone.set()

    def follows(self, client: object) -> bool:
        """Whether a client has not got all output yet."""
        return any(one[0] is client for one in self._waiting)

    @property
    def is_settling(self) -> bool:
        """Whether an exit waits for the last output of a client."""
        return self.exit is not None and bool(self._waiting)

    @property
    def awaits_terminal(self) -> bool:
        """Whether its terminal, which ends with the sandbox, holds output."""
        return self.has_terminal and any(output.source != -1 for output in self.outputs)

    def sweep(self, tell: Callable[[object, Message], None]) -> None:
        """Report the exit to those that have got all output."""
        for output in self.outputs:
            output.sweep()
        self._held = [one for one in self._held if any(each.fd != -1 for each in one[1])]
        if self.exit is None:
            return
        left = []
        for client, follow, followers in self._waiting:
            if any(each.fd != -1 for each in followers):
                left.append((client, follow, followers))
            else:
                tell(client, {**self.exit, "process": follow})
        self._waiting = left

    def take_input(self) -> bool:
        """Whether a client has written to the entry command since the last call."""
        used = any(one.was_used for one in self._inputs)
        closes = any(one.closes for one in self._inputs)
        self._inputs = [one for one in self._inputs if not one.is_over]
        for one in self._inputs:
            one.was_used = False
        if closes:
            self.close_stdin()
        return used

    def close_stdin(self) -> None:
        """Close the input."""
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None


class _Input:
    """Input of the entry command from one client, copied by a thread until its end.

    It stays open when the client is gone, and is closed when the client closes it.
    """

    def __init__(self, client: object, source: int, target: int, wake: Callable[[], None]) -> None:
        self.client = client
        self._wake = wake
        self.was_used = False
        self.closes = self.is_over = False
        self.client_is_gone = threading.Event()
        threading.Thread(
            target=self._copy, args=(source, target), name="input", daemon=True
        ).start()

    def _copy(self, source: int, target: int) -> None:
        os.set_blocking(source, True)
        with contextlib.suppress(OSError):
            while data := os.read(source, _CHUNK):
                self.was_used = True
                self._wake()
                view = memoryview(data)
                while view:
                    view = view[os.write(target, view) :]
        os.close(source)
        os.close(target)
        self.closes = not self.client_is_gone.wait(_GONE_S)
        self.is_over = True
        self._wake()


class Programs:
    """Programs of a pod."""

    def __init__(self) -> None:
        self._by_key: dict[str, Program] = {}
        self.entry: Program | None = None
        self.store = Store(self._forget_oldest)

    def add(self, program: Program) -> None:
        """Add a program that is being started."""
        self._by_key[program.key] = program
        if program.is_entry:
            self.entry = program
        while len(self._ended()) > _MOST_ENDED:
            self._forget_oldest()

    def remove(self, key: str) -> None:
        """Remove a program that did not start."""
        program = self._by_key.pop(key, None)
        if program is not None:
            program.close_stdin()
            for output in program.outputs:
                output.forget()
            if program is self.entry:
                self.entry = None

    def _ended(self) -> list[Program]:
        return [
            one
            for one in self._by_key.values()
            if one.exit is not None
            and not one.is_entry
            and not one.is_settling
            and not any(output.followers for output in one.outputs)
        ]

    def _forget_oldest(self) -> bool:
        """Forget the program that ended first; return whether there was one."""
        for one in self._ended():
            self.remove(one.key)
            return True
        return False

    def get(self, key: str) -> Program | None:
        """Return a program by its key."""
        return self._by_key.get(key)

    def all(self) -> list[Program]:
        """Return all programs, oldest first."""
        return list(self._by_key.values())

    def outputs(self) -> list[Output]:
        """Return the streams of all programs."""
        return [output for one in self._by_key.values() for output in one.outputs]

    def forget_client(self, client: object) -> None:
        """Forget a client that is gone."""
        for one in self._by_key.values():
            one.forget_client(client)

    def follows(self, client: object) -> bool:
        """Whether a client has not got all output yet."""
        return any(one.follows(client) for one in self._by_key.values())

    @property
    def are_active(self) -> bool:
        """Whether a program runs besides the entry command."""
        return any(one.exit is None and not one.is_entry for one in self._by_key.values())

    @property
    def are_settling(self) -> bool:
        """Whether an exit waits for the last output of a client, or a pipe to be emptied."""
        return any(
            one.is_settling or any(each.followers for each in one.outputs if each.source == -1)
            for one in self._by_key.values()
        )
