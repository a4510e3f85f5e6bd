"""Attacks are stopped: of known techniques all, of held-out ones as many as the floor says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.exceptions import BackendUnavailableError
from tests.scanner.corpus.languages import heldout, heldout_twins
from tests.scanner.corpus.marking import is_named, scan_snippet, stops, twin_alarms
from tests.scanner.corpus.snippets import Snippet, attacks, selection, twins
from tests.scanner.corpus.validation import Verdict, validate

if TYPE_CHECKING:
    from llm_sandbox.security.presets import PolicyPreset

pytestmark = pytest.mark.slow

SHOWN = 12


def verdicts(snippets: list[Snippet]) -> list[Verdict]:
    try:
        return validate(snippets)
    except BackendUnavailableError as error:
        pytest.skip(f"what programs do is only looked at in a sandbox: {error}")


def test_corpus_is_as_wide_as_promised() -> None:
    assert len(attacks()) >= 500
    assert len({snippet.capability for snippet in attacks()}) >= 10
    assert len({snippet.technique for snippet in attacks()}) >= 40
    assert len({snippet.code for snippet in attacks()}) >= len(attacks()) * 0.99


def test_every_technique_has_a_harmless_twin() -> None:
    acts_only = {
        # Named after a module, which has no harmless members of these names.
        *(s.technique for s in attacks() if s.technique.startswith(("reexport", "native-name"))),
        "sys-modules", "sys-modules-get", "sys-modules-from", "sys-modules-folded",
        "sys-modules-popped", "import-package-attribute", "from-package",
        # IPython's ways to a shell: nothing that they can run is harmless.
        *(s.technique for s in attacks() if s.technique.startswith("notebook")),
    }  # fmt: skip
    missing = {s.technique for s in attacks()} - {s.technique for s in twins()}
    assert missing <= acts_only


def test_attacks_really_act() -> None:
    """Each technique with two acts, and each act, raise the audit event of their label."""
    chosen = selection(attacks())
    assert len(chosen) >= 500
    idle = [
        f"{snippet.name}: {verdict.text}"
        for snippet, verdict in zip(chosen, verdicts(chosen), strict=True)
        if not verdict.event
    ]
    assert idle == []


def test_twins_do_nothing() -> None:
    """The control: no watched event comes of the same shapes around harmless functions."""
    chosen = selection(twins(), 1)
    acting = [
        f"{snippet.name}: {verdict.event} {verdict.text}"
        for snippet, verdict in zip(chosen, verdicts(chosen), strict=True)
        if verdict.event
    ]
    assert acting == []


def test_validation_tells_an_idle_program() -> None:
    """The runner's own control: a program that does not do what its label says is not believed."""

    def labelled(code: str) -> Snippet:
        return Snippet("", code, "x", "os.system", "process.run", ("os.system",), "w4tch")

    acting = labelled("import os\nos.system('w4tch')")
    other = labelled("import os\nos.system('true')")
    text = labelled("x = 'os.system w4tch'")
    broken = labelled("import os\n1/0\nos.system('w4tch')")
    found = verdicts([acting, other, text, broken])
    assert [verdict.event for verdict in found] == ["os.system", "", "", ""]
    assert "ZeroDivisionError" in found[3].text


def test_known_techniques_are_stopped(floors: dict[str, Any]) -> None:
    missed: Counter[str] = Counter()
    unnamed: Counter[str] = Counter()
    for snippet in attacks():
        report = scan_snippet(snippet, "production")
        missed[snippet.technique] += not stops(report, snippet.capability)
        unnamed[snippet.technique] += not is_named(snippet, report)
    recall = 1 - missed.total() / len(attacks())
    named = 1 - unnamed.total() / len(attacks())
    assert recall >= floors["known"]["recall"], (+missed).most_common(SHOWN)
    assert named >= floors["known"]["named"], (+unnamed).most_common(SHOWN)


@pytest.mark.parametrize("preset", ["data_science", "production"])
def test_harmless_twins_pass(preset: PolicyPreset) -> None:
    flagged = [
        (twin.name, sorted({str(finding.category) for finding in found}))
        for twin in twins()
        if (found := twin_alarms(twin, scan_snippet(twin, preset)))
    ]
    assert flagged == []


def test_the_heldout_corpus_is_there() -> None:
    assert len(heldout()) >= 300
    assert len({snippet.technique for snippet in heldout()}) >= 200


def test_heldout_techniques_act() -> None:
    """But for reading the environment, of which the interpreter tells nothing."""
    snippets = [snippet for snippet in heldout() if snippet.events != ("canary",)]
    idle = [
        f"{snippet.name}: {verdict.text}"
        for snippet, verdict in zip(snippets, verdicts(snippets), strict=True)
        if not verdict.event
    ]
    assert idle == []


def test_heldout_recall_is_above_its_floor(floors: dict[str, Any]) -> None:
    """Which of them are missed is not shown: nobody is to write rules for them."""
    snippets = heldout()
    caught = sum(stops(scan_snippet(s, "production"), s.capability) for s in snippets)
    assert caught / len(snippets) >= floors["heldout"]["recall"], caught / len(snippets)


def test_heldout_twins_mostly_pass(floors: dict[str, Any]) -> None:
    twins = heldout_twins()
    flagged = [twin.name for twin in twins if scan_snippet(twin, "production").blocking]
    assert len(flagged) / len(twins) <= floors["heldout"]["twins"], flagged
