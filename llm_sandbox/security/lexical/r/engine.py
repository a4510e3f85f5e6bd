"""Engine for R: calls, by the functions that they resolve to."""

from llm_sandbox.results.findings import Capability, Confidence, Span
from llm_sandbox.security.languages import findings_within, modules_within, scan_nested
from llm_sandbox.security.lexical.r.names import NEVER_OWN, OWN, Meaning, Names
from llm_sandbox.security.lexical.r.rules import APPLIERS, READERS, WRITERS, find
from llm_sandbox.security.lexical.r.tokens import Argument, read
from llm_sandbox.security.lexical.r.values import Assignments, Values
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.sensitive_text import find_sensitive_text, installs_packages, is_outside
from llm_sandbox.security.source import Source

__all__ = ["scan"]

_DEEPEST = 3
_HUGE = 1e9
_ATTACHERS = frozenset(
    ("attachNamespace", "library", "loadNamespace", "require", "requireNamespace", "use")
)
_KEYWORDS = frozenset(("for", "function", "if", "repeat", "while", "in", "else", "return", "\\"))
_NAMED = frozenset(("as.name", "as.symbol", "call", "sym", "exec", "call2", "new_function"))
_ALLOCATORS = frozenset(
    ("character", "integer", "logical", "matrix", "numeric", "raw", "rep", "vector")
)
_PIPES = ("|>", "%>%", "%T>%", "%<>%", "%!>%")
_WEB = ("http://", "https://")
_OS_MODULES = frozenset(("os", "subprocess", "pty", "ctypes", "socket", "shutil"))
# Their arguments are columns of tables, which may have any name.
_COLUMN_FUNCTIONS = (
    "across aes aes_ all_of any_of arrange ave by count desc distinct facet_grid facet_wrap filter "
    "group_by is.na lm mean mutate n_distinct paste paste0 pivot_longer pivot_wider print pull "
    "rename select subset sum summarise summarize table tapply unique vars with within"
)
_OF_COLUMNS = frozenset(_COLUMN_FUNCTIONS.split())
_CALLED_BY_TEXT = _NAMED | {"do.call", "match.fun"}


def scan(source: Source, depth: int = 0) -> ScanOutput:
    """Scan a program in R without running it; broken code is scanned as far as it goes.

    Args:
        source: The program.
        depth: Nesting depth of the program; scanning ends at three.
    """
    return _Scan(source, depth).output()


class _Scan:
    def __init__(self, source: Source, depth: int) -> None:
        self._source = source
        self._depth = depth
        self._script = script = read(source.text)
        assignments = Assignments(script)
        self._assignments = assignments
        self._values = Values(script, assignments)
        self._names = Names(script, assignments, self._values)
        self._found = ScanOutput("lexical")
        self._attached: frozenset[str] = frozenset()

    def output(self) -> ScanOutput:
        self._attach()
        for index, token in enumerate(self._script.tokens):
            if token.kind == "string":
                self._report_string(index)
            elif token.kind != "op":
                continue
            elif token.text == "(":
                self._call(index)
            elif token.text in _PIPES:
                self._piped(index)
            elif token.text in {"::", ":::"} and index:
                name = self._script.tokens[index - 1]
                self._found.modules.append(ModuleUse(name.text, self._span(index - 1, index)))
        return self._found

    def _span(self, start: int, end: int) -> Span:
        tokens = self._script.tokens
        last = tokens[min(max(end, start + 1), len(tokens)) - 1]
        return self._source.span(tokens[start].start, last.end)

    def _add(
        self,
        capability: Capability,
        span: Span,
        subject: str,
        confidence: Confidence = "high",
        detail: str = "",
        route: tuple[str, ...] = (),
    ) -> None:
        self._found.findings.append(
            RawFinding(capability, span, subject, confidence, detail, route)
        )

    def _attach(self) -> None:
        attached: set[str] = set()
        for index, token in enumerate(self._script.tokens):
            if token.text not in _ATTACHERS or not self._script.is_op(index + 1, "("):
                continue
            arguments = self._script.arguments(index + 1)
            if not arguments or self._script.is_op(index - 1, "$"):
                continue
            first, span = arguments[0], self._span(index, self._script.after(index + 1))
            quoted = any(argument.name == "character.only" for argument in arguments)
            name = self._values.text(first.start, first.end)
            if token.text in {"library", "require"} and not quoted and first.end > first.start:
                name = self._script.tokens[first.start].text
            if name:
                attached.add(name)
                self._found.modules.append(ModuleUse(name, span))
            elif first.end > first.start:
                self._add(Capability.DYNAMIC_UNRESOLVED, span, token.text, "low")
        self._attached = frozenset(attached)

    def _report_string(self, index: int) -> None:
        token = self._script.tokens[index]
        for _, _, capability, what in find_sensitive_text(token.text):
            self._add(capability, self._span(index, index + 1), token.text[:120], "high", what)

    def _call(self, opening: int) -> None:
        script = self._script
        if not opening or script.tokens[opening - 1].text in _KEYWORDS:
            return
        start = self._names.callee_start(opening)
        if start >= opening or script.is_op(start - 1, "$", "@"):
            return
        known = self._names.meaning(start, opening)
        if known is None:
            return
        span = self._span(start, script.after(opening))
        arguments = script.arguments(opening)
        if not known.name:
            if not known.route:
                return
            self._add(Capability.DYNAMIC_UNRESOLVED, span, known.route[0], "low", "", known.route)
            return
        if known.name.startswith(OWN):
            self._escapes(known.name, arguments)
        else:
            self._report_meaning(known, arguments, span)

    def _report_meaning(self, known: Meaning, arguments: tuple[Argument, ...], span: Span) -> None:
        name = known.name.rpartition("::")[2]
        self._handed_on(name, arguments, span)
        self._escapes(name, arguments)
        self._texts_of(name, arguments, span)
        self._files(name, arguments, span)
        if self._evaluates(known, name, arguments, span):
            return
        capability = find(known.name, self._attached)
        if capability is None or self._is_harmless(name, arguments):
            return
        confidence: Confidence = "medium" if known.route else "high"
        detail = ""
        if arguments:
            text = self._values.text(arguments[0].start, arguments[0].end)
            detail = f"with {text[:80]!r}" if text else ""
            if text and capability is Capability.PROCESS_RUN:
                self._command(text, span, name)
            if text and capability is Capability.NETWORK_WEB and text.startswith("ftp"):
                capability = Capability.NETWORK_TRANSFER
        self._add(capability, span, known.name, confidence, detail, known.route)

    def _is_harmless(self, name: str, arguments: tuple[Argument, ...]) -> bool:
        if name == "plan":
            words = [self._script.tokens[a.start].text for a in arguments if a.start < a.end]
            return words[:1] in ([], ["sequential"])
        if name == "url" and not arguments:
            return True
        return name == "Sys.umask" and not arguments

    def _command(self, text: str, span: Span, name: str) -> None:
        if installs_packages(text):
            self._add(Capability.PACKAGE_INSTALL, span, name, "high", f"with {text[:80]!r}")

    def _argument(
        self, arguments: tuple[Argument, ...], position: int, name: str
    ) -> Argument | None:
        for argument in arguments:
            if argument.name == name:
                return argument
        unnamed = [argument for argument in arguments if not argument.name]
        return unnamed[position] if position < len(unnamed) else None

    def _folded(self, argument: Argument | None) -> str | None:
        return None if argument is None else self._values.text(argument.start, argument.end)

    def _handed_on(self, name: str, arguments: tuple[Argument, ...], span: Span) -> None:
        """Report functions that are passed to a call as callbacks, by reference or by name."""
        if name not in APPLIERS and name not in _NAMED:
            return
        for position, argument in enumerate(arguments):
            if argument.end <= argument.start:
                continue
            text = self._values.text(argument.start, argument.end)
            if text is not None:
                # Only where a function is expected is a text the name of one.
                if not (
                    position == (0 if name in _CALLED_BY_TEXT else 1) or argument.name == "FUN"
                ):
                    continue
                known: Meaning | None = Meaning(text)
            else:
                known = self._names.meaning(argument.start, argument.end)
            if known is None or known.name.startswith(OWN):
                continue
            if not known.name:
                if name == "do.call":
                    self._add(Capability.DYNAMIC_UNRESOLVED, span, name, "low")
                continue
            capability = find(known.name, self._attached)
            if capability is None and known.name in _ATTACHERS:
                self._add(Capability.DYNAMIC_UNRESOLVED, span, known.name, "low", "", (name,))
            elif capability is not None:
                self._add(capability, span, known.name, "medium", "", (name, *known.route))

    def _escapes(self, name: str, arguments: tuple[Argument, ...]) -> None:
        """Report functions that run programs and are passed to code that is not modelled."""
        if name in APPLIERS or name in _OF_COLUMNS or self._names.is_followed(name):
            return
        for argument in arguments:
            if argument.end != argument.start + 1:
                continue
            token = self._script.tokens[argument.start]
            # A variable of that name is data.
            own = self._assignments.before(token.text, argument.start)
            if token.kind == "name" and token.text in NEVER_OWN and own is None:
                span = self._span(argument.start, argument.end)
                self._add(Capability.MODULE_ESCAPE, span, token.text, "medium", "", (name,))

    def _texts_of(self, name: str, arguments: tuple[Argument, ...], span: Span) -> None:
        """Report sensitive names in texts that are put together."""
        for argument in arguments:
            if argument.end <= argument.start + 1:
                first = (
                    self._script.tokens[argument.start] if argument.end > argument.start else None
                )
                if first is not None and first.kind == "string":
                    if name in READERS:
                        self._address(first.text, span, name)
                    continue
            for text in self._values.texts(argument.start, argument.end)[:64]:
                for _, _, capability, what in find_sensitive_text(text):
                    self._add(capability, span, text[:120], "medium", what, (name,))
                if name in READERS:
                    self._address(text, span, name)
        if name in _ALLOCATORS:
            self._allocation(arguments, span, name)

    def _address(self, text: str, span: Span, name: str) -> None:
        if text.lower().startswith(_WEB):
            self._add(Capability.NETWORK_WEB, span, name, "high", f"with {text[:80]!r}")
        elif text.lower().startswith(("ftp://", "ftps://", "sftp://")):
            self._add(Capability.NETWORK_TRANSFER, span, name, "high", f"with {text[:80]!r}")

    def _allocation(self, arguments: tuple[Argument, ...], span: Span, name: str) -> None:
        size = 1.0
        for argument in arguments:
            value = self._values.of(argument.start, argument.end)
            if value and len(value) == 1 and isinstance(value[0], float):
                size *= max(value[0], 1.0)
        if size > _HUGE:
            self._add(Capability.RESOURCE, span, name, "high", f"of {size:.0f} elements")

    def _files(self, name: str, arguments: tuple[Argument, ...], span: Span) -> None:
        position, keyword = WRITERS.get(name, (0, ""))
        if name in {"file", "gzfile", "bzfile", "xzfile"}:
            mode = self._folded(self._argument(arguments, 1, "open")) or ""
            keyword = "description" if set(mode) & set("wa+") else ""
        if not keyword:
            return
        path = self._folded(self._argument(arguments, position, keyword))
        if path and is_outside(path) and not path.startswith(_WEB):
            self._add(Capability.FILE_WRITE, span, name, "high", f"to {path[:80]!r}")
        if path and path.rpartition("/")[2] in {".Rprofile", "Rprofile.site", ".Renviron"}:
            self._add(Capability.PERSISTENCE, span, path[:120], "high", "R reads it when it starts")
        if name == "file.rename":
            moved = self._folded(self._argument(arguments, 0, "from"))
            if moved and is_outside(moved):
                self._add(Capability.FILE_WRITE, span, name, "high", f"of {moved[:80]!r}")

    def _evaluates(
        self, known: Meaning, name: str, arguments: tuple[Argument, ...], span: Span
    ) -> bool:
        """Report text that is run as code; return whether the call does nothing else."""
        if name == "parse":
            # R takes the beginning of an argument's name for the name.
            begun = [a for a in arguments if a.name and "text".startswith(a.name)]
            text = begun[0] if begun else None
            if text is not None:
                self._code(text, span, known, "parse")
            return True
        if name == "source":
            first = self._argument(arguments, 0, "file")
            path = self._folded(first)
            if path is not None and "://" not in path:
                self._found.modules.append(ModuleUse(path, span))
                if is_outside(path):
                    self._add(Capability.DYNAMIC_CODE, span, name, "medium", f"of {path[:80]!r}")
            elif first is not None and (path or not self._is_connection(first)):
                detail = f"from {path[:80]!r}" if path else ""
                self._add(Capability.DYNAMIC_CODE, span, name, "high", detail, known.route)
            elif first is not None:
                inner = self._script.arguments(first.start + 1)
                self._code(inner[0] if inner else first, span, known, name)
            return True
        if name in {"py_run_string", "py_eval"} and arguments:
            self._python(arguments[0], span, name)
            return True
        if name == "import" and known.name == "reticulate::import" and arguments:
            module = self._folded(arguments[0])
            if module in _OS_MODULES:
                self._add(Capability.PROCESS_RUN, span, f"{known.name}({module!r})", "medium")
            return True
        if find(known.name, self._attached) is Capability.DYNAMIC_CODE and arguments:
            self._code(arguments[0], span, known, name)
            return True
        return False

    def _is_connection(self, argument: Argument) -> bool:
        return self._script.tokens[argument.start].text in {"textConnection", "rawConnection"}

    def _code(self, argument: Argument, span: Span, known: Meaning, name: str) -> None:
        texts = self._values.texts(argument.start, argument.end)
        detail = f"with {texts[0][:80]!r}" if texts else ""
        confidence: Confidence = "high" if texts or not known.route else "medium"
        self._add(Capability.DYNAMIC_CODE, span, name, confidence, detail, known.route)
        if texts and self._depth < _DEEPEST:
            self._within(scan(Source("\n".join(texts), "r"), self._depth + 1), span, name)

    def _python(self, argument: Argument, span: Span, name: str) -> None:
        text = self._folded(argument)
        self._add(Capability.DYNAMIC_CODE, span, name, "high", "in Python")
        if text is not None:
            self._within(scan_nested(text, "python"), span, name)

    def _within(self, inner: ScanOutput, span: Span, name: str) -> None:
        self._found.findings.extend(findings_within(inner, span, name))
        self._found.modules.extend(modules_within(inner, span, name))

    def _piped(self, index: int) -> None:
        """Report ``"id" %>% system``, a function without parentheses."""
        script = self._script
        end = index + 2
        while script.is_op(end, "::", ":::"):
            end += 2
        if script.is_op(end, "(", "$", "[") or end > len(script.tokens):
            return
        known = self._names.meaning(index + 1, end)
        capability = None if known is None else find(known.name, self._attached)
        if known is not None and capability is not None:
            span = self._span(index + 1, end)
            self._add(capability, span, known.name, "high", "", known.route)
