"""Code scanner: static analysis of programs, graded by a security policy.

Start at `scan`: text becomes a `Source`, the engine of its language returns raw findings
(`RawFinding`), and a policy grades them as the findings of a `ScanReport`. The sandbox is the
boundary; the scanner is a signal before it.
"""

from llm_sandbox.results.findings import Capability, Finding, Span
from llm_sandbox.security.libraries import scan_libraries
from llm_sandbox.security.models import (
    Enforcement,
    PatternTarget,
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)
from llm_sandbox.security.package_validators import validate_package_name
from llm_sandbox.security.policy_evaluator import Violation, violations_of
from llm_sandbox.security.policy_file import load_policy
from llm_sandbox.security.presets import PolicyPreset, get_security_policy
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.scanner import reporting_policy, scan, scan_with

__all__ = [
    "Capability",
    "Enforcement",
    "Finding",
    "PatternTarget",
    "PolicyPreset",
    "RestrictedModule",
    "ScanReport",
    "SecurityIssueSeverity",
    "SecurityPattern",
    "SecurityPolicy",
    "Span",
    "Violation",
    "get_security_policy",
    "load_policy",
    "reporting_policy",
    "scan",
    "scan_libraries",
    "scan_with",
    "validate_package_name",
    "violations_of",
]
