"""MIME bundles that keep large values outside of the heap."""

import base64
import json
import pickle
import sys

import pytest

from llm_sandbox.results.bundles import CHART_MIME, Bundle, decode_base64

BYTES = bytes(range(256)) * 400
ENCODED = base64.b64encode(BYTES).decode()


def test_a_bundle_reads_as_a_mapping_of_jupyter_values() -> None:
    data = {
        "image/png": ENCODED,
        "image/svg+xml": "<svg>" + "x" * 10_000,
        "text/plain": "short",
        "application/vnd.plotly.v1+json": {"data": [1, 2]},
        "text/html": "\ud800" * 5000,
    }
    bundle = Bundle(data)
    assert bundle == data
    assert dict(bundle) == data
    assert pickle.loads(pickle.dumps(bundle)) == data


def test_large_values_are_not_kept_in_the_bundle() -> None:
    bundle = Bundle({"image/png": ENCODED, "text/html": "y" * 1_000_000})
    values = bundle._values.values()
    assert sum(sys.getsizeof(value) for value in values) < 1000


def test_content_gives_the_bytes_of_every_form() -> None:
    bundle = Bundle({"image/png": ENCODED, "text/plain": "é", "application/json": {"a": 1}})
    contents = {mime: bundle.content(mime) for mime in bundle}
    assert contents["image/png"].bytes() == BYTES
    assert contents["text/plain"].bytes() == "é".encode()
    assert json.loads(contents["application/json"].bytes()) == {"a": 1}
    assert bundle.content("image/gif") is None


def test_wrapped_base64_is_read_and_comes_back_in_one_line() -> None:
    wrapped = base64.encodebytes(BYTES).decode()
    assert "\n" in wrapped
    assert Bundle({"image/png": wrapped})["image/png"] == ENCODED


@pytest.mark.parametrize("text", ["not base64!" * 1000, "A" * 5001, "ä" * 5000])
def test_what_is_no_base64_stays_what_it_was(text: str) -> None:
    bundle = Bundle({"image/png": text})
    assert bundle["image/png"] == text
    assert bundle.content("image/png") is None
    assert decode_base64(text) is None


@pytest.mark.parametrize("size", [10, 10_000])
def test_json_that_travelled_as_text_is_a_value_again(size: int) -> None:
    record = {"kind": "line", "values": list(range(size))}
    bundle = Bundle({CHART_MIME: json.dumps(record)})
    assert bundle[CHART_MIME] == record


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "nonsense" * 1000])
def test_json_that_is_none_stays_text(text: str) -> None:
    assert Bundle({CHART_MIME: text})[CHART_MIME] == text


def test_a_long_value_of_json_holds_no_number_that_json_has_not() -> None:
    text = json.dumps({"a": [float("nan"), float("inf"), 1.0], "b": "x" * 5000})
    assert Bundle({CHART_MIME: text})[CHART_MIME]["a"] == [None, None, 1.0]
