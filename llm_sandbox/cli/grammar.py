"""Parser of command lines for commands that are annotated functions.

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
    """Mistake on the command line.

    Args:
        message: The mistake.
        hint: The command or option to type instead.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Option:
    """Annotation that makes a parameter an option.

    Args:
        names: ``--long`` first, then ``-s``; for a switch with two sides ``--on/--off``.
        help: Description of the option.
        metavar: Placeholder of the value in the help.
        lone: Value if the option is given without one; None if a value is required.
        parse: Converter of the text, which may raise ValueError or UsageError; None for the
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
    """Annotation that makes a parameter a positional argument; a list takes all that follow.

    Args:
        help: Description of the argument.
        metavar: Placeholder in the help.
    """

    def __init__(self, *, help: str = "", metavar: str = "") -> None:
        self.help = help
        self.metavar = metavar


class Parsed(list[tuple[str, str | None]]):
    """Given options in their long form and in their order, with their values.

    A parameter of this type receives them.
    """

    rest: list[str]
    """Arguments after ``--``."""


@dataclass_transform(kw_only_default=True)
class Options:
    """Base of groups of options that several commands share: each annotated attribute is one
    option, and its value is the default.

    Args:
        values: Attributes that differ from the defaults.
    """

    def __init__(self, **values: Any) -> None:
        for name in option_annotations(type(self)):
            setattr(self, name, values.pop(name, getattr(type(self), name)))
        if values:
            raise TypeError(f"there are no options {', '.join(values)}")


def option_annotations(group: type[Options]) -> dict[str, Any]:
    """Return the attributes of a group that are options, those of its bases first."""
    found: dict[str, Any] = {}
    for one in reversed(group.__mro__):
        found.update(getattr(one, "__annotations__", {}))
    return found


class Parameter:
    """Parameter of a command.

    Args:
        name: Name of the parameter.
        kind: Type of the value, or of the items of a list.
        form: Option or argument.
        many: Whether the parameter is a list.
        default: Value if it is not given.
        required: Whether it must be given.
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
        """Name in messages."""
        form = self.form
        return form.names[0] if isinstance(form, Option) else form.metavar or self.name.upper()

    @property
    def is_switch(self) -> bool:
        """Whether the option takes no value."""
        return self.kind is bool

    @property
    def choices(self) -> list[str]:
        """Allowed values; empty if they are not a fixed list."""
        kind = self.kind
        if isinstance(kind, type) and issubclass(kind, Enum):
            return [str(member.value) for member in kind]
        return []

    def read(self, text: str) -> Any:
        """Convert a text to a value.

        Raises:
            UsageError: The text is not a valid value.
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
    """Command that calls a function.

    Args:
        function: Function with parameters annotated with `Option` and `Argument`; its docstring is
            the help.
        name: Name of the command; None for the function's name.
        epilog: The end of the help.
        options_first: Whether everything after the first argument is an argument, even with a
            leading ``-``.
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
        """Help text, from the docstring."""
        return (self.function.__doc__ or "").strip()

    @property
    def parameters(self) -> "list[Parameter]":
        """Parameters in the order of the function."""
        return list(_parameters(self.function))

    def run(self, words: Sequence[str], path: str) -> None:
        """Parse the arguments and call the function.

        Args:
            words: Words after the command's name.
            path: Names of the group and the command, for messages.

        Raises:
            UsageError: The arguments are invalid.
            SystemExit: The command has ended, with an exit code.
        """
        if any(word in _HELP for word in _before(words, "--", self)):
            from llm_sandbox.cli.help import command_help

            print(command_help(self, path))
            return
        self.function(**_Reading(self, path).read(words))


class Group:
    """Commands below a common word.

    Args:
        name: The word.
        help: Description of the group.
        commands: By name, the command or its import path, ``module:attribute``.
    """

    def __init__(
        self, name: str, help: str, commands: "Mapping[str, Command | Group | str]"
    ) -> None:
        self.name = name
        self.help = help
        self.commands = commands

    def get(self, name: str) -> "Command | Group":
        """Return a command, importing it if necessary."""
        found = self.commands[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = getattr(import_module(module), attribute)
        assert isinstance(found, Command | Group)  # noqa: S101 - what the table says
        return found

    def run(self, words: Sequence[str], path: str) -> None:
        """Run the command that the words name; see `Command.run`."""
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
    """Return the hint "did you mean ...?"; None if no known word is similar."""
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
    """Return the words that may be options of a command rather than arguments of its program."""
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
    """Parser of one command line."""

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
        """Parse the words and return the function's arguments."""
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
        """Assign the positional words to the arguments, in their order."""
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
        group: The root of all commands.
        words: Words of the command line.
    """
    try:
        group.run(words, group.name)
    except UsageError as error:
        from llm_sandbox.cli.render import say

        say(error.message, error.hint)
        sys.exit(USAGE)
    sys.exit(0)
