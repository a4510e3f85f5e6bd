"""Code that a script hands to interpreters: by an option, a pipe or a here-document."""

import re
from collections.abc import Callable

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.lexical.nested import findings_within, modules_within, read_within
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.bash.prefixes import after_prefix
from llm_sandbox.security.trees.bash.programs import INTERPRETERS, PREFIXES, SHELLS
from llm_sandbox.security.trees.bash.words import Words
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import texts

__all__ = ["Argv", "Interpreters"]

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


class Interpreters(Words):
    """The part of reading a script that reads the code within it."""

    nesting: int = 0
    scan_text: Callable[[Source, int], ScanOutput]

    def heredocs(self, node: Node) -> list[Node]:
        """Return the here-documents of a command."""
        redirects = node.all("redirect")
        if node.parent is not None and node.parent.kind == "redirected_statement":
            redirects = redirects + node.parent.all("redirect")
        return [redirect for redirect in redirects if redirect.kind == "heredoc_redirect"]

    def given(self, node: Node) -> str | None:
        """Return what a command reads from a here-document or a here-string, when that is known."""
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
        """Return how sure it is what is started by a road such as `env`, `nohup`."""
        return "high" if all(each in PREFIXES or each == "find" for each in route) else "medium"

    def language(self, program: str) -> str | None:
        """Return the language that a program reads; empty when it cannot be read, None for none."""
        plain = re.sub(r"[\d.]+\Z", "", program)
        return INTERPRETERS.get(program, INTERPRETERS.get(plain))

    def interpreter(self, program: str, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        """Judge an interpreter by its arguments."""
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
        """Note text that an interpreter reads as its program."""
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
        """Add what code does that a script holds as text."""
        if self.nesting >= _DEEPEST or not text.strip():
            return
        if language == "bash":
            inner = self.scan_text(Source(text, "bash"), self.nesting + 1)
        else:
            inner = read_within(text, language)
        span = self.tree.span(node)
        self.output.findings.extend(findings_within(inner, span, name))
        self.output.modules.extend(modules_within(inner, span, name))
