"""The engines' profile and the kernel's program say the same of every call in the table."""

from __future__ import annotations

import errno
import itertools
import json
import random

import pytest

from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.hardening.seccomp_profile import build_profile, profile_text
from llm_sandbox.backends.hardening.syscalls import (
    ARCHITECTURES,
    FILTERED,
    MEMORY_OBJECTS,
    REFUSED_ENOSYS,
    REFUSED_EPERM,
    SET_ID_MODES,
    SET_ID_UNSEEN,
)
from tests.containers.filters import ALLOW, Profile, run_program

PROFILES = {kept: Profile(build_profile(memory_objects=kept)) for kept in (True, False)}
NO_SET_ID = Profile(build_profile(set_id_bits=False))
SET_ID = {**SET_ID_MODES, **SET_ID_UNSEEN}
TABLES = {**REFUSED_EPERM, **REFUSED_ENOSYS, **MEMORY_OBJECTS, **FILTERED, **SET_ID}
EVERY_CALL = [
    (name, architecture)
    for name, architecture in itertools.product(sorted(TABLES), sorted(ARCHITECTURES))
    if TABLES[name][ARCHITECTURES[architecture][0]] is not None
]

FAMILIES = (*range(64), 0xFF, 0x7FFFFFFF, 0x80000001, 0xFFFFFFFF)
MODES = (0, 0o644, 0o755, 0o1777, 0o2755, 0o4755, 0o6777, 0o7000, 0o104755)
OPENED = (0, 0o2, 0o100, 0o200000, 0o20000000, 0o20200002, 0o1101)
BITS = (0, *(1 << bit for bit in range(32)), 0xFFFFFFFF)
NEARLY_ALL_BITS = tuple(0xFFFFFFFF ^ 1 << bit for bit in range(32))
INTERESTING: dict[str, list[tuple[int, ...]]] = {
    "chmod": [(1, mode) for mode in (*BITS, *MODES)],
    "creat": [(1, mode) for mode in (*BITS, *MODES)],
    "fchmod": [(1, mode) for mode in (*BITS, *MODES)],
    "fchmodat": [(1, 2, mode) for mode in (*BITS, *MODES)],
    "fchmodat2": [(1, 2, mode) for mode in (*BITS, *MODES)],
    "open": list(itertools.product((1,), OPENED, (*BITS, *MODES))),
    "openat": list(itertools.product((1,), (2,), OPENED, (*BITS, *MODES))),
    "clone": [(flags,) for flags in (*BITS, 0x1200011, 0x3D0F00)],
    "ioctl": [(1, command) for command in (*BITS, 0x5401, 0x5412, 0x5413, 0x541B, 0x541C)],
    "mknod": [(0, mode) for mode in (*BITS, *MODES, 0x2180, 0x6180, 0x8180, 0x1180)],
    "mknodat": [(3, 0, mode) for mode in (*BITS, *MODES, 0x2180, 0x6180, 0x8180, 0x1180)],
    "personality": [(value,) for value in (*BITS, *NEARLY_ALL_BITS, 0x40000, 0x80040000, 8)],
    "socket": list(itertools.product(FAMILIES, (1, 3), (0, 1, 9, 15, 0x80000000))),
    "socketpair": list(itertools.product(FAMILIES, (1,), (0, 9))),
}


def samples(name: str) -> list[tuple[int, ...]]:
    """Arguments at the edges of each rule, without and with rubbish in the unused high words."""
    low = INTERESTING.get(name, [()])
    rubbish = [tuple(value | 0xABCD << 32 for value in arguments) for arguments in low]
    dice = random.Random(name)
    thrown = [tuple(dice.getrandbits(64) for _ in range(6)) for _ in range(50)]
    return [*low, *rubbish, *thrown]


@pytest.mark.parametrize("memory_objects", [True, False])
@pytest.mark.parametrize(("name", "architecture"), EVERY_CALL)
def test_both_renderings_agree(name: str, architecture: str, memory_objects: bool) -> None:
    column, audit = ARCHITECTURES[architecture]
    number = TABLES[name][column]
    assert number is not None
    program = build_filter(architecture, memory_objects=memory_objects)
    for arguments in samples(name):
        expected = run_program(program, audit, number, arguments)
        assert expected == PROFILES[memory_objects].verdict(name, arguments), arguments


@pytest.mark.parametrize(("name", "architecture"), EVERY_CALL)
def test_both_agree_on_the_bits_of_owners(name: str, architecture: str) -> None:
    column, audit = ARCHITECTURES[architecture]
    number = TABLES[name][column]
    assert number is not None
    program = build_filter(architecture, set_id_bits=False)
    for arguments in samples(name):
        expected = run_program(program, audit, number, arguments)
        assert expected == NO_SET_ID.verdict(name, arguments), arguments


@pytest.mark.parametrize("mode", [0o2000, 0o4000, 0o6000, 0o4755, 0o104755])
def test_every_call_that_takes_a_mode_refuses_the_bits_of_owners(mode: int) -> None:
    """Without the rule each of them may have them; with it, all else stays possible."""
    calls = {
        "chmod": (1, mode),
        "creat": (1, mode),
        "fchmod": (1, mode),
        "fchmodat": (1, 2, mode),
        "fchmodat2": (1, 2, mode),
        "mknod": (1, mode),
        "mknodat": (1, 2, mode),
        "open": (1, 0o100, mode),
        "openat": (1, 2, 0o20000000, mode),
    }
    assert set(SET_ID_MODES) == set(calls)
    for name, arguments in calls.items():
        assert errno.EPERM == NO_SET_ID.verdict(name, arguments), name
        assert ALLOW == PROFILES[True].verdict(name, arguments), name
        assert ALLOW == NO_SET_ID.verdict(name, (*arguments[:-1], 0o1777)), name
    # Where no file is made, what lies in the place of its mode means nothing.
    assert ALLOW == NO_SET_ID.verdict("open", (1, 0o200000, mode))
    assert ALLOW == NO_SET_ID.verdict("openat", (1, 2, 0, mode))
    assert errno.ENOSYS == NO_SET_ID.verdict("openat2")
    assert ALLOW == PROFILES[True].verdict("openat2")


def test_the_verdicts_are_those_of_the_tables() -> None:
    verdict = PROFILES[False].verdict
    for table, code in (
        (REFUSED_EPERM, errno.EPERM),
        (REFUSED_ENOSYS, errno.ENOSYS),
        (MEMORY_OBJECTS, errno.ENOSYS),
    ):
        assert {code} == {verdict(name) for name in table}
    assert ALLOW == verdict("socket", (2, 1, 0))
    assert ALLOW == verdict("socket", (16, 3, 0))
    assert errno.EAFNOSUPPORT == verdict("socket", (16, 3, 9))
    assert errno.EAFNOSUPPORT == verdict("socket", (17, 3, 0))
    for family in (2, 10):
        assert {ALLOW} == {verdict("socket", (family, 1, number)) for number in (0, 1, 6, 17, 58)}
        for number in (33, 132, 136, 255, 262, 1 << 31):
            assert errno.EPROTONOSUPPORT == verdict("socket", (family, 1, number))
    assert ALLOW == verdict("socket", (1, 1, 136))
    assert errno.EPERM == verdict("clone", (0x10000011,))
    assert ALLOW == verdict("clone", (0x3D0F00,))


def test_calls_that_are_in_no_table_are_in_no_rule() -> None:
    named = {name for entry in build_profile()["syscalls"] for name in entry["names"]}
    assert named == set(TABLES) - set(MEMORY_OBJECTS) - (set(SET_ID) - set(FILTERED))


def test_no_entry_has_two_conditions_on_one_argument() -> None:
    # One engine joins them by "and", another by "or".
    for entry in build_profile()["syscalls"]:
        indexes = [rule["index"] for rule in entry["args"]]
        assert len(indexes) == len(set(indexes)), entry


def test_no_32_bit_table_is_let_in() -> None:
    entries = build_profile()["archMap"]
    assert [[], []] == [entry["subArchitectures"] for entry in entries]


def test_the_text_is_the_profile() -> None:
    assert build_profile() == json.loads(profile_text())
    assert profile_text() is profile_text()
