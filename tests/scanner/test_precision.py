"""Ordinary programs pass, and nothing that Python programmers write makes the scanner fall over."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.benign import Program, expected, installed, ours
from tests.scanner.corpus.fetching import origins
from tests.scanner.corpus.marking import alarms

if TYPE_CHECKING:
    from llm_sandbox.security.presets import PolicyPreset

# The first test of a new machine waits for the programs to be fetched.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LARGEST = 200_000
SHOWN = 12


def test_there_are_enough_programs(programs: tuple[Program, ...], floors: dict[str, Any]) -> None:
    assert len(programs) >= floors["ordinary"]["programs"]
    assert {program.origin for program in programs} == {origin.name for origin in origins()}
    assert any(program.notebook for program in programs)


@pytest.mark.parametrize("preset", ["data_science", "production"])
def test_programs_of_others_pass(
    programs: tuple[Program, ...], preset: PolicyPreset, floors: dict[str, Any]
) -> None:
    found = {program.id: alarms(program, preset) for program in programs}
    flagged = {name: findings for name, findings in found.items() if findings}
    rules = Counter(str(finding.category) for row in flagged.values() for finding in row)
    share = len(flagged) / len(programs)
    assert share <= floors["ordinary"][preset], (rules.most_common(), sorted(flagged)[:SHOWN])


@pytest.mark.parametrize("preset", ["data_science", "production"])
def test_our_own_programs_pass(preset: PolicyPreset, floors: dict[str, Any]) -> None:
    flagged = [program.id for program in ours() if alarms(program, preset)]
    assert len(ours()) >= 200
    assert len(flagged) / len(ours()) <= floors["ordinary"][preset], flagged[:SHOWN]


def test_what_is_expected_is_really_found(programs: tuple[Program, ...]) -> None:
    """A line of `expected.toml` that nothing needs would hide the next false alarm."""
    by_id = {program.id: program for program in (*programs, *ours())}
    known = {str(capability) for capability in Capability}
    for name, capabilities in expected().items():
        assert name in by_id, f"{name} is in no corpus"
        assert capabilities <= known
        program = by_id[name]
        found = {
            str(finding.category)
            for cell in program.cells
            for finding in scan(cell, "python", "production", notebook=program.notebook).blocking
        }
        assert capabilities <= found, name
    assert len(expected()) <= 40, "the list is meant to be short"


def test_the_standard_library_is_read() -> None:
    """It uses everything, and is no corpus of ordinary programs; but it has to be read."""
    modules = 0
    unread = []
    for program in installed():
        if program.origin != "stdlib":
            break
        folder = program.name.partition("/")[0]
        if (
            folder in ("test", "idlelib", "lib2to3", "turtledemo")
            or len(program.cells[0]) > LARGEST
        ):
            continue
        modules += 1
        report = scan(program.cells[0], notebook=False)
        if not report.parsed:
            unread.append(program.name)
    assert modules >= 565
    assert unread == []


def test_installed_packages_are_read() -> None:
    """One file in 60 of the tests of CPython, with their broken ones, and of installed packages."""
    files = 0
    for number, program in enumerate(installed()):
        outside = program.origin != "stdlib" or program.name.startswith("test/")
        if outside and number % 60 == 0 and len(program.cells[0]) <= LARGEST // 4:
            files += 1
            assert scan(program.cells[0]).engine == "ast" or not program.cells[0].strip()
    assert files >= 100
