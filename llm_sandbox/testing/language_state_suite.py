"""Conformance suite of state, input, environment variables and libraries of a language."""

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.language_fixtures import GREETING, RUN_S, LanguageFixtures
from llm_sandbox.testing.language_samples import LanguageSamples

__all__ = ["LanguageStateSuite"]


class LanguageStateSuite(LanguageFixtures):
    """State that is kept, or declared not to be; input, environment, libraries, programs."""

    def test_stdin(self, session: BaseSession, samples: LanguageSamples) -> None:
        """The lines that a run is given are its standard input, as often as it is run."""
        sample = self.need(samples, "stdin")
        for _ in range(2):
            result = session.run(sample.code, stdin="first\nsecond\n", timeout=RUN_S)

            assert (result.stdout, result.exit_code) == ("second\nfirst\n", 0), result.stderr

    def test_end_of_stdin(self, session: BaseSession, samples: LanguageSamples) -> None:
        """The end of the input is seen as such, by the next run as well, and so is no input."""
        sample = self.need(samples, "stdin_end")
        for stdin in ("", None, ""):
            result = session.run(sample.code, stdin=stdin, timeout=RUN_S)

            assert (result.stdout, result.exit_code) == ("end\n", 0), result.stderr

    def test_state(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A run finds the variables of the one before it."""
        sample = self.need(samples, "state")
        first = session.run(sample.first, timeout=RUN_S)
        assert (first.exit_code, first.state) == (0, StateOutcome.KEPT), first.stderr

        assert session.run(sample.second, timeout=RUN_S).stdout == sample.stdout

    def test_functions_are_kept(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A run finds the functions and classes of the one before it."""
        sample = self.need(samples, "state_function")
        assert session.run(sample.first, timeout=RUN_S).exit_code == 0

        assert session.run(sample.second, timeout=RUN_S).stdout == sample.stdout

    def test_state_is_told(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A result says whether the next run finds anything of this one."""
        result = session.run(self.need(samples, "hello").code, timeout=RUN_S)

        expected = StateOutcome.KEPT if samples.keeps_state else StateOutcome.RESET
        assert result.state is expected

    def test_restart(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A restarted interpreter has forgotten the variables, and finds the files."""
        state, file = self.need(samples, "state"), self.need(samples, "file")
        session.run(file.code, timeout=RUN_S)
        session.run(state.first, timeout=RUN_S)
        session.restart()

        assert session.run(state.second, timeout=RUN_S).stdout != state.stdout
        assert session.sandbox.files.read_text("out.txt") == "data\n"

    def test_program(self, language: str, samples: LanguageSamples) -> None:
        """With ``persistent=False`` a whole program runs, with its input, environment and exit
        code.
        """
        program = self.need(samples, "program")
        with self.open(language, persistent=False) as session:
            result = session.run(program.code, timeout=RUN_S)
            assert (result.stdout, result.stderr) == (program.stdout, ""), (
                f"{result!r} {result.notes}"
            )
            assert (result.exit_code, result.status) == (0, RunStatus.OK)
            assert result.artifacts == ()
            assert result.state is StateOutcome.RESET
            for name, given, expected in (
                ("stdin", "first\nsecond\n", "second\nfirst\n"),
                ("environment", None, f"{GREETING}\n"),
            ):
                if name in samples.samples:
                    code = samples.samples[name].code
                    assert session.run(code, stdin=given, timeout=RUN_S).stdout == expected
            if "exit" in samples.samples:
                assert session.run(samples.samples["exit"].code, timeout=RUN_S).exit_code == 7
            if "state" in samples.samples:
                state = samples.samples["state"]
                session.run(state.first, timeout=RUN_S)
                assert session.run(state.second, timeout=RUN_S).stdout != state.stdout

    def test_environment(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A program finds the variables that the session was opened with."""
        sample = self.need(samples, "environment")

        assert session.run(sample.code, timeout=RUN_S).stdout == f"{GREETING}\n"

    def test_package(self, language: str, samples: LanguageSamples) -> None:
        """A library that is asked for is installed, and a program uses it."""
        sample = self.need(samples, "package")
        with self.open(language) as session:
            try:
                result = session.run(sample.code, list(sample.libraries), timeout=2 * RUN_S)
            except LibraryInstallationError as error:
                if "reach" in f"{error.message} {error.hint or ''}":
                    pytest.skip(error.hint or "its packages cannot be reached from here")
                raise
            assert (result.stdout, result.exit_code) == (sample.stdout, 0), result.stderr
