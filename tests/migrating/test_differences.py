"""Deliberate differences, each beside the line of `docs/migrating.md` with the alternative."""

import pytest

from llm_sandbox import (
    RestrictedModule,
    SandboxSession,
    SecurityError,
    SecurityIssueSeverity,
    SecurityPolicy,
    SecurityViolationError,
)
from llm_sandbox.exceptions import LibraryInstallationError

pytestmark = pytest.mark.slow

DRAWING = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
docker_engine = pytest.mark.engine("docker", image="python")


def test_variables_are_kept_or_not(place: str) -> None:
    with SandboxSession(lang="python") as session:
        session.run("kept = 1")
        assert "1\n" == session.run("print(kept)").stdout
    with SandboxSession(lang="python", persistent=False) as session:
        session.run("kept = 1")
        assert "NameError" in session.run("print(kept)").stderr


def test_plots_of_all_runs_are_in_the_history(place: str) -> None:
    with SandboxSession(lang="python") as session:
        assert [1, 1] == [len(session.run(DRAWING).plots) for _ in range(2)]
        assert 2 == len([plot for run in session.history for plot in run.result.plots])


def test_a_policy_refuses_or_advises(place: str) -> None:
    module = RestrictedModule(
        name="ctypes", description="native code", severity=SecurityIssueSeverity.HIGH
    )

    def policy(enforcement: str) -> SecurityPolicy:
        return SecurityPolicy(
            severity_threshold=SecurityIssueSeverity.LOW,
            restricted_modules=[module],
            enforcement=enforcement,  # type: ignore[arg-type]
        )

    with (
        SandboxSession(lang="python", security_policy=policy("enforce")) as session,
        pytest.raises(SecurityViolationError),
    ):
        session.run("import ctypes")
    with SandboxSession(lang="python", security_policy=policy("advise")) as session:
        result = session.run("import ctypes; print('ran')")
        assert "ran\n" == result.stdout
        assert result.findings


def test_limits_are_there_or_wider(place: str) -> None:
    code = "data = bytearray(1200 << 20); print(len(data) >> 20)"
    with SandboxSession(lang="python", memory="1g") as session:
        assert session.run(code).exit_code
    with SandboxSession(lang="python", memory="2g") as session:
        assert "1200\n" == session.run(code).stdout


def test_a_library_that_cannot_be_installed(place: str) -> None:
    name = "llm-sandbox-there-is-no-such-library"
    with SandboxSession(lang="python") as session:
        with pytest.raises(LibraryInstallationError) as caught:
            session.run("print('ran')", libraries=[name])
        assert name in str(caught.value)
        assert "ran\n" == session.run("print('ran')").stdout


def test_a_shell_or_a_program(place: str) -> None:
    with SandboxSession(lang="python") as session:
        assert "a\nb\n" == session.execute_command("echo a && echo b").stdout
        assert "a && b\n" == session.execute_command(["echo", "a", "&&", "b"]).stdout


@docker_engine
def test_the_user_of_a_container() -> None:
    code = "import os; print(os.getuid())"
    with SandboxSession(backend="docker", lang="python") as session:
        assert "65532\n" == session.run(code).stdout
    with pytest.raises(SecurityError, match="user"):
        SandboxSession(backend="docker", lang="python", runtime_configs={"user": "root"})
    with SandboxSession(
        backend="docker", runtime_configs={"user": "root"}, allow_unsafe=["user"]
    ) as session:
        assert "0\n" == session.run(code).stdout


@docker_engine
def test_the_root_of_a_container() -> None:
    code = "open('/var/tmp/x', 'w').write('1'); print('wrote')"
    with SandboxSession(backend="docker", lang="python") as session:
        assert "Read-only file system" in session.run(code).stderr
    with SandboxSession(backend="docker", runtime_configs={"read_only": False}) as session:
        assert "wrote\n" == session.run(code).stdout
