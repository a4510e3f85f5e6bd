"""Python handler: runs and scans Python code."""

import io
import logging
import re
import tokenize

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.base import (
    AbstractLanguageHandler,
    LanguageConfig,
    PlotDetectionConfig,
    PlotLibrary,
)

__all__ = ["PythonHandler"]

# packaging accepts URLs, markers, parentheses, `===`, and lists that are empty or end in a comma.
_PLAIN = re.compile(
    r"(?!.*(?:===|\[ *\]|, *(?:,|$)))[A-Za-z0-9][A-Za-z0-9 ._+!*,=~<>\[\]-]{0,199}(?<! )", re.ASCII
)

_STRING_OR_COMMENT = re.compile(
    r"(?P<kept>'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\""
    r"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\")|#[^\n]*",
    re.DOTALL,
)


def _is_requirement(text: object) -> bool:
    from packaging.requirements import InvalidRequirement, Requirement

    # Names of libraries come from models' tool calls and may be any JSON value.
    if not isinstance(text, str) or not _PLAIN.fullmatch(text):
        return False
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


class PythonHandler(AbstractLanguageHandler):
    """Handler of Python, in a persistent IPython kernel."""

    takes_names = True

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="python",
            file_extension="py",
            execution_commands=["python {file}"],
            package_manager="python -m pip install --no-input --disable-pip-version-check --",
            plot_detection=PlotDetectionConfig(
                libraries=[PlotLibrary.MATPLOTLIB, PlotLibrary.SEABORN, PlotLibrary.PLOTLY]
            ),
        )

    def inject_plot_detection_code(self, code: str) -> str:
        """Return `code` unchanged.

        Figures are captured by hooks that the kernel installs when a plotting library is imported,
        so the user's line numbers do not move and code that does not plot pays nothing.
        """
        return code

    def validate_library(self, library: str) -> str:
        """Return a requirement without spaces: name, extras and version clauses only.

        Raises:
            ValidationError: `library` is anything else, such as a URL, a path or an option.
        """
        if not _is_requirement(library):
            # What was refused may be a URL with a token in it, so it is not repeated.
            raise ValidationError(
                "not a package requirement",
                parameter="libraries",
                hint="give a name, extras and versions only, such as pandas[excel]>=2,<3",
            )
        return library.replace(" ", "")

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches an import of `module`.

        The expression matches text; the scanner prefers the syntax tree if the code parses.
        """
        name = re.escape(module)
        parent, _, leaf = module.rpartition(".")
        statement = r"(?<![\w.])"
        # Each scan ends at the next "import", so that hostile code costs linear time.
        before = r"(?:(?:(?!import\s)[^;\n]|\\\n)*[\s,(])?"
        forms = [
            rf"{statement}import\s{before}{name}(?!\w)",
            rf"{statement}from\s+{name}(?!\w)",
            rf"\b(?:__import__|import_module)\s*\(\s*(?:name\s*=\s*)?['\"]{name}(?!\w)",
        ]
        if parent:
            imported = rf"\s+import\b{before}{re.escape(leaf)}(?!\w)"
            forms.append(rf"{statement}from\s+{re.escape(parent)}{imported}")
        return "|".join(f"(?:{form})" for form in forms)

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for triple-quoted strings, which are often used as comments.

        `filter_comments` does not remove them: they are strings, and may be evaluated.
        """
        return r"'''[\s\S]*?'''|\"\"\"[\s\S]*?\"\"\""

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it ignores string boundaries."""
        return r"#.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings and line numbers do not change.

        Line ends become newlines, as the Python compiler reads them.
        """
        code = code.replace("\r\n", "\n").replace("\r", "\n")
        lines = code.split("\n")
        try:
            for token in tokenize.generate_tokens(io.StringIO(code).readline):
                if token.type == tokenize.COMMENT:
                    row, column = token.start
                    lines[row - 1] = lines[row - 1][:column].rstrip()
        except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, IndexError):
            return _STRING_OR_COMMENT.sub(lambda found: found["kept"] or "", code)
        return "\n".join(lines)
