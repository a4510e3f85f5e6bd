"""Go in sessions: modules, what is kept from run to run, pictures, panics, limits."""

from __future__ import annotations

import io
import zipfile
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

CACHE = "/tmp/.cache/llm-sandbox-go"
HELLO = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n'


class Sessions(LanguageFixtures):
    backend_name = "bubblewrap"


@pytest.fixture(scope="module")
def shared() -> Iterator[BaseSession]:
    usable_backend("bubblewrap")
    session = Sessions.open("go")
    yield session
    session.close()


@pytest.fixture
def session(shared: BaseSession) -> Iterator[BaseSession]:
    yield shared
    shared.execute_command("rm -rf ./*")


def run(session: BaseSession, code: str, **options: object) -> ExecutionResult:
    return session.run(code, timeout=RUN_S, **options)  # type: ignore[arg-type]


def test_packages_of_the_working_directory(session: BaseSession) -> None:
    """Where there is a module, its packages are imported, as they are at the time of the run."""
    files = session.sandbox.files
    files.write_text("go.mod", "module example.com/app\n\ngo 1.19\n")
    code = 'package main\n\nimport "example.com/app/words"\n\nfunc main() { println(words.One) }\n'
    for word in ("first", "second"):
        files.write_text("words/words.go", f'package words\n\nconst One = "{word}"\n')
        assert f"{word}\n" == run(session, code).stderr

    files.write_text("words/words.go", "package words\n\nconst One = nothing\n")
    error = run(session, code).error
    assert error is not None
    assert ("words/words.go", 3, 13) == (error.file, error.line, error.column)


def test_files_of_the_working_directory_are_embedded(session: BaseSession) -> None:
    code = (
        'package main\n\nimport _ "embed"\n\n//go:embed note.txt\nvar note string\n\n'
        "func main() { print(note) }\n"
    )
    for note in ("first\n", "second\n"):
        session.sandbox.files.write_text("note.txt", note)
        assert note == run(session, code).stderr


def test_the_same_program_is_not_built_again(session: BaseSession) -> None:
    code = HELLO.replace("hello", "once")
    assert "once\n" == run(session, code).stdout
    session.execute_command(
        f"for each in {CACHE}/programs/*; do rm $each/main; cp /bin/true $each/main; done"
    )
    assert "" == run(session, code).stdout
    assert "once\n" == run(session, f"{code}\n").stdout


def test_what_is_kept_is_bounded() -> None:
    """What is much in the cache is removed between runs; the next program is built as ever."""
    usable_backend("bubblewrap")
    with Sessions.open("go") as session:
        run(session, HELLO)
        assert eventually(lambda: session.sandbox.files.exists(f"{CACHE}/begun"), within_s=60)
        made = session.execute_command(
            f"sleep 0.1; cd {CACHE} && mkdir programs/old"
            " && head -c 14m /dev/zero > programs/old/main && touch -d yesterday programs/old/main"
            " && head -c 26m /dev/zero > build/00/much"
        )
        assert 0 == made.exit_code, made.stderr
        assert "again\n" == run(session, HELLO.replace("hello", "again")).stdout
        for name in ("programs/old", "build/00/much"):
            path = f"{CACHE}/{name}"
            assert eventually(lambda path=path: not session.sandbox.files.exists(path), within_s=60)
        assert "third\n" == run(session, HELLO.replace("hello", "third")).stdout


def test_a_module_of_a_layer() -> None:
    """What the package manager lays down is imported without a network."""
    usable_backend("bubblewrap")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("example.com/greet@v1.0.0/go.mod", "module example.com/greet\n")
        archive.writestr(
            "example.com/greet@v1.0.0/greet.go",
            'package greet\n\nfunc Hello(name string) string { return "hello, " + name }\n',
        )
    environment = {
        "LLM_SANDBOX_GO_MODULES": "/sandbox/layer",
        "GOMODCACHE": "/sandbox/layer/mod",
    }
    with Sessions.open("go", env=environment) as session:
        files = session.sandbox.files
        place = "proxy/example.com/greet/@v"
        files.write_text(f"{place}/list", "v1.0.0\n")
        files.write_text(f"{place}/v1.0.0.info", '{"Version": "v1.0.0"}')
        files.write_text(f"{place}/v1.0.0.mod", "module example.com/greet\n")
        files.write_bytes(f"{place}/v1.0.0.zip", packed.getvalue())
        fetched = session.execute_command(
            "mkdir layer && cd layer && export GOFLAGS='-mod=mod -modcacherw' GONOSUMDB='*'"
            " GOSUMDB=off GOPROXY=file:///sandbox/proxy GOCACHE=/tmp/c GOPATH=/tmp/p"
            " && go mod init sandbox && go get example.com/greet && rm -rf ../proxy"
        )
        assert 0 == fetched.exit_code, fetched.stderr
        code = (
            'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/greet"\n)\n\n'
            'func main() { fmt.Println(greet.Hello("you")) }\n'
        )
        for _ in range(2):
            result = run(session, code)
            assert ("hello, you\n", "") == (result.stdout, result.stderr)
            assert () == result.files
        missing = run(session, code.replace("greet", "meet")).error
        assert missing is not None
        assert ("compile", 6) == (missing.kind, missing.line)


def test_a_library_that_an_image_brings_compiled() -> None:
    """What is compiled already is read from a place that cannot be written."""
    usable_backend("bubblewrap")
    with Sessions.open("go", env={"LLM_SANDBOX_GO_COMPILED": "/sandbox/compiled"}) as session:
        made = session.execute_command(
            "GOCACHE=/sandbox/compiled GOPATH=/tmp/p go build -gcflags=-N errors"
            " && chmod -R a-w compiled"
        )
        assert 0 == made.exit_code, made.stderr
        result = run(session, HELLO)

        assert ("hello\n", "") == (result.stdout, result.stderr)
        links = session.execute_command(f"find {CACHE}/build -type l | wc -l").stdout
        assert int(links) > 0
        session.execute_command("chmod -R u+w compiled")


def test_a_package_that_is_no_program(session: BaseSession) -> None:
    result = run(session, "package words\n\nfunc main() {}\n")

    assert result.error is not None
    assert ("compile", 1) == (result.error.kind, result.error.line)
    assert "is not a main package" in result.error.value


def test_all_that_is_not_used_is_an_error(session: BaseSession) -> None:
    code = 'package main\n\nimport "os"\n\nfunc main() {\n\tunused := 1\n}\n'
    result = run(session, code)

    assert result.error is not None
    assert ("main.go", 3, 8) == (result.error.file, result.error.line, result.error.column)
    assert "./main.go:6:2: " in result.stderr
    assert "/tmp/" not in result.stderr


def test_a_panic_in_a_goroutine(session: BaseSession) -> None:
    code = (
        "package main\n\nfunc fail(depth int) {\n\tif depth == 0 {\n\t\tpanic(`deep`)\n\t}\n"
        "\tfail(depth - 1)\n}\n\nfunc main() {\n\tgo fail(2)\n\tselect {}\n}\n"
    )
    result = run(session, code)

    assert (RunStatus.ERROR, 2) == (result.status, result.exit_code)
    assert result.error is not None
    assert ("panic", "deep", 5) == (result.error.name, result.error.value, result.error.line)
    assert [11, 7, 7, 5] == [frame.line for frame in result.error.frames]


def test_a_deadlock(session: BaseSession) -> None:
    result = run(session, "package main\n\nfunc main() {\n\t<-make(chan int)\n}\n")

    assert result.error is not None
    assert ("fatal error", 4) == (result.error.name, result.error.line)
    assert "deadlock" in result.error.value


def test_an_exit_is_no_error(session: BaseSession) -> None:
    code = 'package main\n\nimport "log"\n\nfunc main() { log.Fatal("enough") }\n'
    result = run(session, code)

    assert (1, None) == (result.exit_code, result.error)
    assert result.stderr.endswith("enough\n")


def test_memory_is_enough_for_the_compiler() -> None:
    usable_backend("bubblewrap")
    code = (
        'package main\n\nimport (\n\t"encoding/json"\n\t"fmt"\n\t"net/http"\n)\n\n'
        "func main() {\n\ttext, _ := json.Marshal(http.StatusText(418))\n"
        "\tfmt.Println(string(text))\n}\n"
    )
    with Sessions.open("go", limits=Limits(memory_bytes=512 << 20)) as session:
        result = run(session, code)
        assert ('"I\'m a teapot"\n', "") == (result.stdout, result.stderr)


def test_a_goroutine_that_never_ends(session: BaseSession) -> None:
    code = (
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"os/signal"\n)\n\n'
        'func main() {\n\tsignal.Ignore(os.Interrupt)\n\tfmt.Println("begun")\n'
        "\tgo func() {\n\t\tfor {\n\t\t}\n\t}()\n\tselect {}\n}\n"
    )
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=3)
    assert caught.value.result is not None
    assert "hello\n" == run(session, HELLO).stdout


def test_pictures(session: BaseSession) -> None:
    """A picture in the working directory is an artifact; those in the folder for what is shown are
    displays, in order.
    """
    code = """package main

import (
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	picture := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.White, color.Black})
	for i := 0; i < 30; i++ {
		picture.SetColorIndex(i, i, 1)
	}
	folder := os.Getenv("LLM_SANDBOX_DISPLAYS")
	check(os.MkdirAll(folder, 0o755))
	check(os.WriteFile(filepath.Join(folder, "0002.html"), []byte("<b>second</b>"), 0o644))
	first, err := os.Create(filepath.Join(folder, "0001.png"))
	check(err)
	check(png.Encode(first, picture))
	saved, err := os.Create("line.gif")
	check(err)
	check(gif.Encode(saved, picture, nil))
}
"""
    result = run(session, code)

    assert (0, "") == (result.exit_code, result.stderr)
    shown = [next(iter(output.data)) for output in result.outputs if hasattr(output, "data")]
    assert ["image/png", "text/html"] == shown
    assert [("line.gif",)] == [item.paths for item in result.files]
    assert 1 == len(result.plots)


def test_goroutines_and_input(session: BaseSession) -> None:
    code = """package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"sync"
)

func main() {
	var group sync.WaitGroup
	var lock sync.Mutex
	total := 0
	for words := bufio.NewScanner(os.Stdin); words.Scan(); {
		group.Add(1)
		go func(word string) {
			defer group.Done()
			number, _ := strconv.Atoi(word)
			lock.Lock()
			total += number
			lock.Unlock()
		}(words.Text())
	}
	group.Wait()
	fmt.Println(total)
}
"""
    assert "60\n" == run(session, code, stdin="10\n20\n30\n").stdout
    assert "0\n" == run(session, code).stdout
