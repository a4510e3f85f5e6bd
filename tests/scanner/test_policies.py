"""Policies: their parts, and their judgement of findings."""

import copy
import pickle
from pathlib import Path

import pydantic
import pytest

from llm_sandbox.exceptions import LanguageNotSupportedError, ValidationError
from llm_sandbox.language_handlers import LanguageHandlerFactory
from llm_sandbox.results.findings import Capability
from llm_sandbox.security import (
    PolicyPreset,
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
    get_security_policy,
    scan,
    scan_libraries,
    scan_with,
    violations_of,
)

SAFE, LOW, MEDIUM, HIGH = SecurityIssueSeverity
PRESETS = PolicyPreset.__args__


def policy(*, threshold=LOW, modules=(), patterns=(), severity=HIGH, **fields):
    return SecurityPolicy(
        severity_threshold=threshold,
        patterns=[SecurityPattern(pattern=p, description="p", severity=severity) for p in patterns],
        restricted_modules=[
            RestrictedModule(name=m, description="m", severity=severity) for m in modules
        ],
        **fields,
    )


# --- restricted modules

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
    "import sys\nsys.modules['o' + 's']",
    "import glob\nglob.os.getcwd()",
    "exec('import os')",
    "import \uff4f\uff53",
]
NOT_IMPORTS = [
    '"""import os"""',
    "# import os",
    "x = 'import os'",
    "import osmnx",
    "from . import os",
    "from .os import x",
    "import sys as os",
    "os = 1",
    "",
]


@pytest.mark.parametrize("code", IMPORTS)
def test_every_way_to_a_restricted_module_is_found(code):
    report = scan(code, policy=NO_OS)
    assert not report.is_safe
    assert {("module/os", "m", "high")} == {
        (f.rule_id, f.message, f.severity) for f in report.findings
    }


@pytest.mark.parametrize("code", NOT_IMPORTS)
def test_what_only_looks_like_an_import_is_not_found(code):
    assert () == scan(code, policy=NO_OS).findings


@pytest.mark.parametrize("code", [c for c in IMPORTS[:14] if "'''" not in c])
def test_imports_are_found_in_code_that_does_not_parse(code):
    report = scan(f"{code}\n)(", policy=NO_OS)
    assert not report.parsed
    assert any(f.rule_id == "module/os" for f in report.findings)


@pytest.mark.parametrize("code", ["# import os\n)(", "import osmnx\n)(", "x='a' # import os\n)("])
def test_comments_do_not_count_in_code_that_does_not_parse(code):
    report = scan(code, policy=NO_OS)
    assert ["text.unparsed"] == [f.category for f in report.findings]


def test_a_submodule_can_be_restricted_alone():
    only = policy(modules=["os.path"])
    assert not scan("from os import path", policy=only).is_safe
    assert not scan("import os.path as p", policy=only).is_safe
    assert scan("from os import sep", policy=only).is_safe
    assert scan("import os", policy=only).is_safe


# --- thresholds


def test_safe_as_threshold_blocks_nothing_and_reports_all():
    loose = policy(threshold=SAFE, modules=["os", "sys"], patterns=["import"])
    report = scan("import os, sys", policy=loose)
    assert report.is_safe
    assert 3 == len(report.findings)


@pytest.mark.parametrize("threshold", [LOW, MEDIUM, HIGH])
@pytest.mark.parametrize("severity", [LOW, MEDIUM, HIGH])
def test_findings_at_or_above_the_threshold_block(threshold, severity):
    strict = policy(threshold=threshold, severity=severity, modules=["os"], patterns=["os"])
    report = scan("import os", policy=strict)
    assert report.is_safe is (severity < threshold)
    assert 2 == len(report.findings)


def test_findings_come_in_the_order_of_the_code_and_each_once():
    code = "import sys\nimport os\nimport os\nprint(sys, os)"
    both = policy(modules=["os", "sys"], patterns=["print"])
    report = scan(code, policy=both)
    assert [(1, "sys"), (2, "os"), (3, "os"), (4, "print")] == [
        (f.line, f.subject) for f in report.findings
    ]


def test_the_same_scan_gives_the_same_report():
    code = "import os, pickle\nos.system('id')\npickle.loads(b'')\neval(input())"
    assert scan(code, policy="strict").to_json() == scan(code, policy="strict").to_json()


def test_a_verdict_never_changes_the_policy():
    strict = policy(modules=["os"], patterns=["os"], capabilities={Capability.PROCESS_RUN: HIGH})
    before = strict.model_dump()
    for _ in range(3):
        scan("import os; os.system('id')", policy=strict)
        scan_libraries(["os"], "python", strict)
    assert before == strict.model_dump()


def test_an_empty_policy_finds_nothing_and_no_policy_reports_and_blocks_nothing():
    code = "import os; os.system('id')"
    assert () == scan(code, policy=SecurityPolicy(severity_threshold=LOW)).findings
    report = scan(code)
    assert report.is_safe
    assert ["process.run"] == [f.category for f in report.findings]


def test_a_policy_that_is_off_looks_for_nothing():
    off = policy(modules=["os"], patterns=["os"], enforcement="off")
    assert () == scan("import os", policy=off).findings
    assert () == scan("import os)", policy=off).findings


@pytest.mark.parametrize(("on_parse_error", "safe"), [("warn", True), ("block", False)])
def test_code_that_cannot_be_read_is_never_silently_safe(on_parse_error, safe):
    medium = policy(threshold=MEDIUM, on_parse_error=on_parse_error)
    report = scan("print(1", policy=medium)
    assert report.is_safe is safe
    assert not report.parsed
    assert ["text.unparsed"] == [f.category for f in report.findings]
    assert "not" in report.summary, "a person must see that it was not read"


def test_code_too_large_to_be_read_blocks():
    padded = "#" * 2_000_001 + "\nimport os; os.system('id')"
    report = scan(padded, policy=policy(threshold=HIGH))
    assert not report.is_safe
    assert not report.parsed


# --- allowing


@pytest.mark.parametrize("allowed", ["os.system", "os", "process.run", "process"])
def test_what_is_allowed_is_not_reported(allowed):
    production = get_security_policy("production")
    assert not scan("import os; os.system('id')", policy=production).is_safe
    production.allow = [allowed]
    assert () == scan("import os; os.system('id')", policy=production).findings


@pytest.mark.parametrize("allowed", ["o", "os.sys", "os.popen", "proc", ""])
def test_allowing_something_else_allows_nothing(allowed):
    production = get_security_policy("production")
    production.allow = [allowed]
    assert not scan("import os; os.system('id')", policy=production).is_safe


# --- making policies


def test_adding_to_a_policy_leaves_the_given_lists_alone():
    patterns: list[SecurityPattern] = []
    extended = SecurityPolicy(patterns=patterns)
    extended.add_pattern(SecurityPattern(pattern="x", description="d", severity=LOW))
    extended.add_restricted_module(RestrictedModule(name="os", description="d", severity=LOW))
    assert (1, 1, []) == (len(extended.patterns), len(extended.restricted_modules), patterns)


@pytest.mark.parametrize("pattern", ["(", "(?P<x", "a" * 2_001, "*"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern):
    with pytest.raises(pydantic.ValidationError, match="pattern is"):
        SecurityPattern(pattern=pattern, description="d", severity=LOW)


@pytest.mark.parametrize(
    "fields",
    [
        {"severity_treshold": HIGH},
        {"enforcement": "sometimes"},
        {"capabilities": {"process.walk": HIGH}},
        {"on_parse_error": "ignore"},
    ],
)
def test_a_field_that_means_nothing_is_refused(fields):
    with pytest.raises(pydantic.ValidationError, match=next(iter(fields))):
        SecurityPolicy(**fields)


def test_a_policy_explains_itself():
    words = get_security_policy("production").explain()
    assert "'production': blocks medium and above" in words
    assert "high    process.run" in words


# --- presets


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_fresh_and_lets_ordinary_code_through(preset):
    first = get_security_policy(preset)
    first.add_pattern(SecurityPattern(pattern="print", description="d", severity=HIGH))
    first.capabilities.clear()
    second = get_security_policy(preset)
    assert second.capabilities
    code = "import os, re\nimport numpy as np\nprint(np.arange(3).sum(), re.compile('a'))\n"
    code += "print(os.path.join('a', 'b'), open('data.csv').read())"
    assert () == scan(code, policy=second).findings


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_grades_every_capability(preset):
    graded = set(get_security_policy(preset).capabilities)
    assert set(Capability) - graded == {Capability.UNPARSED}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_blocks_reading_the_machines_secrets(preset):
    assert not scan("open('/etc/shadow')", policy=preset).is_safe


@pytest.mark.parametrize(
    ("code", "blocking"),
    [
        ("import requests; requests.get('http://x')", {"strict"}),
        ("import os; os.system('id')", set(PRESETS) - {"minimal", "development"}),
        ("import pickle; pickle.load(open('x', 'rb'))", {"production", "strict"}),
        ("import ctypes; ctypes.CDLL(None)", set(PRESETS) - {"minimal"}),
        (
            "import socket; socket.create_connection(('x', 1))",
            {"educational", "data_science", "production", "strict"},
        ),
        ("eval(input())", {"data_science", "web_scraping", "production", "strict"}),
        ("import os; os.remove('x')", {"production", "strict"}),
    ],
)
def test_presets_differ_as_documented(code, blocking):
    assert blocking == {preset for preset in PRESETS if not scan(code, policy=preset).is_safe}


def test_the_documented_table_is_the_one_in_force():
    text = (Path(__file__).parents[2] / "docs" / "security-policies.md").read_text()
    rows = text.partition("<!-- table:start -->")[2].partition("<!-- table:end -->")[0]
    names, _, thresholds, *grades = [
        [cell.strip(" `*") for cell in row.strip("|").split("|")] for row in rows.split("\n")[1:-1]
    ]
    letters = {"-": SAFE, "L": LOW, "M": MEDIUM, "H": HIGH}
    for number, name in enumerate(names[1:], 1):
        preset = get_security_policy(name)
        assert letters[thresholds[number]] is preset.severity_threshold
        assert {row[0]: letters[row[number]] for row in grades} == preset.capabilities


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(ValidationError, match="data_science"):
        get_security_policy("nonsense")
    with pytest.raises(ValidationError, match="data_science"):
        scan("1", policy="nonsense")


# --- arguments and languages


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(LanguageNotSupportedError, match="python"):
        scan("x", "cobol")
    with pytest.raises(ValidationError, match="code must be text"):
        scan(b"x")
    with pytest.raises(ValidationError, match="policy must be"):
        scan("x", policy=7)


@pytest.mark.parametrize(("alias", "name"), [("js", "javascript"), ("C++", "cpp"), ("sh", "bash")])
def test_languages_have_their_usual_names(alias, name):
    assert name == scan("x", alias).lang


class Lolcode:
    """A handler as one from another package would be."""

    name = "lolcode"

    def filter_comments(self, code):
        return "\n".join(line.partition("BTW")[0] for line in code.split("\n"))

    def get_import_patterns(self, module):
        return rf"CAN HAS {module}\?"


def test_a_language_from_elsewhere_is_read_by_its_handler():
    strict = policy(modules=["STDIO"], patterns=["GIMMEH"])
    code = "HAI BTW CAN HAS STDIO? GIMMEH\nVISIBLE 1\nCAN HAS STDIO?\n  GIMMEH x"
    report = scan_with(Lolcode(), code, strict)
    assert [(3, 1, "STDIO"), (4, 3, "GIMMEH")] == [
        (f.line, f.column, f.subject) for f in report.findings
    ]
    assert "lexical" == report.engine


# --- violations, as callers of `is_safe` have them


def test_violations_are_patterns_that_match_what_was_found():
    import re

    code = "import os\nos.system('id')"
    both = policy(modules=["os"], patterns=[r"s\w+m"], capabilities={Capability.PROCESS_RUN: HIGH})
    found = violations_of(scan(code, policy=both))
    assert 3 == len(found)
    for violation in found:
        assert isinstance(violation, SecurityPattern)
        assert re.search(violation.pattern, code)
        assert violation.severity is HIGH
        assert violation.finding.line == violation.line
    assert found == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found)


def test_a_python_handler_reads_python_as_the_scan_does():
    handler = LanguageHandlerFactory.create_handler("python")
    code = "%time __import__('os').system('id')"
    production = get_security_policy("production")
    by_handler = scan_with(handler, code, production, notebook=True)
    assert by_handler == scan(code, policy="production", notebook=True)
    assert not by_handler.is_safe
