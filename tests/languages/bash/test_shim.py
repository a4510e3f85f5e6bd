"""The shell that runs Bash, spoken to as the kernel does."""

from __future__ import annotations

import hashlib
import os
import select
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.language_handlers.bash import BashHandler
from llm_sandbox.testing.suite import eventually
from tests.languages.wrapped import reply, text

if TYPE_CHECKING:
    from collections.abc import Callable

from tests.languages.wrapped import Wrapped

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def bash(wrap: Callable[..., Wrapped]) -> Wrapped:
    handler = BashHandler()
    return wrap(*handler.interpreter(str(handler.shim_folder)))


def test_statuses(bash: Wrapped) -> None:
    """A failing command has a code and is no exit; an exit is."""
    for code, exit_code, asked in (
        ("true", None, None),
        ("(exit 9)", 9, None),
        ("exit 9", None, 9),
        ("set -e; (exit 9)", 9, None),
        ("set +e; command exit 0", None, 0),
    ):
        claimed = reply(bash.run(code))["llm_sandbox"]
        assert (claimed["code"], claimed["exit"]) == (exit_code, asked), code


def test_environment_follows(bash: Wrapped) -> None:
    base = {"PATH": os.environ["PATH"]}
    wanted = {**base, "GREETING": "é\n'x' \"y\" $z", "odd-name": "1"}
    bash.send("llm_sandbox_configure", {"environment": wanted})
    assert text(bash.run('printf %s "$GREETING"; exit 3')) == wanted["GREETING"]
    assert text(bash.run("printenv GREETING")) == wanted["GREETING"] + "\n"

    bash.send("llm_sandbox_configure", {"environment": base})
    assert text(bash.run("echo ${GREETING-unset}")) == "unset\n"


def test_an_interrupt_between_runs_does_nothing(bash: Wrapped) -> None:
    pid = int(text(bash.run("kept=1; echo $$")))
    for _ in range(5):
        os.kill(pid, signal.SIGINT)
        assert text(bash.run("echo $kept $$")) == f"1 {pid}\n"


def test_many_interrupts_and_exits(bash: Wrapped) -> None:
    """The process stays the same, and nothing piles up in it."""
    pid = int(text(bash.run("kept=1; echo $$")))
    folder = Path(f"/proc/{pid}/fd")

    def descriptors() -> set[str]:
        # While the shell says that a run is over, it keeps one more.
        assert eventually(lambda: not (folder / "10").exists(), within_s=10)
        return {path.name for path in folder.iterdir()}

    before = descriptors()
    for _ in range(5):
        bash.begin("loop() { local kept=2; echo go; while :; do :; done; }; loop")
        for kind, content in bash.heard():
            if kind == "stream":
                assert content["text"] == "go\n"
                break
        # One that comes too soon after another is passed over.
        while True:
            bash.interrupt()
            if select.select([bash.stream], [], [], 0.4)[0]:
                break
        assert reply(bash.finish())["ename"] == "Interrupt"
        assert reply(bash.run("exit 1"))["llm_sandbox"]["exit"] == 1
        assert text(bash.run("echo $kept $$")) == f"1 {pid}\n"

    assert descriptors() == before


def test_text_of_any_size_and_alphabet(bash: Wrapped) -> None:
    word = "é日🎉\\'\"$`\t" * 3000
    quoted = word.replace("'", "'\\''")
    expected = hashlib.sha256(word.encode()).hexdigest()
    assert text(bash.run(f"printf %s '{quoted}' | sha256sum")) == f"{expected}  -\n"
    assert text(bash.run("")) == ""
