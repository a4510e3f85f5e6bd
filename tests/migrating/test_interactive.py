"""Programs with interactive sessions: variables, functions, magics, settings."""

import pytest

from llm_sandbox import InteractiveSandboxSession, InteractiveSettings, KernelType
from llm_sandbox.exceptions import LanguageNotSupportedError, SandboxTimeoutError, ValidationError


def test_what_was_defined_stays(place: str) -> None:
    with InteractiveSandboxSession(
        lang="python", kernel_type="ipython", history_size=2, timeout=120
    ) as session:
        session.run("import statistics\nheights = [171, 180, 165]")
        session.run("def spread(values):\n    return max(values) - min(values)")
        session.run("class Scale:\n    factor = 2")
        result = session.run("print(statistics.median(heights), spread(heights) * Scale.factor)")
        assert "171 30\n" == result.stdout
        assert 120 == session.config.run_timeout(None)
        assert 2 == len(session.history)


def test_magics(place: str) -> None:
    with InteractiveSandboxSession(lang="python") as session:
        session.run("lemon = 1")
        assert "lemon" in session.run("%who").stdout
        assert "/sandbox" in session.run("%pwd").stdout + str(session.run("%pwd").value)
        assert "shell" == session.run("!echo shell").stdout.strip()
        assert "cell\n" == session.run("%%bash\necho cell").stdout
        assert "2" == session.run("import asyncio\nawait asyncio.sleep(0, 2)").value


def test_a_cell_that_takes_too_long_costs_nothing_else(place: str) -> None:
    with InteractiveSandboxSession(timeout=2) as session:
        session.run("kept = 'here'")
        with pytest.raises(SandboxTimeoutError):
            session.run("while True: pass")
        assert "here\n" == session.run("print(kept)", timeout=30).stdout


def test_settings() -> None:
    settings = InteractiveSettings(
        kernel_type=KernelType.IPYTHON, max_memory="512MB", history_size=7, timeout=None
    )
    session = InteractiveSandboxSession(backend="bubblewrap", interactive_settings=settings)
    assert 512 << 20 == session.config.limits.memory_bytes
    assert session.config.run_timeout(None) is None
    assert settings is session.settings
    small = InteractiveSandboxSession(
        backend="bubblewrap", max_memory="1GB", runtime_configs={"mem_limit": "256m"}
    )
    assert 256 << 20 == small.config.limits.memory_bytes
    assert 300 == small.config.run_timeout(None)


def test_what_cannot_be() -> None:
    with pytest.raises(LanguageNotSupportedError, match="ruby"):
        InteractiveSandboxSession(lang="ruby")
    for given in ({"history_size": -1}, {"kernel_type": "xeus"}):
        with pytest.raises(ValidationError, match=next(iter(given))):
            InteractiveSandboxSession(**given)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="poll_interval"):
        InteractiveSettings(poll_interval=0)
