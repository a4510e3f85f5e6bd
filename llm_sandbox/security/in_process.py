"""Scan of one program in the current process: its engine's findings, graded by a policy."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from llm_sandbox.results.findings import SEVERITIES, Finding
from llm_sandbox.security.languages import engine_of
from llm_sandbox.security.models import PatternTarget, SecurityPattern, SecurityPolicy
from llm_sandbox.security.policy_evaluator import PolicyEvaluator
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.regex_engine import CodeReader, RegexEngine
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.source import Source
from llm_sandbox.security.unicode_tricks import find_hidden_text

__all__ = ["MOST_FINDINGS", "scan_in_process", "unread_report"]

MOST_FINDINGS = 20_000
"""Maximum number of findings in one report; the most severe are kept."""

_Mask: TypeAlias = Callable[[PatternTarget], str]


def scan_in_process(
    source: Source, policy: SecurityPolicy, reader: CodeReader | None
) -> ScanReport:
    """Scan a program and return the report of its graded findings.

    Time and memory are not limited here as a whole: `scan` calls this in a process of its own.

    Args:
        source: The program.
        policy: The policy that grades the findings.
        reader: The handler of a language without an engine; None for the others.
    """
    evaluator = PolicyEvaluator(policy, source)
    if reader is None:
        output, mask = engine_of(source.lang)(source), _mask_of(source)
    else:
        engine = RegexEngine(source, reader)
        names = [module.name for module in policy.restricted_modules or ()]
        output, mask = engine.scan(names), engine.mask
    if output.abandoned:
        return unread_report(source, policy, output.problem)
    output.findings.extend(find_hidden_text(source))
    findings = list(evaluator.grade_output(output))
    if output.problem:
        findings.append(evaluator.problem_finding(output.problem, output.problem_span))
    if policy.patterns:
        findings.extend(_pattern_findings(policy.patterns, source, evaluator, mask))
    return _report(output, source, policy, findings)


def unread_report(source: Source, policy: SecurityPolicy, problem: str) -> ScanReport:
    """Return the report of a program that could not be scanned, which is never safe.

    Args:
        source: The program.
        policy: The policy of the scan.
        problem: Reason why the program was not scanned.
    """
    finding = PolicyEvaluator(policy, source).problem_finding(problem, None, abandoned=True)
    return _report(
        ScanOutput("lexical", problem=problem, abandoned=True), source, policy, [finding]
    )


def _report(
    output: ScanOutput, source: Source, policy: SecurityPolicy, findings: list[Finding]
) -> ScanReport:
    return ScanReport(
        lang=source.lang,
        engine=output.engine,
        policy=policy.name,
        threshold=policy.severity_threshold.word,
        enforcement=policy.enforcement,
        findings=_in_order(findings),
        parsed=not output.problem,
        problem=output.problem,
        read=not output.abandoned,
    )


def _pattern_findings(
    patterns: list[SecurityPattern], source: Source, evaluator: PolicyEvaluator, mask: _Mask
) -> Iterator[Finding]:
    # Loads `regex`, which policies without patterns do not need.
    from llm_sandbox.security.patterns import search

    for hit in search(patterns, source, mask):
        yield evaluator.pattern_finding(
            hit.index, patterns[hit.index], hit.span, timed_out=hit.timed_out
        )


def _mask_of(source: Source) -> _Mask:
    from llm_sandbox.security.lexical.regions import mask

    return lambda target: mask(source.text, source.lang, target)


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return the findings by position, without duplicates, and the most severe when too many."""
    seen: dict[tuple[object, ...], Finding] = {}
    for finding in sorted(findings, key=_position):
        seen.setdefault((finding.rule_id, finding.span, finding.subject, finding.inner), finding)
    kept = list(seen.values())
    if len(kept) > MOST_FINDINGS:
        gravest = sorted(kept, key=lambda one: -SEVERITIES.index(one.severity))
        kept = sorted(gravest[:MOST_FINDINGS], key=_position)
    return tuple(kept)


def _position(finding: Finding) -> tuple[object, ...]:
    position = (finding.line, finding.column, finding.end_line, finding.end_column)
    return (*position, finding.rule_id, finding.subject, finding.message)
