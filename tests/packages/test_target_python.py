"""Description of an image's Python, accepted only in the right form."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

from llm_sandbox.packages.target_python import PROBE, read_target, same_version


def facts(**changed: Any) -> str:
    found = {
        "version": [3, 12, 4],
        "implementation": "cpython",
        "executable": "/opt/python/bin/python3",
        "soabi": "cpython-312-x86_64-linux-gnu",
        "magic": "cb0d0d0a",
        "bits": 64,
        "machine": "x86_64",
        "libc": "glibc 2.31",
        "distributions": [["Demo_Thing", "1.0"], ["torch", "2.1.0+cpu"]],
    }
    return json.dumps(found | changed)


def test_this_python_can_be_read() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", PROBE], capture_output=True, check=True)
    target = read_target(done.stdout.decode())
    assert target.version == sys.version_info[:3]
    assert target.magic == importlib.util.MAGIC_NUMBER.hex()
    assert target.compiles_here
    assert target.distributions["pytest"] == pytest.__version__


def test_pip_is_told_what_its_own_would_know() -> None:
    target = read_target(facts())
    options = target.options()
    assert options[:6] == ["--python-version", "3.12.4", "--implementation", "cp", "--abi", "cp312"]
    names = options[7::2]
    assert set(options[6::2]) == {"--platform"}
    assert names[0] == "manylinux_2_31_x86_64"
    assert "manylinux_2_17_x86_64" in names
    assert "manylinux_2_32_x86_64" not in names
    assert names[-2:] == ["manylinux2014_x86_64", "linux_x86_64"]
    assert target.markers()["python_version"] == "3.12"
    assert not target.compiles_here


def test_musl_and_free_threading_have_names_of_their_own() -> None:
    target = read_target(facts(libc="musl 1.2.5", machine="aarch64"))
    assert target.platforms[:3] == (
        "musllinux_1_2_aarch64",
        "musllinux_1_1_aarch64",
        "musllinux_1_0_aarch64",
    )
    free = read_target(facts(version=[3, 13, 0], soabi="cpython-313t-x86_64-linux-gnu"))
    assert free.abi == "cp313t"
    assert read_target(facts(bits=32)).platforms[0] == "manylinux_2_31_i686"


def test_what_an_image_has_keeps_its_version() -> None:
    constraints = read_target(facts()).constraints()
    assert constraints == {"demo-thing": "demo-thing==1.0", "torch": "torch==2.1.0"}
    assert same_version("2.1.0+cpu", "2.1.0")
    assert same_version("1.0", "1.0.0")
    assert same_version("1.0RC1", "1.0rc1")
    assert not same_version("1.0", "1.0.1")


@pytest.mark.parametrize(
    "entry",
    [
        ["demo", "1.0\n--index-url=http://evil"],
        ["demo", "1.0 # x"],
        ["demo\n--extra-index-url http://evil", "1.0"],
        ["demo @ file:///etc", "1.0"],
        ["-r/etc/passwd", "1.0"],
        ["demo", "newest"],
        ["demo", "1.0\n"],
        ["demo", " 1.0"],
        ["demo", f"1.{'0' * 200}"],
        ["demo\n", "1.0"],
        ["\u212aelvin", "1.0"],
        ["demo", None],
        ["demo"],
        "demo",
        7,
        ["d" * 300, "1.0"],
    ],
)
def test_hostile_distributions_become_no_constraint(entry: object) -> None:
    target = read_target(facts(distributions=[entry, ["good", "1.0"]]))
    assert target.constraints() == {"good": "good==1.0"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"version": [3, 8, 10]}, "3.9 is the oldest"),
        ({"version": [2, 7, 18]}, "3.9 is the oldest"),
        ({"version": ["3", "12", "4"]}, "a version that is none"),
        ({"version": [3, 12]}, "a version that is none"),
        ({"version": [3, 12, True]}, "a version that is none"),
        ({"version": None}, "did not say"),
        ({"implementation": "pypy"}, "not CPython"),
        ({"soabi": "cpython-312; --index-url"}, "a kind that is not known"),
        ({"machine": "x86_64 --index-url"}, "a kind that is not known"),
        ({"magic": "../../etc"}, "a kind that is not known"),
        ({"libc": "dietlibc"}, "neither glibc nor musl"),
        ({"libc": "glibc 2.99999"}, "neither glibc nor musl"),
        ({"libc": 7}, "did not say"),
        ({"distributions": {}}, "did not say what it has"),
        ({"distributions": [["a", "1"]] * 6000}, "did not say what it has"),
    ],
)
def test_what_is_no_python_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_target(facts(**changed))


@pytest.mark.parametrize("text", ["", "[", "[]", "7", "null", "[" * 100_000, '{"version": 3}'])
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="did not say what it is"):
        read_target(text)


@pytest.mark.parametrize("path", ["python3", "/x\n/y", "/bin/sh -c evil #", 7 * "/x" + " y"])
def test_an_odd_path_is_not_written_into_programs(path: str) -> None:
    assert read_target(facts(executable=path)).executable == "/usr/bin/python3"
