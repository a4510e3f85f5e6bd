"""Artifacts of Maven repositories, from one made for the test, whose rules are Maven's own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.java.packages import MavenPackages
from tests.languages.packages.sources import make_jar, needs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.languages.packages.installing import Installer, MakeInstaller
    from tests.languages.packages.sources import Repository

pytestmark = pytest.mark.timeout(120)


def jars(made: Installer, *specs: str) -> list[str]:
    return sorted(path.name for path in made.install(*specs).path.iterdir())


def test_what_is_needed_at_run_time_comes_along(
    installer: MakeInstaller, repository: Repository
) -> None:
    made = installer(MavenPackages())
    lines = (
        "org.demo:plain:1.0",
        "org.demo:running:1.0 scope=runtime",
        "org.demo:testing:1.0 scope=test",
        "org.demo:provided:1.0 scope=provided",
        "org.demo:optional:1.0 optional=true",
        "org.demo:wide:1.0 not=org.demo:unwanted",
    )
    repository.add("org.demo:top:1.0", needs(*lines))
    repository.add("org.demo:plain:1.0")
    repository.add("org.demo:running:1.0")
    repository.add("org.demo:wide:1.0", needs("org.demo:unwanted:1.0", "org.demo:wanted:1.0"))
    repository.add("org.demo:wanted:1.0")
    expected = ["plain-1.0.jar", "running-1.0.jar", "top-1.0.jar", "wanted-1.0.jar", "wide-1.0.jar"]
    assert jars(made, "org.demo:top:1.0") == expected
    assert made.leftovers == []


def test_the_nearest_version_wins(installer: MakeInstaller, repository: Repository) -> None:
    made = installer(MavenPackages())
    repository.add("org.demo:a:1", needs("org.demo:b:1", "org.demo:c:1"))
    repository.add("org.demo:b:1", needs("org.demo:d:1"))
    repository.add("org.demo:d:1", needs("org.demo:shared:2.0"))
    repository.add("org.demo:c:1", needs("org.demo:shared:1.0"))
    for version in ("1.0", "2.0"):
        repository.add(f"org.demo:shared:{version}")
    assert "shared-1.0.jar" in jars(made, "org.demo:a:1")
    assert "shared-2.0.jar" in jars(made, "org.demo:a:1", "org.demo:shared:2.0")


def test_parents_properties_and_imported_versions_count(
    installer: MakeInstaller, repository: Repository
) -> None:
    made = installer(MavenPackages())
    managed = needs("org.demo:managed:3.0").replace("dependencies>", "dependencies>", 1)
    repository.add(
        "org.demo:bom:1",
        f"<packaging>pom</packaging><dependencyManagement>{managed}</dependencyManagement>",
        jar=None,
    )
    imported = needs("org.demo:bom:1 type=pom scope=import")
    repository.add(
        "org.demo:parent:1",
        "<packaging>pom</packaging><properties><lib.version>${other}</lib.version><other>0</other>"
        f"</properties><dependencyManagement>{imported}</dependencyManagement>"
        + needs("org.demo:lib:${lib.version}"),
        jar=None,
    )
    child = (
        "<parent><groupId>org.demo</groupId><artifactId>parent</artifactId><version>1</version>"
        "</parent><properties><other>2.5</other></properties>"
    )
    repository.add(
        "org.demo:child:1", child + needs("org.demo:managed", "${project.groupId}:own:1")
    )
    for name in ("lib:2.5", "managed:3.0", "own:1"):
        repository.add(f"org.demo:{name}")
    expected = ["child-1.jar", "lib-2.5.jar", "managed-3.0.jar", "own-1.jar"]
    assert jars(made, "org.demo:child:1") == expected


@pytest.mark.parametrize(
    ("asked", "chosen"),
    # To Maven, a candidate comes before its release, and so is in a range that ends there.
    [
        ("[1.0,2.0)", "2.0-rc1"),
        ("(1.2,1.99]", "1.10"),
        ("[1.0,1.2]", "1.2"),
        ("[2.0-rc1]", "2.0-rc1"),
        ("", "2.0"),
    ],
)
def test_a_version_of_a_range_is_chosen(
    installer: MakeInstaller, repository: Repository, asked: str, chosen: str
) -> None:
    made = installer(MavenPackages())
    for version in ("1.0", "1.2", "1.10", "2.0-rc1", "2.0"):
        repository.add(f"org.demo:ranged:{version}")
    if not asked:
        assert jars(made, "org.demo:ranged") == [f"ranged-{chosen}.jar"]
        return
    repository.add("org.demo:asks:1", needs(f"org.demo:ranged:{asked}"))
    assert jars(made, "org.demo:asks:1") == ["asks-1.jar", f"ranged-{chosen}.jar"]


def test_a_damaged_file_is_refused(installer: MakeInstaller, repository: Repository) -> None:
    made = installer(MavenPackages())
    repository.add("org.demo:damaged:1")
    file = repository.folder / "org/demo/damaged/1/damaged-1.jar"
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(LibraryInstallationError, match="digest"):
        made.install("org.demo:damaged:1")
    assert made.leftovers == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("org.demo:absent:1", r"no repository has org/demo/absent/1/absent-1\.pom"),
        ("org.demo:${nothing}:1", "invalid name or unknown version"),
        ("org.demo:..:1", "invalid name or unknown version"),
        ("org.demo:later:1-SNAPSHOT", "snapshot"),
    ],
)
def test_what_cannot_be_resolved_is_an_error(
    installer: MakeInstaller, repository: Repository, line: str, words: str
) -> None:
    made = installer(MavenPackages())
    repository.add("org.demo:bad:1", needs(line))
    with pytest.raises(LibraryInstallationError, match=words):
        made.install("org.demo:bad:1")


def test_a_session_uses_an_artifact(cache: Path, repository: Repository, tmp_path: Path) -> None:
    source = tmp_path / "Greeter.java"
    source.write_text(
        "package org.demo; public class Greeter "
        '{ public static String greet(String name) { return "hello " + name; } }\n'
    )
    command = ["javac", "-d", str(tmp_path / "classes"), str(source)]
    assert subprocess.run(command, timeout=60).returncode == 0
    compiled = (tmp_path / "classes/org/demo/Greeter.class").read_bytes()
    repository.add("org.demo:greeter:1", jar=make_jar({"org/demo/Greeter.class": compiled}))
    code = (
        "import org.demo.Greeter;\npublic class Main { public static void main(String[] words) "
        '{ System.out.println(Greeter.greet("you")); } }\n'
    )
    with SandboxSession(lang="java", backend="bubblewrap") as session:
        result = session.run(code, libraries=["org.demo:greeter:1"])
    assert result.stdout == "hello you\n", result.stderr
