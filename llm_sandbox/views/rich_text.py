"""Code, Markdown and formulas as HTML without active or external content.

The source comes from inside. Parsers get a bounded length of it, text that cannot be parsed is
shown as source, and of the output only known elements and attributes are kept.
"""

import html
import re
from functools import cache
from typing import Any

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from llm_sandbox.views.sanitize import clean

__all__ = ["formula_html", "highlighted", "markdown_html"]

_LONGEST_MARKDOWN = 100_000
_LONGEST_TEX = 20_000
_LONGEST_FORMULA = 4000
_LONGEST_CODE = 20_000
"""Longest code that is highlighted: lexers take quadratic time for adversarial input."""
_FORMULA = re.compile(
    r"\$\$(?P<a>.+?)\$\$|\$(?P<b>[^$]+)\$|\\\[(?P<c>.+?)\\\]|\\\((?P<d>.+?)\\\)", re.DOTALL
)
_MATHML = {
    "annotation", "math", "menclose", "merror", "mfenced", "mfrac", "mi", "mn", "mo", "mover",
    "mpadded", "mphantom", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup",
    "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "semantics",
}  # fmt: skip
_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display",
    "displaystyle", "fence", "form", "height", "largeop", "linethickness", "lspace", "mathcolor",
    "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowlines",
    "rowspacing", "rspace", "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip


def highlighted(code: str, lang: str) -> list[str]:
    """Return the lines of code as HTML, with CSS classes for tokens.

    Args:
        code: The code.
        lang: Language of the code, as `create_session` names it.
    """
    code = clean(code.rstrip())
    lexer = _lexer(lang) if len(code) <= _LONGEST_CODE else None
    if lexer is None:
        return html.escape(code).split("\n")
    return highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")


@cache
def _lexer(lang: str) -> Lexer | None:
    try:
        return get_lexer_by_name(lang, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def markdown_html(text: str) -> str:
    """Return Markdown as HTML: markup in it is escaped, and targets of links are written out.

    Args:
        text: The Markdown.
    """
    return str(_markdown().render(clean(text[:_LONGEST_MARKDOWN])))


@cache
def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # A picture would be fetched, or not be seen.
    reader.disable(["image", "html_block", "html_inline"])
    # A link from inside is not for clicking.
    reader.add_render_rule("link_open", _open_link)
    reader.add_render_rule("link_close", _close_link)
    return reader


def _open_link(
    renderer: RendererHTML, tokens: list[Token], index: int, options: object, env: object
) -> str:
    del renderer, options, env
    address = str(tokens[index].attrGet("href") or "")
    return f'<span class="link" title="{html.escape(address)}">'


def _close_link(
    renderer: RendererHTML, tokens: list[Token], index: int, options: object, env: object
) -> str:
    del renderer, tokens, index, options, env
    return "</span>"


def formula_html(text: str) -> str:
    """Return LaTeX as HTML: formulas as MathML, the text between them unchanged.

    Args:
        text: Text with formulas between dollar signs, or one formula without.
    """
    text = clean(text.strip())
    if len(text) > _LONGEST_TEX:
        return f"<code>{html.escape(text[:_LONGEST_TEX])}…</code>"
    if not _FORMULA.search(text):
        return _formula(text, is_block=True)
    parts, end = [], 0
    alone = _FORMULA.fullmatch(text) is not None
    for found in _FORMULA.finditer(text):
        parts.append(html.escape(text[end : found.start()]))
        source = next(group for group in found.groups() if group is not None)
        is_block = alone or found.lastgroup in ("a", "c")
        parts.append(_formula(source, is_block=is_block))
        end = found.end()
    return "".join([*parts, html.escape(text[end:])])


def _formula(source: str, *, is_block: bool) -> str:
    shown = f"<code>{html.escape(source)}</code>"
    if len(source) > _LONGEST_FORMULA:
        return shown
    try:
        # trust: text from inside, short; the reader is Python's, and knows no files and no macros.
        element = convert_to_element(source, display="block" if is_block else "inline")
        return _mathml(element)
    except Exception:  # noqa: BLE001 - its reader raises what it likes
        return shown


def _mathml(element: Any) -> str:
    """Return an element as text, without unknown attributes.

    Raises:
        ValueError: The element is unknown, or contains an unknown one.
    """
    if element.tag not in _MATHML:
        raise ValueError(f"{element.tag} is not a MathML element")
    words = [element.tag]
    words += [f'{k}="{_text(v)}"' for k, v in element.attrib.items() if k in _ATTRIBUTES]
    inner = "".join(_mathml(child) + _text(child.tail) for child in element)
    return f"<{' '.join(words)}>{_text(element.text)}{inner}</{element.tag}>"


def _text(text: str | None) -> str:
    # The reader writes some characters as entities.
    return html.escape(html.unescape(text or ""))
