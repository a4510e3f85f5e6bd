"""Programs as the reference's first pages have them: sessions, results, files, policies, plots."""

import base64
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llm_sandbox import (
    ArtifactSandboxSession,
    ConsoleOutput,
    ExecutionResult,
    FileType,
    PlotOutput,
    RestrictedModule,
    SandboxBackend,
    SandboxSession,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
    SupportedLanguage,
    create_session,
    get_security_policy,
)
from llm_sandbox.exceptions import (
    CommandEmptyError,
    LanguageNotSupportedError,
    LibraryInstallationNotSupportedError,
    NotOpenSessionError,
    SandboxTimeoutError,
    SecurityViolationError,
    UnsupportedBackendError,
)
from llm_sandbox.language_handlers import AbstractLanguageHandler, LanguageConfig
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.language_handlers.registry import _registered

DRAWING = """
import matplotlib.pyplot as plt
plt.bar(["oak", "ash"], [3, 8])
plt.title("trees")
plt.show()
"""


# --- getting started


def test_first_program(place: str) -> None:
    with SandboxSession(lang="python") as session:
        result = session.run("print('seven', 3 + 4)")
    assert isinstance(result, ConsoleOutput)
    assert (0, "seven 7\n", "") == (result.exit_code, result.stdout, result.stderr)
    assert result.success()


def test_a_failing_program_is_a_result(place: str) -> None:
    with SandboxSession(lang=SupportedLanguage.PYTHON, verbose=False) as session:
        result = session.run("{}['key']")
    assert result.exit_code
    assert "KeyError" in result.stderr


@pytest.mark.slow
def test_libraries_with_a_run_and_by_themselves(place: str) -> None:
    with SandboxSession(lang="python") as session:
        code = "import six; print(six.text_type.__name__)"
        assert "str\n" == session.run(code, libraries=["six"]).stdout
        session.install(["toolz"])
        assert (
            "6\n" == session.run("import toolz; print(toolz.compose(sum, list)([1, 2, 3]))").stdout
        )


def test_open_and_close_by_hand(place: str) -> None:
    session = create_session(lang="python", keep_template=False)
    with pytest.raises(NotOpenSessionError):
        session.run("1")
    session.open()
    try:
        assert session.is_open
        assert "done\n" == session.run("print('done')").stdout
    finally:
        session.close()
    assert not session.is_open


def test_files_there_and_back(place: str, tmp_path: Path) -> None:
    table = tmp_path / "rivers.csv"
    table.write_text("name,km\nElbe,1094\nOder,866\n")
    with SandboxSession(lang="python") as session:
        session.copy_to_runtime(str(table), "/sandbox/rivers.csv")
        code = (
            "import csv\nrows = list(csv.DictReader(open('/sandbox/rivers.csv')))\n"
            "open('/sandbox/total.txt', 'w').write(str(sum(int(row['km']) for row in rows)))"
        )
        assert session.run(code).success()
        session.copy_from_runtime("/sandbox/total.txt", str(tmp_path / "total.txt"))
    assert "1960" == (tmp_path / "total.txt").read_text()


def test_commands(place: str) -> None:
    with SandboxSession(lang="python") as session:
        assert "/sandbox\n" == session.execute_command("pwd").stdout
        done = session.execute_commands(["echo one", ("pwd", "/tmp"), "exit 5", "echo never"])
        assert 5 == done.exit_code
        with pytest.raises(CommandEmptyError):
            session.execute_command("")


def test_output_as_it_comes(place: str) -> None:
    out: list[str] = []
    err: list[str] = []
    code = "import sys\nfor n in range(3): print(n, flush=True)\nprint('bad', file=sys.stderr)"
    with SandboxSession(lang="python", stream=True) as session:
        result = session.run(code, on_stdout=out.append, on_stderr=err.append)
        session.execute_command("echo by hand", on_stdout=out.append)
    assert ("0\n1\n2\nby hand\n", "bad\n") == ("".join(out), "".join(err))
    assert "0\n1\n2\n" == result.stdout


def test_results_as_json(place: str) -> None:
    with SandboxSession(lang="python") as session:
        run = json.loads(session.run("print(1)").to_json(include_plots=False))
        command = json.loads(session.execute_command("echo 1").to_json())
    for data in (run, command):
        assert (0, "1\n", "") == (data["exit_code"], data["stdout"], data["stderr"])
    again = ConsoleOutput.from_json(ConsoleOutput(3, "e", "o").to_json(indent=2))
    assert ConsoleOutput(3, "e", "o") == again


# --- configuration


def test_timeouts(place: str) -> None:
    with SandboxSession(
        lang="python", default_timeout=30.0, execution_timeout=2.0, session_timeout=300.0
    ) as session:
        assert session.config.get_execution_timeout() == 2.0
        with pytest.raises(SandboxTimeoutError) as caught:
            session.run("while True: pass")
        assert 2.0 == caught.value.timeout_duration
        assert session.run("print('quick')", timeout=20.0).success()


def test_workdir_environment_and_limits(place: str) -> None:
    with SandboxSession(
        lang="python",
        workdir="/work",
        runtime_configs={"mem_limit": "300m", "environment": {"TOWN": "Bern"}},
    ) as session:
        code = "import os; print(os.getcwd(), os.environ['TOWN'], os.environ.get('LAKE'))"
        assert "/work Bern None\n" == session.run(code).stdout
    with SandboxSession(lang="python", env_vars={"LAKE": "Thun"}) as session:
        assert "Thun\n" == session.run("import os; print(os.environ['LAKE'])").stdout


def test_nothing_is_installed_where_set_up_is_skipped(place: str) -> None:
    with SandboxSession(lang="python", skip_environment_setup=True) as session:
        assert session.run("import json").success()
        with pytest.raises(LibraryInstallationNotSupportedError):
            session.install(["six"])
        with pytest.raises(LibraryInstallationNotSupportedError):
            session.run("1", libraries=["six"])


def test_verbose_logs(place: str, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.INFO, "llm_sandbox"),
        SandboxSession(lang="python", verbose=True) as session,
    ):
        assert session.verbose
    assert place in caplog.text


class FactorHandler(AbstractLanguageHandler):
    """A language whose programs are numbers, each on a line, run by the program ``factor``."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="factor",
            file_extension="txt",
            execution_commands=["factor < {file}"],
            package_manager=None,
            is_support_library_installation=False,
        )

    def get_import_patterns(self, module: str) -> str:
        return rf"^load {module}$"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        return r"\(\*[\s\S]*?\*\)"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        return r"#.*"


@pytest.fixture
def factor() -> Iterator[None]:
    LanguageHandlerFactory.register_handler("factor", FactorHandler)
    yield
    _registered.pop("factor")


def test_a_language_of_ones_own(factor: None) -> None:
    assert "factor" in LanguageHandlerFactory.get_supported_languages()
    with SandboxSession(backend="bubblewrap", lang="factor") as session:
        assert "91: 7 13\n" == session.run("91\n").stdout
    with pytest.raises(LanguageNotSupportedError):
        SandboxSession(lang="cobol")


# --- security


def test_a_policy_is_asked_and_enforced(place: str) -> None:
    policy = SecurityPolicy(
        severity_threshold=SecurityIssueSeverity.MEDIUM,
        patterns=[
            SecurityPattern(
                pattern=r"\bexec\s*\(",
                description="code from text",
                severity=SecurityIssueSeverity.HIGH,
            )
        ],
        restricted_modules=[
            RestrictedModule(
                name="ctypes", description="native code", severity=SecurityIssueSeverity.HIGH
            )
        ],
    )
    policy.add_pattern(
        SecurityPattern(
            pattern="hunter2", description="a password", severity=SecurityIssueSeverity.LOW
        )
    )
    with SandboxSession(lang="python", security_policy=policy) as session:
        assert (True, []) == session.is_safe("print(1)")
        safe, found = session.is_safe("import ctypes\nexec('1')")
        assert not safe
        assert {"native code", "code from text"} <= {one.description for one in found}
        safe, found = session.is_safe("x = 'hunter2'")
        assert safe
        assert ["a password"] == [one.description for one in found]
        with pytest.raises(SecurityViolationError):
            session.run("import ctypes")
        assert session.run("print('harmless')").success()


def test_a_ready_made_policy(place: str) -> None:
    policy = get_security_policy("production")
    with SandboxSession(lang="python", security_policy=policy) as session:
        assert not session.is_safe("import subprocess; subprocess.run(['ls'])")[0]


# --- plots


def test_plots_are_saved(place: str, tmp_path: Path) -> None:
    with ArtifactSandboxSession(lang="python", enable_plotting=True, verbose=False) as session:
        assert session.enable_plotting
        result = session.run(DRAWING)
    assert isinstance(result, ExecutionResult)
    for number, plot in enumerate(result.plots):
        assert isinstance(plot, PlotOutput)
        path = tmp_path / f"{number}.{plot.format.value}"
        path.write_bytes(base64.b64decode(plot.content_base64))
    assert [FileType.PNG] == [plot.format for plot in result.plots]
    assert (tmp_path / "0.png").read_bytes().startswith(b"\x89PNG")


def test_plots_of_one_run_at_a_time(place: str) -> None:
    with ArtifactSandboxSession(lang="python") as session:
        assert 1 == len(session.run(DRAWING).plots)
        assert 1 == len(session.run(DRAWING, clear_plots=True).plots)
        session.clear_plots()
        assert not session.run("print('no figure')").plots


def test_plots_are_left_out(place: str) -> None:
    with ArtifactSandboxSession(lang="python", enable_plotting=False) as session:
        assert [] == session.run(DRAWING).plots


# --- many at once


def test_sessions_side_by_side(place: str) -> None:
    def square(number: int) -> str:
        with SandboxSession(lang="python") as session:
            return session.run(f"print({number} ** 2)").stdout.strip()

    with ThreadPoolExecutor(max_workers=3) as executor:
        assert ["1", "4", "9"] == list(executor.map(square, (1, 2, 3)))


# --- languages

SAYS_HELLO = {
    "javascript": "console.log('hello')",
    "java": """public class Main {
    public static void main(String[] words) { System.out.println("hello"); }
}""",
    "cpp": '#include <iostream>\nint main() { std::cout << "hello" << std::endl; }',
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }',
    "ruby": "puts 'hello'",
    "r": "cat('hello\\n')",
}


@pytest.mark.parametrize("lang", SAYS_HELLO)
def test_other_languages(lang: str) -> None:
    needs = LanguageHandlerFactory.create_handler(lang).toolchain
    if needs is not None and needs.missing("/usr/local/bin:/usr/bin:/bin"):
        pytest.skip(f"{' and '.join(needs.programs)} of {lang} are not installed here")
    with SandboxSession(backend="bubblewrap", lang=lang, keep_template=False) as session:
        assert "hello" == session.run(SAYS_HELLO[lang]).stdout.strip()


def test_an_unknown_backend() -> None:
    with pytest.raises(UnsupportedBackendError):
        SandboxSession(backend="jail", lang="python")
    assert SandboxBackend.DOCKER == SandboxBackend("Docker")
