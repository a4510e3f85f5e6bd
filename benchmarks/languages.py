"""Other languages: a live session against the interpreter, and against the compiler by hand."""

import contextlib
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchmarks import ours, processes
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox import create_session
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.language_handlers import registry
from llm_sandbox.session.session import BaseSession

__all__ = ["races"]

_RUNS = 10
_STARTS = 3
_BUILDS = 2
_NAMESPACE = "readlink /proc/self/ns/pid"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Script:
    """A language with a persistent interpreter.

    `start` is the command line that begins it anew for the same code.
    """

    code: str
    start: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """A language whose every run is a program: `code` with a number in it, built by `by_hand`."""

    code: str
    file: str
    by_hand: str


_SCRIPTS = {
    "javascript": Script("console.log(1)", ("node", "-e")),
    "r": Script("cat('1\\n')", ("Rscript", "-e")),
    "ruby": Script("puts 1", ("ruby", "-e")),
    "bash": Script("echo 1", ("bash", "-c")),
}

# The same number is in the code and printed, so that no cache of whole programs has it already.
_COMPILED = {
    "java": Compiled(
        "import java.util.*;\n"
        "public class Main {\n"
        "    public static void main(String[] words) {\n"
        "        List<Integer> found = new ArrayList<>(List.of(@));\n"
        "        found.forEach(System.out::println);\n"
        "    }\n"
        "}\n",
        "Main.java",
        "javac Main.java && java -cp . Main",
    ),
    "cpp": Compiled(
        "#include <iostream>\n#include <string>\n#include <vector>\n"
        "int main() {\n"
        "    std::vector<std::string> found{std::to_string(@)};\n"
        "    for (const auto& word : found) std::cout << word << '\\n';\n"
        "}\n",
        "main.cpp",
        "g++ -std=gnu++20 -O1 -o main main.cpp && ./main",
    ),
    "go": Compiled(
        'package main\n\nimport "fmt"\n\nfunc main() {\n\tfound := []int{@}\n'
        "\tfor _, number := range found {\n\t\tfmt.Println(number)\n\t}\n}\n",
        "main.go",
        "go build -o main main.go && ./main",
    ),
}


def _open(language: str, **options: object) -> BaseSession:
    session = create_session(backend=ours.BACKEND, lang=language, **options)
    session.open()
    return session


def _measure(act: Callable[[], str], printed: str, what: str) -> float:
    started = time.perf_counter()
    found = act()
    took = time.perf_counter() - started
    if found != printed:
        raise CorrectnessError(f"{what} printed {found[:200]!r}, not {printed!r}")
    return took


def _idle(session: BaseSession) -> float:
    """Return the private memory of everything in the session's sandbox, in megabytes."""
    link = session.execute_command(_NAMESPACE).stdout.strip()
    found = 0
    for pid in processes.namespace_members(link):
        with contextlib.suppress(OSError):  # what is done between runs has ended
            found += processes.private_bytes(pid)
    return found / 1e6


def _script(language: str) -> Mapping[str, float]:
    script = _SCRIPTS[language]
    started = time.perf_counter()
    session = _open(language)
    try:
        ours.checked_run(session, script.code, "1\n")
        first = time.perf_counter() - started

        def warm() -> str:
            return session.run(script.code).stdout

        def start() -> str:
            return session.sandbox.exec(*script.start, script.code).collect().stdout

        idle = _idle(session)
        runs = [_measure(warm, "1\n", language) for _ in range(_RUNS)]
        starts = [_measure(start, "1\n", script.start[0]) for _ in range(_STARTS)]
    finally:
        session.close()
    return {"first": first, "idle": idle, "run": sum(runs) / _RUNS, "start": sum(starts) / _STARTS}


def _build(language: str) -> Mapping[str, float]:
    compiled = _COMPILED[language]
    number = next(_numbers)
    started = time.perf_counter()
    session = _open(language, default_timeout=100)
    try:
        ours.checked_run(session, compiled.code.replace("@", str(number)), f"{number}\n")
        first = time.perf_counter() - started
        idle = _idle(session)
        runs, by_hand = [], []
        # The first of each fills the caches of the toolchain.
        for index in range(_BUILDS + 1):
            number = next(_numbers)
            code, printed = compiled.code.replace("@", str(number)), f"{number}\n"
            took = _measure(partial(_printed, session, code), printed, language)
            number = next(_numbers)
            code, printed = compiled.code.replace("@", str(number)), f"{number}\n"
            session.sandbox.files.write_text(f"/tmp/by-hand/{compiled.file}", code)
            command = f"cd /tmp/by-hand && {compiled.by_hand}"
            hand = _measure(partial(_command, session, command), printed, compiled.by_hand)
            if index:
                runs.append(took)
                by_hand.append(hand)
    finally:
        session.close()
    return {
        "first": first,
        "idle": idle,
        "run": sum(runs) / _BUILDS,
        "hand": sum(by_hand) / _BUILDS,
    }


def _printed(session: BaseSession, code: str) -> str:
    return session.run(code).stdout


def _command(session: BaseSession, command: str) -> str:
    return session.execute_command(command).stdout


def _missing(language: str) -> str | None:
    toolchain = registry.load(language).toolchain
    path = get_backend(ours.BACKEND).search_path
    missing = toolchain.missing(path) if toolchain is not None and path else []
    return f"not installed: {', '.join(missing)}" if missing else None


def races() -> list[Race]:
    """Return the races of this theme, one for each language."""
    found = []
    for language in (*_SCRIPTS, *_COMPILED):
        rows = [
            Row(f"{language}: first result", "ours.first", None),
            Row(f"{language}: private memory of an idle session", "ours.idle", None, unit="MB"),
        ]
        if language in _SCRIPTS:
            words = " ".join(_SCRIPTS[language].start)
            against = f"`{words}` in the same sandbox"
            title = f"{language}: one line in a live session"
            rows.insert(1, Row(title, "ours.run", "ours.start", Target("times", 5), "ms", against))
        else:
            title = f"{language}: a program compiled and run"
            against = (
                f"`{_COMPILED[language].by_hand.partition(' ')[0]}` by hand in the same sandbox"
            )
            rows.insert(1, Row(title, "ours.run", "ours.hand", Target("share", 1.3), "ms", against))
        measure = _script if language in _SCRIPTS else _build
        found.append(
            Race(
                name=language,
                lanes={"ours": partial(measure, language)},
                rows=tuple(rows),
                rounds=5,
                quick_rounds=2,
                missing=partial(_missing, language),
            )
        )
    return found
