"""Four samples of each kind, with what exactly comes out."""

import pytest

from llm_sandbox.artifacts import registry
from llm_sandbox.artifacts.base import ArtifactKind
from llm_sandbox.artifacts.identify import Identity, examine, identify
from llm_sandbox.artifacts.registry import load
from tests.artifacts import (
    samples_archives,
    samples_media,
    samples_pictures,
    samples_stores,
    samples_text,
)

SAMPLES = {
    **samples_pictures.SAMPLES,
    **samples_media.SAMPLES,
    **samples_archives.SAMPLES,
    **samples_stores.SAMPLES,
    **samples_text.SAMPLES,
}


def extension(name):
    return name.rpartition(".")[2]


def identity(kind, note=""):
    found = load(kind)
    return Identity(kind, found.mimes[0], found.type, note)


def test_every_kind_has_its_samples():
    """A kind without samples, or samples without their kind, would be overlooked."""
    assert set(registry.BUILTIN) == set(SAMPLES)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_good_file_is_itself(kind):
    """It has its kind under its name, without a name, and by its beginning alone."""
    sample, found = SAMPLES[kind], load(kind)
    seen = examine(sample.good, sample.name, found.mimes[0])
    assert identity(kind, found.remark) == seen.identity
    assert sample.facts == seen.dimensions
    assert sample.note == seen.note
    assert identity(kind, found.remark) == identify(sample.good[: found.needs], sample.name)
    assert found().matches(sample.good[: found.needs])


@pytest.mark.parametrize("kind", SAMPLES)
def test_other_good_files_are_themselves(kind):
    """Writers have choices, and each of them gives a good file."""
    for name, content in SAMPLES[kind].others.items():
        seen = examine(content, name)
        assert (name, kind, SAMPLES[kind].note) == (name, seen.identity.kind, seen.note)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_cut_file_says_so(kind):
    """Its kind stays known where its beginning is left, and what is missing is named."""
    sample = SAMPLES[kind]
    seen = examine(sample.cut, sample.name)
    assert (sample.cut_kind or kind) == seen.identity.kind
    assert sample.cut_note == seen.note


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_giant_claim_is_only_numbers(kind):
    """What a file claims is said, and neither believed nor made."""
    sample = SAMPLES[kind]
    seen = examine(sample.giant, sample.name)
    assert (sample.giant_kind or kind) == seen.identity.kind
    assert sample.giant_facts == seen.dimensions
    assert sample.giant_note == seen.note


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_lying_file_is_what_its_bytes_are(kind):
    """Neither a name nor a claim makes a file of a kind, and both are contradicted."""
    sample, found = SAMPLES[kind], load(kind)
    said = [f"named .{extension(sample.name)}"] if found.extensions else []
    said.append(f"claims {found.mimes[0]}")
    note = f"{', '.join(said)}, holds {sample.lie_holds}" if sample.lie_holds else ""
    seen = identify(sample.lie, sample.name, found.mimes[0])
    assert identity(sample.lie_kind, note) == seen
    assert not found().matches(sample.lie) or kind in ("data", *load(seen.kind).also)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_kind_is_complete(kind):
    """It can be named in a sentence, and its files are called by one of its extensions."""
    found = load(kind)
    assert issubclass(found, ArtifactKind)
    assert found.label
    assert set(found.also) <= set(registry.BUILTIN)
    assert not found.extensions or extension(SAMPLES[kind].name) in found.extensions
