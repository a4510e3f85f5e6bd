"""Pseudo-terminal of a program, and the process that relays it over the program's pipes.

The relay process is one of the machine's own, confined like the others, so that the terminal has a
name in ``/dev/pts`` of the machine. It holds the master side, reads the program's input, writes its
output and receives new sizes; the program's session has the slave side. It ends with the program,
or soon after if other processes keep the terminal open.
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
if TYPE_CHECKING:
    from typing import NoReturn

_SIZE = struct.Struct("<HH")
_OPENED = b"T"
_PIECE = 1 << 16
_LEFT_BEHIND_S = 2.0
_UNUSED_S = 0.05
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0


class Terminal:
    """A terminal that is being opened.

    Attributes:
        pid: The relay process.
        control: Socket for new sizes; the relay process ends soon after it is closed.
        handover: Socket on which the program receives the terminal; see `acquire_terminal`.
    """

    def __init__(self, pid: int, control: socket.socket, handover: socket.socket) -> None:
        self.pid, self.control, self.handover = pid, control, handover


def open_terminal(machine: PlainMachine, size: list[int], fds: list[int]) -> Terminal:
    """Start the relay process of a terminal, without waiting for it.

    Args:
        machine: The machine of the program.
        size: Rows and columns.
        fds: The program's input and output.
    """
    control, far_control = socket.socketpair()
    handover, far_handover = socket.socketpair()
    control.setblocking(False)

    def child() -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # As in `launch_files`: unreadable for the machine's other processes.
        linux.set_undumpable()
        machine.join()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.setsid()
        machine.spec.confinement.apply()
        linux.set_undumpable()
        unborn = process_name()
        linux.set_process_name("terminal")
        close_all_but([fds[0], fds[1], far_control.fileno(), far_handover.fileno()])
        try:
            # As the program's user, so that the program can open the terminal by name.
            master, slave = os.openpty()
            pacer = InputPacer(master, os.ttyname(slave), unborn)
            _resize(master, *size)
        except OSError as error:
            far_handover.sendall(str(error).encode())
            os._exit(1)
        socket.send_fds(far_handover, [_OPENED], [slave])
        os.close(slave)
        far_handover.close()
        _TerminalRelay(master, pacer, fds[0], fds[1], far_control).run()
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
        OSError: The terminal could not be opened.
        NotImplementedError: This kernel has no terminals, or none with signals and sizes.
    """
    with socket.socket(fileno=os.dup(handover)) as end:
        answer, received, _, _ = socket.recv_fds(end, 1 << 12, 1)
    if answer != _OPENED or not received:
        words = answer.decode("utf-8", "replace") or "its relay process was killed"
        raise OSError(f"no terminal could be opened: {words}")
    fcntl.ioctl(received[0], termios.TIOCSCTTY, 0)
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError as error:
        # In gVisor, where keys send no signals and new sizes are not reported either.
        raise NotImplementedError(
            f"the sandbox's kernel lets no session have its terminal (/dev/tty: {error.strerror})"
        ) from None
    return received[0]


def send_size(control: socket.socket, rows: int, columns: int) -> bool:
    """Change the size of a terminal; return False if it has ended, or does not respond."""
    try:
        control.send(_SIZE.pack(rows, columns), socket.MSG_NOSIGNAL)
    except OSError:
        return False
    return True


def _resize(master: int, rows: int, columns: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


_POLL_S = 0.01
"""Seconds between two checks of the program's state."""

_START_S = 5.0
_READ_S = 2.0
_ECHO_S = 0.3
_SIGNALS = (termios.VINTR, termios.VQUIT, termios.VSUSP)
_CHECKS = 2


class InputPacer:
    """Timing of the input that is typed at one terminal.

    A person waits with typing until the program does, and so does this class: a terminal drops
    unread input when a key like Ctrl-C is typed, or when a program sets its mode; and an
    interrupted program drops what it has read. So input waits: all of it until the program first
    waits for something, a signal key until the input before it was read, and the input after that
    key until the program waits again. No wait is unlimited: a busy program is interrupted, too.

    Args:
        master: The master side of the terminal.
        name: Path of the terminal.
        unborn: Process name of a child that has not executed the program yet.
    """

    def __init__(self, master: int, name: str, unborn: str) -> None:
        self._master, self._name, self._unborn = master, name, unborn
        self._begun = False
        self._after_signal = False
        self._echoed = False
        self._typed_at = 0.0
        self._made_at = self._waits_since = time.monotonic()
        self._checks = 0

    def next(self, text: bytes) -> int:
        """Return how many of the first bytes can be typed together now; 0 for none yet."""
        signals = self._signals()
        length = next((n for n, byte in enumerate(text) if byte in signals), len(text))
        is_signal = length == 0
        now = time.monotonic()
        if not self._may_type(now, is_signal=is_signal):
            return 0
        return 1 if is_signal else length

    def was_typed(self, text: bytes) -> None:
        """Record that `text` was typed."""
        self._typed_at = self._waits_since = time.monotonic()
        self._after_signal = len(text) == 1 and text[0] in self._signals()
        self._echoed = False
        self._checks = 0

    def was_shown(self) -> None:
        """Record that the terminal printed output."""
        self._echoed = True

    def input_arrived(self) -> None:
        """Record that new input waits to be typed."""
        self._waits_since = time.monotonic()

    def _may_type(self, now: float, *, is_signal: bool) -> bool:
        waited = now - self._waits_since
        if not self._begun:
            if now - self._made_at < _START_S and not self._is_waiting():
                return False
            self._begun = True
            self._waits_since = now
            return not is_signal or self._is_idle()
        if self._after_signal:
            echo_is_due = now - self._typed_at < _ECHO_S and not self._echoed
            return waited >= _READ_S or (not echo_is_due and self._is_waiting())
        if is_signal:
            return waited >= _READ_S or self._is_idle()
        return True

    def _is_idle(self) -> bool:
        """Return whether the earlier input was read, and has had its effect."""
        return not self._unread() and (
            time.monotonic() - self._typed_at > _ECHO_S or self._is_waiting()
        )

    def _is_waiting(self) -> bool:
        """Return whether the program waited for something at two checks in a row."""
        self._checks = self._checks + 1 if self._program_waits() else 0
        return self._checks >= _CHECKS

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
        """Return whether all foreground processes sleep, with no signal pending."""
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
                continue  # the process has ended
        return found


def process_name() -> str:
    """Return the name of this process in /proc."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return file.read().partition(b"(")[2].rpartition(b")")[0].decode("utf-8", "replace")
    except OSError:
        return ""


class _TerminalRelay:
    """Relay between a terminal and a program's pipes.

    Args:
        master: The master side of the terminal.
        pacer: The timing of typed input.
        source: Descriptor of the input to type.
        sink: Descriptor for the output of the terminal.
        control: Socket for new sizes; its end means that the program has ended.
    """

    def __init__(
        self, master: int, pacer: InputPacer, source: int, sink: int, control: socket.socket
    ) -> None:
        for fd in (master, sink):
            os.set_blocking(fd, False)
        control.setblocking(False)
        self._master, self._source, self._sink, self._control = master, source, sink, control
        self._pacer = pacer
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
        """Relay until the program has ended and all output is written."""
        while not self._is_over():
            poll = select.poll()
            poll.register(self._sink, select.POLLOUT if self._shown else 0)
            # A closed descriptor that is polled for nothing would wake the poll all the time.
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
                return  # the output has no reader any more
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
            moments.append(time.monotonic() + _POLL_S)
        if self._end_input_at is not None:
            moments.append(self._end_input_at if not self._typed else time.monotonic() + _POLL_S)
        if self._unused_until is not None:
            moments.append(self._unused_until)
        if not self._reads_control and not self._shown:
            moments.append(self._moved_at + _LEFT_BEHIND_S)
        return max(0.0, min(moments) - time.monotonic()) * 1000 + 1 if moments else None

    def _is_used(self) -> bool:
        """Return whether a process may have the terminal open."""
        if self._unused_until is not None and self._unused_until <= time.monotonic():
            self._unused_until = None
        return self._unused_until is None

    def _is_over(self) -> bool:
        """Return whether the program has ended, and its leftovers print nothing more."""
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
            self._pacer.input_arrived()
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
            # No process has it open. A program may close it before it ends, or reopen /dev/tty: to
            # close the master now would send it a hangup.
            self._unused_until = time.monotonic() + _UNUSED_S
            return
        self._shown = data
        self._pacer.was_shown()
        self._moved_at = time.monotonic()

    def _end_input(self) -> None:
        """Type the end-of-input character, repeatedly.

        A terminal drops it once it was read, and a program that changes the mode loses it.
        """
        if self._typed or self._end_input_at is None or self._end_input_at > time.monotonic():
            return
        mode = termios.tcgetattr(self._master)
        key: bytes = mode[6][termios.VEOF]
        # In the middle of a line, the character only ends the wait for the rest of the line.
        self._typed = key if self._ends_line or not mode[3] & termios.ICANON else 2 * key
        self._ends_line = True
        self._end_input_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_S)

    def _type(self) -> None:
        self._held = False
        if not self._typed:
            return
        count = self._pacer.next(self._typed)
        self._held = count == 0
        if self._held:
            return
        try:
            written = os.write(self._master, self._typed[:count])
            self._pacer.was_typed(self._typed[:written])
            self._typed = self._typed[written:]
        except BlockingIOError:
            pass
        except OSError:
            self._typed = b""

    def _show(self) -> bool:
        """Write pending output; return False when it has no reader any more."""
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
