"""Session as one self-contained HTML page without active content.

The page loads nothing and runs no script: its content security policy forbids both, for quoted
content as well. Pictures and drawings are images; HTML that the code made is in a sandboxed frame
without permissions; Markdown and formulas become known elements; all other content is escaped text.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.results.outputs import ErrorOutput, StreamOutput
from llm_sandbox.views.notebook import Entry
from llm_sandbox.views.outcome import status_lines
from llm_sandbox.views.report_parts import PageBudget, escape, file_list, preformatted, show
from llm_sandbox.views.sanitize import one_line
from llm_sandbox.views.visible import BundleOutput, VisibleOutput, plain_text, visible_outputs

__all__ = ["html_fragment", "html_report"]

_POLICY = (
    "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
_COMMENT = re.compile(r"(?:#+|//+|--+|/\*+|%+)\s*(?:%%\s*)?(\w.*?)\s*(?:\*/)?")
_MOST_OUTPUTS = 500
_LONGEST_TEXT = 200_000
_LONGEST_CODE = 500_000


def html_report(
    title: str,
    entries: Iterable[Entry],
    *,
    lang: str = "python",
    largest: int = 64 << 20,
    metadata: str = "",
) -> str:
    """Return a self-contained page with code and results.

    Args:
        title: Heading of the page.
        entries: Code and result of each run, in order.
        lang: Language of the code.
        largest: Most bytes of all embedded content together; content that does not fit is only
            named.
        metadata: Sentence below the heading, such as the environment of the runs.
    """
    budget = PageBudget(largest)
    # Later runs are what a session came to, but a page is read from its beginning.
    runs = [
        (code, result, _run(place, code, result, lang, budget))
        for place, (code, result) in enumerate(entries, start=1)
    ]
    links = "".join(_link(place, code, result) for place, (code, result, _) in enumerate(runs, 1))
    heading = escape(one_line(title, 300)) or "Session"
    lines = [line for line in (metadata, _summary([result for _, result, _ in runs])) if line]
    about = "".join(f'<p class="quiet">{escape(one_line(line, 500))}</p>' for line in lines)
    navigation = f'<nav aria-label="Runs"><ol>{links}</ol></nav>' if len(runs) > 1 else ""
    body = "\n".join(html for _, _, html in runs)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{_style()}</style></head>\n"
        f"<body><header><h1>{heading}</h1>{about}{navigation}</header>\n"
        f"<main>\n{body}\n</main></body></html>\n"
    )


def html_fragment(result: ExecutionResult, *, largest: int = 8 << 20) -> str:
    """Return the result of a run as a fragment of a foreign page, such as a notebook's.

    The fragment has no script and no frame: HTML that the code made is only named.

    Args:
        result: The run.
        largest: Most bytes of all embedded content together; content that does not fit is only
            named.
    """
    parts = _outputs(result, PageBudget(largest, frames=False))
    parts += [f'<p class="quiet">{escape(line)}</p>' for line in status_lines(result)]
    return f"<div>{''.join(parts)}</div>"


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _summary(results: list[ExecutionResult]) -> str:
    """Return counts of the runs' artifacts and resources."""
    made = [artifact for result in results for artifact in result.artifacts]
    failed = sum(bool(_status(result)[1]) for result in results)
    counts = {
        "run": len(results),
        "figure": sum(artifact.type is ArtifactType.FIGURE for artifact in made),
        "table": sum(artifact.type is ArtifactType.TABLE for artifact in made),
        "file": sum(bool(artifact.paths) for artifact in made),
    }
    words = [f"{count:,} {name}{'s' * (count != 1)}" for name, count in counts.items() if count]
    words += [f"{failed:,} failed"] * bool(failed)
    seconds = sum(result.usage.wall_s for result in results)
    return " · ".join([*words, f"{seconds:.1f} s"])


def _title(code: str) -> str:
    """Return the title of a run: its first comment, or else its first line."""
    first = next((line.strip() for line in code.split("\n") if line.strip()), "")
    comment = _COMMENT.fullmatch(first)
    if comment is not None:
        return escape(one_line(comment[1], 120))
    return f"<code>{escape(one_line(first, 120))}</code>" if first else "no code"


def _link(place: int, code: str, result: ExecutionResult) -> str:
    status, style = _status(result)
    shown = f'<span>{place}</span><span class="title">{_title(code)}</span>'
    label = f'<span class="status{style}">{status}</span>'
    return f'<li><a href="#run-{place}">{shown}{label}</a></li>'


def _status(result: ExecutionResult) -> tuple[str, str]:
    good = result.status is RunStatus.OK or (
        result.status is RunStatus.EXITED and not result.exit_code
    )
    return result.status.value, "" if good else " bad"


def _run(place: int, code: str, result: ExecutionResult, lang: str, budget: PageBudget) -> str:
    status, style = _status(result)
    label = f'<span class="status{style}">{status}</span>'
    number = f'<span class="quiet">{place}</span>'
    parts = [
        f'<section class="run" id="run-{place}">',
        f'<div class="heading"><h2>{number} {_title(code)}</h2>{label}</div>',
        preformatted(code, "code", _LONGEST_CODE, lang),
        *_outputs(result, budget),
    ]
    if result.error is not None and not any(isinstance(o, ErrorOutput) for o in result.outputs):
        parts.append(preformatted(f"{result.error.name}: {result.error.value}", "error"))
    notes = status_lines(result)[1:]
    parts += [f'<p class="quiet">{escape(line)}</p>' for line in notes]
    parts.append("</section>")
    return "\n".join(parts)


def _outputs(result: ExecutionResult, budget: PageBudget) -> list[str]:
    if not result.outputs:
        streams = (("stdout", result.stdout), ("stderr", result.stderr))
        parts = [preformatted(text, name, _LONGEST_TEXT) for name, text in streams if text]
    else:
        parts = []
    shown = visible_outputs(result.outputs)
    told: set[str] = set()
    for item in shown[:_MOST_OUTPUTS]:
        parts += _output(item, result, budget, told)
    if len(shown) > _MOST_OUTPUTS:
        parts.append(f'<p class="quiet">{len(shown) - _MOST_OUTPUTS:,} more outputs</p>')
    rest = [artifact for artifact in result.artifacts if artifact.id not in told]
    parts += [show(artifact, budget) for artifact in rest if not artifact.paths][:_MOST_OUTPUTS]
    files = [artifact for artifact in rest if artifact.paths]
    return [*parts, file_list(files, budget)] if files else parts


def _output(
    item: VisibleOutput, result: ExecutionResult, budget: PageBudget, told: set[str]
) -> Iterator[str]:
    output = item.output
    if isinstance(output, StreamOutput):
        yield preformatted(output.text, output.name, _LONGEST_TEXT)
    elif isinstance(output, ErrorOutput):
        text = "\n".join(output.traceback) or f"{output.name}: {output.value}"
        yield preformatted(text, "error", _LONGEST_TEXT)
    elif isinstance(output, BundleOutput):
        made = [artifact for artifact in result.artifacts if item.index in artifact.outputs]
        for artifact in made:
            if artifact.id not in told:
                told.add(artifact.id)
                yield show(artifact, budget)
        text = "" if made else plain_text(output.data) or ""
        if text:
            yield preformatted(text, "value", _LONGEST_TEXT)
