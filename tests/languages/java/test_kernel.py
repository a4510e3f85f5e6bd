"""The shell behind its kernel: variables, libraries, and what is left between runs."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.language_handlers.java import JavaHandler
from tests.languages.wrapped import reply, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.languages.wrapped import Wrapped

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def start(
    wrap: Callable[..., Wrapped], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[Wrapped, dict[str, str]]]:
    """Start a shell; returns it with the variables that it has."""
    monkeypatch.chdir(tmp_path)

    def start() -> tuple[Wrapped, dict[str, str]]:
        handler = JavaHandler()
        given = {"XDG_CACHE_HOME": str(tmp_path), "OLD": "as it was"}
        command = handler.interpreter(str(handler.shim_folder))
        return wrap(*command, env=given), given

    return start


def value(messages: list[tuple[str, dict[str, Any]]]) -> str:
    (found,) = [content["data"] for kind, content in messages if kind == "execute_result"]
    return str(found["text/plain"])


def test_variables_are_set(
    start: Callable[[], tuple[Wrapped, dict[str, str]]],
) -> None:
    shell, given = start()
    assert '"as it was"' == value(shell.run('System.getenv("OLD")'))

    shell.send("llm_sandbox_configure", {"environment": {**given, "NEW": "a\nb é", "OLD": "not"}})
    assert '"a\\nb é not"' == value(shell.run('System.getenv("NEW") + " " + System.getenv("OLD")'))
    child = """\
var child = new ProcessBuilder("sh", "-c", "echo $NEW").inheritIO();
child.environment().put("OTHER", "1");
child.start().waitFor();"""
    assert "a b é\n" == text(shell.run(child))

    del given["OLD"]
    shell.send("llm_sandbox_configure", {"environment": given})
    assert "true" == value(shell.run('System.getenv("OLD") == null'))


def test_libraries_that_come_later_are_found(
    start: Callable[[], tuple[Wrapped, dict[str, str]]], tmp_path: Path
) -> None:
    source = tmp_path / "source" / "Six.java"
    source.parent.mkdir()
    source.write_text("package later; public class Six { public static int six() { return 6; } }")
    subprocess.run(["javac", "-d", str(tmp_path / "made"), str(source)], check=True, timeout=60)
    jars = tmp_path / "jars"
    jars.mkdir()
    words = ["--create", "--file", str(jars / "six.jar"), "-C", str(tmp_path / "made"), "."]
    subprocess.run(["jar", *words], check=True, timeout=60)
    shell, given = start()
    assert "error" == reply(shell.run("later.Six.six()"))["status"]

    shell.send("llm_sandbox_configure", {"environment": {**given, "CLASSPATH": f"{jars}/*"}})

    assert "6" == value(shell.run("later.Six.six()"))


def test_a_thread_lives_from_run_to_run(
    start: Callable[[], tuple[Wrapped, dict[str, str]]],
) -> None:
    shell, _ = start()
    code = """\
var go = new CountDownLatch(1);
var said = new CountDownLatch(1);
new Thread(() -> {
    try {
        go.await();
        System.out.println("later");
        said.countDown();
    } catch (InterruptedException never) { }
}).start();"""
    assert "" == text(shell.run(code))

    assert "now\nlater\nend\n" == text(
        shell.run(
            'System.out.println("now");\ngo.countDown();\nsaid.await();\nSystem.out.println("end");'
        )
    )


def test_the_end_of_the_stream_ends_the_shell(
    start: Callable[[], tuple[Wrapped, dict[str, str]]],
) -> None:
    shell, _ = start()
    shell.run("new Thread(() -> { while (true) { } }).start();")
    shell.stream.close()

    assert 0 == shell.end()[0]
