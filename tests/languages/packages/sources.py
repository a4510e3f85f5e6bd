"""Packages made for a test, and the folders that stand for their registries."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Repository", "index_gems", "make_gem", "make_jar", "make_module", "needs"]


def make_gem(source: Path, name: str, files: dict[str, str], **more: str) -> None:
    """Build a gem into a source."""
    folder = source / f"{name}-work"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    lines = [f"s.{key} {value}" for key, value in more.items()]
    listed = ", ".join(f'"{path}"' for path in files)
    version = more.get("version", '= "1.0.0"')
    text = f"""
Gem::Specification.new do |s|
  s.name = "{name}"
  s.version {version}
  s.summary = "for a test"
  s.authors = ["nobody"]
  s.files = [{listed}]
  {chr(10).join(line for line in lines if not line.startswith("s.version"))}
end
"""
    (folder / "demo.gemspec").write_text(text)
    (source / "gems").mkdir(exist_ok=True)
    _gem(["build", "demo.gemspec", "--quiet"], folder)
    for built in folder.glob("*.gem"):
        built.rename(source / "gems" / built.name)


def _gem(words: list[str], folder: Path) -> None:
    done = subprocess.run(["gem", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def index_gems(source: Path) -> None:
    """Have a source know the gems that were added."""
    _gem(["generate_index", "--quiet", "--directory", "."], source)


def make_module(proxy: Path, path: str, version: str, files: dict[str, str]) -> None:
    """Add a module to a proxy."""
    folder = proxy / path / "@v"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "list").open("a") as listing:
        listing.write(f"{version}\n")
    about = {"Version": version, "Time": "2024-01-01T00:00:00Z"}
    (folder / f"{version}.info").write_text(json.dumps(about))
    (folder / f"{version}.mod").write_text(files["go.mod"])
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{path}@{version}/{name}", text)


class Repository:
    """A folder of artifacts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, coordinates: str, pom: str = "", jar: bytes | None = b"") -> None:
        """Add an artifact; `pom` is what its description says besides its coordinates."""
        group, name, version = coordinates.split(":")
        folder = self.folder / group.replace(".", "/") / name / version
        folder.mkdir(parents=True, exist_ok=True)
        text = (
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            f"<groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version>{pom}</project>"
        )
        (folder / f"{name}-{version}.pom").write_text(text)
        if jar is not None:
            file = folder / f"{name}-{version}.jar"
            file.write_bytes(jar or make_jar({"name.txt": coordinates}))
            digest = hashlib.sha1(file.read_bytes()).hexdigest()
            file.with_name(f"{file.name}.sha1").write_text(digest)
        listing = folder.parent / "maven-metadata.xml"
        versions = sorted(path.name for path in folder.parent.iterdir() if path.is_dir())
        released = [item for item in versions if "-" not in item] or versions
        items = "".join(f"<version>{item}</version>" for item in versions)
        listing.write_text(
            f"<metadata><versioning><release>{released[-1]}</release>"
            f"<versions>{items}</versions></versioning></metadata>"
        )


def needs(*lines: str) -> str:
    """Dependencies, each ``GROUP:NAME:VERSION`` and further elements as ``tag=text``."""
    text = ""
    for line in lines:
        coordinates, *more = line.split()
        group, name, version = (*coordinates.split(":"), "")[:3]
        text += f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        text += f"<version>{version}</version>" if version else ""
        for item in more:
            tag, _, words = item.partition("=")
            if tag == "not":
                group, name = words.split(":")
                words = f"<groupId>{group}</groupId><artifactId>{name}</artifactId>"
                words = f"<exclusion>{words}</exclusion>"
                tag = "exclusions"
            text += f"<{tag}>{words}</{tag}>"
        text += "</dependency>"
    return f"<dependencies>{text}</dependencies>"


def make_jar(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()
