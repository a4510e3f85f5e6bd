"""Conformance suite of failing programs of a language."""

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.limits import Limits
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures
from llm_sandbox.testing.language_samples import LanguageSamples
from llm_sandbox.testing.suite import eventually

__all__ = ["LanguageFailureSuite"]

_MEMORY = 256 << 20
_CHILDREN = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'slee[p] 300' || true"


class LanguageFailureSuite(LanguageFixtures):
    """Exits, errors, compile errors, death and exhaustion."""

    def test_exit_code(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A program that asks for it ends with its own exit code, and the next one runs."""
        sample = self.need(samples, "exit")
        result = session.run(sample.code, timeout=RUN_S)

        assert result.exit_code == 7
        if samples.keeps_state:
            assert result.status is RunStatus.EXITED
        self._still_works(session, samples)

    def test_uncaught_error(self, session: BaseSession, samples: LanguageSamples) -> None:
        """An uncaught error is a result with its name and message, and shows nothing of ours."""
        sample = self.need(samples, "error")
        result = session.run(sample.code, timeout=RUN_S)

        error = _error(result)
        assert error.name == sample.name
        assert sample.value in error.value
        assert error.kind == "exception"
        assert result.exit_code != 0
        if samples.keeps_state:
            assert (result.status, result.exit_code) == (RunStatus.ERROR, 1)
        assert sample.value in result.stderr
        for ours in ("/opt/llm_sandbox", ".llm-sandbox", "language_handlers"):
            assert ours not in result.stderr

    def test_line_of_an_error(self, session: BaseSession, samples: LanguageSamples) -> None:
        """An error has the line in the user's code."""
        sample = self.need(samples, "error")
        if sample.line is None:
            pytest.skip("absent: its errors do not say where they were raised")

        assert _error(session.run(sample.code, timeout=RUN_S)).line == sample.line

    def test_line_without_a_function(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A failing line of three is the second."""
        sample = self.need(samples, "many_lines")
        if sample.line is None:
            pytest.skip("absent: its errors do not say where they were raised")

        assert _error(session.run(sample.code, timeout=RUN_S)).line == sample.line

    def test_syntax_error(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Code that does not parse is a result of its own kind, with the line."""
        sample = self.need(samples, "syntax")
        result = session.run(sample.code, timeout=RUN_S)

        error = _error(result)
        assert error.kind in ("syntax", "compile")
        assert error.line == sample.line
        assert (result.status, result.stdout) == (RunStatus.ERROR, "")
        self._still_works(session, samples)

    def test_compile_error(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Code that does not compile is a result with the compiler's line, column and words."""
        sample = self.need(samples, "compile")
        result = session.run(sample.code, timeout=RUN_S)

        error = _error(result)
        assert (error.kind, error.line) == ("compile", sample.line)
        if sample.column is not None:
            assert error.column == sample.column
        assert sample.value in error.value
        assert sample.value in result.stderr
        assert (result.status, result.stdout) == (RunStatus.ERROR, "")
        self._still_works(session, samples)

    def test_death_by_a_signal(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A process that is killed is told from one that fails, and is replaced."""
        sample = self.need(samples, "signal")
        result = session.run(sample.code, timeout=RUN_S)

        assert (result.status, result.exit_code) == (RunStatus.KILLED, 137)
        assert (result.signal, result.state) == (9, StateOutcome.RESET)
        self._still_works(session, samples)

    def test_memory(self, language: str, samples: LanguageSamples) -> None:
        """A program that takes ever more memory ends, and the session does not."""
        sample = self.need(samples, "memory")
        with self.open(language, limits=Limits(memory_bytes=_MEMORY)) as session:
            result = session.run(sample.code, timeout=RUN_S)

            # It is refused more, and fails by that in its own way, or is killed.
            assert result.status not in (RunStatus.OK, RunStatus.CRASHED)
            assert result.exit_code != 0
            if result.state is StateOutcome.KEPT:
                # What is kept may cost the next run its interpreter.
                session.run(samples.samples["hello"].code, timeout=RUN_S)
            self._still_works(session, samples)

    def test_children(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A program that leaves a child behind ends all the same, and the child is gone when its
        interpreter is.
        """
        sample = self.need(samples, "child")
        result = session.run(sample.code, timeout=RUN_S)
        assert result.exit_code == 0, result.stderr
        session.restart()

        def gone() -> bool:
            return session.execute_command(_CHILDREN).stdout.strip() == "0"

        assert eventually(gone, within_s=20)

    def _still_works(self, session: BaseSession, samples: LanguageSamples) -> None:
        assert session.run(samples.samples["hello"].code, timeout=RUN_S).stdout == "hello\n"


def _error(result: ExecutionResult) -> ExecutionError:
    assert result.error is not None, f"{result!r}: {result.stderr[-500:]}"
    return result.error
