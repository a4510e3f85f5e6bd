"""Debian packages for C++ and R, from Debian's own archive where it is reached."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.cpp.packages import CppPackages
from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.r.packages import RPackages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.languages.packages.installing import MakeInstaller

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def absent(*names: str) -> str:
    """The first of some packages that this system has not; a test about others says nothing."""
    for name in names:
        command = ["dpkg-query", "-W", "-f", "${Status}", name]
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout.endswith(" installed"):
            return name
    pytest.skip(f"all of {', '.join(names)} are installed here")


def test_headers_and_libraries_are_found_without_network(
    installer: MakeInstaller, tmp_path: Path
) -> None:
    made = installer(CppPackages())
    name = absent("libfmt-dev")
    layer = made.install_or_skip(name)
    assert (layer.path / "usr/include/fmt/core.h").is_file()
    assert "-lfmt" in (layer.path / "link.txt").read_text().split()
    assert not any(path.is_symlink() for path in layer.path.rglob("*"))
    assert not (layer.path / "usr/share/doc").exists()
    source = tmp_path / "main.cpp"
    source.write_text('#include <fmt/core.h>\nint main() { fmt::print("{}\\n", 42); }\n')
    folder = next((layer.path / "usr/lib").glob("*-linux-gnu"))
    command = ["g++", f"-I{layer.path}/usr/include", f"-L{folder}", str(source)]
    command += ["-o", str(tmp_path / "main"), f"@{layer.path}/link.txt"]
    assert subprocess.run(command, timeout=120).returncode == 0
    done = subprocess.run(
        [tmp_path / "main"], env={"LD_LIBRARY_PATH": str(folder)}, capture_output=True, text=True
    )
    assert done.stdout == "42\n"
    assert made.leftovers == []


def test_what_the_system_has_is_not_fetched(installer: MakeInstaller) -> None:
    made = installer(CppPackages())
    layer = made.install_or_skip("libc6-dev")
    assert [path.name for path in layer.path.iterdir()] == ["link.txt"]


def test_a_package_that_is_not_there_is_an_error_in_apts_words(installer: MakeInstaller) -> None:
    made = installer(CppPackages())
    with pytest.raises(LibraryInstallationError) as caught:
        made.install_or_skip("nothing-of-this-name-dev")
    assert "nothing-of-this-name-dev" in str(caught.value)
    assert made.leftovers == []


def test_a_package_of_r_comes_compiled(installer: MakeInstaller) -> None:
    made = installer(RPackages())
    name = absent("r-cran-praise", "r-cran-whisker", "r-cran-abind").removeprefix("r-cran-")
    layer = made.install_or_skip(name)
    folder = layer.path / "usr/lib/R/site-library"
    code = f'cat(requireNamespace("{name}", lib.loc = "{folder}"))'
    done = subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True)
    assert done.stdout == "TRUE", done.stderr
    assert made.words[-1] != f"compiling {name}"


def test_a_system_that_changes_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm_sandbox.language_handlers.debian_packages._DPKG", str(tmp_path))
    facts = []
    for text in ("Package: one\n", "Package: one\n\nPackage: two\n", "Package: one\n"):
        (tmp_path / "status").write_text(text)
        facts.append(CppPackages().facts("/usr/bin"))
    assert facts[0] == facts[2] != facts[1]


def test_settings_of_apt_are_carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "apt"
    for name, text in {
        "apt.conf": 'Acquire::http::Proxy "http://proxy.example:1";\n'
        'Acquire::https::Proxy-Auto-Detect "/bin/evil";\nAPT::Update::Post-Invoke { "evil"; };\n',
        "auth.conf": "machine example.org login me password secret\n",
        "sources.list": "deb http://example.org stable main\n",
    }.items():
        here.mkdir(exist_ok=True)
        (here / name).write_text(text)
    monkeypatch.setattr("llm_sandbox.language_handlers.debian_packages._ETC", str(here))
    monkeypatch.setenv("APT_CONFIG", str(here / "apt.conf"))
    for for_image in (False, True):
        carrier = Carrier({}, tmp_path, folder="/private", root="/host", for_image=for_image)
        CppPackages().settings(carrier)
        text = carrier.files["apt.conf"].decode()
        assert carrier.variables["APT_CONFIG"] == "/private/apt.conf"
        assert "proxy.example" in text
        assert "evil" not in text
        assert "secret" not in text
        assert (f'Dir::Etc "/host{here}"' in text) is not for_image
        assert (b"secret" in carrier.files.get("auth.conf", b"")) is not for_image


def test_a_source_package_of_r_is_built_apart(
    installer: MakeInstaller, home: Path, tmp_path: Path
) -> None:
    made = installer(RPackages())
    repository = tmp_path / "cran/src/contrib"
    repository.mkdir(parents=True)
    for name, needs, code in (
        ("sandboxbelow", "", 'below <- function() "below"'),
        ("sandboxabove", "Imports: sandboxbelow", "above <- function() sandboxbelow::below()"),
    ):
        folder = tmp_path / name
        (folder / "R").mkdir(parents=True)
        about = ["Package: " + name, "Version: 1.0", "Title: T", "Description: D.", needs]
        about += ["Author: A", "Maintainer: A <a@example.org>", "License: GPL-2"]
        (folder / "DESCRIPTION").write_text("\n".join(filter(None, about)) + "\n")
        (folder / "NAMESPACE").write_text(f"export({name.removeprefix('sandbox')})\n")
        (folder / "R/code.R").write_text(code + "\n")
        command = ["R", "CMD", "build", str(folder)]
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    code = f'tools::write_PACKAGES("{repository}", type = "source")'
    assert subprocess.run(["Rscript", "--vanilla", "-e", code]).returncode == 0
    (home / ".Rprofile").write_text(f'options(repos = c(CRAN = "file://{tmp_path}/cran"))\n')
    layer = made.install("sandboxabove")
    folder = layer.path / "usr/lib/R/site-library"
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", "cat(sandboxabove::above())"],
        env={"R_LIBS": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "below", done.stderr
    assert "compiling sandboxabove" in made.words
    with pytest.raises(LibraryInstallationError, match="there is no package called"):
        made.install("nothingofthisname")
    assert made.leftovers == []


def test_a_session_uses_a_library_of_the_system(cache: Path, home: Path) -> None:
    name = absent("r-cran-xml2", "r-cran-rjson").removeprefix("r-cran-")
    code = {
        "xml2": 'cat(xml2::xml_text(xml2::read_xml("<a>7</a>")))',
        "rjson": "cat(rjson::toJSON(7))",
    }[name]
    with SandboxSession(lang="r", backend="bubblewrap") as session:
        try:
            result = session.run(code, libraries=[name])
        except LibraryInstallationError as error:
            if "reach" in str(error):
                pytest.skip(str(error))
            raise
    assert result.stdout == "7", result.stderr
