"""The verdict of a policy on a piece of code.

Imports of Python are judged by syntax tree; where code does not parse, and for other languages, by
the handler's import patterns over the code with comments masked.
"""

import ast
import re
from collections.abc import Iterator
from typing import Protocol

from llm_sandbox.security.models import SecurityIssueSeverity, SecurityPattern, SecurityPolicy

__all__ = ["CodeReader", "is_safe"]


class CodeReader(Protocol):
    """What the scanner needs of a language handler."""

    @property
    def name(self) -> str:
        """Name of the language."""

    def filter_comments(self, code: str) -> str:
        """Return `code` with comments masked."""

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an import of `module`."""


def is_safe(
    code: str, policy: SecurityPolicy | None, handler: CodeReader
) -> tuple[bool, list[SecurityPattern]]:
    """Return whether `policy` lets `code` run, and everything that it found.

    Args:
        code: The code to judge; it is not run.
        policy: The policy, never changed; None finds nothing.
        handler: The handler of the code's language.

    Returns:
        True unless a finding is at or above the policy's threshold (SAFE blocks nothing), and all
        findings, patterns first, in the policy's order. A restricted module is found as a pattern
        with that module's description and severity.
    """
    if policy is None:
        return True, []
    visible = handler.filter_comments(code)
    found = [p for p in policy.patterns or () if re.search(p.pattern, visible, re.MULTILINE)]
    modules = policy.restricted_modules or ()
    imported = _python_imports(code) if handler.name == "python" and modules else None
    for module in modules:
        pattern = handler.get_import_patterns(module.name)
        if imported is None:
            hit = re.search(pattern, visible, re.MULTILINE) is not None
        else:
            hit = any(
                name == module.name or name.startswith(f"{module.name}.") for name in imported
            )
        if hit:
            found.append(
                SecurityPattern(
                    pattern=pattern, description=module.description, severity=module.severity
                )
            )
    threshold = policy.severity_threshold
    blocks = threshold > SecurityIssueSeverity.SAFE
    return not (blocks and any(finding.severity >= threshold for finding in found)), found


def _python_imports(code: str) -> set[str] | None:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return {name for node in ast.walk(tree) for name in _imported_by(node)}


def _imported_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call):
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else None
        called = function.id if isinstance(function, ast.Name) else called
        if called in {"__import__", "import_module"}:
            named = [item.value for item in node.keywords if item.arg == "name"]
            for argument in [*node.args[:1], *named]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
