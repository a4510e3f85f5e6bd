"""Programs over the APIs of SandboxFusion and Piston, and verl's own reward function."""

import base64
import importlib.util
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_sandbox.const import VERSION
from tests.server.requests import Reply, ask
from tests.server.servers import Served, served

pytestmark = pytest.mark.slow

CPP = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"


def run_code(server: Served, code: str, **options: Any) -> dict[str, Any]:
    body = {"code": code, "language": "python", **options}
    reply = ask(server.port, "POST", "/run_code", body)
    assert 200 == reply.status, reply.body
    found: dict[str, Any] = reply.json
    return found


class TestSandboxFusion:
    def test_a_program_reads_and_prints(self, server: Served) -> None:
        found = run_code(server, "print(int(input()) + 1)", stdin="41")
        assert ("Success", None) == (found["status"], found["compile_result"])
        ran = found["run_result"]
        assert ("Finished", 0, "42\n", "") == (
            *(ran["status"], ran["return_code"], ran["stdout"], ran["stderr"]),
        )

    def test_a_program_that_fails(self, server: Served) -> None:
        found = run_code(server, "print('x'); 1/0")
        assert ("Failed", 1) == (found["status"], found["run_result"]["return_code"])
        assert "ZeroDivisionError" in found["run_result"]["stderr"]

    def test_a_program_that_is_too_slow(self, server: Served) -> None:
        found = run_code(server, "print('x', flush=True)\nwhile True: pass", run_timeout=1)
        ran = found["run_result"]
        assert ("Failed", "TimeLimitExceeded", None, "x\n") == (
            *(found["status"], ran["status"], ran["return_code"], ran["stdout"]),
        )

    def test_a_program_that_needs_too_much_memory(self, server: Served) -> None:
        code = "x = bytearray(300 << 20)\nprint(len(x))"
        assert "Success" == run_code(server, code, memory_limit_MB=600)["status"]
        assert "Failed" == run_code(server, code, memory_limit_MB=200)["status"]

    def test_a_compiled_program(self, server: Served) -> None:
        found = run_code(server, CPP, language="cpp", stdin="20 22", compile_timeout=60)
        assert ("Success", "42") == (found["status"], found["run_result"]["stdout"])
        assert 0 == found["compile_result"]["return_code"]

    def test_a_program_that_does_not_compile(self, server: Served) -> None:
        found = run_code(server, "int main() { nothing }", language="cpp", compile_timeout=60)
        assert ("Failed", None) == (found["status"], found["run_result"])
        assert "nothing" in found["compile_result"]["stderr"]

    @pytest.mark.parametrize(
        ("language", "code"),
        [
            ("nodejs", "console.log(require('fs').readFileSync(0, 'utf8'))"),
            ("bash", "cat"),
            ("ruby", "print STDIN.read"),
        ],
    )
    def test_other_languages(self, server: Served, language: str, code: str) -> None:
        found = run_code(server, code, language=language, stdin="hello", run_timeout=60)
        assert "hello" == found["run_result"]["stdout"].strip(), found

    def test_pytest(self, server: Served) -> None:
        code = "def test_good(): assert 1\ndef test_bad(): assert 0\n"
        found = run_code(server, code, language="pytest", run_timeout=60)
        if "No module named pytest" in found["run_result"]["stderr"]:
            pytest.skip("this computer's Python has no pytest for sandboxes")
        assert "1 failed, 1 passed" in found["run_result"]["stdout"]

    def test_files_go_in_and_come_out(self, server: Served) -> None:
        code = "import other; open('out.txt', 'w').write(other.NAME + open('sub/in.txt').read())"
        files = {
            "other.py": base64.b64encode(b"NAME = 'name '").decode(),
            "sub/in.txt": base64.b64encode(b"content").decode(),
        }
        found = run_code(server, code, files=files, fetch_files=["out.txt", "missing"])
        assert {"out.txt": base64.b64encode(b"name content").decode()} == found["files"]

    def test_files_outside_of_the_folder_are_refused(self, server: Served) -> None:
        body = {"code": "1", "language": "python", "files": {"../x": "eA=="}}
        assert 422 == ask(server.port, "POST", "/run_code", body).status

    def test_an_unknown_language_is_refused(self, server: Served) -> None:
        reply = ask(server.port, "POST", "/run_code", {"code": "1", "language": "cobol"})
        assert 422 == reply.status
        assert "there are R, bash, cpp" in reply.json["detail"]

    def test_a_notebook(self, server: Served) -> None:
        cells = ["x = 20", "print(x); x + 22", "1/0", "print('never')"]
        reply = ask(server.port, "POST", "/run_jupyter", {"cells": cells, "total_timeout": 60})
        found = reply.json
        assert ("Failed", 3) == (found["status"], len(found["cells"]))
        assert "20\n" == found["cells"][1]["stdout"]
        assert "42" == found["cells"][1]["display"][0]["text/plain"]
        assert "ZeroDivisionError" == found["cells"][2]["error"][0]["ename"]

    def test_a_notebook_that_is_too_slow(self, server: Served) -> None:
        body = {"cells": ["while True: pass"], "cell_timeout": 1}
        found = ask(server.port, "POST", "/run_jupyter", body).json
        assert ("Failed", "TimeLimitExceeded") == (found["status"], found["driver"]["status"])

    def test_overload_is_answered_as_clients_try_again(self) -> None:
        """More programs at once than the quota wait, and give up with the one status that verl's
        client repeats.
        """
        with served("--programs", "1") as busy:

            def run(_: int) -> Reply:
                body = {
                    "code": "import time; time.sleep(4)",
                    "language": "python",
                    "compile_timeout": 1,
                    "run_timeout": 4,
                }
                return ask(busy.port, "POST", "/run_code", body)

            with ThreadPoolExecutor(4) as pool:
                replies = list(pool.map(run, range(4)))
            statuses = [reply.status for reply in replies]
            assert {200, 504} == set(statuses)
            late = next(reply for reply in replies if reply.status == 504)
            assert "retry-after" in late.headers


@pytest.fixture(scope="module")
def verl(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The file of verl's reward function, from its package, which is otherwise left alone."""
    pytest.importorskip("requests")
    folder = tmp_path_factory.mktemp("verl")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    done = subprocess.run(
        [*command, "--target", str(folder), "verl==0.9.1"], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"verl could not be installed: {done.stderr.strip()[-200:]}")
    place = folder / "verl/utils/reward_score/sandbox_fusion"
    return load("verl_sandbox_fusion", place)


def load(name: str, place: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class TestVerl:
    """verl's `compute_score`, unmodified."""

    def score(
        self, verl: ModuleType, server: Served, completion: str, cases: Any, **options: Any
    ) -> tuple[float, list[dict[str, Any]]]:
        semaphore = threading.Semaphore(2)
        url = f"{server.url}/run_code"
        found: tuple[float, list[dict[str, Any]]] = verl.compute_score(
            url, semaphore, 512, completion, cases, **options
        )
        return found

    def test_a_right_answer(self, verl: ModuleType, server: Served) -> None:
        cases = {"inputs": ["1 2", "3 4"], "outputs": ["3", "7"]}
        text = "```python\nprint(sum(map(int, input().split())))\n```"
        score, facts = self.score(verl, server, text, cases)
        assert (1.0, ["success"] * 2) == (score, [fact["status"] for fact in facts])

    def test_an_answer_that_is_right_at_times(self, verl: ModuleType, server: Served) -> None:
        cases = {"inputs": ["1", "2"], "outputs": ["1", "1"]}
        score, facts = self.score(verl, server, "```python\nprint(input())\n```", cases)
        assert (0.5, "wrong_answer") == (score, facts[1]["status"])

    def test_a_function(self, verl: ModuleType, server: Served) -> None:
        cases = {"fn_name": "add", "inputs": ["1\n2"], "outputs": ["3"]}
        text = "```python\nclass Solution:\n    def add(self, a, b): return a + b\n```"
        assert 1.0 == self.score(verl, server, text, cases)[0]

    def test_failures_are_told_apart(self, verl: ModuleType, server: Served) -> None:
        cases = {"inputs": ["raise", "loop"], "outputs": ["x", "x"]}
        text = "```python\nif input() == 'raise': 1/0\nwhile True: pass\n```"
        score, facts = self.score(verl, server, text, cases, timeout=2)
        assert 0.0 == score
        assert ["runtime_error", "timeout"] == [fact["status"] for fact in facts]


class TestPiston:
    def execute(self, server: Served, status: int = 200, **body: Any) -> dict[str, Any]:
        given = {"language": "python", "version": "*", **body}
        reply = ask(server.port, "POST", "/api/v2/execute", given)
        assert status == reply.status, reply.body
        found: dict[str, Any] = reply.json
        return found

    def test_runtimes(self, server: Served) -> None:
        found = {one["language"]: one for one in ask(server.port, "GET", "/api/v2/runtimes").json}
        assert {"python", "cpp", "javascript"} <= found.keys()
        assert (VERSION, True) == (found["python"]["version"], "py" in found["python"]["aliases"])

    def test_a_program(self, server: Served) -> None:
        code = "import sys; print(sys.argv[1:], input()); print('e', file=sys.stderr)"
        found = self.execute(server, files=[{"content": code}], stdin="in", args=["a", "b"])
        ran = found["run"]
        assert ("['a', 'b'] in\n", "e\n", 0, None) == (
            *(ran["stdout"], ran["stderr"], ran["code"], ran["status"]),
        )
        assert "compile" not in found

    def test_several_files(self, server: Served) -> None:
        other = {"name": "other.py", "content": b"X = 7".hex(), "encoding": "hex"}
        files = [{"name": "main.py", "content": "import other; print(other.X)"}, other]
        assert "7\n" == self.execute(server, files=files)["run"]["stdout"]

    def test_a_compiled_program(self, server: Served) -> None:
        files = [{"content": CPP}]
        found = self.execute(
            server, language="c++", files=files, stdin="40 2", compile_timeout=60_000
        )
        assert (0, "42") == (found["compile"]["code"], found["run"]["stdout"])

    def test_failures_are_told_apart(self, server: Served) -> None:
        failed = self.execute(server, files=[{"content": "exit(3)"}])["run"]
        assert (3, None, "RE") == (failed["code"], failed["signal"], failed["status"])
        late = self.execute(server, files=[{"content": "while 1: pass"}], run_timeout=1000)["run"]
        assert (None, "SIGKILL", "TO") == (late["code"], late["signal"], late["status"])
        code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        killed = self.execute(server, files=[{"content": code}])["run"]
        assert (None, "SIGSEGV", "SG") == (killed["code"], killed["signal"], killed["status"])

    def test_what_it_cannot_do_is_refused(self, server: Served) -> None:
        files = [{"content": "1"}]
        assert (
            "cobol-* runtime" in self.execute(server, 400, language="cobol", files=files)["message"]
        )
        assert "version" in self.execute(server, 400, version="2.7", files=files)["message"]
        assert "run_cpu_time" in self.execute(server, 400, files=files, run_cpu_time=1)["message"]
        assert "files" in self.execute(server, 400)["message"]
