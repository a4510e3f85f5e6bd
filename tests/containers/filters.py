"""Decision of a seccomp filter about one call, worked out from its two forms."""

from __future__ import annotations

import struct
from typing import Any

ALLOW = 0
"""The verdict on a call that may be made; other verdicts are the error it answers with."""

_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


def run_program(program: bytes, audit: int, number: int, arguments: tuple[int, ...]) -> int:
    """Interpret the instructions that `build_filter` makes, as a kernel would."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, audit, 0, *padded)
    rows = list(struct.iter_unpack("<HBBI", program))
    word, at = 0, 0
    while True:
        code, if_true, if_false, value = rows[at]
        at += 1
        match code:
            case 0x20:
                (word,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_true if word == value else if_false
            case 0x25:
                at += if_true if word > value else if_false
            case 0x35:
                at += if_true if word >= value else if_false
            case 0x45:
                at += if_true if word & value else if_false
            case 0x06 if value == _ALLOW:
                return ALLOW
            case 0x06 if value & 0xFFFF0000 == _ERROR:
                return value & 0xFFFF
            case _:
                raise AssertionError(f"instruction {code:#x} with {value:#x}")


class Profile:
    """An engine's profile, read as the runtime specification says."""

    def __init__(self, profile: dict[str, Any]) -> None:
        assert "SCMP_ACT_ALLOW" == profile["defaultAction"]
        self._entries: dict[str, list[dict[str, Any]]] = {}
        for entry in profile["syscalls"]:
            assert "SCMP_ACT_ERRNO" == entry["action"]
            for name in entry["names"]:
                self._entries.setdefault(name, []).append(entry)

    def verdict(self, name: str, arguments: tuple[int, ...] = ()) -> int:
        """The error that a call answers with, or ALLOW."""
        padded = (*arguments, *(0,) * (6 - len(arguments)))
        found = {
            entry["errnoRet"]
            for entry in self._entries.get(name, [])
            if all(_holds(rule, padded) for rule in entry["args"])
        }
        assert len(found) <= 1, f"{name}{arguments} has several verdicts: {found}"
        return found.pop() if found else ALLOW


def _holds(rule: dict[str, Any], arguments: tuple[int, ...]) -> bool:
    assert "SCMP_CMP_MASKED_EQ" == rule["op"]
    return bool(arguments[rule["index"]] & rule["value"] == rule["valueTwo"])
