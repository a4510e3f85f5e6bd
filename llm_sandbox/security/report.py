"""Reports of scans: the findings in one piece of code, graded by a policy."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import to_plain
from llm_sandbox.results.findings import SEVERITIES, Finding, SeverityName, Span
from llm_sandbox.security.raw_findings import EngineName

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["SCHEMA", "ScanReport"]

SCHEMA = 1
"""Version of the JSON form of reports."""

_ENFORCEMENTS = ("enforce", "advise", "off")
_PLAIN = (("lang", str), ("policy", str), ("problem", str), ("parsed", bool), ("read", bool))


@dataclass(frozen=True, slots=True)
class ScanReport:
    """Findings in one piece of code, which are the same for the same code, language and policy."""

    type: ClassVar[str] = "scan"
    """Tag in JSON."""
    lang: str
    """Language of the code."""
    engine: EngineName
    """Kind of engine that scanned the code."""
    policy: str = ""
    """Name of the policy; empty for a policy without a name."""
    threshold: SeverityName = "safe"
    """Severity from which findings block; ``safe`` (default) blocks nothing."""
    enforcement: Literal["enforce", "advise", "off"] = "enforce"
    """Whether code with a blocking finding is refused, or runs all the same."""
    findings: tuple[Finding, ...] = ()
    """Findings in the order of the code."""
    parsed: bool = True
    """Whether the code parsed; if not, findings may be missing."""
    problem: str = ""
    """Reason why the code did not parse or was not scanned; empty when it was."""
    path: str | None = None
    """Path of the code; None when it is in no file."""
    read: bool = True
    """Whether the code was scanned. False for code that is too long, and for scans that took too
    much time or memory or failed: `problem` has the reason, and the code is not safe under any
    policy."""

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """Findings at or above the threshold."""
        least = SEVERITIES.index(self.threshold)
        if not least:
            return ()
        return tuple(f for f in self.findings if SEVERITIES.index(f.severity) >= least)

    @property
    def is_safe(self) -> bool:
        """True if the code was scanned without a blocking finding; see `parsed` for gaps."""
        return self.read and not self.blocking

    @property
    def counts(self) -> dict[SeverityName, int]:
        """Number of findings by severity, most severe first, zeros left out."""
        found = [finding.severity for finding in self.findings]
        return {name: found.count(name) for name in reversed(SEVERITIES) if name in found}

    @property
    def summary(self) -> str:
        """Summary in one line: numbers of findings and of blocking ones, and parse problems."""
        from llm_sandbox.security.report_views import summary_line

        return summary_line(self)

    def message_for_model(self) -> str:
        """Return the message for the model that wrote the code.

        Blocking findings come first; the message has at most ten findings and 4,000 characters.
        Quoted code is shown as one line without invisible characters.
        """
        from llm_sandbox.security.report_views import message_for_model

        return message_for_model(self)

    def __str__(self) -> str:
        """Return one line for each finding, in the format of compilers, and the summary."""
        from llm_sandbox.security.report_views import finding_line

        return "\n".join([*(finding_line(f, self.path) for f in self.findings), self.summary])

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON-serialisable data; `from_dict` restores it."""
        data: dict[str, object] = {"schema": SCHEMA, "type": self.type}
        for name in self.__match_args__:
            value = getattr(self, name)
            data[name] = [f.to_dict() for f in value] if name == "findings" else to_plain(value)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the report that `to_dict` serialised; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema, or does not describe a report.
        """
        if data.get("schema") != SCHEMA:
            raise ValidationError(
                f"this version reads reports of schema {SCHEMA} only", parameter="schema"
            )
        if data.get("type") != cls.type:
            raise ValidationError(f"the data is not of type {cls.type!r}", parameter="type")
        given: dict[str, Any] = {n: data[n] for n in cls.__match_args__ if n in data}
        _check_fields(given)
        if "findings" in given:
            given["findings"] = tuple(_load_finding(item) for item in given["findings"])
        return cls(**given)

    def to_json(self) -> str:
        """Return the report as one JSON document in ASCII."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the report that `to_json` serialised; unknown fields are ignored.

        Raises:
            ValidationError: `text` is not JSON, of another schema, or does not describe a report.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValidationError("the text is not JSON") from error
        if not isinstance(data, dict):
            raise ValidationError("the JSON is not an object")
        return cls.from_dict(data)

    def to_sarif(self) -> dict[str, object]:
        """Return the report as a SARIF 2.1.0 log of one run."""
        from llm_sandbox.security.sarif import sarif_log

        return sarif_log([self])

    def __rich__(self) -> "RenderableType":
        """Return the rich renderable: findings with their code, and the summary."""
        from llm_sandbox.security.report_views import as_rich

        return as_rich(self)

    def _repr_html_(self) -> str:
        from llm_sandbox.security.report_views import as_html

        return as_html(self)


def _check_fields(given: Mapping[str, Any]) -> None:
    """Check the types of the fields of a report."""
    for name, kind in _PLAIN:
        if name in given and not isinstance(given[name], kind):
            raise _undescribed(name)
    for name, known in (
        ("engine", get_args(EngineName)),
        ("threshold", SEVERITIES),
        ("enforcement", _ENFORCEMENTS),
    ):
        if name in given and given[name] not in known:
            raise _undescribed(name)
    for name in ("lang", "engine"):
        if name not in given:
            raise _undescribed(name)
    if not isinstance(given.get("path"), str | None):
        raise _undescribed("path")
    if not isinstance(given.get("findings", []), list):
        raise _undescribed("findings")


def _load_finding(item: object) -> Finding:
    if not isinstance(item, Mapping):
        raise _undescribed("findings")
    try:
        finding = Finding.from_dict(item)
    except RecursionError as error:
        raise _undescribed("findings") from error
    texts = ("rule_id", "category", "snippet", "subject", "message", "why", "fix")
    if not (
        finding.severity in SEVERITIES
        and finding.confidence in ("high", "medium", "low")
        and all(isinstance(getattr(finding, name), str) for name in texts)
        and all(isinstance(step, str) for step in finding.route)
        and _is_number(finding.cwe, optional=True)
        and _is_span(finding.span)
        and (finding.inner is None or _is_span(finding.inner))
    ):
        raise _undescribed("findings")
    return finding


def _is_span(span: Span) -> bool:
    return all(_is_number(getattr(span, name)) for name in span.__dataclass_fields__)


def _is_number(value: object, *, optional: bool = False) -> bool:
    if value is None:
        return optional
    return isinstance(value, int) and not isinstance(value, bool)


def _undescribed(name: str) -> ValidationError:
    return ValidationError(
        f"the data does not describe a scan report: see its {name!r}", parameter=name
    )
