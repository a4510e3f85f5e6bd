"""`llm-sandbox images`, as its users have it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llm_sandbox import __version__

pytestmark = pytest.mark.timeout(1500)

ROOT = Path(__file__).resolve().parents[2]


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_SANDBOX")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **changes}


def command(*words, **changes):
    return subprocess.run(
        [sys.executable, "-m", "llm_sandbox", "images", *words],
        capture_output=True,
        text=True,
        timeout=1400,
        env=environment(**changes),
    )


def test_help_names_the_commands_and_their_options():
    assert {"build", "list"} <= set(command("--help").stdout.split())
    done = command("build", "--help")
    for option in ("--engine", "--base", "--no-smoke", "--force"):
        assert option in done.stdout


def test_an_unknown_image_costs_no_connection():
    done = command("build", "cobol", DOCKER_HOST="tcp://127.0.0.1:1")
    assert done.returncode == 1
    assert "no image of this version is called 'cobol'" in done.stderr
    assert "hint: known: base, bash, cpp" in done.stderr
    assert done.stdout == ""


def test_an_engine_that_is_not_there_is_said_with_what_to_do():
    done = command("list", "--engine", "docker", DOCKER_HOST="tcp://127.0.0.1:1")
    assert done.returncode == 1
    assert "the docker engine does not answer" in done.stderr
    assert "hint:" in done.stderr


@pytest.mark.engine
def test_what_is_there_is_not_built_again(python_image):
    done = command("build", "python", "--engine", "docker")
    assert (done.returncode, done.stderr) == (0, "")
    pattern = (
        rf"llm-sandbox/python:{re.escape(__version__)}  \d+ MB  (local|registry) base  up to date"
    )
    assert re.fullmatch(pattern, done.stdout.strip())


@pytest.mark.engine
def test_list_says_what_is_there_and_what_to_type_for_the_rest(python_image):
    done = command("list", "--engine", "docker")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines[python_image].endswith("up to date")
    base = lines[f"llm-sandbox/base:{__version__}"]
    assert base.endswith(("up to date", ": llm-sandbox images build base"))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_an_interrupted_build_leaves_nothing(engine, tmp_path, children, number, code):
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not installed")
    tmp_path.chmod(0o755)
    before = {image["Id"] for image in engine.api.images(all=True)}
    words = ["images", "build", "base", "--base", "local", "--force", "--engine", "docker"]
    program = subprocess.Popen(
        [sys.executable, "-m", "llm_sandbox", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TMPDIR=str(tmp_path)),
    )
    children.append(program)
    assert program.stderr is not None
    assert program.stderr.readline() == "==> making a Debian root on this machine\n"
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("*/debian-root/*/usr")):
        assert time.monotonic() < deadline, "no root is being made that could be left"
        time.sleep(0.1)
    program.send_signal(number)
    out, err = program.communicate(timeout=100)
    assert (program.returncode, out) == (code, "")
    assert ("interrupted: incomplete images were removed" in err) == (number == signal.SIGINT)
    assert [] == list(tmp_path.iterdir())
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
    assert [] == processes_with(str(tmp_path))
    # Other tests may have made images of their own meanwhile; none of them is a root.
    made = {image["Id"] for image in engine.api.images(all=True)} - before
    assert not any("/root:" in str(engine.api.inspect_image(i)["RepoTags"]) for i in made)


def processes_with(words):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if words in text:
            found.append(text)
    return found
