"""Conformance suite of stopping programs of a language."""

import threading

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures, timed_out
from llm_sandbox.testing.language_samples import LanguageSamples

__all__ = ["LanguageStoppingSuite"]

_ATTEMPTS = 3
_AGAIN_S = 0.2


class LanguageStoppingSuite(LanguageFixtures):
    """Timeouts and interrupts; afterwards the session is used again."""

    def test_timeout_of_a_busy_loop(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Code that computes for ever ends at its timeout, with what it had printed and not
        flushed, and the session goes on.
        """
        hello, busy = self.need(samples, "hello"), self.need(samples, "busy")
        # Of whole programs, no two make one.
        code = f"{hello.code}\n{busy.code}" if samples.keeps_state else busy.code
        printed = "hello\n" if samples.keeps_state else ""
        # It may have been left without an interpreter, and the machine may be busy.
        for timeout in (_timeout(samples), 2, 8):
            result = timed_out(session, code, timeout)
            assert (result.status, result.exit_code) == (RunStatus.TIMEOUT, 124)
            if result.stdout == printed:
                break

        assert result.stdout == printed
        assert session.run(samples.samples["hello"].code, timeout=RUN_S).stdout == "hello\n"

    def test_timeout_of_a_sleep(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Code that waits ends at its timeout, and the session goes on."""
        result = timed_out(session, self.need(samples, "sleep").code, _timeout(samples))

        assert (result.status, result.exit_code) == (RunStatus.TIMEOUT, 124)
        assert session.run(samples.samples["hello"].code, timeout=RUN_S).stdout == "hello\n"

    def test_state_after_a_timeout(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Code that is stopped leaves the variables of the runs before it."""
        busy, state = self.need(samples, "busy"), self.need(samples, "state")
        states = []
        for _ in range(_ATTEMPTS):
            session.run(state.first, timeout=RUN_S)
            states.append(timed_out(session, busy.code, 0.5).state)
            # On a busy machine the interpreter may have had no turn before it was given up.
            if states[-1] is StateOutcome.KEPT:
                break

        assert states[-1] is StateOutcome.KEPT
        assert session.run(state.second, timeout=RUN_S).stdout == state.stdout

    def test_interrupt(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Another thread can stop code, and the session goes on."""
        sample, over = self.need(samples, "sleep"), threading.Event()

        def interrupt() -> None:
            # Before the run has begun, there is nothing to stop.
            while not over.wait(_AGAIN_S):
                session.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            result = session.run(sample.code, timeout=RUN_S)
        finally:
            over.set()
            thread.join()
        assert (result.status, result.exit_code) == (RunStatus.KILLED, 130)
        assert session.run(samples.samples["hello"].code, timeout=RUN_S).stdout == "hello\n"

    def test_output_before_a_stop(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Output printed before code was stopped is kept, and no more arrives."""
        sample = self.need(samples, "stream")
        for _ in range(_ATTEMPTS):
            result = session.run(
                sample.code, timeout=RUN_S, on_stdout=lambda _: session.interrupt()
            )
            assert result.stdout.startswith("one\n")
            # On a busy machine it may have ended before the wish reached it.
            if result.status is not RunStatus.OK:
                break

        assert (result.status, result.stdout) == (RunStatus.KILLED, "one\n")


def _timeout(samples: LanguageSamples) -> float:
    # A program has to be compiled in that time as well.
    return 0.7 if samples.keeps_state else 2.5
