"""The ordered outputs of a run and their JSON form."""

import dataclasses
import json
import math
import pickle

import pytest

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import from_plain, to_plain
from llm_sandbox.results import outputs
from llm_sandbox.results.outputs import (
    ClearOutput,
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    ResultOutput,
    StreamOutput,
    TracebackFrame,
    UpdateOutput,
)

HOSTILE = "nul \0 lone \ud800 esc \x1b[31m"
ALL = [
    StreamOutput("stdout", HOSTILE),
    StreamOutput("stderr", ""),
    DisplayOutput({"image/png": "aGk=", "application/json": {"a": [1, None, {"$float": "x"}]}}),
    DisplayOutput({"text/plain": HOSTILE}, {"image/png": {"width": 3}}, "id-1"),
    UpdateOutput("id-1", {"text/plain": "b"}, {"k": True}),
    ClearOutput(wait=True),
    ResultOutput({"text/plain": "1"}, {}, 7),
    ErrorOutput("ValueError", HOSTILE, ("\x1b[31mline", "")),
]


def strict_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


@pytest.mark.parametrize("output", ALL, ids=lambda output: output.type)
def test_every_output_survives_strict_json_and_pickle(output):
    assert outputs.from_dict(strict_json(outputs.to_dict(output))) == output
    assert pickle.loads(pickle.dumps(output)) == output


@pytest.mark.parametrize("output", ALL, ids=lambda output: output.type)
def test_unknown_fields_are_ignored(output):
    assert outputs.from_dict({**outputs.to_dict(output), "later_version": 1}) == output


def test_every_output_has_a_tag_of_its_own_and_is_frozen():
    assert len({type(output).type for output in ALL}) == 6
    with pytest.raises(dataclasses.FrozenInstanceError):
        ALL[0].text = "other"


@pytest.mark.parametrize("data", [{}, {"type": "stream"}, {"type": "vendor"}, {"type": None}])
def test_data_that_is_no_output_is_refused(data):
    with pytest.raises(ValidationError):
        outputs.from_dict(data)


def test_non_finite_numbers_keep_their_value_in_strict_json():
    bundle = {"application/json": [float("nan"), float("inf"), -float("inf")]}
    back = outputs.from_dict(strict_json(outputs.to_dict(DisplayOutput(bundle))))
    nan, up, down = back.data["application/json"]
    assert math.isnan(nan)
    assert (up, down) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    "value",
    [
        {"$float": "nan"},
        {"$object": {"$float": "nan"}},
        {"$object": {"$object": 1}},
        {"$float": "nan", "more": 1},
        {"$object": "text"},
        {"a": {"$float": 1}},
    ],
)
def test_a_mapping_that_looks_like_a_mark_comes_back_as_it_was(value):
    assert from_plain(strict_json(to_plain(value))) == value


def test_bytes_become_base64_and_deep_nesting_does_not_exhaust_the_stack():
    assert to_plain({"k": b"hi"}) == {"k": "aGk="}
    nested: list[object] = []
    for _ in range(50_000):
        nested = [nested]
    assert "<nested too deeply>" in json.dumps(to_plain(nested))


def test_an_error_with_frames_survives_strict_json():
    frame = TracebackFrame("<cell>", 3, "f", HOSTILE)
    error = ExecutionError("ZeroDivisionError", HOSTILE, (frame, frame), 3, "exception")
    data = strict_json(error.to_dict())
    data["later"] = data["frames"][0]["later"] = 1
    assert ExecutionError.from_dict(data) == error


@pytest.mark.parametrize("frames", [3, "text", [3], [{}]])
def test_malformed_frames_are_refused(frames):
    with pytest.raises(ValidationError):
        ExecutionError.from_dict({"name": "E", "frames": frames})
