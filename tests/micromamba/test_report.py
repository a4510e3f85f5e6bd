"""Report of an activation, which comes from inside, and is parsed as untrusted."""

import pytest

from llm_sandbox.backends.micromamba.activation import parse_report, target_option
from llm_sandbox.backends.micromamba.packages import installation_failure, validate_specs
from llm_sandbox.exceptions import ValidationError

_MARK = b"0123456789abcdef"
_GOOD = b"CONDA_PREFIX=/opt/conda/envs/e\0PATH=/opt/conda/envs/e/bin:/bin\0"


def _report(entries=_GOOD, *, before=b"", python=b"/opt/conda/envs/e/bin/python"):
    return before + b"\0" + _MARK + b"\0" + python + b"\0" + entries


def test_a_report_is_read():
    found = parse_report(_report(_GOOD + b"LINES=one\ntwo=2\0EMPTY=\0"), _MARK)
    assert "/opt/conda/envs/e" == found.prefix
    assert "/opt/conda/envs/e/bin/python" == found.python
    assert "one\ntwo=2" == found.variables["LINES"]
    assert "" == found.variables["EMPTY"]


def test_what_an_activation_script_prints_first_is_no_variable():
    before = b"welcome\0PATH=/attack\0" + b"\0" + b"A=1\0"
    found = parse_report(_report(before=before), _MARK)
    assert "A" not in found.variables
    assert "/opt/conda/envs/e/bin:/bin" == found.variables["PATH"]


def test_without_a_python_there_is_none():
    assert parse_report(_report(python=b""), _MARK).python is None


def test_a_python_elsewhere_is_not_the_environments():
    assert parse_report(_report(python=b"/attack/python"), _MARK).python is None


@pytest.mark.parametrize(
    "entry",
    [
        b"=value",
        b"no equals",
        b"1NAME=x",
        b"BASH_FUNC_f%%=() { :; }",
        b"NAME\n=x",
        b"\xff\xfe=x",
        b"NOT_TEXT=\xff\xfe",
        b"LONG=" + b"x" * (128 << 10) + b"x",
        b"PS1=> ",
        b"PWD=/opt",
    ],
    ids=lambda entry: entry[:12].decode("ascii", "replace"),
)
def test_what_is_no_variable_is_left_out(entry):
    assert 2 == len(parse_report(_report(_GOOD + entry + b"\0"), _MARK).variables)


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"critical libmamba",
        _report().replace(_MARK, b"another mark"),
        _report(_GOOD + b"CUT=sho"),
        _report(b"PATH=/bin\0"),
        _report(b"CONDA_PREFIX=relative\0PATH=/bin\0"),
        _report(b"CONDA_PREFIX=/opt/conda\0"),
        _report(_GOOD + b"A=" + b"x" * (1 << 20) + b"\0"),
    ],
    ids=["nothing", "words", "other mark", "cut", "no prefix", "relative", "no path", "too long"],
)
def test_what_is_no_report_is_none(output):
    assert parse_report(output, _MARK) is None


def test_names_and_paths_of_environments():
    assert ("--name", "my_env-3.12") == target_option("my_env-3.12")
    assert ("--prefix", "/opt/envs/e") == target_option("/opt/envs/e")


@pytest.mark.parametrize("name", ["", "-n", "--prefix=/", "a b", "a/b", "a\0", "../x", "é"])
def test_what_cannot_name_an_environment_is_refused(name):
    with pytest.raises(ValidationError) as caught:
        target_option(name)
    assert "environment" == caught.value.parameter


@pytest.mark.parametrize(
    "spec", ["numpy", "numpy=2.1", "numpy==2.1.0=py312_0", "conda-forge::numpy>=2,<3", "r-base~=4"]
)
def test_package_specifications(spec):
    assert [spec] == validate_specs([spec, spec])


@pytest.mark.parametrize(
    "spec",
    ["", "-c", "--file=/etc/passwd", "https://x/y.conda", "a b", "a;b", "$(x)", "a[url=x]", "/x"],
)
def test_what_is_no_package_specification_is_refused(spec):
    with pytest.raises(ValidationError):
        validate_specs([spec])


def test_a_failure_has_micromambas_own_words():
    said = "info libmamba x\ncritical libmamba Download error (6) Couldn't resolve host name\n"
    error = installation_failure(["numpy"], said, 1)
    assert "critical libmamba Download error (6) Couldn't resolve host name" in error.message
    assert "CONDA_CHANNELS" in error.hint
    assert ("numpy",) == error.packages
    assert said.strip() == error.output
