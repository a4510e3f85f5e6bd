"""C++ in sessions: headers, flags, what is kept from run to run, pictures, signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.const import RunStatus
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Limits
from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures
from llm_sandbox.testing.suite import eventually, usable_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.data import ExecutionResult
    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(240)

CACHE = "/tmp/.cache/llm-sandbox-cpp"


class Sessions(LanguageFixtures):
    backend_name = "bubblewrap"


@pytest.fixture(scope="module")
def shared() -> Iterator[BaseSession]:
    usable_backend("bubblewrap")
    session = Sessions.open("cpp")
    yield session
    session.close()


@pytest.fixture
def session(shared: BaseSession) -> Iterator[BaseSession]:
    yield shared
    shared.execute_command("rm -rf ./*")


def run(session: BaseSession, code: str, **options: object) -> ExecutionResult:
    return session.run(code, timeout=RUN_S, **options)  # type: ignore[arg-type]


def test_headers_of_the_working_directory(session: BaseSession) -> None:
    """A header is included from there, as it is at the time of the run."""
    code = '#include <cstdio>\n#include "helper.h"\nint main() { std::puts(word); }'
    for word in ("first", "second"):
        session.sandbox.files.write_text("helper.h", f'static const char *word = "{word}";\n')
        assert f"{word}\n" == run(session, code).stdout

    session.sandbox.files.write_text("helper.h", "nonsense word;\n")
    error = run(session, code).error
    assert error is not None
    assert (f"{session.sandbox.workdir}/helper.h", 1) == (error.file, error.line)


def test_flags_of_the_first_line(session: BaseSession) -> None:
    """The first line may name options, libraries and further sources."""
    session.sandbox.files.write_text("helper.cpp", "int helper() { return LEVEL; }\n")
    code = (
        "// flags: -O2 -std=c++17 -DLEVEL=41 helper.cpp -lm\r\n"
        "#include <cstdio>\nint helper();\n"
        'int main() { std::printf("%d %ld\\n", helper() + 1, __cplusplus); }'
    )
    result = run(session, code)
    assert ("42 201703\n", "") == (result.stdout, result.stderr)

    session.sandbox.files.write_text("helper.cpp", "int helper() { return LEVEL + 1; }\n")
    assert "43 201703\n" == run(session, code).stdout


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=x.so",
        "-o/tmp/x",
        "-I/etc",
        "@file",
        "-B.",
        "-Wl,-rpath,/x",
        "-specs=x",
        "-wrapper",
        "/etc/passwd.cpp",
        "../up.cpp",
        "$(touch${IFS}x)",
        "`id`",
        "*.cpp",
    ],
)
def test_flags_that_are_refused(session: BaseSession, flag: str) -> None:
    """Anything else is an error of the first line, and nothing comes of it."""
    result = run(session, f"// flags: -O2 {flag}\nint main() {{}}")

    assert result.error is not None
    assert ("compile", 1) == (result.error.kind, result.error.line)
    assert flag in result.error.value
    assert () == result.files


def test_the_same_program_is_not_built_again(session: BaseSession) -> None:
    code = (
        "#include <cstdio>\nint main(int count, char **) { std::puts(__FILE__); return count - 1; }"
    )
    assert ("main.cpp\n", "") == (run(session, code).stdout, run(session, code).stderr)

    session.execute_command(f"for each in {CACHE}/programs/*; do echo kept > $each/words; done")
    assert ("main.cpp\n", "kept\n") == (run(session, code).stdout, run(session, code).stderr)
    assert "" == run(session, f"{code}\n").stderr


def test_a_program_that_depends_on_more_is_built_again(session: BaseSession) -> None:
    code = (
        '#include <cstdio>\n#if __has_include("late.h")\n#include "late.h"\n#endif\nint main() {}'
    )
    assert "" == run(session, code).stderr
    session.sandbox.files.write_text("late.h", "#warning here\n")

    assert "#warning here" in run(session, code).stderr


def test_warnings_of_a_program_that_runs(session: BaseSession) -> None:
    code = "#warning careful\nint main() {}"
    for _ in range(2):
        result = run(session, code)
        assert (RunStatus.OK, None) == (result.status, result.error)
        assert "main.cpp:1:2: warning: #warning careful" in result.stderr


def test_headers_are_compiled_between_runs() -> None:
    """What one program includes is compiled when it has run, and serves others."""
    usable_backend("bubblewrap")
    code = "// a title\n#include <string>\n#include <vector> // more\n\nint main() { return %d; }"
    with Sessions.open("cpp") as session:
        assert 1 == run(session, code % 1).exit_code

        def compiled() -> str:
            return session.execute_command(f"echo {CACHE}/headers/*/first.h.gch").stdout.strip()

        assert eventually(lambda: "*" not in compiled(), within_s=100)
        header = compiled().removesuffix(".gch")
        assert "#include <string>\n#include <vector>\n" == session.sandbox.files.read_text(header)
        # Its text is not read again.
        session.execute_command(f"echo '#error read' >> {header}")
        assert 2 == run(session, code % 2).exit_code
        session.execute_command(f"rm {header}.gch")
        assert 3 == run(session, code % 3).exit_code


def test_only_what_stands_first_is_compiled_before(session: BaseSession) -> None:
    """A header sees the macros that the source defines before it."""
    code = (
        "#include <cstdio>\n#define NDEBUG\n#include <cassert>\n"
        'int main() { assert(false); std::puts("passed"); }'
    )
    for number in range(2):
        assert "passed\n" == run(session, f"{code} // {number}").stdout


def test_memory_is_enough_for_the_compiler() -> None:
    usable_backend("bubblewrap")
    code = (
        "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n"
        "int main() { std::map<int, std::function<int()>> all{{1, [] { return 2; }}};"
        ' std::cout << all.begin()->second() << "\\n"; }'
    )
    with Sessions.open("cpp", limits=Limits(memory_bytes=512 << 20)) as session:
        result = run(session, code)
        assert ("2\n", "") == (result.stdout, result.stderr)


@pytest.mark.parametrize(
    ("body", "number", "name"),
    [
        ("int *volatile none = nullptr; return *none;", 11, "SIGSEGV"),
        ("volatile int zero = 0; return 7 / zero;", 8, "SIGFPE"),
        ("__builtin_trap();", 4, "SIGILL"),
    ],
)
def test_death_by_a_signal(session: BaseSession, body: str, number: int, name: str) -> None:
    result = run(session, f"int main() {{ {body} }}")

    assert (RunStatus.KILLED, number) == (result.status, result.signal)
    assert result.error is not None
    assert name == result.error.name


def test_an_uncaught_exception(session: BaseSession) -> None:
    code = '#include <stdexcept>\nint main() { throw std::out_of_range("too far"); }'
    result = run(session, code)

    assert (RunStatus.KILLED, 6, 134) == (result.status, result.signal, result.exit_code)
    assert result.error is not None
    assert ("std::out_of_range", "too far") == (result.error.name, result.error.value)


def test_a_compilation_that_takes_too_long(session: BaseSession) -> None:
    """The timeout is for the compiler as well; nothing of it is left."""
    # A second of work or so for each N, and hardly any memory: that has a limit of its own.
    code = """
template <int N> constexpr int spin() {
    int sum = N;
    for (int i = 0; i < 20; ++i)
        for (int j = 0; j < 50000; ++j) sum = (sum * 31 + j) % 1009;
    return sum;
}
template <int N> struct Spun { static constexpr int value = spin<N>() + Spun<N - 1>::value; };
template <> struct Spun<0> { static constexpr int value = 0; };
int main() { return Spun<200>::value; }
"""
    with pytest.raises(SandboxTimeoutError):
        session.run(code, timeout=1)

    left = session.execute_command(
        "ls -d /tmp/.llm-sandbox-* 2>/dev/null; pgrep -f 'main[.]cpp'"
    ).stdout
    assert "" == left
    assert 0 == run(session, "int main() {}").exit_code


def test_pictures(session: BaseSession) -> None:
    """A picture in the working directory is an artifact; those in the folder for what is shown are
    displays, in order.
    """
    code = r"""
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

static void ramp(const std::string &path, unsigned red) {
    std::ofstream file(path, std::ios::binary);
    const unsigned width = 64, height = 32, size = 54 + width * height * 3;
    const auto number = [&](unsigned value, int bytes) {
        for (int i = 0; i < bytes; ++i) file.put(static_cast<char>(value >> 8 * i));
    };
    file << "BM";
    for (unsigned field : {size, 0u, 54u, 40u, width, height}) number(field, 4);
    number(1, 2), number(24, 2);
    for (unsigned field : {0u, size - 54, 2835u, 2835u, 0u, 0u}) number(field, 4);
    for (unsigned i = 0; i < width * height; ++i) number(4 * (i % width), 1), number(red, 2);
}

int main() {
    const std::string folder = std::getenv("LLM_SANDBOX_DISPLAYS");
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/0002.html") << "<b>second</b>";
    std::ofstream(folder + "/0001.svg")
        << "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>"
        << "<rect width='5' height='5'/></svg>";
    ramp("ramp.bmp", 200);
}
"""
    result = run(session, code)

    assert (0, "") == (result.exit_code, result.stderr)
    shown = [next(iter(output.data)) for output in result.outputs if hasattr(output, "data")]
    assert ["image/svg+xml", "text/html"] == shown
    assert [("ramp.bmp",)] == [item.paths for item in result.files]
    assert "image/bmp" == result.artifact("ramp.bmp").mime


def test_threads_and_input(session: BaseSession) -> None:
    code = r"""
#include <atomic>
#include <cstdio>
#include <thread>
int main() {
    std::atomic<long> total = 0;
    for (long number; std::scanf("%ld", &number) == 1;) std::jthread([&] { total += number; });
    std::printf("%ld\n", total.load());
}
"""
    assert "60\n" == run(session, code, stdin="10 20\n30\n").stdout
    assert "0\n" == run(session, code).stdout
