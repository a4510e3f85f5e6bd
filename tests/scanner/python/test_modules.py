"""The modules that a program comes by, for policies that restrict some."""

from __future__ import annotations

import pytest

from tests.scanner.python.seeing import look


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import os", {"os"}),
        ("import os.path as p", {"os.path"}),
        ("from os import path", {"os.path"}),
        ("from os import sep", {"os"}),
        ("from os import *", {"os"}),
        ("import osmnx", {"osmnx"}),
        ("from . import os", set()),
        ("from .os import path", set()),
        ("__import__('o' + 's')", {"os"}),
        ("import importlib\nimportlib.import_module('os')", {"importlib", "os"}),
        ("import sys\nsys.modules['os']", {"sys", "os"}),
        ("import glob\nglob.os", {"glob", "os"}),
        ("exec('import os')", {"os"}),
    ],
)
def test_modules(code: str, names: set[str]) -> None:
    assert {use.name for use in look(code).modules} == names


def test_route_of_a_module_found_in_another() -> None:
    use = look("import glob\nglob.os").modules[1]
    assert (use.name, use.route) == ("os", ("glob.os",))
