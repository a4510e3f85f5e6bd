"""The programs that help to build: what they are told, and that none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llm_sandbox.backends.containers.images.debian_root import bootstrap_command, make_debian_root
from llm_sandbox.backends.containers.images.host_programs import (
    download_command,
    download_wheels,
    run_child,
)
from llm_sandbox.backends.recipes import get_recipe
from llm_sandbox.exceptions import BackendError, MissingDependencyError

ROOT = Path(__file__).resolve().parents[2]


def test_pip_is_asked_for_the_images_python_and_for_wheels_only(tmp_path):
    command = download_command(get_recipe("python"), "aarch64", tmp_path)
    assert [sys.executable, "-m", "pip", "download"] == command[:4]
    assert {"--only-binary=:all:", "--require-hashes", "--no-deps"} <= set(command)
    assert command[command.index("--python-version") + 1] == "3.11"
    platforms = [word for word in command if word.startswith("manylinux")]
    assert platforms[0] == "manylinux_2_36_aarch64", "newest first, as old as the image's C library"
    assert platforms[-1] == "manylinux2014_aarch64"
    assert not any("x86" in word for word in platforms)


def test_the_root_is_of_the_engines_machine_with_the_recipes_packages(tmp_path):
    command = bootstrap_command(tmp_path / "root.tar", "bookworm", ["python3"], "aarch64")
    assert "--architectures=arm64" in command
    assert "--include=usr-is-merged,python3" in command
    assert command[-2:] == ["bookworm", str(tmp_path / "root.tar")]


def test_without_mmdebstrap_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="mmdebstrap is not installed") as caught:
        make_debian_root(tmp_path / "root.tar", "bookworm", [], "x86_64", print)
    assert "apt-get install mmdebstrap" in str(caught.value.hint)
    assert "--base registry" in str(caught.value.hint)
    assert [] == list(tmp_path.iterdir())


def test_a_failure_shows_the_last_lines_and_what_to_do():
    noisy = "for n in $(seq 50); do echo line $n; done; printf '\\033[31mred\\033[0m\\n'; exit 3"
    with pytest.raises(BackendError) as caught:
        run_child(["sh", "-c", noisy], what="counting", hint="count again")
    message = caught.value.message
    assert "counting failed: sh ended with status 3" in message
    assert "line 50" in message
    assert "line 31\n" not in message, "more than the last 20 lines"
    assert "red" in message
    assert "\033" not in message
    assert caught.value.hint == "count again"


def test_pip_without_an_index_fails_in_its_own_words(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(BackendError, match="fetching the packages of the python image") as caught:
        download_wheels(get_recipe("python"), "x86_64", tmp_path / "wheels", print)
    assert "No matching distribution found" in caught.value.message
    assert "pip config list" in str(caught.value.hint)


def test_a_word_of_the_host_that_raises_ends_the_child():
    def stop(line: str) -> None:
        raise RuntimeError(line)

    with pytest.raises(RuntimeError) as caught:
        run_child(["sh", "-c", "echo $$; sleep 100"], what="sleeping", hint="", on_line=stop)
    assert not Path(f"/proc/{caught.value}").exists()


def test_ctrl_c_ends_the_child_and_the_childs_child(children):
    script = (
        "from llm_sandbox.backends.containers.images.host_programs import run_child\n"
        "run_child(['sh', '-c', 'sleep 100 & echo $!; echo $$; wait'], what='x', hint='',"
        " on_line=lambda line: print(line, flush=True))"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    children.append(program)
    assert program.stdout is not None
    pids = [int(program.stdout.readline()) for _ in range(2)]
    assert all(Path(f"/proc/{pid}").exists() for pid in pids), "nothing ran that could be left"
    program.send_signal(signal.SIGINT)
    program.wait(60)
    deadline = time.monotonic() + 10
    while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in pids)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
