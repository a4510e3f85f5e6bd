"""A new user's environment: the wheel in it, an account that owns it, and a program per page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.documents.blocks import RUN, Block
from tests.integrations.scripted_model import Call, Say, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXTRAS = (
    *("docker", "egress", "jupyter", "langchain", "mcp", "openai", "otel", "scan", "server"),
    "structlog",
)
"""What blocks need beside the library itself."""
BESIDES = ("e2b-code-interpreter>=2.11,<3", "pytest", "sbx-agents>=0.1,<0.2")
DOCKER_SOCKET = Path("/var/run/docker.sock")
PATIENCE_S = 240
"""For a page on a busy machine; on an idle one each takes some seconds."""
MADE_UP = "made-up-0123456789abcdef"
PASSED_ON = ("PIP_", "SSL_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""How this machine reaches package indexes."""


def python_for_all() -> str:
    """An interpreter that every user may start and make environments with."""
    names = [f"/usr/bin/python3.{minor}" for minor in range(11, 16)]
    for name in [sys.executable, *names] if os.geteuid() else names:
        asked = [name, "-c", "import ensurepip, venv"]
        if Path(name).exists() and subprocess.run(asked, capture_output=True).returncode == 0:
            return name
    pytest.skip("there is no Python 3.11 or later with venv that an ordinary user may start")


@dataclass
class NewUser:
    """Somebody who has just installed the wheel."""

    folder: Path
    user: int
    told: dict[str, dict[int, str | None]] = field(default_factory=dict)
    """What came of each block, by page and line."""

    @property
    def programs(self) -> Path:
        """The folder of the environment's programs."""
        return self.folder / "env" / "bin"

    def start(
        self,
        *words: str | Path,
        cwd: Path | None = None,
        timeout: float = PATIENCE_S,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as that user, to its end."""
        identity: dict[str, Any] = {}
        if os.geteuid() == 0:
            group = DOCKER_SOCKET.stat().st_gid if DOCKER_SOCKET.exists() else 0
            identity = {"user": self.user, "group": self.user}
            identity["extra_groups"] = [group] if group else []
        passed = {name: word for name, word in os.environ.items() if name.startswith(PASSED_ON)}
        return subprocess.run(
            list(map(str, words)),
            cwd=cwd or self.folder,
            env={
                **passed,
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                "LLM_SANDBOX_CLI_DAEMON_S": "0",
                "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
                "TMPDIR": str(self.folder / "tmp"),
                "XDG_RUNTIME_DIR": str(self.folder / "run"),
                **(variables or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            **identity,
        )

    def own(self, place: Path) -> Path:
        """Give a file or folder to that user."""
        if os.geteuid() == 0:
            for one in (place, *place.rglob("*")):
                os.chown(one, self.user, self.user, follow_symlinks=False)
        return place

    def run_page(self, page: str, blocks: Sequence[Block]) -> dict[int, str | None]:
        """Run the blocks of a page, once; what was wrong with each, by line."""
        if page in self.told:
            return self.told[page]
        work = self.folder / page.replace("/", "-").removesuffix(".md")
        shutil.copytree(HERE / "given", work)
        plan, report = work.with_suffix(".blocks.json"), work.with_suffix(".report.json")
        plan.write_text(json.dumps([{**asdict(b), "runs_as": RUN[b.language]} for b in blocks]))
        report.write_text("{}")
        for place in (work, plan, report):
            self.own(place)
        output, ended = self._run(work, self.folder / "run_page.py", plan, report)
        print(output)
        outcomes = {int(line): error for line, error in json.loads(report.read_text()).items()}
        missing = f"{ended} before this block: {output[-2000:]}"
        self.told[page] = {block.line: outcomes.get(block.line, missing) for block in blocks}
        self.stop_what_runs()
        return self.told[page]

    def _run(self, work: Path, *words: Path) -> tuple[str, str]:
        """Run a program of the environment; what it printed, and how it ended."""
        with serve([Call("print(6 * 7)")], [Say("Gentoos are the heaviest.")]) as model:
            variables = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": MADE_UP}
            try:
                done = self.start(self.programs / "python", *words, cwd=work, variables=variables)
            except subprocess.TimeoutExpired as error:
                output = (error.stdout or b"").decode(errors="replace")
                return output, f"its program was not done in {PATIENCE_S} seconds"
        return done.stdout, f"its program ended with {done.returncode}"

    def stop_what_runs(self) -> None:
        """End what a page has left behind, so that the next one finds the machine as it was."""
        kept = self.start(self.programs / "llm-sandbox", "ps", "--json")
        for one in json.loads(kept.stdout)["kept"]:
            self.start(self.programs / "llm-sandbox", "stop", one["id"])


@pytest.fixture(scope="session")
def new_user(plain_user: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewUser]:
    """A user with a fresh environment, in which nothing but the built wheel was installed."""
    python = python_for_all()
    built = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(built)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = Path(tempfile.mkdtemp(prefix="new-user-", dir="/var/tmp"))
    try:
        someone = NewUser(folder, plain_user)
        (wheel,) = built.glob("*.whl")
        shutil.copy(wheel, folder)
        shutil.copy(HERE / "run_page.py", folder)
        for name in ("tmp", "run"):
            (folder / name).mkdir(mode=0o700)
        someone.own(folder)
        done = someone.start(python, "-m", "venv", "env")
        assert done.returncode == 0, done.stdout
        what = f"{folder / wheel.name}[{','.join(EXTRAS)}]"
        pip = [someone.programs / "pip", "install", "--quiet", what, *BESIDES]
        done = someone.start(*pip, timeout=500)
        assert done.returncode == 0, done.stdout
        yield someone
    finally:
        shutil.rmtree(folder, ignore_errors=True)
