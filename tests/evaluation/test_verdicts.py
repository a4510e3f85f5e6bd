"""Verdicts of programs and functions: how a test ended, by what the system says."""

import pytest

from llm_sandbox.evaluation import CallTest, EvalLimits, Evaluator, Sample, StdioTest, Verdict
from llm_sandbox.exceptions import ToolchainNotFoundError

DOUBLE = StdioTest("21\n", "42\n")
SUCCESSOR = CallTest("f", [1], expected=2)

COMPILED = EvalLimits(cpu_time=10, memory="1g")

PROGRAMS = {
    "right": ("print(2 * int(input()))", "AC"),
    "wrong": ("print(3 * int(input()))", "WA"),
    "busy": ("while True: pass", "TLE"),
    "waiting": ("import time; time.sleep(60)", "TLE"),
    "busy child": (
        "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()",
        "TLE",
    ),
    "memory by growth": ("x = []\nwhile True: x.append(bytearray(10**6))", "MLE"),
    "memory at once": ("x = bytearray(10**10)", "MLE"),
    "exception": ("1 / 0", "RTE"),
    "exit code": ("import sys; print(42); sys.exit(3)", "RTE"),
    "signal": ("import ctypes; ctypes.string_at(0)", "RTE"),
    "recursion": ("def f(): return f()\nf()", "RTE"),
    "syntax": ("def f(:", "CE"),
    "zero byte": ("print(1)\0", "CE"),
    "output": ("while True: print('x' * 1000)", "OLE"),
    "errors are no answer": ("import sys; print(42, file=sys.stderr)", "WA"),
    "exit without output": ("raise SystemExit", "WA"),
    "exit after output": ("import os; print(42, flush=True); os._exit(0)", "AC"),
    "output of a thread": (
        "import threading; threading.Thread(target=lambda: print(2 * int(input()))).start()",
        "AC",
    ),
    "output at exit": ("import atexit; atexit.register(print, 42)", "AC"),
    "bytes": ("import sys; sys.stdout.buffer.write(b'42')", "AC"),
    "descriptors": ("import os; os.write(1, b'%d' % (2 * int(os.read(0, 100))))", "AC"),
    "open(0)": ("print(2 * int(open(0).read()))", "AC"),
    "main": ("if __name__ == '__main__': print(2 * int(input()))", "AC"),
}

FUNCTIONS = {
    "right": ("def f(x): return x + 1", "AC"),
    "wrong": ("def f(x): return x + 2", "WA"),
    "other type": ("def f(x): return float(x + 1)", "WA"),
    "busy": ("def f(x):\n    while True: pass", "TLE"),
    "memory": ("def f(x): return bytearray(10**10)", "MLE"),
    "exception": ("def f(x): return x / 0", "RTE"),
    "missing": ("def g(x): return x", "RTE"),
    "crash": ("import ctypes\ndef f(x): ctypes.string_at(0)", "RTE"),
    "syntax": ("def f(x:", "CE"),
    "exception at load": ("1 / 0", "RTE"),
    "busy at load": ("while True: pass", "TLE"),
    "main is not run": ("def f(x): return x + 1\nif __name__ == '__main__': 1 / 0", "AC"),
    "prints": ("def f(x):\n    print('noise', flush=True)\n    return x + 1", "AC"),
    "object": ("class A: pass\ndef f(x): return A()", "WA"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(grade, name):
    code, verdict = PROGRAMS[name]
    result = grade(code, DOUBLE)
    assert (verdict, 1.0 if verdict == "AC" else 0.0) == (result.verdict, result.score), result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(grade, name):
    code, verdict = FUNCTIONS[name]
    result = grade(code, SUCCESSOR)
    assert (verdict, 1.0 if verdict == "AC" else 0.0) == (result.verdict, result.score), result


@pytest.mark.slow
def test_which_limit_it_was(grade):
    assert "cpu" == grade("while True: pass", DOUBLE).tests[0].limit
    assert "idle" == grade("import time; time.sleep(60)", DOUBLE).tests[0].limit


def test_what_is_measured(grade):
    code = "x = bytearray(b'x') * 50_000_000\ny = sum(range(3_000_000))\nprint(42)"
    found = grade(code, DOUBLE).tests[0]
    assert found.time_cpu > 0.02
    assert found.time_wall >= 0.02
    assert 50_000_000 < found.memory_peak < 128 * 1024**2


@pytest.mark.root
def test_busy_cpus_are_limited(grade):
    """The control: without a limit, the same program takes less of the clock for its CPU time."""
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(42)"
    little, usual = (
        grade(code, DOUBLE, limits=EvalLimits(cpus=cpus)).tests[0] for cpus in (0.2, None)
    )
    shares = [found.time_cpu / found.time_wall for found in (little, usual)]
    assert ["AC", "AC"] == [little.verdict, usual.verdict]
    assert shares[0] < 0.3
    assert shares[0] < shares[1]


def test_files_and_descriptors_are_limited(grade):
    """The control: as many as are allowed, of which the interpreter has some."""
    codes = {
        "inodes": "for n in range(COUNT): open(str(n), 'w').close()\nprint(42)",
        "open_files": "import os; [os.open('/', 0) for n in range(COUNT)]; print(42)",
    }
    for name, code in codes.items():
        limits = EvalLimits(**{name: 100})
        verdicts = [
            grade(code.replace("COUNT", str(count)), DOUBLE, limits=limits).verdict
            for count in (100, 50)
        ]
        assert ["RTE", "AC"] == verdicts, name


def test_where_an_error_was(grade):
    found = grade("x = 1\nx = x / 0\n", DOUBLE).tests[0]
    assert "ZeroDivisionError: division by zero" == found.error
    assert 'File "/sandbox/main.py", line 2, in <module>' in found.stderr_tail
    assert "runner" not in found.stderr_tail
    assert "candidate.py" not in found.stderr_tail


def test_the_first_difference(grade):
    found = grade("print('a b c')", StdioTest("", "a x c")).tests[0].difference
    assert ("token 2", "x", "b") == (found.where, found.expected, found.actual)


def test_the_first_test_that_fails_is_the_samples(grade):
    tests = [StdioTest("1", "2"), StdioTest("2", "5"), StdioTest("x", "")]
    result = grade("print(2 * int(input()))", *tests)
    assert ["AC", "WA", "SK"] == [test.verdict for test in result.tests]
    assert Verdict.WRONG_ANSWER is result.verdict


def test_no_tests_are_no_success(grade):
    result = grade("print(1)")
    assert (Verdict.NO_TESTS, 0.0) == (result.verdict, result.score)


def test_twenty_calls_load_the_module_once(grade):
    code = "import time\nSTART = time.time_ns()\ndef f(): return START"
    test = CallTest("f", [], checker=lambda expected, actual: seen.add(actual))
    seen = set()
    assert grade(code, *[test] * 20).passed
    assert 1 == len(seen)


@pytest.mark.parametrize("pid", ["os.getppid()", "os.getpid()"])
def test_a_crashed_module_is_loaded_again(pid):
    code = f"import os\ndef f(x): return os.kill({pid}, 9) if x == 2 else x + 1"
    tests = [CallTest("f", [x], expected=x + 1) for x in (1, 2, 3)]
    with Evaluator(stop="never", backend="bubblewrap", workers=1) as evaluator:
        result = evaluator.run(Sample("sample", code, tests=tests))
    first, second, third = result.tests
    assert ("AC", "AC") == (first.verdict, third.verdict)
    assert second.verdict in ("RTE", "WA")


@pytest.mark.parametrize(
    ("language", "right", "broken", "crash"),
    [
        (
            "cpp",
            "#include <iostream>\nint main() { int x; std::cin >> x; std::cout << 2 * x; }",
            "int main() { x }",
            "#include <cstdlib>\nint main() { std::abort(); }",
        ),
        (
            "javascript",
            "console.log(2 * +require('fs').readFileSync(0, 'utf8'))",
            None,
            "process.abort()",
        ),
        (
            "java",
            (
                "public class Main { public static void main(String[] a) {"
                " System.out.println(2 * new java.util.Scanner(System.in).nextInt()); } }"
            ),
            "public class Main { public static void main(String[] a) { int x = ; } }",
            "public class Main { public static void main(String[] a) { throw new Error(); } }",
        ),
        (
            "go",
            'package main\nimport "fmt"\nfunc main() { var x int; fmt.Scan(&x); fmt.Println(2*x) }',
            "package main\nfunc main() { x }",
            'package main\nfunc main() { panic("no") }',
        ),
    ],
)
def test_languages(grade, language, right, broken, crash):
    try:
        grade(right, DOUBLE, language=language, limits=COMPILED)
    except ToolchainNotFoundError as error:
        pytest.skip(str(error))
    limits = {"limits": COMPILED}
    assert "AC" == grade(right, DOUBLE, DOUBLE, language=language, **limits).verdict
    assert "WA" == grade(right, StdioTest("1", "3"), language=language, **limits).verdict
    assert "RTE" == grade(crash, DOUBLE, language=language, **limits).verdict
    if broken is not None:
        result = grade(broken, DOUBLE, language=language, **limits)
        assert "CE" == result.verdict
        assert "line" in result.error
