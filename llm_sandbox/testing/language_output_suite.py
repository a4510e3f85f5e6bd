"""Conformance suite of the output of a language's programs."""

import time

from llm_sandbox.const import RunStatus
from llm_sandbox.results.outputs import DisplayOutput, ResultOutput, StreamOutput
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures
from llm_sandbox.testing.language_samples import LanguageSamples

__all__ = ["LanguageOutputSuite"]

_ATTEMPTS = 3


class LanguageOutputSuite(LanguageFixtures):
    """Text, files, pictures, tables and values."""

    def test_hello(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Printed text comes back, and nothing else does."""
        sample = self.need(samples, "hello")
        result = session.run(sample.code, timeout=RUN_S)

        assert (result.stdout, result.stderr) == ("hello\n", "")
        assert (result.exit_code, result.status, result.error) == (0, RunStatus.OK, None)
        assert result.artifacts == ()

    def test_unicode(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Text of any script is kept, in the code and in what it prints."""
        sample = self.need(samples, "unicode")
        result = session.run(sample.code, timeout=RUN_S)

        assert (result.stdout, result.stderr) == ("héllo wörld ✓ 日本 🎉\n", "")

    def test_stderr(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Standard error is kept apart, and is no failure."""
        sample = self.need(samples, "stderr")
        result = session.run(sample.code, timeout=RUN_S)

        assert (result.stdout, result.stderr, result.exit_code) == ("", "oops\n", 0)

    def test_big_output(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Three million bytes come back, every one."""
        sample = self.need(samples, "big_output")
        result = session.run(sample.code, timeout=RUN_S)

        assert (len(result.stdout), result.dropped_bytes) == (3_000_001, 0)
        assert result.stdout == "x" * 3_000_000 + "\n"

    def test_streaming(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Printed text arrives while the code runs, in order."""
        sample = self.need(samples, "stream")
        for _ in range(_ATTEMPTS):
            pieces: list[tuple[float, str]] = []
            result = session.run(
                sample.code,
                timeout=RUN_S,
                on_stdout=lambda text, to=pieces: to.append((time.monotonic(), text)),  # type: ignore[misc]
            )
            assert result.stdout == "one\ntwo\n"
            assert "".join(text for _, text in pieces) == "one\ntwo\n"
            # On a busy machine both may have been waiting when this process had its turn.
            if pieces[0][1] == "one\n" and pieces[-1][0] - pieces[0][0] > 0.2:
                return
        raise AssertionError("all of it arrived at once")

    def test_file(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A file that a run writes in its working directory is an artifact, and it is the only
        one.
        """
        sample = self.need(samples, "file")
        result = session.run(sample.code, timeout=RUN_S)

        assert result.stderr == ""
        assert [item.paths for item in result.files] == [("out.txt",)]
        assert result.artifact("out.txt").read_text() == "data\n"
        assert session.sandbox.files.read_text("out.txt") == "data\n"

    def test_image(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A picture comes back once, as a picture."""
        sample = self.need(samples, "image")
        result = session.run(sample.code, timeout=RUN_S)

        assert result.exit_code == 0, result.stderr
        assert len([item for item in result.artifacts if item.mime.startswith("image/")]) == 1

    def test_table(self, session: BaseSession, samples: LanguageSamples) -> None:
        """A table that is shown comes back with its columns."""
        sample = self.need(samples, "table")
        result = session.run(sample.code, timeout=RUN_S)

        assert len(result.tables) == 1, result
        names = [column.name for column in result.tables[0].columns]
        assert [name for name in names if name in ("name", "value")] == ["name", "value"]

    def test_value(self, session: BaseSession, samples: LanguageSamples) -> None:
        """The value of the last expression comes back as text."""
        sample = self.need(samples, "result")
        result = session.run(sample.code, timeout=RUN_S)

        assert "42" in (result.value or "")

    def test_order_of_what_is_shown(self, session: BaseSession, samples: LanguageSamples) -> None:
        """Displays and printed text are in the order of their output."""
        sample = self.need(samples, "shown_order")
        result = session.run(sample.code, timeout=RUN_S)

        kinds: list[str] = []
        for output in result.outputs:
            if isinstance(output, StreamOutput):
                kinds += [word for word in ("before", "after") if word in output.text]
            elif isinstance(output, DisplayOutput | ResultOutput):
                kinds.append("shown")
        assert kinds == ["before", "shown", "after"]
