"""Items of the backends' checklist, each proved by an existing test.

`checklist.toml` names them. A test that is renamed or removed, a deviation that is admitted for one
of them, and a backend for which an item names none fail here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import test_backends, test_docker, test_kubernetes, test_podman

ROOT = Path(__file__).parents[2]
SUITES = {
    "bubblewrap": (
        "tests/conformance/test_backends.py::TestBubblewrap",
        test_backends.TestBubblewrap,
    ),
    "docker": ("tests/conformance/test_docker.py::TestMachines", test_docker.TestMachines),
    "podman": ("tests/conformance/test_podman.py::TestMachines", test_podman.TestMachines),
    "kubernetes": (
        "tests/conformance/test_kubernetes.py::TestMachines",
        test_kubernetes.TestMachines,
    ),
    "local": ("tests/conformance/test_backends.py::TestLocal", test_backends.TestLocal),
}
WORDS = {"suite", "each", "once", "why", "refused", "instead", *SUITES}
CHECKLIST: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "checklist.toml").read_text()
)


def shown_by(item: dict[str, Any], backend: str) -> list[str]:
    """The tests that show an item of a backend, or that it is refused."""
    for word in ("refused", "instead"):
        alone: list[str] = item.get(word, {}).get(backend, [])
        if alone:
            return alone
    place, _ = SUITES[backend]
    return [
        *(f"{place}::{name}" for name in item.get("suite", ())),
        *(test.replace("{}", backend) for test in item.get("each", ())),
        *item.get(backend, ()),
        *item.get("once", ()),
    ]


@pytest.fixture(scope="module")
def there() -> set[str]:
    """Every test of the files that the checklist names, with its parameters and without."""
    named = {
        test.partition("::")[0]
        for item in CHECKLIST.values()
        for backend in SUITES
        for test in shown_by(item, backend)
    }
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--collect-only", "-q", "--cases=all", *sorted(named)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
    )
    assert done.returncode == 0, done.stdout[-3000:]
    found = {line for line in done.stdout.splitlines() if "::" in line}
    return found | {line.partition("[")[0] for line in found}


@pytest.mark.parametrize("name", CHECKLIST)
def test_an_item_is_shown_of_every_backend(name: str, there: set[str]) -> None:
    item = CHECKLIST[name]
    assert set(item) <= WORDS
    assert ("once" in item) == ("why" in item)
    for backend, (_, suite) in SUITES.items():
        tests = shown_by(item, backend)
        assert tests, backend
        assert not [test for test in tests if test not in there], backend
        # What deviates is shown by tests of that backend alone.
        deviating = set(item.get("suite", ())) & suite.known_deviations.keys()
        assert not deviating or backend in item, deviating


def test_a_test_that_is_not_there_is_missed(there: set[str]) -> None:
    """The control."""
    item = {"suite": ["test_that_nobody_wrote"], "each": ["tests/a.py::test_it[{}]"]}

    for backend in SUITES:
        assert not [test for test in shown_by(item, backend) if test in there]
