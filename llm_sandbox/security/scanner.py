"""Scans of programs, in a process of their own, graded by a policy."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.security.languages import LANGUAGES, canonical
from llm_sandbox.security.models import SecurityPolicy
from llm_sandbox.security.presets import PolicyPreset, get_security_policy
from llm_sandbox.security.regex_engine import CodeReader
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.report import ScanReport

__all__ = ["LONGEST", "reporting_policy", "scan", "scan_with"]

LONGEST = 2_000_000
"""Maximum length of scanned code in characters; longer code is a finding of severity HIGH."""


def scan(
    code: str,
    lang: str = "python",
    policy: "SecurityPolicy | PolicyPreset | None" = None,
    *,
    notebook: bool | None = None,
    path: str | None = None,
    timeout: float | None = None,
) -> "ScanReport":
    """Scan code without running it.

    Code is scanned in a process of its own, which is kept for the next scan. The limits are 10
    seconds, 10 more for each million characters, and an amount of memory; code that exceeds them is
    not scanned, which the report says (`read`), and is never safe.

    Args:
        code: The code.
        lang: Language: python, javascript, java, cpp, go, ruby, r or bash.
        policy: The policy that grades the findings, or the name of a ready-made one. None (default)
            reports every capability at its default severity and blocks nothing.
        notebook: Whether Python is a cell for an IPython kernel, with magics and shell lines; None
            (default) decides by whether it is plain Python.
        path: Path of the code, for the report.
        timeout: Timeout in seconds, waiting for a process included; None (default) for only the
            deadline of every scan.

    Returns:
        The report, with findings in the order of the code.

    Raises:
        LanguageNotSupportedError: The language is not supported.
        ValidationError: An argument is invalid.
    """
    if not isinstance(code, str):
        raise ValidationError(f"code must be text, not {type(code).__name__}", parameter="code")
    chosen = _chosen(policy)
    report = _report(Source(code, canonical(lang), notebook), chosen, None, timeout)
    return report if path is None else replace(report, path=path)


def scan_with(
    reader: CodeReader,
    code: str,
    policy: SecurityPolicy,
    *,
    notebook: bool | None = None,
    timeout: float | None = None,
) -> "ScanReport":
    """Scan code of any language that has a handler.

    Args:
        reader: The handler. For a language without an engine, its patterns of imports and comments
            are used in the scanner process: it has to be an object that `pickle` can copy, of a
            class that another process can import.
        code: The code.
        policy: The policy that grades the findings.
        notebook: As in `scan`.
        timeout: As in `scan`.
    """
    known = reader.name in LANGUAGES
    source = Source(code, reader.name, notebook)
    return _report(source, policy, None if known else reader, timeout)


def reporting_policy() -> SecurityPolicy:
    """Return the default policy: all capabilities at their default severity, nothing blocks."""
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
    source: Source, policy: SecurityPolicy, reader: CodeReader | None, timeout: float | None
) -> "ScanReport":
    from llm_sandbox.security.in_process import unread_report
    from llm_sandbox.security.report import ScanReport

    timeout = validate_timeout(timeout, "timeout")
    if policy.enforcement == "off":
        threshold = policy.severity_threshold.word
        return ScanReport(source.lang, "lexical", policy.name, threshold, policy.enforcement)
    if len(source.text) > LONGEST:
        return unread_report(source, policy, f"longer than {LONGEST:,} characters")
    from llm_sandbox.security.scan_pool import SCAN_POOL

    report = SCAN_POOL.read(source, policy, reader, timeout)
    return unread_report(source, policy, report) if isinstance(report, str) else report
