"""Commands that shells have themselves: `eval`, `source`, `kill`, `alias` and their like."""

from typing import TYPE_CHECKING, ClassVar

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.trees.bash.interpreters import Interpreters
from llm_sandbox.security.trees.bash.outputs import printed
from llm_sandbox.security.trees.bash.programs import LOADED
from llm_sandbox.security.trees.bash.words import EXPANSIONS
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.values import Items

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Argv", "Builtins"]

Argv = list[str | None]


class Builtins(Interpreters):
    """The part of reading a script that judges what the shell does itself."""

    def __init__(self, tree: SyntaxTree, original: str) -> None:
        super().__init__(tree, original)
        self.aliases: dict[str, str] = {}

    def builtin(self, program: str, argv: Argv, node: Node, route: tuple[str, ...]) -> bool:
        """Judge a command of the shell's own; return whether it is one."""
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
            self.give("@", (Items(items),))
            for index, item in enumerate(items[:9], 1):
                self.give(str(index), item)

    def _printf(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del node, route
        if len(argv) > 3 and argv[1] == "-v" and argv[2]:
            text = printed(["printf", *argv[3:]], None)
            self.give(argv[2], () if text is None else (text,))

    def _read(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del route
        given = self.given(node)
        names = [word for word in argv[1:] if word and not word.startswith("-")]
        if given is not None and names:
            parts = given.split(None, len(names) - 1)
            for name, part in zip(names, parts, strict=False):
                self.give(name, (part.rstrip("\n"),))

    def _yes(self, argv: Argv, node: Node, route: tuple[str, ...]) -> None:
        del argv
        parent = node.parent
        if parent is not None and parent.kind == "redirected_statement":
            targets = [self.words(r) for r in parent.all("redirect") if r.kind == "file_redirect"]
            if any(">" in target and "/dev/null" not in target for target in targets):
                self.report(Capability.RESOURCE, node, "yes", "high", "fills a disk", route)

    _rules: ClassVar[dict[str, "Callable[[Builtins, Argv, Node, tuple[str, ...]], None]"]] = {
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
