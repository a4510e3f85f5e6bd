"""Commands of shells: builtins, interpreters with their code, and the programs that they start."""

import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from typing import ClassVar

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.languages import findings_within, modules_within, scan_nested
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.sensitive_text import find_sensitive_text, installs_packages, is_outside
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.bash.programs import (
    INTERPRETERS,
    LOADED,
    PREFIXES,
    PROGRAMS,
    SHELLS,
    after_prefix,
    file_effects,
    program_effect,
)
from llm_sandbox.security.trees.bash.words import EXPANSIONS, Words, printed
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.values import Items, Values, texts

__all__ = ["Argv", "Commands"]

_DEEPEST = 3
_OPTION = {
    "bash": re.compile(r"-\w*c\Z"),
    "python": re.compile(r"-\w*c\Z"),
    "": re.compile(r"-\w*[eEr]\Z"),
    "javascript": re.compile(r"-(?:e|p|pe|-eval|-print)\Z"),
    "r": re.compile(r"-e\Z"),
    "ruby": re.compile(r"-\w*e\Z"),
}
# In languages that cannot be read here.
_STARTS = re.compile(r"\b(?:exec|fork|passthru|popen|proc_open|shell_exec|socket|system)\b|`")
Argv = list[str | None]


_PRIVILEGES = "with other privileges or in another place"
_GLOB = re.compile(r"[*?\[]")
_MOST_GLOBS = 50
_POSITIONAL = re.compile(r"[\"']?\$\{?(?:[@*#\d]|\w+\[[@*]\])\}?[\"']?\Z")
_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "")
# A function with the name of a program may never be called, while the program is.
_NEVER_OWN = frozenset(("curl", "nc", "rm", "ssh", "sudo", "wget"))
_MOVERS = frozenset(("cp", "dd", "install", "ln", "mv", "rsync", "sed", "tee", "touch"))
_RUNS_NEXT = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


class Commands(Words):
    """Evaluator of commands, on top of that of words."""

    nesting: int = 0
    scan_text: Callable[[Source, int], ScanOutput]

    def __init__(self, tree: SyntaxTree, original: str) -> None:
        super().__init__(tree, original)
        self.aliases: dict[str, str] = {}
        self.functions: set[str] = set()
        self.wrappers: set[str] = set()
        self._globs: set[str] = set()

    def command_rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the rules for commands, pipelines and redirections."""
        return {
            "command": self._command,
            "declaration_command": self._declaration,
            "file_redirect": self._redirect,
            "pipeline": self._pipeline,
            "redirected_statement": self._redirected,
        }

    def in_background(self, node: Node) -> bool:
        """Return whether a command runs in the background."""
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
        self._report_program(argv, node, ())
        for other in texts(self.value(first))[1:4]:
            self._report_program([*other.split(), *argv[1:]], node, ())
        if given is not None and not self.heredocs(node):
            self.feeds(argv, given, node)
        output = self.stdout_of(node, given)
        return () if output is None else (output,)

    def _redirected(self, node: Node) -> Values:
        # The grammar puts a here-document after its command, and the rest of the pipeline into it.
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

    def _report_program(
        self, argv: Argv, node: Node, route: tuple[str, ...], depth: int = 0
    ) -> None:
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
            self._report_program(inner, node, (*route, program), depth + 1)
            return
        if program in self.wrappers:
            self._report_program(argv[1:], node, (*route, program), depth + 1)
        if program not in self.functions or program in _NEVER_OWN:
            self._program(program, argv, node, route)
            self._started(program, argv, node, route, depth)

    def _started(
        self, program: str, argv: Argv, node: Node, route: tuple[str, ...], depth: int
    ) -> None:
        """Report the program that a prefix such as `timeout` starts."""
        if program in PREFIXES:
            self._report_program(after_prefix(program, argv), node, (*route, program), depth + 1)
        if program == "find":
            for index, word in enumerate(argv):
                if word in _RUNS_NEXT:
                    self._report_program(argv[index + 1 :], node, (*route, "find"), depth + 1)
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

    def builtin(self, program: str, argv: Argv, node: Node, route: tuple[str, ...]) -> bool:
        """Report the effects of a shell builtin; return whether the command is one."""
        rule = self._rules.get(program)
        if rule is None:
            return False
        rule(self, argv, node, route)
        return True

    def _eval(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        if len(argv) < 2:
            return
        text = " ".join(word for word in argv[1:] if word is not None)
        known = None not in argv
        detail = f"with {text[:80]!r}" if known else ""
        self.report(Capability.DYNAMIC_CODE, node, "eval", self.sure_by(route), detail, route)
        if known:
            self.within(text, "bash", "eval", node)

    def _source(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        arguments = node.all("argument")
        path = argv[1] if len(argv) > 1 else None
        if path is not None:
            self.use_module(path, node, route)
            if path.startswith("/dev/tcp"):
                self.report(Capability.DYNAMIC_CODE, node, "source", "high", "", route)
            return
        if not arguments:
            return
        words = self.words(arguments[0])
        if arguments[0].kind == "process_substitution" or "curl" in words or "wget" in words:
            self.report(Capability.DYNAMIC_CODE, node, "source", "high", "", route)
            return
        tail = words.strip("\"'").rpartition("/")[2]
        if tail and "$" not in tail and arguments[0].kind not in EXPANSIONS:
            self.use_module(tail, node, route)
        else:
            self.report(Capability.DYNAMIC_UNRESOLVED, node, "source", "low", "", route)

    def _kill(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        if {"-l", "-L", "-0"} & set(argv[1:]):
            return
        targets = [word for word in argv[1:] if word is None or not word.startswith("-")]
        # A shell's own jobs: `%1`, `$!`, and what the script keeps in a variable.
        own = all(word is None or word.startswith(("%", "$")) for word in targets)
        confidence: Confidence = "low" if own and targets else self.sure_by(route)
        self.report(Capability.PROCESS_SIGNAL, node, "kill", confidence, "", route)

    def _env(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        rest = [word for word in argv[1:] if word is None or not word.startswith("-")]
        for word in rest:
            name, equals, _ = (word or "").partition("=")
            if equals and name in LOADED:
                self.report(LOADED[name], node, name, "high", "which decides what programs load")
        if all(word is not None and "=" in word for word in rest):
            self.report(Capability.ENVIRONMENT, node, "env", self.sure_by(route), "", route)

    def _alias(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del node, route
        for word in argv[1:]:
            name, equals, text = (word or "").partition("=")
            if equals and text.split()[:1] != [name]:
                self.aliases[name] = text

    def _trap(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del route
        if len(argv) > 2 and argv[1] and argv[1] not in {"-", ""}:
            self.within(argv[1], "bash", "trap", node)

    def _set(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del node, route
        if len(argv) > 2 and argv[1] == "--":
            items = tuple((word,) if word is not None else () for word in argv[2:])
            self.assign("@", (Items(items),))
            for index, item in enumerate(items[:9], 1):
                self.assign(str(index), item)

    def _printf(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del node, route
        if len(argv) > 3 and argv[1] == "-v" and argv[2]:
            text = printed(["printf", *argv[3:]], None)
            self.assign(argv[2], () if text is None else (text,))

    def _read(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del route
        given = self.given(node)
        names = [word for word in argv[1:] if word and not word.startswith("-")]
        if given is not None and names:
            parts = given.split(None, len(names) - 1)
            for name, part in zip(names, parts, strict=False):
                self.assign(name, (part.rstrip("\n"),))

    def _yes(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del argv
        parent = node.parent
        if parent is not None and parent.kind == "redirected_statement":
            targets = [self.words(r) for r in parent.all("redirect") if r.kind == "file_redirect"]
            if any(">" in target and "/dev/null" not in target for target in targets):
                self.report(Capability.RESOURCE, node, "yes", "high", "fills a disk", route)

    _rules: ClassVar[dict[str, "Callable[[Commands, Argv, Node, tuple[str, ...]], None]"]] = {
        ".": _source,
        "alias": _alias,
        "env": _env,
        "eval": _eval,
        "kill": _kill,
        "printf": _printf,
        "read": _read,
        "set": _set,
        "source": _source,
        "trap": _trap,
        "yes": _yes,
    }

    def heredocs(self, node: Node) -> list[Node]:
        """Return the here-documents of a command."""
        redirects = node.all("redirect")
        if node.parent is not None and node.parent.kind == "redirected_statement":
            redirects = redirects + node.parent.all("redirect")
        return [redirect for redirect in redirects if redirect.kind == "heredoc_redirect"]

    def given(self, node: Node) -> str | None:
        """Return the text of a command's here-document or here-string; None when not known."""
        for redirect in self.heredocs(node):
            body = redirect.first("heredoc_body")
            if body is not None:
                known = texts(self.value(body))
                return known[0] if known else self.words(body)
        for redirect in node.all("redirect"):
            if redirect.kind == "herestring_redirect" and redirect.children:
                known = texts(self.value(redirect.children[-1]))
                return known[0] if known else None
        return None

    def sure_by(self, route: tuple[str, ...]) -> Confidence:
        """Return the confidence in a program that is started by prefixes such as `env`."""
        return "high" if all(each in PREFIXES or each == "find" for each in route) else "medium"

    def language(self, program: str) -> str | None:
        """Return the language of an interpreter; empty if unsupported, None for other programs."""
        plain = re.sub(r"[\d.]+\Z", "", program)
        return INTERPRETERS.get(program, INTERPRETERS.get(plain))

    def interpreter(self, program: str, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        """Report the effects of an interpreter by its arguments."""
        language = "bash" if program in SHELLS else self.language(program) or ""
        for index, word in enumerate(argv[1:], 1):
            if word is None or not word.startswith("-"):
                break
            is_code = _OPTION[language].match(word)
            if language == "python" and word == "-m":
                self._module(argv, index, node, route)
                return
            if is_code and index + 1 < len(argv):
                text = argv[index + 1]
                if text is None:
                    self.report(
                        Capability.DYNAMIC_CODE, node, program, self.sure_by(route), "", route
                    )
                elif language:
                    self.within(text, language, program, node)
                elif _STARTS.search(text):
                    self.report(
                        Capability.PROCESS_RUN, node, program, "medium", "by its code", route
                    )
                return
        for argument in node.all("argument"):
            if argument.kind == "process_substitution":
                self.report(Capability.DYNAMIC_CODE, node, program, self.sure_by(route), "", route)

    def _module(self, argv: Argv, index: int, node: Node, route: tuple[str, ...]) -> None:
        module = argv[index + 1] if index + 1 < len(argv) else None
        if module in {"http.server", "SimpleHTTPServer", "smtpd"}:
            self.report(Capability.NETWORK_SOCKET, node, module, self.sure_by(route), "", route)

    def feeds(self, argv: Argv, text: str | None, node: Node, *, piped: bool = False) -> None:
        """Scan text that an interpreter reads as its program."""
        words = [word or "" for word in argv]
        while words and words[0].rpartition("/")[2] in PREFIXES:
            words = [word or "" for word in after_prefix(words[0].rpartition("/")[2], list(words))]
        program = words[0].rpartition("/")[2] if words else ""
        language = "bash" if program in SHELLS else self.language(program)
        if language is None or any(word and not word.startswith("-") for word in words[1:]):
            return
        if any(_OPTION[language].match(word) for word in words[1:]):
            return
        if piped:
            self.report(Capability.DYNAMIC_CODE, node, program, "high", "from a pipe")
        if text and language:
            self.within(text, language, program, node)

    def within(self, text: str, language: str, name: str, node: Node) -> None:
        """Add the findings of nested code."""
        if self.nesting >= _DEEPEST or not text.strip():
            return
        if language == "bash":
            inner = self.scan_text(Source(text, "bash"), self.nesting + 1)
        else:
            inner = scan_nested(text, language)
        span = self.tree.span(node)
        self.output.findings.extend(findings_within(inner, span, name))
        self.output.modules.extend(modules_within(inner, span, name))


@lru_cache(maxsize=256)
def _named_by(pattern: str) -> tuple[str, ...]:
    """Return the known programs that match a path pattern, shells first."""
    matches = re.compile(translate(pattern)).match
    known = (*sorted(SHELLS), *sorted(PROGRAMS), *sorted(INTERPRETERS))
    return tuple(name for name in known if any(matches(folder + name) for folder in _FOLDERS))


def _is_number(node: Node) -> bool:
    return node.kind == "number"
