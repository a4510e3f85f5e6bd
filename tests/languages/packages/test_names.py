"""Valid and invalid names of libraries in each ecosystem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.cpp.packages import CppPackages
from llm_sandbox.language_handlers.go.packages import GoPackages
from llm_sandbox.language_handlers.java.packages import MavenPackages
from llm_sandbox.language_handlers.javascript.packages import NpmPackages
from llm_sandbox.language_handlers.r.packages import RPackages
from llm_sandbox.language_handlers.registry import load
from llm_sandbox.language_handlers.ruby.packages import GemPackages

if TYPE_CHECKING:
    from llm_sandbox.language_handlers.packages import Packages

LANGUAGES: dict[str, Packages] = {
    "cpp": CppPackages(),
    "go": GoPackages(),
    "java": MavenPackages(),
    "javascript": NpmPackages(),
    "r": RPackages(),
    "ruby": GemPackages(),
}
GOOD = {
    "cpp": {
        "nlohmann-json3-dev": "nlohmann-json3-dev",
        "libstdc++-12-dev": "libstdc++-12-dev",
        "libfmt-dev=9.1.0+ds1-2": "libfmt-dev=9.1.0+ds1-2",
    },
    "go": {
        "github.com/google/uuid": "github.com/google/uuid@latest",
        "golang.org/x/text@v0.14.0": "golang.org/x/text@v0.14.0",
        "gopkg.in/yaml.v3@v3.0.1": "gopkg.in/yaml.v3@v3.0.1",
        "example.org/a~b@v2.0.0-rc.1+incompatible": "example.org/a~b@v2.0.0-rc.1+incompatible",
    },
    "java": {
        "org.apache.commons:commons-lang3:3.14.0": "org.apache.commons:commons-lang3:3.14.0",
        "com.google.guava:guava:33.0.0-jre": "com.google.guava:guava:33.0.0-jre",
        "org.demo:newest": "org.demo:newest",
    },
    "javascript": {
        "lodash": "lodash",
        "lodash@4.17.21": "lodash@4.17.21",
        "lodash@^4.17": "lodash@^4.17",
        "lodash@4.x": "lodash@4.x",
        "lodash@latest": "lodash@latest",
        "@scope/name": "@scope/name",
        "@scope/name@~1.2.3-rc.1": "@scope/name@~1.2.3-rc.1",
        "JSONStream": "JSONStream",
    },
    "r": {"data.table": "data.table", "R6": "R6", "r-bioc-limma": "r-bioc-limma"},
    "ruby": {
        "rainbow": "rainbow",
        "rainbow@3.1.1": "rainbow = 3.1.1",
        "rainbow:3.1.1": "rainbow = 3.1.1",
        "rainbow = 3.1.1": "rainbow = 3.1.1",
        "rainbow==3.1.1": "rainbow = 3.1.1",
        "rainbow ~> 3.1": "rainbow ~> 3.1",
        "net-ssh_x.y": "net-ssh_x.y",
    },
}
NOWHERE_GOOD = [
    "",
    " ",
    "-",
    "--registry=http://evil.example",
    "-g",
    "../evil",
    "./evil",
    "/etc/passwd",
    "evil/../evil",
    "http://evil.example/a.tgz",
    "git+ssh://git@evil.example/a",
    "file:/etc/passwd",
    "evil; id",
    "evil && id",
    "evil$(id)",
    "evil`id`",
    "evil|id",
    "evil\nid",
    "evil\x00",
    "evil --force",
    "évil",
    "name@npm:other",
    "name@file:..",
    "name@http://evil.example",
    "name@-g",
    "name=",
    "a" * 201,
    "user:password@host:1",
    None,
    7,
    ["name"],
    {"name": "x"},
    True,
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_understood(language: str) -> None:
    packages = LANGUAGES[language]
    for given, expected in GOOD[language].items():
        assert packages.validate(given) == expected
        assert packages.validate(f" {given} ") == expected
        assert packages.validate(expected) == expected


@pytest.mark.parametrize("spec", NOWHERE_GOOD, ids=ascii)
@pytest.mark.parametrize("language", LANGUAGES)
def test_anything_else_is_refused(language: str, spec: object) -> None:
    with pytest.raises(ValidationError) as caught:
        LANGUAGES[language].validate(spec)
    assert caught.value.parameter == "libraries"
    assert LANGUAGES[language].example in str(caught.value.hint)
    if isinstance(spec, str) and len(spec) > 5:
        assert spec not in str(caught.value)


def test_some_names_are_good_in_one_language_only() -> None:
    for language, spec in {
        "cpp": "libfmt-dev-",  # which apt would read as a removal
        "go": "uuid",
        "java": "commons-lang3",
        "javascript": "owner/name",  # which npm would fetch from GitHub
        "r": "data_table",
        "ruby": "rainbow > 3",
    }.items():
        with pytest.raises(ValidationError):
            LANGUAGES[language].validate(spec)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_in_the_hint_is_good(language: str) -> None:
    packages = LANGUAGES[language]
    first = packages.example.split(" ")[0].rstrip(",")
    assert packages.validate(first)


@pytest.mark.parametrize("language", [*LANGUAGES, "typescript"])
def test_handlers_ask_their_package_manager(language: str) -> None:
    handler = load(language)()
    assert handler.packages is not None
    assert handler.packages.manager == LANGUAGES.get(language, NpmPackages()).manager
    with pytest.raises(ValidationError):
        handler.validate_library("--evil")


def test_requests_are_normalised() -> None:
    packages = NpmPackages()
    assert packages.normalise(["b", "a", " a "]) == ["a", "b"]
    with pytest.raises(ValidationError):
        packages.normalise("lodash")
    with pytest.raises(ValidationError):
        packages.normalise([])
