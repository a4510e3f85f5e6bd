"""Libraries for images: fetched and built in machines of the image, and read there by sessions."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError
from tests.languages.packages.sources import index_gems, make_gem, make_jar

if TYPE_CHECKING:
    from pathlib import Path

    from tests.languages.packages.sources import Repository

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

GO = """package main

import (
	"fmt"

	"example.org/above"
)

func main() { fmt.Println(above.Say()) }
"""


def run(language: str, code: str, *libraries: str) -> str:
    with SandboxSession(lang=language, backend="docker") as session:
        result = session.run(code, libraries=list(libraries))
        assert result.exit_code == 0, result.stderr
        return result.stdout


@pytest.mark.engine("docker", image="ruby")
def test_gems_are_fetched_in_the_image(cache: Path, source: Path) -> None:
    make_gem(source, "below_demo", {"lib/below_demo.rb": "BELOW = 7\n"})
    more = {"add_dependency": '"below_demo"'}
    make_gem(source, "image_demo", {"lib/image_demo.rb": 'require "below_demo"\n'}, **more)
    index_gems(source)
    assert run("ruby", 'require "image_demo"; puts BELOW', "image_demo") == "7\n"
    assert list((cache / "layers-index" / "staging").iterdir()) == []


@pytest.mark.engine("docker", image="go")
def test_modules_are_fetched_in_the_image(cache: Path, proxy: Path) -> None:
    assert run("go", GO, "example.org/above") == "above below v1.0.0\n"


@pytest.mark.engine("docker", image="java")
def test_artifacts_are_fetched_here(cache: Path, repository: Repository, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("javac is not installed here")
    source = tmp_path / "Named.java"
    source.write_text("package org.demo; public class Named { public static int of = 7; }\n")
    command = ["javac", "--release", "11", "-d", str(tmp_path / "classes"), str(source)]
    assert subprocess.run(command, timeout=60).returncode == 0
    compiled = (tmp_path / "classes/org/demo/Named.class").read_bytes()
    repository.add("org.demo:named:1", jar=make_jar({"org/demo/Named.class": compiled}))
    code = "System.out.println(org.demo.Named.of);"
    assert run("java", code, "org.demo:named:1") == "7\n"


@pytest.mark.engine("docker", image="r")
def test_a_package_of_r_finds_its_c_library(cache: Path) -> None:
    """One that came after R was started, by an installation that keeps variables."""
    with SandboxSession(lang="r", backend="docker") as session:
        assert session.run("x <- 41").exit_code == 0
        try:
            session.install(["fs"])
        except LibraryInstallationError as error:
            pytest.skip(f"Debian's archive does not have it for us: {error.message}")
        result = session.run("library(fs)\ncat(path_file('a/b.txt'), x + 1)")
        assert (result.exit_code, result.stdout) == (0, "b.txt 42"), result.stderr
