"""Notebook cells: magics, shell lines and help, separated from the Python, and their effects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from llm_sandbox.results.findings import Capability, Span
from llm_sandbox.security.python import effects, strings
from llm_sandbox.security.python.full_names import names
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["Cell", "Magic", "follow_magic", "has_syntax", "read_cell", "with_automagic"]

_CANDIDATE = re.compile(
    r"^[ \t]*(?:[%!?;,/][^\n]*|[^\n#'\"]*\?\??[ \t]*(?:\n|$)|[\w.,\[\]\"' ()*]+=[ \t]*[!%][^\n]*)",
    re.MULTILINE,
)
_LINE = re.compile(r"([ \t]*)(%%|!!|\?\?|[%!?;,/])(.*)", re.DOTALL)
_ASSIGNED = re.compile(r"([ \t]*)([A-Za-z_][\w.,\[\]\"' ()*]*?)(=[ \t]*)([!%])([^=].*)", re.DOTALL)
_HELP = re.compile(r"[ \t]*[%\w.*\[\]]+\?\??[ \t]*\Z")
# What decides whether a line begins within brackets or within a text of several lines.
_TOKEN = re.compile(
    r"#[^\n]*|(?P<long>\"\"\"|''')|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<slash>\\\n)|(?P<line>\n)",
    re.DOTALL,
)
_AUTOMAGIC = frozenset(
    names(
        """
        alias cat cd clear conda cp env ldir less lf lk ll load load_ext ls lx mamba man
        micromamba mkdir more mv notebook pip popd prun pushd pwd reset rm rmdir run save sx
        system time timeit uv writefile set_env store sc rerun macro edit pycat logstart bookmark
        """
    )
)
_WORDS = re.compile(r"[ \t]*([A-Za-z_]\w*)(?:[ \t]+([^\n=!()<>,+*/%^&|\s][^\n]*))?[ \t]*\Z")
_KEYWORD_LIKE = re.compile(r"(?:if|else|for|in|is|and|or|not|import|as)\b")


@dataclass(frozen=True, slots=True)
class Magic:
    """Line or whole cell that is not Python.

    Args:
        kind: ``line`` and ``cell`` magics, ``shell`` commands, or ``call`` for IPython's syntax of
            calling functions.
        name: Name of the magic; empty for shell commands; the function for a call.
        text: Text after the name.
        body: Rest of the cell, below a cell magic.
        body_line: Number of the first line of the body.
        span: Span from the percent sign or other mark to the end of the line.
    """

    kind: Literal["line", "cell", "shell", "call"]
    name: str
    text: str
    span: Span
    body: str = ""
    body_line: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell that is separated into Python and magics.

    Args:
        python: Python code of the cell; other lines are replaced by ``pass``, so that positions
            stay the same.
        magics: Magics in order; the statement of `python` on a magic's line stands for it.
    """

    python: str
    magics: tuple[Magic, ...]


def has_syntax(text: str) -> bool:
    """Return whether a text may contain magics, shell lines or help."""
    return _CANDIDATE.search(text) is not None


def read_cell(source: Source) -> Cell:
    """Separate a cell into Python and magics; positions in `Cell.python` are those of the text."""
    text = source.text
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("%%"):
        return _cell_magic(source, len(text) - len(stripped))
    inside = _continued(text)
    magics: list[Magic] = []
    lines = text.splitlines(keepends=True) if "\r" not in text else _split(source)
    number = 0
    while number < len(lines):
        if number + 1 not in inside:
            used = _read_line(lines, number, source, magics)
            number += used
            continue
        number += 1
    return Cell("".join(lines), tuple(magics))


def _split(source: Source) -> list[str]:
    starts = [*source.starts, len(source.text)]
    return [source.text[a:b] for a, b in pairwise(starts)]


def _read_line(lines: list[str], number: int, source: Source, magics: list[Magic]) -> int:
    """Replace a line that is not Python by one that is; return the number of lines it spans."""
    line = lines[number]
    body = line.rstrip("\r\n")
    match = _LINE.match(body)
    if match is None:
        return _read_other(lines, number, body, source, magics)
    indent, mark, rest = match.groups()
    used = 1
    while rest.endswith("\\") and number + used < len(lines):
        following = lines[number + used].rstrip("\r\n")
        rest = f"{rest[:-1]} {following}"
        lines[number + used] = lines[number + used][len(following) :]
        used += 1
    end = lines[number][len(body) :]
    magic = _magic(mark, rest, source.line_span(number + 1), len(indent))
    if magic is None:
        return used
    magics.append(magic)
    lines[number] = f"{indent}pass{end}"
    return used


def _magic(mark: str, rest: str, line: Span, indent: int) -> Magic | None:
    span = Span(line.line, indent + 1, line.end_line, line.end_column)
    if mark in {"!", "!!"}:
        return Magic("shell", "", rest.strip(), span)
    if mark in {"?", "??"}:
        return Magic("line", "pinfo", rest, span)
    if mark in {"%", "%%"}:
        words = rest.strip().split(None, 1)
        if rest[:1] in {"", " ", "\t"}:
            return None
        if words[0].endswith("?"):
            return Magic("line", "pinfo", rest, span)
        return Magic("line", words[0], words[1] if len(words) > 1 else "", span)
    name, _, given = rest.strip().partition(" ")
    if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
        return None
    if mark == ";":
        text = f"{name}({given!r})"
    elif mark == ",":
        text = f"{name}({', '.join(map(repr, given.split()))})"
    else:
        text = f"{name}({given})"
    return Magic("call", name, text, span)


def _read_other(
    lines: list[str], number: int, body: str, source: Source, magics: list[Magic]
) -> int:
    end = lines[number][len(body) :]
    if body.rstrip().endswith("?") and _HELP.match(body):
        magics.append(Magic("line", "pinfo", body, source.line_span(number + 1)))
        lines[number] = f"{body[: len(body) - len(body.lstrip())]}pass{end}"
        return 1
    if "!" not in body and "%" not in body:
        return 1
    match = _ASSIGNED.match(body)
    if match is None or match[2].count("(") != match[2].count(")"):
        return 1
    indent, target, equals, mark, rest = match.groups()
    column = len(indent) + len(target) + len(equals)
    line = source.line_span(number + 1)
    used = 1
    while rest.endswith("\\") and number + used < len(lines):
        following = lines[number + used].rstrip("\r\n")
        rest = f"{rest[:-1]} {following}"
        lines[number + used] = lines[number + used][len(following) :]
        used += 1
    magic = _magic(mark, rest, line, column)
    if magic is not None:
        magics.append(magic)
        lines[number] = f"{indent}{target}{equals}[]{end}"
    return used


def _cell_magic(source: Source, start: int) -> Cell:
    line = source.position(start)[0]
    whole = source.line_span(line)
    first, _, body = source.text[start:].replace("\r\n", "\n").partition("\n")
    words = first[2:].strip().split(None, 1)
    span = Span(line, source.position(start)[1], line, whole.end_column)
    magic = Magic(
        "cell", words[0] if words else "", words[1] if len(words) > 1 else "", span, body, line + 1
    )
    return Cell("", (magic,))


def _continued(text: str) -> set[int]:
    """Return the lines that begin within brackets or long strings, or after a backslash."""
    inside: set[int] = set()
    depth, line, at = 0, 1, 0
    start_of_line = True
    for_line = re.compile(r"[ \t]*[%!]")
    while True:
        if start_of_line and depth == 0 and for_line.match(text, at):
            # A shell line's quotes and brackets are not Python's.
            end = text.find("\n", at)
            if end < 0:
                return inside
            at = end
        start_of_line = False
        match = _TOKEN.search(text, at)
        if match is None:
            return inside
        at = match.end()
        kind = match.lastgroup
        if kind == "long":
            end = text.find(match[0], at)
            stop = len(text) if end < 0 else end
            for _ in range(text.count("\n", at, stop)):
                line += 1
                inside.add(line)
            at = min(stop + 3, len(text))
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind in {"line", "slash"}:
            line += 1
            start_of_line = True
            if depth or kind == "slash":
                inside.add(line)
        else:
            line += match[0].count("\n")


def with_automagic(cell: Cell, source: Source) -> Cell:
    """Parse lines that are magics without a percent sign, as in ``pip install x``."""
    inside = _continued(cell.python)
    lines = _split(Source(cell.python, "python"))
    magics = list(cell.magics)
    for number, line in enumerate(lines):
        body = line.rstrip("\r\n")
        match = _WORDS.match(body)
        if match is None or match[1] not in _AUTOMAGIC or number + 1 in inside:
            continue
        if match[2] and _KEYWORD_LIKE.match(match[2]):
            continue
        whole = source.line_span(number + 1)
        span = Span(whole.line, len(body) - len(body.lstrip()) + 1, whole.line, whole.end_column)
        magics.append(Magic("line", match[1], (match[2] or "").strip(), span))
        lines[number] = f"{body[: len(body) - len(body.lstrip())]}pass{line[len(body) :]}"
    return Cell("".join(lines), tuple(magics))


_RUNS = frozenset(
    names(
        """
        bash sh script perl ruby pypy python python2 python3 cmd sx system sc ! !! ls ll la lx lf
        lk ldir cat cp mv mkdir rmdir rm less more man alias rehashx node zsh fish powershell R
        julia killbgscripts connect_info qtconsole ksh tcsh awk php
        """
    )
)
_DELETES = frozenset(("rm", "rmdir"))
_PYTHON_LINES = frozenset(
    names(
        """
        time timeit prun memit mprun lprun debug capture pdb_run snakeviz pyinstrument scalene
        heat heatmap mpl_capture tic toc px autopx
        """
    )
)
_INSTALLS = frozenset(["pip", "conda", "mamba", "micromamba", "uv", "pip3", "poetry"])
_OTHER_LANGUAGES = frozenset(
    names(
        """
        javascript js html HTML svg SVG latex markdown css sql mermaid dot graphviz writefile file
        bash sh script perl ruby cmd R julia
        """
    )
)
_PYTHON_PROGRAMS = frozenset(["python", "python2", "python3", "pypy", "pypy3"])
_NATIVE = frozenset(
    names(
        """
    cython fortran cython_inline cuda cpp gcc nvcc ipp rust
    """
    )
)
_OPTIONS = re.compile(r"(?:-{1,2}[A-Za-z][\w-]*(?:[ \t=]\S+)?[ \t]+)*?(?=[^-\s]|$)")
_BRACES = re.compile(r"\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)")


def follow_magic(m: Interpreter, magic: Magic) -> None:
    """Report the effects of a magic."""
    name, text = magic.name, _filled(m, magic.text)
    if magic.kind == "shell":
        _command(m, text, magic, "!")
    elif magic.kind == "call":
        _python(m, magic.text, magic, f"{name} (automatic call)")
    elif magic.kind == "cell":
        _cell(m, magic, text)
    else:
        _line(m, magic, text)


def _filled(m: Interpreter, text: str) -> str:
    """Return text with the known values of ``{name}`` and ``$name`` inserted."""

    def value(match: re.Match[str]) -> str:
        scope = m.scope.find(match[1] or match[2])
        found = m.plain(m.force(scope.values[match[1] or match[2]])) if scope is not None else None
        return found if isinstance(found, str) else match[0]

    return _BRACES.sub(value, text) if "{" in text or "$" in text else text


def _command(m: Interpreter, command: str, magic: Magic, subject: str) -> None:
    if not command.strip():
        return
    shown = command if len(command) < 120 else command[:120] + ".."
    detail = f"with the command {shown!r}"
    m.report(Capability.PROCESS_RUN, magic.span, subject, detail=detail)
    if strings.installs(command):
        m.report(Capability.PACKAGE_INSTALL, magic.span, subject, detail=detail)
    strings.check_text(m, command, magic.span)
    effects.report_shell(m, command, magic.span, subject)


def _line(m: Interpreter, magic: Magic, text: str) -> None:
    name = magic.name
    subject = f"%{name}"
    if name in _INSTALLS:
        _install(m, magic, text, subject)
    elif name in _DELETES:
        m.report(Capability.FILE_DELETE, magic.span, subject, detail=f"of {text!r}")
        _command(m, f"{name} {text}", magic, subject)
    elif name in _RUNS:
        _command(
            m,
            text if name in {"sx", "system", "sc", "!", "!!"} else f"{name} {text}",
            magic,
            subject,
        )
    elif name in _PYTHON_LINES:
        _python(m, text[_options_end(text) :], magic, subject)
    elif name in {"run", "rerun", "macro", "load", "loadpy", "edit", "recall", "rep", "pycat"}:
        _file(m, magic, text, subject)
    elif name in {"env", "set_env", "dotenv"}:
        m.report(
            Capability.ENVIRONMENT, magic.span, subject, detail=f"with {text!r}" if text else ""
        )
    elif name in {"load_ext", "reload_ext"}:
        m.report_module(text.strip(), magic.span, (subject,))
    elif name in {"logstart", "save", "notebook", "store"}:
        for word in text.split():
            effects.report_write(m, word if "/" in word else None, magic.span, subject)
    elif name in _NATIVE:
        m.report(Capability.NATIVE, magic.span, subject)
    else:
        strings.check_text(m, text, magic.span)


def _install(m: Interpreter, magic: Magic, text: str, subject: str) -> None:
    detail = f"with {text!r}"
    if re.search(r"\b(?:install|add|create|update|sync)\b", text):
        m.report(Capability.PACKAGE_INSTALL, magic.span, subject, detail=detail)
    elif magic.name == "uv" or re.search(r"\b(?:run|download|uninstall|remove)\b", text):
        m.report(Capability.PROCESS_RUN, magic.span, subject, detail=detail)


def _options_end(text: str) -> int:
    match = _OPTIONS.match(text)
    return match.end() if match else 0


def _file(m: Interpreter, magic: Magic, text: str, subject: str) -> None:
    words = text.split()
    path = next((word for word in words if not word.startswith("-")), "")
    if subject in {"%load", "%loadpy", "%pycat"}:
        if "://" in path:
            m.report(Capability.NETWORK_WEB, magic.span, subject, detail=f"of {path!r}")
        strings.check_text(m, path, magic.span)
        return
    if not path:
        return
    m.report(Capability.DYNAMIC_CODE, magic.span, subject, detail=f"of {path!r}")
    known = m.files.get(path.removeprefix("./"))
    if known:
        _python(m, known, magic, subject)


def _cell(m: Interpreter, magic: Magic, text: str) -> None:
    name = magic.name
    subject = f"%%{name}"
    if name in {"writefile", "file"}:
        path = next((word for word in text.split() if not word.startswith("-")), "")
        effects.report_write(m, path, magic.span, subject)
        strings.check_text(m, path, magic.span)
        strings.check_text(m, magic.body, magic.span)
        m.files[path.removeprefix("./").strip("\"'")] = magic.body
    elif name in _RUNS:
        _program(m, magic, text, subject)
    elif name in _NATIVE:
        m.report(Capability.NATIVE, magic.span, subject)
    elif name not in _OTHER_LANGUAGES:
        if text and name in {"timeit", "time", "prun"}:
            _python(m, text[_options_end(text) :], magic, subject)
        _body(m, magic)


def _program(m: Interpreter, magic: Magic, text: str, subject: str) -> None:
    program = magic.name
    if program == "script":
        program = next((word for word in text.split() if not word.startswith("-")), "script")
    m.report(Capability.PROCESS_RUN, magic.span, subject, detail=f"with {program}")
    if strings.installs(magic.body):
        m.report(Capability.PACKAGE_INSTALL, magic.span, subject)
    strings.check_text(m, magic.body, magic.span)
    if program.rpartition("/")[2] in _PYTHON_PROGRAMS:
        _python(m, magic.body, magic, subject)
    elif program.rpartition("/")[2] in {"bash", "sh", "zsh", "ksh", "!", "sx", "system"}:
        effects.report_shell(m, magic.body, magic.span, subject)


def _body(m: Interpreter, magic: Magic) -> None:
    """Interpret the Python below a cell magic, at its own position."""
    from llm_sandbox.security.python.engine import read_program

    if magic.body.strip():
        before = m.positions
        try:
            read_program(m, Source(magic.body, "python", True), first_line=magic.body_line)
        finally:
            m.positions = before


def _python(m: Interpreter, text: str, magic: Magic, subject: str) -> None:
    from llm_sandbox.security.python.nested_code import run_text

    if text.strip():
        run_text(m, text.strip(), magic.span, (subject,), notebook=True)
