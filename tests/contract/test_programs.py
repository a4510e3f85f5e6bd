"""Images whose Python has no kernel, and images without Python: code runs as whole programs."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from llm_sandbox import (
    ArtifactSandboxSession,
    BaseSession,
    RunStatus,
    SandboxTimeoutError,
    StateOutcome,
    UnsupportedError,
)
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.exceptions import KernelNotReadyError, LaunchError
from llm_sandbox.session.config import Start
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.settings import get_settings

pytestmark = pytest.mark.slow

ENGINES = [
    pytest.param(name, marks=pytest.mark.engine(name, image="python"))
    for name in ("docker", "podman")
]
IMAGE = image_name("python")
WITHOUT_KERNEL = f"""
FROM {IMAGE}
USER 0
RUN rm -rf $(python3 -c 'import ipykernel; print(ipykernel.__path__[0])')
"""
PLAIN = f"""
FROM {IMAGE}
USER 0
RUN python3 -m pip uninstall -y --break-system-packages ipykernel ipython matplotlib-inline \\
    traitlets jupyter_client jupyter_core comm pyzmq tornado
"""
WITHOUT_PYTHON = f"""
FROM {IMAGE}
USER 0
RUN rm -f $(command -v python3) $(command -v python) /bin/python3 /usr/bin/python3*
"""


@pytest.fixture(scope="module", params=ENGINES)
def bare(request: pytest.FixtureRequest, build: Callable[[str, str, str], str]) -> dict[str, Any]:
    """An engine and an image of it with Python, but without a kernel."""
    image = build(request.param, "without-kernel", WITHOUT_KERNEL)
    return {"backend": request.param, "image": image}


@pytest.fixture
def session(bare: dict[str, Any]) -> Iterator[BaseSession]:
    with ArtifactSandboxSession(**bare, persistent=False) as session:
        yield session


def test_a_session_that_keeps_variables_says_what_else_there_is(bare: dict[str, Any]) -> None:
    with pytest.raises(KernelNotReadyError) as caught:
        ArtifactSandboxSession(**bare).open()
    assert "persistent=False" in str(caught.value.hint)


DRAWING = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


@pytest.mark.parametrize("start", ["warm", "cold"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_with_python_alone_opens(
    engine: str, start: Start, build: Callable[[str, str, str], str]
) -> None:
    """A kernel is brought, behind what the image has: variables are kept, and figures come back."""
    image = build(engine, "plain", PLAIN)
    with ArtifactSandboxSession(engine, image) as session:
        assert (
            "ModuleNotFoundError" in session.execute_command("python3 -c 'import IPython'").stderr
        )
        result = session.run(f"x = 41\n{DRAWING}")
        assert (0, 1) == (result.exit_code, len(result.plots)), result
        assert "42" == session.run("x + 1").value
        session.restart()
        assert "1" == session.run("1").value


def test_figures_that_nothing_captures_are_told(session: BaseSession) -> None:
    result = session.run(DRAWING)
    assert (0, 0) == (result.exit_code, len(result.plots)), result
    assert any("Figures are captured by a kernel" in note for note in result.notes)
    assert not session.run("print(1)").notes


def test_a_program_comes_back_whole(session: BaseSession) -> None:
    """Streams, exit code, files and facts; the next program begins with no variables."""
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('a.txt', 'w').write('hi')"
    heard: list[str] = []
    result = session.run(code, on_stdout=heard.append)
    assert (0, "out\n", "err\n") == (result.exit_code, result.stdout, result.stderr)
    assert (RunStatus.OK, StateOutcome.RESET) == (result.status, result.state)
    assert "out\n" == "".join(heard)
    assert ["a.txt"] == [file.name for file in result.files]
    assert result.usage.cpu_s
    assert result.usage.peak_memory_bytes
    assert "NameError" in session.run("code").stderr
    assert code == session.history[0].code


def test_endings(session: BaseSession) -> None:
    failed = session.run("1 / 0")
    assert (1, RunStatus.ERROR) == (failed.exit_code, failed.status)
    assert "line 1, in <module>" in failed.stderr
    assert "ZeroDivisionError" in failed.stderr
    assert 3 == session.run("import sys; sys.exit(3)").exit_code
    killed = session.run("import os; os.kill(os.getpid(), 9)")
    assert (137, 9, RunStatus.KILLED) == (killed.exit_code, killed.signal, killed.status)
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run("print('until then', flush=True); import time; time.sleep(60)", timeout=1)
    late = caught.value.result
    assert (124, "until then\n", RunStatus.TIMEOUT) == (late.exit_code, late.stdout, late.status)


def test_interrupt(session: BaseSession) -> None:
    timer = threading.Timer(1.0, session.interrupt)
    timer.start()
    result = session.run("print('begun', flush=True); import time; time.sleep(60)")
    timer.join()
    assert (130, RunStatus.KILLED, "begun\n") == (result.exit_code, result.status, result.stdout)


def test_standard_input(session: BaseSession) -> None:
    """It has the lines that were given; without any it is empty, which is no hang."""
    code = "import sys; print([line for line in sys.stdin])"
    assert "['a\\n', 'b\\n']\n" == session.run(code, stdin="a\nb").stdout
    assert "['1\\n', '2\\n']\n" == session.run(code, stdin=(str(n) for n in (1, 2))).stdout
    assert "[]\n" == session.run(code).stdout
    # A program that never reads does not wait for what it is sent.
    assert "done\n" == session.run("print('done')", stdin=("x" * 9999 for _ in range(99))).stdout

    def fail() -> Iterator[str]:
        yield "one"
        raise LookupError("its own")

    with pytest.raises(LookupError, match="its own"):
        session.run("import sys; sys.stdin.read()", stdin=fail())
    assert "on\n" == session.run("print('on')").stdout


def test_the_code_itself_is_no_file_of_the_users(session: BaseSession) -> None:
    """It lies beside the working directory, is gone afterwards, and still finds modules there."""
    session.sandbox.files.write_text("mine.py", "value = 42")
    result = session.run("import mine, os; print(mine.value, sorted(os.listdir()), __name__)")
    assert result.stdout.startswith("42 [")
    assert result.stdout.endswith("__main__\n")
    assert "main.py" not in result.stdout
    assert [] == [file.name for file in result.files if file.name.endswith(".py")]
    assert "" == session.execute_command("ls -A /tmp | grep llm").stdout


def test_nothing_outlives_a_program(session: BaseSession) -> None:
    session.run("import subprocess; subprocess.Popen(['sleep', '1000'])")
    code = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 10[0]0'"
    assert "0" == session.execute_command(code).stdout.strip()


def test_output_has_its_limit(session: BaseSession) -> None:
    size = session.config.limits.output_bytes
    result = session.run(f"import sys; sys.stdout.write('x' * {size + 1000})")
    assert (size, True, 1000) == (len(result.stdout), result.stdout_truncated, result.dropped_bytes)
    assert "\\xff" == session.run("import os; os.write(1, b'\\xff')").stdout


def test_there_are_no_variables(session: BaseSession) -> None:
    for use in (session.variables, lambda: session.get("x"), lambda: session.set("x", 1)):
        with pytest.raises(UnsupportedError, match="program of its own"):
            use()
    session.restart()
    assert 0 == session.run("pass").exit_code


def test_no_containers_are_made_ahead_in_vain(
    bare: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "1")
    get_settings.cache_clear()
    for _ in range(2):
        with ArtifactSandboxSession(**bare, persistent=False) as session:
            assert "1\n" == session.run("print(1)").stdout
    assert 0 == shared_pool().ready_count()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_without_python_runs_commands(
    engine: str, build: Callable[[str, str, str], str]
) -> None:
    image = build(engine, "without-python", WITHOUT_PYTHON)
    with pytest.raises(KernelNotReadyError, match="no Python") as caught:
        ArtifactSandboxSession(engine, image).open()
    assert "persistent=False" in str(caught.value.hint)
    with ArtifactSandboxSession(engine, image, persistent=False) as session:
        assert "on\n" == session.execute_command("echo on").stdout
        session.sandbox.files.write_text("a.txt", "files work as well")
        assert "files work as well" == session.execute_command("cat a.txt").stdout
        with pytest.raises(LaunchError, match="python"):
            session.run("1")


@pytest.mark.engine("docker", image="python")
def test_with_a_kernel_variables_are_still_not_kept() -> None:
    with ArtifactSandboxSession("docker", persistent=False) as session:
        assert "2" == session.run("x = 1; x + 1").value
        assert "NameError" in session.run("x").stderr
