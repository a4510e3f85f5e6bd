"""Attacks on the grader: each fails here, and succeeds against a grader that is careless.

The careless graders are the negative controls: they do what is common, and each attack is shown to
fool the one that it was made for.
"""

import re
import subprocess
import sys

import pytest

from llm_sandbox.evaluation import (
    AssertTest,
    CallTest,
    CommandTest,
    EvalLimits,
    Evaluator,
    Sample,
    StdioTest,
    UnitTest,
)

EXPECTED = "7f3a91c4"
"""Secret answer that the attacks are after."""


# --- careless graders


def exit_code_is_success(code, test):
    """A script of candidate and test, whose exit code is the verdict."""
    script = f"{code}\n{test}\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=20)
    return done.returncode == 0


def last_line_is_success(code, test):
    """A script of candidate and test that prints its own verdict."""
    script = (
        f"{code}\ntry:\n    {test}\n    print('PASSED')\nexcept BaseException:\n    print('FAILED')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=20
    )
    return "PASSED" in done.stdout


def same_process(code, test):
    """Candidate and assertion in one namespace, with the expected value in a variable."""
    script = (
        f"expected = {EXPECTED!r}\nscope = {{}}\nexec({code!r}, scope)\n"
        "value = scope['f']()\nassert value == expected\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=20)
    return done.returncode == 0


def shared_folder(code, test, folder):
    """Two runs in one folder, of which the second is graded."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", f"{code}\n"],
            capture_output=True,
            text=True,
            timeout=20,
            cwd=folder,
            input="second" if _ else EXPECTED,
        )
    return EXPECTED in done.stdout


# --- attacks

EXITS = {
    "sys.exit at import": "import sys\nsys.exit(0)\ndef f(): pass",
    "os._exit at import": "import os\nos._exit(0)\ndef f(): pass",
    "quit at import": "quit()\ndef f(): pass",
    "sys.exit in the function": "import sys\ndef f(): sys.exit(0)",
    "os._exit in the function": "import os\ndef f(): os._exit(0)",
    "os._exit in a thread": (
        "import os, threading\ndef f():\n    t = threading.Thread(target=os._exit, args=(0,))\n"
        "    t.start()\n    t.join()"
    ),
    "os._exit at exit": "import atexit, os\natexit.register(os._exit, 0)\ndef f(): return 1",
    "an excepthook": ("import os, sys\nsys.excepthook = lambda *_: os._exit(0)\ndef f(): return 1"),
    "exec of true": "import os\ndef f(): os.execvp('true', ['true'])",
    "assert is switched off": (
        "import builtins\nclass Calm(Exception): pass\nbuiltins.AssertionError = Calm\n"
        "import sys, os\nsys.settrace(lambda *_: None)\nsys.excepthook = lambda *_: os._exit(0)\n"
        "def f(): return 1"
    ),
}


@pytest.mark.parametrize("name", EXITS)
def test_an_exit_is_no_success(grade, name):
    code = EXITS[name]
    test = f"assert f() == {EXPECTED!r}"
    assert exit_code_is_success(code, test)  # the control
    for attempt in (
        CallTest("f", expected=EXPECTED),
        AssertTest(test),
        AssertTest(test, mode="inline"),
        UnitTest(
            {
                "test_f.py": "import unittest\nclass T(unittest.TestCase):\n"
                f"    def test_f(self): self.assertEqual(f(), {EXPECTED!r})\n"
            }
        ),
        StdioTest("", EXPECTED),
    ):
        result = grade(code, attempt)
        assert ("AC", 1.0) != (result.verdict, result.score), (attempt, result)
        assert "IE" != result.verdict, result.error


FORGERIES = {
    "print": "print('PASSED')\ndef f(): print('PASSED'); return 1",
    "write to every descriptor": (
        "import os\ndef f():\n    for fd in range(1024):\n        try: os.write(fd, b'PASSED')\n"
        "        except OSError: pass\n    return 1"
    ),
    "close every descriptor": (
        "import os\nprint('PASSED', flush=True)\n"
        "def f():\n    print('PASSED', flush=True)\n    os.closerange(3, 1024)\n    return 1"
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_written_is_no_verdict(grade, name):
    code, test = FORGERIES[name], f"assert f() == {EXPECTED!r}"
    assert last_line_is_success(code, test)  # the control
    for attempt in (CallTest("f", expected=EXPECTED), AssertTest(test), StdioTest("", EXPECTED)):
        assert "AC" != grade(code, attempt).verdict


def test_forged_frames_are_not_taken_for_values(grade):
    """Frames with another nonce than the call's, on every descriptor that may be the channel."""
    code = """
import json, os, struct
def f():
    facts = json.dumps({"nonce": "guess", "sizes": [10, 0]}).encode()
    frame = struct.pack("<I", len(facts)) + facts + b'"7f3a91c4"'
    for fd in range(3, 64):
        try: os.write(fd, frame)
        except OSError: pass
    os._exit(0)
"""
    result = grade(code, CallTest("f", expected=EXPECTED))
    assert result.verdict in ("RTE", "WA", "TLE")


SEARCHES = {
    "frames": (
        "import sys\ndef f():\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in {**frame.f_globals, **frame.f_locals}.values():\n"
        "            if isinstance(value, str) and len(value) == 8 and value[:3] == '7f3':\n"
        "                return value\n        frame = frame.f_back"
    ),
    "objects": (
        "import gc\ndef f():\n    for one in gc.get_objects():\n        if isinstance(one, dict):\n"
        "            for value in list(one.values()):\n"
        "                if isinstance(value, str) and len(value) == 8 and value[:3] == '7f3':\n"
        "                    return value"
    ),
    "memory": (
        "def f():\n    for line in open('/proc/self/maps'):\n        words = line.split()\n"
        "        if 'rw' not in words[1]: continue\n"
        "        low, high = (int(word, 16) for word in words[0].split('-'))\n"
        "        with open('/proc/self/mem', 'rb', 0) as file:\n"
        "            try:\n                file.seek(low)\n"
        "                data = file.read(high - low)\n"
        "            except (OSError, ValueError, OverflowError): continue\n"
        "        at = data.find(b'7f3' + b'a91')\n"
        "        if at >= 0: return data[at:at + 8].decode()"
    ),
    "equality": "class E:\n    def __eq__(self, other): return True\ndef f(): return E()",
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_expected_value_is_not_there(grade, name):
    code = SEARCHES[name]
    if name != "memory":  # which finds itself in a process that was given the code as a string
        assert same_process(code, "")  # the control
    for attempt in (
        CallTest("f", expected=EXPECTED),
        AssertTest(f"assert f() == {EXPECTED!r}"),
        AssertTest(f"def check(g): assert g() == {EXPECTED!r}", entry_point="f"),
    ):
        result = grade(code, attempt)
        assert result.verdict in ("WA", "RTE"), result
        assert "inline" != result.integrity


def test_memory_of_a_process_with_the_value_is_searched_by_that_attack():
    """The control of the search in memory."""
    script = (
        f"expected = bytes.fromhex({EXPECTED.encode().hex()!r}).decode()\n{SEARCHES['memory']}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{script}print(f())"], capture_output=True, text=True, timeout=60
    )
    assert EXPECTED == done.stdout.strip(), done.stderr


@pytest.mark.parametrize("folder", [".", "/tmp", "/dev/shm"])
def test_files_of_a_test_are_not_there_for_the_next(grade, tmp_path, folder):
    code = (
        "import os, sys\ngiven = sys.stdin.read()\n"
        f"path = '{folder}/kept-by-an-attack'\n"
        "old = open(path).read() if os.path.exists(path) else None\n"
        "open(path, 'w').write(given)\nprint(old or given)"
    )
    if folder == ".":
        assert shared_folder(code, "", tmp_path)  # the control
    tests = [StdioTest("first", "first"), StdioTest("second", "second")]
    assert "AC" == grade(code, *tests).verdict


def test_modules_of_a_test_are_not_there_for_the_next(grade):
    code = "COUNT = []\ndef f():\n    COUNT.append(1)\n    return len(COUNT)"
    assert grade(code, *[CallTest("f", expected=1)] * 5).passed


def test_a_process_of_a_test_does_not_answer_the_next(grade):
    """A daemon that waits in an abstract socket for the second test."""
    code = """
import os, socket, sys, time
given = sys.stdin.read()
try:
    client = socket.socket(socket.AF_UNIX)
    client.connect("\\0kept")
    print(client.recv(100).decode())
except OSError:
    print(given, flush=True)
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        server = socket.socket(socket.AF_UNIX)
        server.bind("\\0kept")
        server.listen()
        while True:
            server.accept()[0].send(given.encode())
    time.sleep(0.2)
"""
    tests = [StdioTest("first", "first"), StdioTest("second", "second")]
    assert "AC" == grade(code, *tests).verdict


def test_system_v_objects_do_not_outlive_a_test(evaluator):
    """A queue outlives its process: another machine is taken for the next test."""
    code = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
given = sys.stdin.read()
class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 64)]
queue = libc.msgget(4711, 0o1600)
found = Message()
size = libc.msgrcv(queue, ctypes.byref(found), 64, 0, 0o4000) if queue >= 0 else -1
if queue >= 0:
    libc.msgsnd(queue, ctypes.byref(Message(1, given.encode())), 64, 0o4000)
print(found.text.decode() if size > 0 else given)
"""
    tests = [StdioTest("first", "first"), StdioTest("second", "second")]
    assert "AC" == evaluator.run(Sample("sample", code, tests=tests)).verdict


def test_the_runner_cannot_be_ended_or_read(grade):
    code = """
import os, signal, sys
parent = os.getppid()
for number in range(1, 32):
    try: os.kill(parent, number)
    except OSError: pass
try:
    open(f"/proc/{parent}/mem", "rb").read(1)
    print("read")
except OSError as error:
    print(42)
try:
    open(f"/proc/{parent}/environ", "rb").read()
    print("read")
except OSError as error:
    pass
"""
    assert "AC" == grade(code, StdioTest("", "42"), StdioTest("", "42")).verdict


def test_killing_everything_spares_the_next_test(grade):
    code = "import os, signal\nprint(42, flush=True)\nos.kill(-1, signal.SIGKILL)"
    result = grade(code, StdioTest("", "42"))
    assert "IE" != result.verdict
    assert "AC" == grade("print(42)", StdioTest("", "42")).verdict


SHADOWS = {
    "unittest.py": "class TestCase: pass",
    "conftest.py": "import os\nos._exit(0)",
    "sitecustomize.py": "import os\nos._exit(0)",
    "json.py": "raise SystemExit(0)",
}


@pytest.mark.parametrize("name", SHADOWS)
def test_files_beside_the_code_do_not_replace_the_graders(grade, name):
    files = {"files": {name: SHADOWS[name]}}
    cases = UnitTest(
        {
            "test_f.py": "import unittest\nclass T(unittest.TestCase):\n"
            "    def test_f(self): self.assertEqual(f(), 1)\n"
        }
    )
    functions = UnitTest(
        {"test_f.py": "from sol import f\ndef test_f(): assert f() == 1"},
        framework="pytest",
        module="sol",
    )
    for test in (cases, functions):
        assert "AC" == grade("def f(): return 1", test, **files).verdict
        assert "WA" == grade("def f(): return 2", test, **files).verdict


def test_a_patched_framework_is_inline_and_said_to_be(grade):
    """A patch of the framework cannot be prevented in the candidate's process, and is marked."""
    code = (
        "import unittest\nunittest.TestCase.run = lambda self, result: result.addSuccess(self)\n"
        "def f(): return 2"
    )
    test = UnitTest(
        {
            "test_f.py": "import unittest\nclass T(unittest.TestCase):\n"
            "    def test_f(self): self.assertEqual(f(), 1)\n"
        }
    )
    result = grade(code, test)
    assert "inline" == result.integrity


def test_a_forged_report_of_a_command(grade):
    """The command of the test writes over what the code left."""
    code = "x = 1"
    forged = '<testsuite><testcase name="a"/></testsuite>'
    test = CommandTest(
        ["python3", "-c", "import main"], junit="report.xml", files={"report.xml": "no"}
    )
    assert "NT" == grade(code, test, files={"report.xml": forged}).verdict


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_of_a_report_are_not_expanded(grade, encoding):
    """They would be a bomb, in encodings too in which `<!` is not those two bytes."""
    case = '<testcase name="a"/>'
    entity = f"<!DOCTYPE t [<!ENTITY case '{case}'>]>"
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    verdicts = []
    for report in (f"<t>{case}</t>", f"{entity}<t>&case;</t>"):
        program = f"open('report.xml', 'wb').write({declaration + report!r}.encode({encoding!r}))"
        test = CommandTest(["python3", "-c", program], junit="report.xml")
        verdicts.append(grade("x = 1", test).verdict)
    assert ["AC", "NT"] == verdicts


@pytest.mark.parametrize(
    "value",
    [
        "[[]] * 10**7",
        "'x' * 10**8",
        "10**100000",
        "x",
        "float('nan')",
    ],
)
def test_values_that_are_bombs(grade, value):
    code = f"x = []\nx.append(x)\ndef f(): return {value}"
    result = grade(code, CallTest("f", expected=1))
    assert result.verdict in ("WA", "MLE", "RTE", "TLE")


def test_no_module_unpickles(grade):
    """A value whose pickle runs code reaches the grader as plain data or not at all."""
    code = (
        "import os\nclass P:\n    def __reduce__(self): return os.system, ('echo PASSED',)\n"
        "def f(): return P()"
    )
    assert "WA" == grade(code, CallTest("f", expected=1)).verdict


def test_clocks_and_alarms_are_the_runners(grade):
    code = (
        "import signal, time\ntime.time = time.monotonic = lambda: 0\nsignal.alarm(0)\n"
        "for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM):\n"
        "    signal.signal(number, signal.SIG_IGN)\nwhile True: pass"
    )
    assert ("TLE", "cpu") == (
        (result := grade(code, StdioTest("", "42"))).verdict,
        result.tests[0].limit,
    )


def test_the_next_sample_has_another_machine():
    """Nothing of a sample is there for the next, whatever it did."""
    limits = EvalLimits(cpu_time=2)
    code = (
        "import os\nname = open('/proc/sys/kernel/random/boot_id').read()\n"
        "print(os.readlink('/proc/self/ns/pid'), os.readlink('/proc/self/ns/ipc'),"
        " os.readlink('/proc/self/ns/mnt'), os.readlink('/proc/self/ns/net'))"
    )
    seen = []

    def keep(stdin, output, answer):
        seen.append(output)
        return True

    from llm_sandbox.evaluation import CheckerTest

    with Evaluator(limits=limits, workers=1, backend="bubblewrap") as evaluator:
        for number in range(3):
            result = evaluator.run(Sample(str(number), code, tests=[CheckerTest(keep)]))
            assert result.passed
    assert 3 == len(set(seen))
    assert all(4 == len(re.findall(rb"\[\d+\]", line)) for line in seen)
