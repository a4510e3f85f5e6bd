"""A part of `tests.scanner.fuzz`: broken programs of every language are read without a crash."""

from __future__ import annotations

import random

import pytest

from llm_sandbox.security.languages import LANGUAGES
from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.mutation import mutated, seeds
from tests.scanner.fuzz import run, sarif_validator

COUNT = 200
VALIDATED = 60


def test_inputs_are_the_same_every_time_and_differ_from_each_other() -> None:
    for lang in LANGUAGES:
        made = [mutated(lang, random.Random(f"{lang}:{number}")) for number in range(200)]
        assert made == [mutated(lang, random.Random(f"{lang}:{n}")) for n in range(200)]
        assert len(set(made)) > 190
        assert not set(made) & set(seeds(lang)) or len(set(made) & set(seeds(lang))) < 40


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_broken_programs_are_read(lang: str) -> None:
    outcome = run(lang, COUNT, validated=VALIDATED)
    assert outcome.problems == []
    assert outcome.inputs == COUNT
    assert outcome.checked >= VALIDATED
    assert outcome.findings > COUNT / 10, "the inputs are too broken to say anything"


def test_the_schema_is_there() -> None:
    """Without it the fuzz would say less than it seems to."""
    validator = sarif_validator()
    assert validator is not None
    log = scan("import os\nos.system('id')\n", policy="strict").to_sarif()
    assert validator.is_valid(log)
    log["runs"][0]["results"][0]["level"] = "grave"  # type: ignore[index]
    assert not validator.is_valid(log)


@pytest.mark.sampled
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00" * 1000,
        "\ud800" * 1000,
        "(" * 10_000,
        "(" * 10_000 + ")" * 10_000,
        "[" * 100_000,
        "-" * 50_000 + "1",
        "f(" * 5_000,
        "a.b" * 30_000,
        "x = '" + "\\" * 100_001,
        "'''" + "`" * 9_999,
        "\n" * 500_000,
        "\r" * 100_000,
        "if x:\n " * 2_000,
        "x" * 1_000_000,
        "{" * 3_000 + '"' * 3_001,
        "$(" * 5_000,
        "<<A\n" * 3_000,
        "#{" * 5_000,
        "${" * 5_000,
        "\u202e\u200b" * 5_000,
    ],
    ids=range(21),
)
def test_extremes_are_read(lang: str, text: str) -> None:
    report = scan(text, lang, "strict")
    assert report.lang == lang
    assert report.to_json()
