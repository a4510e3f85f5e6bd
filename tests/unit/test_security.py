"""Policies and the verdict on code."""

import time

import pydantic
import pytest

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers import LanguageHandlerFactory
from llm_sandbox.security import (
    PolicyPreset,
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
    get_security_policy,
    is_safe,
)

SAFE, LOW, MEDIUM, HIGH = SecurityIssueSeverity
PRESETS = PolicyPreset.__args__
HANDLER = LanguageHandlerFactory.create_handler("python")


def policy(*, threshold=LOW, modules=(), patterns=(), severity=HIGH):
    return SecurityPolicy(
        severity_threshold=threshold,
        patterns=[SecurityPattern(pattern=p, description="p", severity=severity) for p in patterns],
        restricted_modules=[
            RestrictedModule(name=m, description="m", severity=severity) for m in modules
        ],
    )


NO_OS = policy(modules=["os"])

IMPORTS = [
    "import os",
    "import os.path",
    "import sys, os",
    "import sys, \\\n os",
    "import os as safe",
    "from os import path",
    "from os.path import join",
    "x='#'; import os",
    "def f():\n    import os",
    "if True: import os",
    "__import__('os')",
    "__builtins__.__import__('os')",
    "import importlib\nimportlib.import_module('os')",
    "from importlib import import_module\nimport_module(name='os.path')",
    "'''\n''';import os",
]
NOT_IMPORTS = [
    '"""import os"""',
    "# import os",
    "x = 'import os'",
    "import osmnx",
    "from osmnx import os",
    "from . import os",
    "from .os import x",
    "import sys as os",
    "os = 1",
    "",
]


@pytest.mark.parametrize("code", IMPORTS)
def test_every_way_to_import_a_restricted_module_is_found(code):
    verdict, found = is_safe(code, NO_OS, HANDLER)
    assert not verdict
    assert [(item.description, item.severity) for item in found] == [("m", HIGH)]


@pytest.mark.parametrize("code", NOT_IMPORTS)
def test_what_only_looks_like_an_import_is_not_found(code):
    assert is_safe(code, NO_OS, HANDLER) == (True, [])


@pytest.mark.parametrize("code", [c for c in IMPORTS if "'''" not in c])
def test_imports_are_found_in_code_that_does_not_parse(code):
    assert not is_safe(f"%matplotlib inline\n{code}\n)(", NO_OS, HANDLER)[0]


@pytest.mark.parametrize("code", ["# import os\n)(", "import osmnx\n)(", "x='a' # import os\n)("])
def test_comments_do_not_count_in_code_that_does_not_parse(code):
    assert is_safe(code, NO_OS, HANDLER) == (True, [])


@pytest.mark.parametrize("code", ["\0import os", "import os # \ud800", "(" * 5000 + "\nimport os"])
def test_hostile_text_gets_a_verdict(code):
    assert not is_safe(code, NO_OS, HANDLER)[0]


def test_a_submodule_can_be_restricted_alone():
    only = policy(modules=["os.path"])
    assert not is_safe("from os import path", only, HANDLER)[0]
    assert not is_safe("from os import path\n)(", only, HANDLER)[0]
    assert is_safe("from os import sep", only, HANDLER)[0]
    assert is_safe("import os", only, HANDLER)[0]


def test_patterns_see_strings_and_not_comments():
    secret = policy(patterns=["/etc/shadow"])
    assert not is_safe("x = '#'; open('/etc/shadow')", secret, HANDLER)[0]
    assert is_safe("# /etc/shadow", secret, HANDLER)[0]


def test_safe_as_threshold_blocks_nothing_and_reports_all():
    loose = policy(threshold=SAFE, modules=["os", "sys"], patterns=["import"])
    verdict, found = is_safe("import os, sys", loose, HANDLER)
    assert verdict
    assert len(found) == 3


@pytest.mark.parametrize("threshold", [LOW, MEDIUM, HIGH])
@pytest.mark.parametrize("severity", [SAFE, LOW, MEDIUM, HIGH])
def test_findings_at_or_above_the_threshold_block(threshold, severity):
    strict = policy(threshold=threshold, severity=severity, modules=["os"], patterns=["os"])
    verdict, found = is_safe("import os", strict, HANDLER)
    assert verdict is (severity < threshold)
    assert len(found) == 2


def test_all_findings_are_returned_after_a_blocking_one():
    both = policy(modules=["os", "sys"], patterns=["import", "nothing"])
    assert len(is_safe("import os, sys", both, HANDLER)[1]) == 3


def test_a_verdict_never_changes_the_policy():
    strict = get_security_policy("strict")
    before = strict.model_dump()
    for _ in range(3):
        is_safe("import os", strict, HANDLER)
    assert strict.model_dump() == before


def test_no_policy_and_an_empty_policy_find_nothing():
    assert is_safe("import os", None, HANDLER) == (True, [])
    assert is_safe("import os", SecurityPolicy(severity_threshold=LOW), HANDLER) == (True, [])


def test_adding_to_a_policy_leaves_the_given_lists_alone():
    patterns: list[SecurityPattern] = []
    extended = SecurityPolicy(patterns=patterns)
    extended.add_pattern(SecurityPattern(pattern="x", description="d", severity=LOW))
    extended.add_restricted_module(RestrictedModule(name="os", description="d", severity=LOW))
    assert (len(extended.patterns), len(extended.restricted_modules), patterns) == (1, 1, [])


def test_a_pattern_that_does_not_compile_is_refused():
    with pytest.raises(pydantic.ValidationError, match="regular expression"):
        SecurityPattern(pattern="(", description="d", severity=LOW)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_fresh_and_lets_ordinary_code_through(preset):
    first = get_security_policy(preset)
    first.add_pattern(SecurityPattern(pattern="print", description="d", severity=HIGH))
    first.patterns[0].description = "changed"
    second = get_security_policy(preset)
    assert second.patterns[0].description != "changed"
    code = "import numpy as np\nimport pandas as pd\nprint(np.arange(3).sum(), re.compile('a'))"
    assert is_safe(code, second, HANDLER) == (True, [])


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_blocks_reading_the_machines_secrets(preset):
    assert not is_safe("open('/etc/shadow')", get_security_policy(preset), HANDLER)[0]


@pytest.mark.parametrize(
    ("code", "blocking"),
    [
        ("import requests", {"strict"}),
        ("import os", {"production", "strict"}),
        ("import pickle", {"strict"}),
        ("import ctypes", set(PRESETS) - {"minimal"}),
        ("import subprocess", set(PRESETS) - {"minimal", "development"}),
        ("import socket", {"educational", "data_science", "production", "strict"}),
        ("eval(text)", {"web_scraping", "production", "strict"}),
    ],
)
def test_presets_differ_as_documented(code, blocking):
    assert {p for p in PRESETS if not is_safe(code, get_security_policy(p), HANDLER)[0]} == blocking


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(ValidationError, match="data_science"):
        get_security_policy("nonsense")


@pytest.mark.parametrize(
    "unit", ["import ", "from os import ", "from os.path ", "import \\\n", "'''\\"]
)
def test_hostile_code_is_scanned_in_linear_time(unit):
    started = time.perf_counter()
    is_safe(unit * 20_000 + ")(", policy(modules=["zz", "os.zz"]), HANDLER)
    assert time.perf_counter() - started < 5
