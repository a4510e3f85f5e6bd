"""Limits, deadlines and timeouts."""

import dataclasses
import math
import time

import pytest

from llm_sandbox import limits
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Deadline, Limits, validate_timeout

FIELDS = [item.name for item in dataclasses.fields(Limits)]
OPTIONAL = {"cpus", "cpus_requested", "cpu_seconds", "memory_requested_bytes"}


GIB, MIB = 2**30, 2**20


@pytest.mark.parametrize(
    ("machine", "memory", "workdir", "tmp"),
    [
        (0, GIB, 512 * MIB, 128 * MIB),
        (8 * GIB, 2 * GIB, GIB, 256 * MIB),
        (256 * GIB, 4 * GIB, 2 * GIB, 512 * MIB),
    ],
)
def test_defaults_are_what_the_documentation_says(monkeypatch, machine, memory, workdir, tmp):
    monkeypatch.setattr(limits, "machine_memory", lambda: machine)
    assert Limits() == Limits(
        memory_bytes=memory,
        processes=128,
        cpus=None,
        cpus_requested=None,
        memory_requested_bytes=None,
        cpu_seconds=None,
        workdir_bytes=workdir,
        tmp_bytes=tmp,
        shm_bytes=tmp,
        inodes=65536,
        open_files=512,
        file_size_bytes=workdir,
        output_bytes=10 * 2**20,
        display_bytes=32 * 2**20,
        displays=200,
        artifact_bytes=32 * 2**20,
        artifacts=200,
    )


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [-1, True, "many", math.nan, math.inf, [], 2**70 + 0.5j])
def test_every_field_refuses_what_is_no_limit_and_names_itself(name, value):
    with pytest.raises(ValidationError, match=name) as caught:
        Limits(**{name: value})
    assert caught.value.parameter == name


@pytest.mark.parametrize("name", sorted(set(FIELDS) - OPTIONAL))
@pytest.mark.parametrize("value", [2**63, 1.5, None])
def test_counts_are_whole_and_fit_the_kernel(name, value):
    with pytest.raises(ValidationError, match=name):
        Limits(**{name: value})


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"cpus": 1, "cpus_requested": 1.5}, "cpus_requested"),
        ({"memory": "1g", "memory_requested": "2g"}, "memory_requested_bytes"),
        ({"memory_requested_bytes": 2**33}, "memory_requested_bytes"),
        ({"memory_requested_bytes": 1.5}, "memory_requested_bytes"),
    ],
)
def test_a_request_above_its_limit_is_refused_by_name(given, parameter):
    with pytest.raises(ValidationError) as caught:
        Limits(**given)
    assert caught.value.parameter == parameter


def test_a_request_up_to_its_limit_or_without_one_is_fine():
    assert Limits(cpus_requested=64).cpus is None
    assert 1 == Limits(cpus=1, cpus_requested=1).cpus_requested
    assert GIB == Limits(memory_bytes=GIB, memory_requested_bytes=GIB).memory_requested_bytes


def test_sizes_have_names_without_a_unit_and_may_be_text():
    asked = {"memory": "2g", "workdir": 5, "tmp": "1 KiB", "output": "0", "cpus": 1.5}
    expected = Limits(
        memory_bytes=2 * GIB, workdir_bytes=5, tmp_bytes=1024, output_bytes=0, cpus=1.5
    )
    assert Limits(**asked) == Limits.parse(asked) == expected
    assert Limits.parse(expected) is expected
    assert Limits.parse(None) == Limits()


@pytest.mark.parametrize(
    ("given", "parameter", "words"),
    [
        ({"memroy": "2g"}, "memroy", "did you mean memory"),
        ({"memory": "2g", "memory_bytes": 5}, "memory_bytes", "given twice"),
        ({"memory": 1}, "memory_bytes", "at least 16 MiB, got 1 bytes"),
        ({"memory": "lots"}, "memory", "memory must be a size"),
        ("2g", "limits", "expected Limits or a mapping, got str"),
    ],
)
def test_what_is_no_limit_is_refused_with_the_way_to_say_it(given, parameter, words):
    with pytest.raises(ValidationError) as caught:
        Limits.parse(given)
    assert caught.value.parameter == parameter
    assert words in f"{caught.value} {caught.value.hint}"


def test_sizes_that_nobody_gave_follow_the_memory():
    small = Limits().replace(memory="512m")
    assert (small.workdir_bytes, small.tmp_bytes) == (256 * MIB, 64 * MIB)
    assert small == Limits(memory="512m")
    given = Limits(workdir="3g", inodes=5).replace(memory="512m")
    assert (given.workdir_bytes, given.file_size_bytes, given.inodes) == (3 * GIB, 3 * GIB, 5)


def test_zero_is_allowed_only_where_the_host_cuts():
    allowed = {"output_bytes", "display_bytes", "displays", "artifact_bytes", "artifacts"}
    for name in FIELDS:
        if name in allowed:
            assert getattr(Limits(**{name: 0}), name) == 0
        else:
            with pytest.raises(ValidationError):
                Limits(**{name: 0})


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 512 * 2**20),
        ("512MB", 512 * 2**20),
        ("1 GiB", 2**30),
        ("1.5g", 3 * 2**29),
        ("4096", 4096),
        ("64kib", 65536),
        ("2T", 2**41),
        ("7b", 7),
        (4096, 4096),
    ],
)
def test_sizes_are_read_in_powers_of_1024(text, size):
    assert Limits.parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "m", "-1m", "0", "1e3", "nan", "1 0", "1mm", "٣m", "9" * 30, 0, -5, True, None, 1.5],
)
def test_what_is_no_size_is_refused_with_the_parameters_name(text):
    with pytest.raises(ValidationError, match="memory") as caught:
        Limits.parse_size(text, "memory")
    assert caught.value.parameter == "memory"


@pytest.mark.parametrize(
    "value", [0, 0.0, -1, -0.5, math.nan, -math.inf, True, False, "3", [], 1e300]
)
def test_a_timeout_that_is_none_is_refused_by_name(value):
    with pytest.raises(ValidationError, match="execution_timeout") as caught:
        validate_timeout(value, "execution_timeout")
    assert caught.value.parameter == "execution_timeout"


@pytest.mark.parametrize(
    ("value", "seconds"), [(None, None), (math.inf, None), (3, 3.0), (0.25, 0.25)]
)
def test_a_timeout_is_seconds_or_no_limit(value, seconds):
    assert validate_timeout(value, "timeout") == seconds


def test_a_deadline_counts_down_and_never_below_zero():
    soon = Deadline.after(0.02)
    assert 0 < soon.remaining() <= 0.02
    assert not soon.expired
    time.sleep(0.03)
    assert soon.expired
    assert soon.remaining() == 0.0


def test_no_deadline_never_expires():
    never = Deadline.after(None)
    assert never.remaining() is None
    assert not never.expired
