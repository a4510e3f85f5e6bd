"""The samples of languages say what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.testing.language_fixtures import LanguageFixtures
from llm_sandbox.testing.language_samples import (
    BUILTIN_SAMPLES,
    TABLES,
    LanguageSamples,
    languages_in,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("language", languages_in(BUILTIN_SAMPLES))
def test_lines_are_lines_of_the_code(language: str) -> None:
    """Each line that is expected of an error is one of its code, of three lines the second."""
    samples = LanguageSamples.load(BUILTIN_SAMPLES / f"{language}.toml")
    for name, sample in samples.samples.items():
        assert sample.code or (sample.first and sample.second), name
        if sample.line is not None:
            # An error at the end of the code may be told of the line after it.
            assert 1 <= sample.line <= sample.code.count("\n") + 1, name
    if samples.keeps_state and "many_lines" in samples.samples:
        assert 3 == len(samples.samples["many_lines"].code.strip().splitlines())
        assert samples.samples["many_lines"].line in (2, None)


@pytest.mark.parametrize("language", languages_in(BUILTIN_SAMPLES))
def test_what_is_absent_has_a_reason(language: str) -> None:
    samples = LanguageSamples.load(BUILTIN_SAMPLES / f"{language}.toml")

    assert samples.absent.keys() <= TABLES.keys()
    assert all(len(reason) > 10 for reason in samples.absent.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keeps_state = true\n[helo]\ncode = 'x'", "helo"),
        ("keeps_state = true\n[hello]\ncod = 'x'", "cod"),
    ],
)
def test_a_name_that_means_nothing_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        LanguageSamples.load(path)


def test_a_sample_that_is_forgotten_fails(tmp_path: Path) -> None:
    """What is neither there nor declared absent is a failure; what is declared is a skip that
    says so.
    """
    path = tmp_path / "some.toml"
    path.write_text("keeps_state = true\n[absent]\nfile = 'it writes none'")
    samples = LanguageSamples.load(path)

    with pytest.raises(pytest.fail.Exception, match="say nothing of hello: prints `hello`"):
        LanguageFixtures.need(samples, "hello")
    with pytest.raises(pytest.skip.Exception, match="absent: it writes none"):
        LanguageFixtures.need(samples, "file")
