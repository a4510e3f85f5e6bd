"""Commands that are functions: what their parameters say is what can be typed.

Small on purpose: reading the arguments must not take longer than Python takes to start.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, NoReturn, dataclass_transform, get_args, get_origin

__all__ = [
    "USAGE",
    "Argument",
    "Command",
    "Group",
    "Option",
    "Options",
    "Parameter",
    "Parsed",
    "UsageError",
    "close_to",
    "option_annotations",
    "run",
]

USAGE = 2
_HELP = ("-h", "--help")


class UsageError(Exception):
    """A mistake on the command line.

    Args:
        message: What is wrong.
        hint: What to type.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Option:
    """An option, as the annotation of a parameter.

    Args:
        names: ``--long`` first, then ``-s``; for a switch with two sides ``--on/--off``.
        help: What it does.
        metavar: What its value is called.
        lone: The value that it has where none follows; None where one must.
        parse: Makes the value of what was typed, and raises ValueError or UsageError; None for the
            parameter's type.
    """

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        lone: str | None = None,
        parse: Callable[[str], Any] | None = None,
    ) -> None:
        first, _, self.off = names[0].partition("/")
        self.names = (first, *names[1:])
        self.help = help
        self.metavar = metavar
        self.lone = lone
        self.parse = parse


class Argument:
    """A positional argument, as the annotation of a parameter; a list takes all that follow.

    Args:
        help: What it is.
        metavar: What it is called.
    """

    def __init__(self, *, help: str = "", metavar: str = "") -> None:
        self.help = help
        self.metavar = metavar


class Parsed(list[tuple[str, str | None]]):
    """The options that were typed, in their long form and order, with their values.

    A parameter of this type gets them.
    """

    rest: list[str]
    """What stood after ``--``."""


@dataclass_transform(kw_only_default=True)
class Options:
    """Options that several commands have, as the type of a parameter: each annotated attribute is
    one, and its value is the default.

    Args:
        values: The attributes that are not the default.
    """

    def __init__(self, **values: Any) -> None:
        for name in option_annotations(type(self)):
            setattr(self, name, values.pop(name, getattr(type(self), name)))
        if values:
            raise TypeError(f"there are no options {', '.join(values)}")


def option_annotations(group: type[Options]) -> dict[str, Any]:
    """The attributes of a group that are options, those of its bases first."""
    found: dict[str, Any] = {}
    for one in reversed(group.__mro__):
        found.update(getattr(one, "__annotations__", {}))
    return found


class Parameter:
    """One parameter of a command.

    Args:
        name: Its name.
        kind: The type of its value; of each of them for a list.
        form: What it is on the command line.
        many: Whether it is a list.
        default: Its value when it is not typed.
        required: Whether it must be.
    """

    def __init__(
        self,
        name: str,
        kind: Any,
        form: Option | Argument,
        *,
        many: bool,
        default: object,
        required: bool,
    ) -> None:
        self.name = name
        self.kind = kind
        self.form = form
        self.many = many
        self.default = default
        self.required = required

    @property
    def label(self) -> str:
        """How people call it."""
        form = self.form
        return form.names[0] if isinstance(form, Option) else form.metavar or self.name.upper()

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool

    @property
    def choices(self) -> list[str]:
        """All that it can be; empty when that is not a list."""
        kind = self.kind
        if isinstance(kind, type) and issubclass(kind, Enum):
            return [str(member.value) for member in kind]
        return []

    def read(self, text: str) -> Any:
        """Return the value that text stands for.

        Raises:
            UsageError: It stands for none.
        """
        parse = self.form.parse if isinstance(self.form, Option) else None
        if self.choices and text not in self.choices:
            known = ", ".join(self.choices)
            raise UsageError(
                f"{self.label}: expected one of {known}, got {text!r}",
                close_to(text, self.choices),
            )
        try:
            return (parse or self.kind)(text)
        except ValueError:
            kinds = {int: "a whole number", float: "a number"}
            expected = kinds.get(self.kind, "another value")
            raise UsageError(f"{self.label}: expected {expected}, got {text!r}") from None


class Command:
    """A function that can be called from the command line.

    Args:
        function: Its parameters are annotated with `Option` and `Argument`; its docstring is the
            help.
        name: What is typed; None for the function's name.
        epilog: The end of the help.
        options_first: Whether what follows the first argument are arguments, whatever they begin
            with.
    """

    def __init__(
        self,
        function: Callable[..., None],
        name: str | None = None,
        *,
        epilog: str = "",
        options_first: bool = False,
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        self.epilog = epilog
        self.options_first = options_first

    @property
    def help(self) -> str:
        """What it does, from the docstring."""
        return (self.function.__doc__ or "").strip()

    @property
    def parameters(self) -> "list[Parameter]":
        """What can be typed, in the order of the function."""
        return list(_parameters(self.function))

    def run(self, words: Sequence[str], path: str) -> None:
        """Call it with what was typed.

        Args:
            words: What stands after its name.
            path: How it was called, for messages.

        Raises:
            UsageError: That cannot be typed.
            SystemExit: The command has ended, with an exit code.
        """
        if any(word in _HELP for word in _before(words, "--", self)):
            from llm_sandbox.cli.help import command_help

            print(command_help(self, path))
            return
        self.function(**_Reading(self, path).read(words))


class Group:
    """Commands below a word.

    Args:
        name: The word.
        help: What they are for.
        commands: By name, the command, or the place of one: ``module:attribute``.
    """

    def __init__(
        self, name: str, help: str, commands: "Mapping[str, Command | Group | str]"
    ) -> None:
        self.name = name
        self.help = help
        self.commands = commands

    def get(self, name: str) -> "Command | Group":
        """Return a command, which is imported now."""
        found = self.commands[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = getattr(import_module(module), attribute)
        assert isinstance(found, Command | Group)  # noqa: S101 - what the table says
        return found

    def run(self, words: Sequence[str], path: str) -> None:
        """Call the command that was typed; see `Command.run`."""
        if not words or words[0] in _HELP:
            from llm_sandbox.cli.help import group_help

            print(group_help(self, path))
            if not words:
                raise SystemExit(USAGE)
            return
        name = words[0]
        if name not in self.commands:
            if name.startswith("-"):
                raise UsageError(
                    f"{path} has no option {name}", f"{path} --help lists what there is"
                )
            raise UsageError(
                f"there is no command {path} {name}",
                close_to(name, self.commands) or f"{path} --help lists them",
            )
        self.get(name).run(words[1:], f"{path} {name}")


def close_to(word: str, known: Sequence[str] | Mapping[str, object]) -> str | None:
    """Return the question whether another word was meant; None when none is like it."""
    from difflib import get_close_matches

    found = get_close_matches(word.lower(), list(known), 1, 0.6)
    return f"did you mean {found[0]}?" if found else None


def _parameters(function: Callable[..., None]) -> Iterator[Parameter]:
    # `inspect.signature` says the same, and takes longer than all the rest.
    code: Any = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))
    groups = []
    for name in names:
        annotation = function.__annotations__[name]
        if isinstance(annotation, type) and issubclass(annotation, Options):
            groups.append(annotation)
        elif annotation is not Parsed:
            yield _parameter(name, annotation, defaults)
    for group in groups:
        for part, inner in option_annotations(group).items():
            yield _parameter(part, inner, {part: getattr(group, part)})


def _parameter(name: str, annotation: Any, defaults: Mapping[str, object]) -> Parameter:
    kind, *notes = get_args(annotation)
    assert get_origin(annotation) is Annotated  # noqa: S101 - a rule of this folder
    if isinstance(kind, UnionType):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    many = get_origin(kind) is list
    return Parameter(
        name,
        get_args(kind)[0] if many else kind,
        notes[0],
        many=many,
        default=defaults.get(name),
        required=name not in defaults,
    )


def _before(words: Sequence[str], end: str, command: Command) -> list[str]:
    """The words that may be options of a command, by its own reading or not."""
    found: list[str] = []
    takes = {
        name
        for one in command.parameters
        if isinstance(one.form, Option) and not one.is_switch
        for name in one.form.names
    }
    waits = False
    for word in words:
        if waits:
            waits = False
            continue
        if word == end or (command.options_first and not word.startswith("-")):
            break
        waits = word in takes
        found.append(word)
    return found


class _Reading:
    """The words of a command line, on their way to values."""

    def __init__(self, command: Command, path: str) -> None:
        self._command = command
        self._path = path
        parameters = command.parameters
        self._arguments = [one for one in parameters if isinstance(one.form, Argument)]
        self._options: dict[str, tuple[Parameter, bool]] = {}
        for one in parameters:
            if isinstance(one.form, Option):
                self._options.update((name, (one, True)) for name in one.form.names)
                if one.form.off:
                    self._options[one.form.off] = one, False
        self._values: dict[str, Any] = {}
        self._given = Parsed()

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the function's arguments."""
        left = list(words)
        free: list[str] = []
        rest: list[str] = []
        while left:
            word = left.pop(0)
            if word == "--":
                rest, left = left, []
            elif word.startswith("--"):
                name, equals, value = word.partition("=")
                self._take(name, value if equals else None, left)
            elif word.startswith("-") and word != "-":
                self._take_short(word, left)
            else:
                free.append(word)
                if self._command.options_first:
                    rest, left = left, []
        self._given.rest = rest
        self._fill([*free, *rest])
        return self._values

    def _take_short(self, word: str, left: list[str]) -> None:
        name, value = word[:2], word[2:]
        parameter, _ = self._find(name, word)
        if value and parameter.is_switch:
            # Several in one: what follows is the next.
            self._take(name, None, left)
            self._take_short(f"-{value}", left)
        else:
            self._take(name, value.removeprefix("=") if value else None, left)

    def _find(self, name: str, word: str) -> tuple[Parameter, bool]:
        if name not in self._options:
            hint = close_to(name, self._options) if name.startswith("--") else None
            raise UsageError(
                f"{self._path} has no option {name}",
                hint or f"{self._path} --help lists them; what begins with - goes after --",
            )
        return self._options[name]

    def _take(self, name: str, value: str | None, left: list[str]) -> None:
        parameter, side = self._find(name, name)
        form = parameter.form
        assert isinstance(form, Option)  # noqa: S101 - only those have names
        if parameter.is_switch:
            if value is not None:
                raise UsageError(f"{name} takes no value")
            self._values[parameter.name] = side
            self._given.append((name if not side else form.names[0], None))
            return
        if value is None:
            lone = not left or left[0].startswith("-")
            if lone and form.lone is not None:
                value = form.lone
            elif left and not (lone and left[0] in self._options):
                value = left.pop(0)
            else:
                raise UsageError(f"{name} needs a value", f"{name} {form.metavar or 'VALUE'}")
        read = parameter.read(value)
        self._given.append((form.names[0], value))
        if parameter.many:
            self._values.setdefault(parameter.name, []).append(read)
        else:
            self._values[parameter.name] = read

    def _fill(self, words: list[str]) -> None:
        """Give the words that are no options to the arguments, in their order."""
        for one in self._arguments:
            taken, words = (words, []) if one.many else (words[:1], words[1:])
            if not taken and one.required:
                raise UsageError(
                    f"{self._path} needs {one.label}", f"{self._path} --help says what it takes"
                )
            if taken:
                values = [one.read(word) for word in taken]
                self._values[one.name] = values if one.many else values[0]
        if words:
            raise UsageError(f"{self._path} takes no {words[0]!r}", f"{self._path} --help")
        for one in self._command.parameters:
            self._values.setdefault(one.name, one.default)
        for name, kind in self._command.function.__annotations__.items():
            if kind is Parsed:
                self._values[name] = self._given
            elif isinstance(kind, type) and issubclass(kind, Options):
                parts = option_annotations(kind)
                self._values[name] = kind(**{part: self._values.pop(part) for part in parts})


def run(group: Group, words: Sequence[str]) -> NoReturn:
    """Run a command line to its end, and exit.

    Args:
        group: All there is.
        words: What was typed.
    """
    try:
        group.run(words, group.name)
    except UsageError as error:
        from llm_sandbox.cli.render import say

        say(error.message, error.hint)
        sys.exit(USAGE)
    sys.exit(0)
