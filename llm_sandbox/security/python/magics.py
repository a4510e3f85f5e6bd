"""What the magics of notebooks do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import commands, effects, strings
from llm_sandbox.security.python.name_tables import names
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.python.cells import Magic
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["follow_magic"]

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
    """See what a magic does."""
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
    """The text with the values of ``{name}`` and ``$name``, where they are known."""

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
    commands.report_shell(m, command, magic.span, subject)


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
        commands.report_shell(m, magic.body, magic.span, subject)


def _body(m: Interpreter, magic: Magic) -> None:
    """The Python below a cell magic, at its own place in the text."""
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
