"""Every language on the backends that run all of them, by the suite that ships with the library."""

from pathlib import Path

import pytest

from llm_sandbox.language_handlers.registry import BUILTIN
from llm_sandbox.testing.language_samples import BUILTIN_SAMPLES, TABLES, LanguageSamples
from llm_sandbox.testing.language_suite import LanguageSuite

pytestmark = pytest.mark.timeout(240)


class TestBubblewrap(LanguageSuite):
    backend_name = "bubblewrap"


@pytest.mark.sampled
class TestDocker(LanguageSuite):
    backend_name = "docker"

    @classmethod
    def marks_of(cls, language: str) -> list[pytest.MarkDecorator]:
        return [pytest.mark.engine("docker", image=language)]


@pytest.mark.parametrize("language", sorted(BUILTIN))
def test_each_language_has_samples(language: str) -> None:
    """Of each language of ours, and of each behaviour, there is a sample or the reason for none."""
    samples = LanguageSamples.load(BUILTIN_SAMPLES / f"{language}.toml")

    assert set(TABLES) == samples.samples.keys() | samples.absent.keys()
    assert not samples.samples.keys() & samples.absent.keys()


def test_samples_are_of_languages() -> None:
    """No file of samples is of a language that there is not."""
    assert {Path(path).stem for path in BUILTIN_SAMPLES.iterdir()} <= set(BUILTIN)
