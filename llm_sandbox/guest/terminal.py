"""A program's terminal, and the process that carries it over the program's pipes.

The carrier is one of the machine's own processes, confined like them, so that the terminal is one
of the machine's own too: it has a name in ``/dev/pts`` there. It holds the terminal's other side
and reads the program's input, writes its output and is told its size; the program's session has
the terminal itself. It ends with the program, or soon after if others have the terminal open still.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import struct
import termios
import time

from . import linux
from .confinement import close_all_but
from .keys import LOOK_S, Keys, own_name
from .machine import PlainMachine

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be a tenth of the supervisor's start
    from typing import NoReturn

_SIZE = struct.Struct("<HH")
_OPENED = b"T"
_PIECE = 1 << 16
_LEFT_BEHIND_S = 2.0
_UNUSED_S = 0.05
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0


class Terminal:
    """A terminal that is being made.

    Attributes:
        pid: Its carrier.
        control: Takes new sizes; the carrier ends soon after it was closed.
        handover: Where the program receives the terminal; see `acquire_terminal`.
    """

    def __init__(self, pid: int, control: socket.socket, handover: socket.socket) -> None:
        self.pid, self.control, self.handover = pid, control, handover


def open_terminal(machine: PlainMachine, size: list[int], fds: list[int]) -> Terminal:
    """Start a carrier; returns at once.

    Args:
        machine: Where.
        size: Rows and columns.
        fds: What it reads the program's input from, and writes its output to.
    """
    control, far_control = socket.socketpair()
    handover, far_handover = socket.socketpair()
    control.setblocking(False)

    def child() -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # As in `launch_files`: nothing of what it holds is for its equals.
        linux.set_undumpable()
        machine.join()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.setsid()
        machine.spec.confinement.apply()
        linux.set_undumpable()
        unborn = own_name()
        linux.set_process_name("terminal")
        close_all_but([fds[0], fds[1], far_control.fileno(), far_handover.fileno()])
        try:
            # By the user that the program will be, so that it can open it by name.
            master, slave = os.openpty()
            keys = Keys(master, os.ttyname(slave), unborn)
            _resize(master, *size)
        except OSError as error:
            far_handover.sendall(str(error).encode())
            os._exit(1)
        socket.send_fds(far_handover, [_OPENED], [slave])
        os.close(slave)
        far_handover.close()
        _Carrier(master, keys, fds[0], fds[1], far_control).run()
        os._exit(0)

    try:
        return Terminal(machine.fork(child), control, handover)
    except BaseException:
        control.close()
        handover.close()
        raise
    finally:
        far_control.close()
        far_handover.close()


def acquire_terminal(handover: int) -> int:
    """Make the terminal received on `handover` that of the calling session leader.

    Returns:
        Its descriptor.

    Raises:
        OSError: It could not be opened.
        NotImplementedError: This kernel has no terminals, or such that no key and no size is heard
            of.
    """
    with socket.socket(fileno=os.dup(handover)) as end:
        said, received, _, _ = socket.recv_fds(end, 1 << 12, 1)
    if said != _OPENED or not received:
        words = said.decode("utf-8", "replace") or "its carrier was killed"
        raise OSError(f"no terminal could be opened: {words}")
    fcntl.ioctl(received[0], termios.TIOCSCTTY, 0)
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError as error:
        # In gVisor, where nothing interrupts either, and nobody hears of a new size.
        raise NotImplementedError(
            f"the sandbox's kernel lets no session have its terminal (/dev/tty: {error.strerror})"
        ) from None
    return received[0]


def send_size(control: socket.socket, rows: int, columns: int) -> bool:
    """Have a terminal change its size; False if it has ended, or does not listen."""
    try:
        control.send(_SIZE.pack(rows, columns), socket.MSG_NOSIGNAL)
    except OSError:
        return False
    return True


def _resize(master: int, rows: int, columns: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class _Carrier:
    """Moves bytes between a terminal and a program's pipes.

    Args:
        master: The terminal's other side.
        keys: When something is typed.
        source: What is read and typed.
        sink: Where what the terminal shows is written to.
        control: Where new sizes come from; it ends when the program has.
    """

    def __init__(
        self, master: int, keys: Keys, source: int, sink: int, control: socket.socket
    ) -> None:
        for fd in (master, sink):
            os.set_blocking(fd, False)
        control.setblocking(False)
        self._master, self._source, self._sink, self._control = master, source, sink, control
        self._keys = keys
        self._typed = b""
        self._held = False
        self._shown = b""
        self._sizes = b""
        self._reads_source, self._reads_control = True, True
        self._unused_until: float | None = None
        self._ends_line = True
        self._pause = _FIRST_PAUSE_S
        self._end_input_at: float | None = None
        self._moved_at = time.monotonic()

    def run(self) -> None:
        """Carry until there is nothing left to."""
        while not self._is_over():
            poll = select.poll()
            poll.register(self._sink, select.POLLOUT if self._shown else 0)
            # What waits for nothing is not asked: it would answer all the time that it has ended.
            master = select.POLLOUT if self._typed and not self._held else 0
            if not self._shown:
                master |= select.POLLIN
            if self._is_used() and master:
                poll.register(self._master, master)
            if self._reads_source and not self._typed:
                poll.register(self._source, select.POLLIN)
            if self._reads_control:
                poll.register(self._control, select.POLLIN)
            ready = dict(poll.poll(self._wait_ms()))
            if ready.get(self._sink, 0) & (select.POLLERR | select.POLLNVAL):
                return  # nobody reads it any more
            if self._control.fileno() in ready:
                self._receive_size()
            if self._source in ready:
                self._read_source()
            if ready.get(self._master, 0) & ~select.POLLOUT:
                self._read_master()
            self._end_input()
            self._type()
            if not self._show():
                return

    def _wait_ms(self) -> float | None:
        moments = []
        if self._held:
            moments.append(time.monotonic() + LOOK_S)
        if self._end_input_at is not None:
            moments.append(self._end_input_at if not self._typed else time.monotonic() + LOOK_S)
        if self._unused_until is not None:
            moments.append(self._unused_until)
        if not self._reads_control and not self._shown:
            moments.append(self._moved_at + _LEFT_BEHIND_S)
        return max(0.0, min(moments) - time.monotonic()) * 1000 + 1 if moments else None

    def _is_used(self) -> bool:
        """Whether somebody has the terminal open, as far as is known."""
        if self._unused_until is not None and self._unused_until <= time.monotonic():
            self._unused_until = None
        return self._unused_until is None

    def _is_over(self) -> bool:
        """Whether the program has ended, and what it left behind shows nothing more."""
        if self._reads_control or self._shown:
            return False
        return not self._is_used() or time.monotonic() - self._moved_at >= _LEFT_BEHIND_S

    def _receive_size(self) -> None:
        try:
            data = self._control.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._reads_control = False
            self._unused_until = None
            self._moved_at = time.monotonic()
            return
        self._sizes += data
        whole = len(self._sizes) - len(self._sizes) % _SIZE.size
        for start in range(0, whole, _SIZE.size):
            _resize(self._master, *_SIZE.unpack_from(self._sizes, start))
        self._sizes = self._sizes[whole:]

    def _read_source(self) -> None:
        data = os.read(self._source, _PIECE)
        if data:
            self._typed = data
            self._keys.begins_to_wait()
            self._ends_line = data.endswith(b"\n")
        else:
            self._reads_source = False
            self._end_input_at = time.monotonic()

    def _read_master(self) -> None:
        try:
            data = os.read(self._master, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            # Nobody has it open. A program may close it before it ends, or come back by /dev/tty:
            # to let go of it now would hang up on it.
            self._unused_until = time.monotonic() + _UNUSED_S
            return
        self._shown = data
        self._keys.was_shown()
        self._moved_at = time.monotonic()

    def _end_input(self) -> None:
        """Type the character that ends the input, again and again: a terminal forgets it once it
        was read, and a program that changes the terminal's mode loses it.
        """
        if self._typed or self._end_input_at is None or self._end_input_at > time.monotonic():
            return
        mode = termios.tcgetattr(self._master)
        key: bytes = mode[6][termios.VEOF]
        # In the middle of a line it only ends the wait for the rest of it.
        self._typed = key if self._ends_line or not mode[3] & termios.ICANON else 2 * key
        self._ends_line = True
        self._end_input_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_S)

    def _type(self) -> None:
        self._held = False
        if not self._typed:
            return
        count = self._keys.next(self._typed)
        self._held = count == 0
        if self._held:
            return
        try:
            written = os.write(self._master, self._typed[:count])
            self._keys.was_typed(self._typed[:written])
            self._typed = self._typed[written:]
        except BlockingIOError:
            pass
        except OSError:
            self._typed = b""

    def _show(self) -> bool:
        """Write what is to be shown; False when nobody reads it any more."""
        if not self._shown:
            return True
        try:
            self._shown = self._shown[os.write(self._sink, self._shown) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        self._moved_at = time.monotonic()
        return True
