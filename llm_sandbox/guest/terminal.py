"""A program's terminal, and the process that carries it over the program's pipes.

The carrier is one of the machine's own processes, confined like them, so that the terminal is one
of the machine's own too: it has a name in ``/dev/pts`` there. It holds the terminal's other side
and reads the program's input, writes its output and is told its size; the program's session has
the terminal itself. It ends with the program, or soon after if others have the terminal open still.
"""

from __future__ import annotations

import array
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


LOOK_S = 0.01
"""How long to wait until looking again."""

_START_S = 5.0
_READ_S = 2.0
_ECHO_S = 0.3
_SIGNALS = (termios.VINTR, termios.VQUIT, termios.VSUSP)
_LOOKS = 2


class Keys:
    """What is typed at one terminal, and whether its time has come.

    Args:
        master: The terminal's other side.
        name: Path of the terminal.
        unborn: What a process is called that has not become the program yet.
    """

    def __init__(self, master: int, name: str, unborn: str) -> None:
        self._master, self._name, self._unborn = master, name, unborn
        self._begun = False
        self._after_signal = False
        self._echoed = False
        self._typed_at = 0.0
        self._made_at = self._waits_since = time.monotonic()
        self._looks = 0

    def next(self, text: bytes) -> int:
        """How many of the first bytes can be typed together now; 0 for none yet."""
        signals = self._signals()
        length = next((n for n, byte in enumerate(text) if byte in signals), len(text))
        is_signal = length == 0
        now = time.monotonic()
        if not self._may(now, is_signal=is_signal):
            return 0
        return 1 if is_signal else length

    def was_typed(self, text: bytes) -> None:
        """Take the news that this was typed."""
        self._typed_at = self._waits_since = time.monotonic()
        self._after_signal = len(text) == 1 and text[0] in self._signals()
        self._echoed = False
        self._looks = 0

    def was_shown(self) -> None:
        """Take the news that the terminal showed something."""
        self._echoed = True

    def begins_to_wait(self) -> None:
        """Take the news that something new is to be typed."""
        self._waits_since = time.monotonic()

    def _may(self, now: float, *, is_signal: bool) -> bool:
        waited = now - self._waits_since
        if not self._begun:
            if now - self._made_at < _START_S and not self._settled():
                return False
            self._begun = True
            self._waits_since = now
            return not is_signal or self._is_idle()
        if self._after_signal:
            echo_is_due = now - self._typed_at < _ECHO_S and not self._echoed
            return waited >= _READ_S or (not echo_is_due and self._settled())
        if is_signal:
            return waited >= _READ_S or self._is_idle()
        return True

    def _is_idle(self) -> bool:
        """Whether what was typed before has been read, and has had its effect."""
        return not self._unread() and (
            time.monotonic() - self._typed_at > _ECHO_S or self._settled()
        )

    def _settled(self) -> bool:
        """Whether the program waits for something, at two looks in a row."""
        self._looks = self._looks + 1 if self._program_waits() else 0
        return self._looks >= _LOOKS

    def _signals(self) -> set[int]:
        try:
            mode = termios.tcgetattr(self._master)
        except termios.error:
            return set()
        if not mode[3] & termios.ISIG:
            return set()
        return {key[0] for key in (mode[6][one] for one in _SIGNALS) if key != b"\0"}

    def _unread(self) -> int:
        count = array.array("i", [0])
        try:
            slave = os.open(self._name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return 0
        try:
            fcntl.ioctl(slave, termios.FIONREAD, count)
        except OSError:
            return 0
        finally:
            os.close(slave)
        return count[0]

    def _program_waits(self) -> bool:
        """Whether all processes of the terminal's foreground sleep, with no signal on its way."""
        try:
            group = os.tcgetpgrp(self._master)
            processes = [name for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return False
        found = False
        for process in processes:
            try:
                with open(f"/proc/{process}/stat", "rb") as file:
                    name, _, rest = file.read().partition(b"(")[2].rpartition(b")")
                state, _, its_group = rest.split()[:3]
                if int(its_group) != group:
                    continue
                found = True
                if state != b"S" or name.decode("utf-8", "replace") == self._unborn:
                    return False
                with open(f"/proc/{process}/status", "rb") as file:
                    for line in file:
                        if line.startswith((b"SigPnd", b"ShdPnd")) and int(line.split()[1], 16):
                            return False
            except (OSError, ValueError):
                continue  # it has ended
        return found


def own_name() -> str:
    """What this process is called by the system."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return file.read().partition(b"(")[2].rpartition(b")")[0].decode("utf-8", "replace")
    except OSError:
        return ""


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
