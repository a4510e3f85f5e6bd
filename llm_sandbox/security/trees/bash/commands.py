"""Commands of shells: the program that each one starts in the end, and what that does."""

import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.sensitive_text import find_sensitive_text, installs_packages, is_outside
from llm_sandbox.security.trees.bash.effects import program_effect
from llm_sandbox.security.trees.bash.files import file_effects
from llm_sandbox.security.trees.bash.prefixes import after_prefix
from llm_sandbox.security.trees.bash.programs import INTERPRETERS, PREFIXES, PROGRAMS, SHELLS
from llm_sandbox.security.trees.bash.shell import Builtins
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.values import Values, texts

__all__ = ["Argv", "Commands"]

_PRIVILEGES = "with other privileges or in another place"
_GLOB = re.compile(r"[*?\[]")
_MOST_GLOBS = 50
_POSITIONAL = re.compile(r"[\"']?\$\{?(?:[@*#\d]|\w+\[[@*]\])\}?[\"']?\Z")
_PLACES = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "")
# A function of such a name may never be called, while the program is.
_NEVER_OWN = frozenset(("curl", "nc", "rm", "ssh", "sudo", "wget"))
_MOVERS = frozenset(("cp", "dd", "install", "ln", "mv", "rsync", "sed", "tee", "touch"))
_RUNS_NEXT = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
Argv = list[str | None]


class Commands(Builtins):
    """The part of reading a script that judges its commands."""

    def __init__(self, tree: SyntaxTree, original: str) -> None:
        super().__init__(tree, original)
        self.functions: set[str] = set()
        self.wrappers: set[str] = set()
        self._globs: set[str] = set()

    def command_rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return what judges commands, pipelines and redirections."""
        return {
            "command": self._command,
            "declaration_command": self._declaration,
            "file_redirect": self._redirect,
            "pipeline": self._pipeline,
            "redirected_statement": self._redirected,
        }

    def in_background(self, node: Node) -> bool:
        """Return whether a command is started and not waited for."""
        rest = self.original[node.end : node.end + 8].lstrip(" \t")
        return rest.startswith("&") and rest[1:2] not in {"&", ">"}

    # Commands

    def _command(self, node: Node) -> Values:
        name = node.get("name")
        if name is None:
            return ()
        first = name.children[0] if name.children else name
        argv: Argv = self.spread(first) if first is not name else [self.words(name)]
        for child in node.all("argument"):
            argv.extend(self.spread(child))
        self.argv[id(node)] = argv
        given = self.given(node)
        self._judge(argv, node, ())
        for other in texts(self.value(first))[1:4]:
            self._judge([*other.split(), *argv[1:]], node, ())
        if given is not None and not self.heredocs(node):
            self.feeds(argv, given, node)
        output = self.stdout_of(node, given)
        return () if output is None else (output,)

    def _redirected(self, node: Node) -> Values:
        # A here-document is read after its command, and holds the pipeline that goes on from it.
        body = node.get("body")
        if body is None:
            return ()
        for redirect in self.heredocs(node):
            command = body.children[-1] if body.kind == "pipeline" and body.children else body
            argv, given = self.argv.get(id(command), []), self.given(command)
            self.feeds(argv, given, command)
            rest = redirect.first("pipeline")
            given = self.stdout_of(command, given)
            for part in rest.children if rest is not None else ():
                self.feeds(self.argv.get(id(part), []), given, part, piped=True)
                given = self.stdout_of(part, given)
        return self.value(body)

    def _declaration(self, node: Node) -> Values:
        if self.words(node).strip() in {"export", "export -p", "declare -x", "declare -p"}:
            self.report(Capability.ENVIRONMENT, node, "export")
        return ()

    def _pipeline(self, node: Node) -> Values:
        given: str | None = None
        for index, part in enumerate(node.children):
            command = part
            if part.kind == "redirected_statement":
                command = part.get("body") or part
            argv = self.argv.get(id(command))
            if argv is None:
                given = None
                continue
            own = self.given(command)
            if index and own is None:
                self.feeds(argv, given if given is not None else "", command, piped=True)
            given = self.stdout_of(command, own if own is not None else given)
        return () if given is None else (given,)

    # What they do

    def _judge(self, argv: Argv, node: Node, route: tuple[str, ...], depth: int = 0) -> None:
        if not argv or depth > 6:
            return
        name = argv[0]
        if name is None:
            self._unknown(node, route)
            return
        if _GLOB.search(name) and len(name) > 1:
            self._glob(name, argv, node, route)
            return
        program = name.rpartition("/")[2]
        if program in self.aliases and program not in route:
            inner: Argv = [*self.aliases[program].split(), *argv[1:]]
            self._judge(inner, node, (*route, program), depth + 1)
            return
        if program in self.wrappers:
            self._judge(argv[1:], node, (*route, program), depth + 1)
        if program not in self.functions or program in _NEVER_OWN:
            self._program(program, argv, node, route)
            self._started(program, argv, node, route, depth)

    def _started(
        self, program: str, argv: Argv, node: Node, route: tuple[str, ...], depth: int
    ) -> None:
        """Judge the program that another one starts."""
        if program in PREFIXES:
            self._judge(after_prefix(program, argv), node, (*route, program), depth + 1)
        if program == "find":
            for index, word in enumerate(argv):
                if word in _RUNS_NEXT:
                    self._judge(argv[index + 1 :], node, (*route, "find"), depth + 1)
                    break

    def _unknown(self, node: Node, route: tuple[str, ...]) -> None:
        name = node.get("name")
        words = self.words(name) if name is not None else ""
        if not route and not _POSITIONAL.match(words) and name is not None:
            self.report(Capability.DYNAMIC_UNRESOLVED, name, words[:60], "low")

    def _glob(self, name: str, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        self._globs.add(name)
        if len(self._globs) > _MOST_GLOBS or len(name) > 100:
            self.report(Capability.DYNAMIC_UNRESOLVED, node, name[:60], "low", "", route)
            return
        for program in _named_by(name)[:2]:
            self._program(program, argv, node, (*route, name))

    def _program(self, program: str, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        known = [word for word in argv[1:] if word is not None]
        sure = self.sure_by(route)
        line = " ".join([program, *known])
        detail = f"as {line[:80]!r}"
        capability = program_effect(program, known)
        if capability is not None:
            if capability is Capability.PROCESS_RUN:
                detail = _PRIVILEGES
            self.report(capability, node, program, sure, detail, route)
        if installs_packages(line):
            self.report(Capability.PACKAGE_INSTALL, node, line, sure, "", route)
        for act, confidence, subject in file_effects(program, argv):
            self.report(act, node, subject, confidence if sure == "high" else sure, detail, route)
        self._persistence(program, known, node, route)
        if self.builtin(program, argv, node, route):
            return
        if program in SHELLS or self.language(program) is not None:
            self.interpreter(program, argv, node, route)

    def _persistence(
        self, program: str, known: list[str], node: Node, route: tuple[str, ...]
    ) -> None:
        if program not in _MOVERS:
            return
        for word in known:
            for start, end, capability, what in find_sensitive_text(word):
                if capability is Capability.PERSISTENCE:
                    self.report(capability, node, word[start:end], "high", f"writes {what}", route)
                    return

    # Files

    def _redirect(self, node: Node) -> Values:
        target = node.get("destination")
        mark = self.original[node.start : target.start] if target is not None else ""
        # `2>&1` joins streams.
        if target is None or ">" not in mark or (mark.rstrip()[-1:] == "&" and _is_number(target)):
            return ()
        path = (texts(self.value(target)) or [self.words(target).strip("\"'")])[0]
        if path.startswith(("/dev/tcp", "/dev/udp")):
            return ()
        for start, end, capability, what in find_sensitive_text(path):
            if capability is Capability.PERSISTENCE:
                self.report(capability, node, path[start:end], "high", f"writes {what}")
        if is_outside(path):
            self.report(Capability.FILE_WRITE, node, path[:120], "high", "by a redirection")
        return ()


@lru_cache(maxsize=256)
def _named_by(pattern: str) -> tuple[str, ...]:
    """Return the programs of note that a pattern of a path stands for, shells first."""
    matches = re.compile(translate(pattern)).match
    known = (*sorted(SHELLS), *sorted(PROGRAMS), *sorted(INTERPRETERS))
    return tuple(name for name in known if any(matches(place + name) for place in _PLACES))


def _is_number(node: Node) -> bool:
    return node.kind == "number"
