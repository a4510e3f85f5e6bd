"""Command lines: options, arguments, help, and messages about mistakes."""

from enum import StrEnum
from typing import Annotated, Any

import pytest

from llm_sandbox.cli.app import app, run
from llm_sandbox.cli.grammar import Argument, Command, Group, Option, Options, Parsed, UsageError
from llm_sandbox.cli.help import command_help
from tests.commands import invoke

SEEN: dict[str, Any] = {}


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Shared(Options):
    size: Annotated[int, Option("--size", "-s", help="How large.", metavar="N")] = 3
    tags: Annotated[list[str] | None, Option("--tag")] = None


def paint(
    parsed: Parsed,
    shared: Shared,
    what: Annotated[str, Argument(help="What to paint.", metavar="WHAT")],
    more: Annotated[list[str] | None, Argument(metavar="MORE")] = None,
    colour: Annotated[Colour, Option("--colour", "-c")] = Colour.RED,
    out: Annotated[str | None, Option("--out", lone="here")] = None,
    wet: Annotated[bool, Option("--wet/--dry", help="Whether it drips.")] = True,
    loud: Annotated[bool, Option("--loud", "-l")] = False,
    twice: Annotated[float | None, Option("--twice", parse=lambda text: 2 * float(text))] = None,
) -> None:
    """Paint something.

    In one colour.
    """
    SEEN.update(locals())


PAINT = Command(paint, epilog="That is all.")


def read(*words: str) -> dict[str, Any]:
    SEEN.clear()
    PAINT.run(words, "paint")
    return SEEN


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["door"], "what", "door"),
        (["door", "a", "b"], "more", ["a", "b"]),
        (["door", "--colour", "green", "a"], "more", ["a"]),
        (["--colour=green", "door"], "colour", Colour.GREEN),
        (["-cgreen", "door"], "colour", Colour.GREEN),
        (["-lc", "green", "door"], "colour", Colour.GREEN),
        (["-lc", "green", "door"], "loud", True),
        (["door", "--dry"], "wet", False),
        (["door"], "wet", True),
        (["door", "--out"], "out", "here"),
        (["door", "--out", "--loud"], "out", "here"),
        (["--out", "there", "door"], "out", "there"),
        (["door", "--twice", "-1.5"], "twice", -3.0),
        (["door", "--", "--loud", "-x"], "more", ["--loud", "-x"]),
        (["--", "-door"], "what", "-door"),
        (["-", "-"], "what", "-"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_become_values(words: list[str], name: str, value: object) -> None:
    assert read(*words)[name] == value


def test_shared_options_come_as_one() -> None:
    shared = read("door", "-s", "5", "--tag", "a", "--tag", "b")["shared"]
    assert (5, ["a", "b"]) == (shared.size, shared.tags)
    assert (3, None) == (read("door")["shared"].size, read("door")["shared"].tags)
    with pytest.raises(TypeError, match="colour"):
        Shared(colour="red")  # type: ignore[call-arg]


def test_what_was_typed_is_known() -> None:
    parsed = read("-c", "green", "door", "--dry", "--", "x")["parsed"]
    assert [("--colour", "green"), ("--dry", None)] == parsed
    assert ["x"] == parsed.rest


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        ([], "paint needs WHAT", None),
        (["door", "--color", "red"], "no option --color", "did you mean --colour?"),
        (["door", "-z"], "no option -z", "after --"),
        (["door", "--colour", "gren"], "expected one of red, green, got 'gren'", "green?"),
        (["door", "--size", "big"], "--size: expected a whole number, got 'big'", None),
        (["door", "--size"], "--size needs a value", "--size N"),
        (["door", "--size", "--loud"], "--size needs a value", "--size N"),
        (["door", "--loud=yes"], "--loud takes no value", None),
        (["door", "--twice", "much"], "--twice: expected a number", None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_told(words: list[str], says: str, hint: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        read(*words)
    assert says in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


def test_options_before_the_first_argument_only() -> None:
    SEEN.clear()
    Command(paint, options_first=True).run(["-l", "door", "--dry", "-h"], "paint")
    assert (True, ["--dry", "-h"], True) == (SEEN["wet"], SEEN["more"], SEEN["loud"])


def test_help_says_all() -> None:
    text = command_help(PAINT, "paint")
    for word in ("WHAT", "[MORE...]", "--colour, -c red|green", "[default: red]", "--wet, --dry"):
        assert word in text
    for word in ("How large.", "--size, -s N", "[default: 3]", "That is all.", "In one colour."):
        assert word in text


def test_help_is_asked_for_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    SEEN.clear()
    PAINT.run(["door", "--help"], "paint")
    assert "Usage: paint" in capsys.readouterr().out
    assert not SEEN
    assert read("door", "--", "--help")["more"] == ["--help"]
    with pytest.raises(UsageError):
        read("door", "--colour", "-h")


def test_every_command_can_be_loaded_and_describes_itself() -> None:
    """No name in the tables is without its command, and none without help."""
    waiting: list[tuple[str, Command | Group]] = [("", app)]
    count = 0
    while waiting:
        path, one = waiting.pop()
        assert one.help, path
        if isinstance(one, Group):
            waiting += [(f"{path} {name}", one.get(name)) for name in one.commands]
            continue
        count += 1
        code, said = invoke(*path.split(), "--help")
        assert 0 == code
        assert f"Usage: llm-sandbox{path} " in said
        for parameter in one.parameters:
            assert parameter.label in said
            assert isinstance(parameter.form, Argument | Option)
            assert parameter.form.help, (path, parameter.name)
    assert count > 20


def test_out_has_a_default() -> None:
    (out,) = (one for one in Command(run).parameters if one.name == "out")
    assert isinstance(out.form, Option)
    assert "llm-sandbox-output" == out.form.lone


def test_a_group_alone_shows_its_help() -> None:
    code, said = invoke("snapshots")
    assert 2 == code
    assert "delete" in said
    assert (2, True) == (invoke("snapshts")[0], "did you mean snapshots?" in invoke("snapshts")[1])
    assert "no option --verson" in invoke("--verson")[1]
