"""The scan of a program: read it, grade what it does by a policy, and say so in a report."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.findings import Finding
from llm_sandbox.security.handler_reading import CodeReader, HandlerReading
from llm_sandbox.security.judging import Judge
from llm_sandbox.security.languages import LANGUAGES, canonical, engine_of
from llm_sandbox.security.models import PatternTarget, SecurityPattern, SecurityPolicy
from llm_sandbox.security.presets import PolicyPreset, get_security_policy
from llm_sandbox.security.sightings import Sightings
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.report import ScanReport

__all__ = ["LONGEST", "reporting_policy", "scan", "scan_with"]

_Mask: TypeAlias = Callable[[PatternTarget], str]

LONGEST = 2_000_000
"""Characters that are read; longer code is a finding of severity HIGH."""


def scan(
    code: str,
    lang: str = "python",
    policy: "SecurityPolicy | PolicyPreset | None" = None,
    *,
    notebook: bool | None = None,
    path: str | None = None,
) -> "ScanReport":
    """Look at code without running it, and say what it would do.

    Args:
        code: The code.
        lang: Its language: python, javascript, java, cpp, go, ruby, r or bash.
        policy: What grades the findings; a policy or the name of a ready-made one. None (default)
            reports every capability at its ordinary grade and blocks nothing.
        notebook: Whether Python is a cell for an IPython kernel, with its magics and shell lines;
            None (default) takes it for one where it is not plain Python.
        path: Where the code is from, for the report.

    Returns:
        The findings, by their place in the code.

    Raises:
        LanguageNotSupportedError: The language cannot be read.
        ValidationError: An argument is not acceptable.
    """
    if not isinstance(code, str):
        raise ValidationError(f"code must be text, not {type(code).__name__}", parameter="code")
    chosen = _chosen(policy)
    return _report(Source(code, canonical(lang), notebook), chosen, None, path)


def scan_with(
    reader: CodeReader, code: str, policy: SecurityPolicy, *, notebook: bool | None = None
) -> "ScanReport":
    """Look at code of any language that has a handler.

    Args:
        reader: The handler. Of a language that cannot be read otherwise its patterns of imports
            and comments are used.
        code: The code.
        policy: What grades the findings.
        notebook: As in `scan`.
    """
    known = reader.name in LANGUAGES
    return _report(Source(code, reader.name, notebook), policy, None if known else reader, None)


def reporting_policy() -> SecurityPolicy:
    """Return the policy of a scan without one: everything at its ordinary grade, nothing blocks."""
    return _ordinary().model_copy(deep=True)


@lru_cache(maxsize=1)
def _ordinary() -> SecurityPolicy:
    from llm_sandbox.security.capabilities import FACTS

    grades = {capability: facts.severity for capability, facts in FACTS.items()}
    return SecurityPolicy(capabilities=grades)


@lru_cache(maxsize=16)
def _preset(name: PolicyPreset) -> SecurityPolicy:
    return get_security_policy(name)


def _chosen(policy: "SecurityPolicy | PolicyPreset | None") -> SecurityPolicy:
    if policy is None:
        return _ordinary()
    if isinstance(policy, str):
        return _preset(policy)
    if not isinstance(policy, SecurityPolicy):
        raise ValidationError(
            f"policy must be a SecurityPolicy or a preset's name, not {type(policy).__name__}",
            parameter="policy",
        )
    return policy


def _report(
    source: Source, policy: SecurityPolicy, reader: CodeReader | None, path: str | None
) -> "ScanReport":
    from llm_sandbox.security.report import ScanReport

    if policy.enforcement == "off":
        sightings, findings = Sightings("lexical"), list[Finding]()
    else:
        sightings, findings = _findings(source, policy, reader)
    return ScanReport(
        lang=source.lang,
        engine=sightings.engine,
        policy=policy.name,
        threshold=policy.severity_threshold.word,
        enforcement=policy.enforcement,
        findings=_in_order(findings),
        parsed=not sightings.problem,
        problem=sightings.problem,
        path=path,
    )


def _findings(
    source: Source, policy: SecurityPolicy, reader: CodeReader | None
) -> tuple[Sightings, list[Finding]]:
    judge = Judge(policy, source)
    if len(source.text) > LONGEST:
        problem = f"longer than {LONGEST:,} characters"
        return Sightings("lexical", problem=problem), [judge.of_problem(problem, None, unseen=True)]
    from llm_sandbox.security.hidden import sight_hidden

    if reader is None:
        sightings, mask = engine_of(source.lang)(source), _mask_of(source)
    else:
        reading = HandlerReading(source, reader)
        names = [module.name for module in policy.restricted_modules or ()]
        sightings, mask = reading.sightings(names), reading.mask
    sightings.seen.extend(sight_hidden(source))
    findings = list(judge.of_sightings(sightings))
    if sightings.problem:
        findings.append(judge.of_problem(sightings.problem, sightings.problem_span))
    if policy.patterns:
        findings.extend(_pattern_findings(policy.patterns, source, judge, mask))
    return sightings, findings


def _pattern_findings(
    patterns: list[SecurityPattern], source: Source, judge: Judge, mask: _Mask
) -> Iterator[Finding]:
    # Loads `regex`, which policies without patterns do not need.
    from llm_sandbox.security.patterns import search

    for hit in search(patterns, source, mask):
        yield judge.of_pattern(hit.index, patterns[hit.index], hit.span, timed_out=hit.timed_out)


def _mask_of(source: Source) -> _Mask:
    from llm_sandbox.security.lexical.masking import mask

    return lambda target: mask(source.text, source.lang, target)


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings by place, each once."""
    ordered = sorted(
        findings,
        key=lambda f: (f.line, f.column, f.end_line, f.end_column, f.rule_id, f.subject, f.message),
    )
    seen: dict[tuple[object, ...], Finding] = {}
    for finding in ordered:
        seen.setdefault((finding.rule_id, finding.span, finding.subject, finding.inner), finding)
    return tuple(seen.values())
