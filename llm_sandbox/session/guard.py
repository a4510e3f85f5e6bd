"""Enforcement of a session's policy: code, libraries and commands judged before they are run."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llm_sandbox.const import RunCause, RunStatus
from llm_sandbox.data import ExecutionResult, Usage
from llm_sandbox.exceptions import SecurityViolationError
from llm_sandbox.limits import Deadline
from llm_sandbox.results.outputs import ExecutionError

if TYPE_CHECKING:
    from llm_sandbox.language_handlers.base import AbstractLanguageHandler
    from llm_sandbox.security import ScanReport, SecurityPolicy, Violation

__all__ = ["REFUSED_EXIT", "Guard", "refused_result"]

REFUSED_EXIT = 126
"""Exit code of a result whose code was refused: a shell's, for a file that may not be run."""

_NEVER = Deadline()
_NO_TIME_S = 1e-6


class Guard:
    """Gate of one session: refuses what its policy blocks.

    Args:
        policy: The policy, which is never changed here; None admits everything.
        handler: The session's language.
    """

    def __init__(self, policy: "SecurityPolicy | None", handler: "AbstractLanguageHandler") -> None:
        self._policy = policy
        self._handler = handler

    def warm_up(self) -> None:
        """Start the scanning process of a session that will need it, without waiting."""
        if self._policy is not None and self._policy.enforcement != "off":
            from llm_sandbox.security.scan_pool import SCAN_POOL

            SCAN_POOL.warm_up()

    def scan(self, code: str, deadline: Deadline = _NEVER) -> "ScanReport":
        """Scan code by the policy; without one, every capability is found at its default grade.

        Args:
            code: The code, which is not run.
            deadline: When the scan is abandoned, if that is before a scan's own deadline.
        """
        # Policies are pydantic models, which most sessions never load.
        from llm_sandbox.security import reporting_policy, scan_with

        policy = self._policy if self._policy is not None else reporting_policy()
        notebook = True if self._handler.name == "python" else None
        timeout = _seconds(deadline)
        return scan_with(self._handler, code, policy, notebook=notebook, timeout=timeout)

    def is_safe(self, code: str) -> "tuple[bool, list[Violation]]":
        """Return whether no finding is at or above the policy's threshold, and all findings.

        Without a policy all code is safe.
        """
        if self._policy is None:
            return True, []
        from llm_sandbox.security import violations_of

        report = self.scan(code)
        return report.is_safe, violations_of(report)

    def admit(self, code: str, deadline: Deadline) -> "ScanReport | None":
        """Judge code that is about to run.

        Args:
            code: The code.
            deadline: The run's, which the scan counts towards.

        Returns:
            The report; None without a policy. The code may run unless `refuses` returns True.

        Raises:
            SecurityViolationError: The policy refuses the code by an error.
        """
        if self._policy is None:
            return None
        report = self.scan(code, deadline)
        if self.refuses(report) and self._policy.refusal == "raise":
            raise _violation("this code", report, "run")
        return report

    def refuses(self, report: "ScanReport | None") -> bool:
        """Return whether the code of a report may not run."""
        return report is not None and report.enforcement == "enforce" and bool(report.blocking)

    def admit_libraries(self, libraries: Sequence[str]) -> None:
        """Judge libraries that are about to be installed.

        Raises:
            SecurityViolationError: The policy refuses one; none was fetched.
        """
        if self._policy is None or not libraries:
            return
        from llm_sandbox.security import scan_libraries

        report = scan_libraries(libraries, self._handler.name, self._policy)
        if self.refuses(report):
            raise _violation("these libraries", report, "install")

    def admit_command(self, command: str | Sequence[str], deadline: Deadline = _NEVER) -> None:
        """Judge a command that is about to be started, as a line for a shell.

        Args:
            command: A line for the shell, or a program and its arguments.
            deadline: The command's, which the scan counts towards.

        Raises:
            SecurityViolationError: The policy refuses it; it was not started.
        """
        if self._policy is None or not command:
            return
        from llm_sandbox.security import scan

        line = command if isinstance(command, str) else shlex.join(map(str, command))
        report = scan(line, "bash", self._policy, timeout=_seconds(deadline))
        if self.refuses(report):
            raise _violation("this command", report, "execute_command")


def refused_result(report: "ScanReport") -> ExecutionResult:
    """Return the result of code that was not run.

    Args:
        report: The report that refuses it.
    """
    first = report.blocking[0]
    error = ExecutionError(
        SecurityViolationError.__name__, first.message, line=first.line, kind="blocked"
    )
    return ExecutionResult(
        exit_code=REFUSED_EXIT,
        stderr=report.message_for_model(),
        status=RunStatus.BLOCKED,
        error=error,
        usage=Usage(),
        findings=report.findings,
        cause=RunCause.POLICY,
    )


def _seconds(deadline: Deadline) -> float | None:
    left = deadline.remaining()
    return left if left is None else max(left, _NO_TIME_S)


def _violation(what: str, report: "ScanReport", op: str) -> SecurityViolationError:
    from llm_sandbox.security import violations_of

    first = report.blocking[0]
    name = f" {report.policy!r}" if report.policy else ""
    more = len(report.blocking) - 1
    others = f", and {more} more" if more else ""
    return SecurityViolationError(
        f"the security policy{name} refuses {what}: line {first.line}: {first.message}{others}",
        violations=violations_of(report),
        report=report,
        op=op,
        hint=first.fix or None,
    )
