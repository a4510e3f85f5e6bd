"""When keys are typed at a terminal: a person waits until the program does, and so do we.

A terminal forgets what was typed and not read when a key like Ctrl-C is typed, or when a program
sets it up; and a program that is interrupted forgets what it has read. So what is to be typed
waits: all of it until the program has begun to wait for something, such a key until what stands
before it was read, and what follows the key until the program waits again. None of it waits for
ever: a program that is busy is interrupted, too.
"""

from __future__ import annotations

import array
import fcntl
import os
import termios
import time

__all__ = ["Keys", "own_name"]

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
