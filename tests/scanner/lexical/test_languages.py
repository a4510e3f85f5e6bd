"""Ruby, shells and R: every labelled attack is seen on its line, ordinary programs are not."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from llm_sandbox.security.languages import engine_of
from llm_sandbox.security.source import Source
from tests.scanner.lexical.labelled import Labelled, attacks, ordinary

LANGUAGES = ("bash", "r", "ruby")
ATTACKS = [(lang, snippet) for lang in LANGUAGES for snippet in attacks(lang)]
ORDINARY = [(lang, snippet) for lang in LANGUAGES for snippet in ordinary(lang)]
# What ordinary programs never do; reading an environment variable and the like they may.
NEVER = {
    "deserialise",
    "dynamic.code",
    "dynamic.unresolved",
    "file.sensitive",
    "file.write",
    "introspection",
    "mining",
    "module.escape",
    "native",
    "network.metadata",
    "network.socket",
    "network.transfer",
    "network.web",
    "persistence",
    "process.run",
    "resource",
}
CUT = "#----- next"
R_CHECK = f"""lines <- readLines(file("stdin"))
for (part in split(lines, cumsum(lines == "{CUT}"))) parse(text = part)"""
RUBY_CHECK = f"""STDIN.read.split("{CUT}\\n").each do |part|
  RubyVM::InstructionSequence.compile(part)
end"""
CHECKERS = {"r": ["Rscript", "--vanilla", "-e", R_CHECK], "ruby": ["ruby", "-e", RUBY_CHECK]}


def _name(value: object) -> str:
    if isinstance(value, Labelled):
        return f"{value.capability or 'benign'}-{value.name}"
    return str(value)


def test_there_are_enough_of_each() -> None:
    for lang in LANGUAGES:
        assert 60 <= len(attacks(lang))
        assert 60 <= len(ordinary(lang))


@pytest.mark.parametrize(("lang", "snippet"), ATTACKS, ids=_name)
def test_attack_is_seen_where_it_is(lang: str, snippet: Labelled) -> None:
    found = engine_of(lang)(Source(snippet.code, lang))
    assert (snippet.capability, snippet.line) in {
        (str(seen.capability), seen.span.line) for seen in found.findings
    }
    assert "" == found.problem


@pytest.mark.parametrize(("lang", "snippet"), ORDINARY, ids=_name)
def test_ordinary_program_is_left_alone(lang: str, snippet: Labelled) -> None:
    found = engine_of(lang)(Source(snippet.code, lang))
    assert [] == [seen for seen in found.findings if str(seen.capability) in NEVER]
    assert "" == found.problem


@pytest.mark.parametrize("lang", CHECKERS)
def test_snippets_are_programs_to_the_language_itself(lang: str) -> None:
    if shutil.which(CHECKERS[lang][0]) is None:
        pytest.skip(f"{CHECKERS[lang][0]} is not installed")
    text = f"{CUT}\n".join(snippet.code for snippet in [*attacks(lang), *ordinary(lang)])
    run = subprocess.run(CHECKERS[lang], input=text, capture_output=True, text=True)
    assert 0 == run.returncode, run.stderr


def test_snippets_are_programs_to_bash() -> None:
    for snippet in [*attacks("bash"), *ordinary("bash")]:
        run = subprocess.run(["bash", "-n"], input=snippet.code, capture_output=True, text=True)
        assert 0 == run.returncode, f"{snippet.name}: {run.stderr}"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("piece", ["(", "[", "{", '"', "'", "`", "$(", "#{", "<<A\n", "x + ", "\0"])
def test_deep_and_broken_code_ends(lang: str, piece: str) -> None:
    found = engine_of(lang)(Source(piece * 10_000 + "\ufeff\udc80", lang))
    assert isinstance(found.findings, list)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_broken_code_is_still_looked_at(lang: str) -> None:
    code = {"bash": "curl x\nif [ ; fi )", "r": "system('id')\nf(((", "ruby": "system('id')\ndef ("}
    assert engine_of(lang)(Source(code[lang], lang)).findings
