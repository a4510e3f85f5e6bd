"""The `__main__` that code finds: a notebook's in a session, a script's where each run is one.

The scripts are run by Python itself as well, and must say the same.
"""

import subprocess
import sys

import pytest

from llm_sandbox import create_session

SCRIPTS = {
    "names": (
        "import os, sys\n"
        "print(__name__, __spec__, __file__ == os.path.join(os.getcwd(), sys.argv[0]))\n"
        "print(sys.argv, sys.orig_argv[1:], sys.path[0] == os.path.dirname(__file__))\n"
        "print(sys.modules['__main__'].__dict__ is globals(), os.listdir('.'))\n"
    ),
    "itself": "print(open(__file__).read().count('itself'))\n# itself\n",
    "beside": (
        "from pathlib import Path\n"
        "(Path(__file__).parent / 'out.txt').write_text('kept')\n"
        "print(Path('out.txt').read_text())\n"
    ),
    "again": (
        "import subprocess, sys\n"
        "if len(sys.argv) > 1:\n    print('child', sys.argv[1])\n"
        "else:\n    print(subprocess.check_output([sys.executable, __file__, '7'], text=True))\n"
    ),
    "arguments": (
        "import argparse\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--n', type=int, default=3)\n"
        "print(parser.parse_args())\nparser.parse_args(['--bad'])\n"
    ),
    "required": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('x')\np.parse_args()\n"
    ),
    "tests": (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test(self): self.assertEqual(1, 1)\n"
        "    def test_not(self): self.assertEqual(1, 2)\n"
        "result = unittest.main(exit=False).result\nprint(result.testsRun, len(result.failures))\n"
    ),
    "tests exit": (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.fail()\n"
        "if __name__ == '__main__':\n    unittest.main(verbosity=0)\n"
    ),
    "doctests": (
        'def double(x):\n    """\n    >>> double(2)\n    4\n    >>> double(3)\n    7\n    """\n'
        "    return 2 * x\nimport doctest\n"
        "found = doctest.testmod(report=False, verbose=False)\nprint(found)\n"
    ),
    "spawn": (
        "import multiprocessing\n\ndef square(x):\n    return x * x\n\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        print(pool.map(square, range(4)))\n"
    ),
    "processes": (
        "from concurrent.futures import ProcessPoolExecutor\n\ndef square(x):\n    return x * x\n\n"
        "if __name__ == '__main__':\n    with ProcessPoolExecutor(2) as pool:\n"
        "        print(list(pool.map(square, range(4))))\n"
    ),
    "sources": (
        "import inspect, pickle, typing\nfrom dataclasses import dataclass\n\n"
        "@dataclass\nclass Point:\n    x: 'int' = 1\n\n"
        "print(inspect.getsource(Point), typing.get_type_hints(Point))\n"
        "print(pickle.loads(pickle.dumps(Point(3))))\n"
    ),
    "no input": "try:\n    input('name? ')\nexcept EOFError as error:\n    print('|', error)\n",
    "no lines": "import sys\nprint(repr(sys.stdin.read()))\n",
    "no password": (
        "import getpass\ntry:\n    getpass.getpass()\nexcept EOFError:\n    print('none')\n"
    ),
}
"""Programs by what they look at."""


@pytest.fixture(scope="module")
def scripts():
    with create_session(lang="python", persistent=False) as session:
        yield session


@pytest.fixture(scope="module")
def notebook():
    with create_session(lang="python") as session:
        yield session


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_what_python_gives_a_script(scripts, tmp_path, name):
    (tmp_path / "main.py").write_text(SCRIPTS[name])
    expected = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    scripts.execute_command("rm -f out.txt")
    result = scripts.run(SCRIPTS[name], timeout=60)
    written = expected.stdout.replace(str(tmp_path), "/sandbox")
    assert (expected.returncode, written) == (result.exit_code, result.stdout)
    if name in ("arguments", "required"):
        assert expected.stderr == result.stderr
    assert ["out.txt"] * (name == "beside") == [file.name for file in result.artifacts]


def test_a_script_that_is_killed_leaves_no_file(scripts):
    code = "import os\nopen('kept.txt', 'w').write('x')\nos.kill(os.getpid(), 9)\n"
    assert ["kept.txt"] == [file.name for file in scripts.run(code).artifacts]
    assert "kept.txt\n" == scripts.execute_command("ls").stdout
    scripts.execute_command("rm kept.txt")


def test_a_file_of_the_users_is_left_alone(scripts):
    scripts.execute_command("echo 'mine = 1' > main.py; chmod 444 main.py")
    result = scripts.run("import main, sys\nprint(main.mine, sys.argv, __file__)")
    assert "1 ['main_1.py'] /sandbox/main_1.py\n" == result.stdout
    assert "main.py\nmine = 1\n" == scripts.execute_command("ls *.py; cat main.py").stdout
    scripts.run("import os\nos.kill(os.getpid(), 9)")
    assert "main.py\n" == scripts.execute_command("ls *.py; rm -rf main.py __pycache__").stdout


def test_a_script_has_a_file_where_the_working_directory_takes_none(scripts):
    scripts.execute_command("chmod 555 .")
    try:
        result = scripts.run("import os\nprint(os.path.exists(__file__), __file__[:5])")
        assert "True /tmp/\n" == result.stdout
    finally:
        scripts.execute_command("chmod 755 .")


def test_what_a_script_makes_of_its_own_file_is_kept(scripts):
    result = scripts.run("open(__file__, 'w').write('other')")
    assert [("main.py", "other")] == [(file.name, file.read_text()) for file in result.artifacts]
    scripts.execute_command("rm main.py")


def test_a_script_without_input_is_told_how_to_get_some(scripts):
    result = scripts.run("input('name? ')")
    assert ("EOFError", "input") == (result.error.name, result.error.kind)
    assert any("stdin=" in note for note in result.notes)
    assert "name? you\n" == scripts.run("print(input('name? '))", stdin="you").stdout


def test_a_cell_has_no_arguments_and_no_file(notebook):
    result = notebook.run(
        "import sys\n"
        "print(sys.argv, __name__, __spec__, sys.path[0] == '', '__file__' in globals())\n"
        "print(type(sys.modules['__main__']).__name__, vars(sys.modules['__main__']) is globals())"
    )
    assert "[''] __main__ None True False\nmodule True\n" == result.stdout


@pytest.mark.parametrize("session", ["scripts", "notebook"])
def test_nothing_of_the_kernels_command_line_is_seen(request, session):
    code = (
        "import sys\nprint(sys.argv, sys.orig_argv, [p for p in sys.path if 'llm_sandbox' in p])\n"
        "print(open('/proc/self/cmdline').read())"
    )
    seen = request.getfixturevalue(session).run(code).stdout
    assert not [
        word for word in ("zygote", "science", "guest", "-c", "llm_sandbox") if word in seen
    ]
    assert sys.orig_argv[0].rpartition("/")[2][:6] in seen


@pytest.mark.parametrize("name", ["arguments", "tests", "doctests", "processes"])
def test_a_cell_may_do_what_scripts_do(notebook, name):
    notebook.restart()
    result = notebook.run(SCRIPTS[name], timeout=60)
    expected = {
        "arguments": "Namespace(n=3)\n",
        "tests": "2 1\n",
        "doctests": "TestResults(failed=1, attempted=2)",
        "processes": "[0, 1, 4, 9]\n",
    }
    assert expected[name] in result.stdout


def test_what_a_cell_defined_is_read_pickled_and_typed(notebook):
    notebook.run(
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: 'int' = 1\n"
        "def double(x):\n    return 2 * x"
    )
    result = notebook.run(
        "import inspect, pickle, typing\nprint(inspect.getsource(double))\n"
        "print(pickle.loads(pickle.dumps(Point(3))), typing.get_type_hints(Point))\n"
        "print(pickle.loads(pickle.dumps(double)) is double)"
    )
    expected = "def double(x):\n    return 2 * x\n\nPoint(x=3) {'x': <class 'int'>}\nTrue\n"
    assert expected == result.stdout
