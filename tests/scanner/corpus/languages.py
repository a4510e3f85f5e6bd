"""The corpora of the other languages, and the techniques that nobody wrote rules for."""

from __future__ import annotations

import re
from pathlib import Path

from tests.scanner.corpus.snippets import Snippet
from tests.scanner.lexical import labelled
from tests.scanner.trees import snippets as trees

__all__ = ["OTHERS", "attacks_of", "heldout", "heldout_twins", "ordinary_of"]

HELDOUT = Path(__file__).parents[1] / "heldout"
FIELD = re.compile(r"^# (technique|capability|event|needle|notebook): *(.*?) *$", re.MULTILINE)
OTHERS = ("javascript", "java", "cpp", "go", "ruby", "bash", "r")
"""The languages that have a corpus beside Python."""


def heldout() -> list[Snippet]:
    """Return the attacks of techniques that no rule was written for."""
    files = sorted(path for path in HELDOUT.glob("*.txt") if path.stem != "twins")
    return [snippet for path in files for snippet in _labelled(path)]


def heldout_twins() -> list[Snippet]:
    """Return programs of the same shapes that do no harm."""
    return _labelled(HELDOUT / "twins.txt")


def _labelled(path: Path) -> list[Snippet]:
    """Programs of a file; each begins with comments that say what it does."""
    found = []
    for code in re.split(r"^(?=# technique: )", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        fields = dict(FIELD.findall(code))
        harmless = fields["capability"] == "none"
        snippet = Snippet(
            name=f"{path.stem}: {fields['technique']}",
            code=code.rstrip("\n") + "\n",
            technique=fields["technique"],
            sink="",
            capability="" if harmless else fields["capability"],
            events=() if harmless else tuple(re.findall(r"[^,\s]+", fields["event"])),
            needle=fields.get("needle", ""),
            notebook=fields.get("notebook") == "yes",
        )
        found.append(snippet)
    return found


def attacks_of(lang: str) -> list[tuple[str, str]]:
    """Return capability and code of each attack in a language."""
    if lang in trees.EXTENSIONS:
        return [(snippet.capability, snippet.code) for snippet in trees.malicious(lang)]
    return [(attack.capability, attack.code) for attack in labelled.attacks(lang)]


def ordinary_of(lang: str) -> list[str]:
    """Return each ordinary program in a language."""
    if lang in trees.EXTENSIONS:
        return [snippet.code for snippet in trees.benign(lang)]
    return [program.code for program in labelled.ordinary(lang)]
