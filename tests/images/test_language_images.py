"""The images of languages beside Python: what they hold, and that a bad one is found out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.backends.containers.images.debian_root import bootstrap_command
from llm_sandbox.backends.containers.images.smoke import run_smoke_test
from llm_sandbox.backends.containers.images.stream import follow_build
from llm_sandbox.backends.recipes import (
    BASE,
    get_recipe,
    image_name,
    recipe_name,
    recipe_names,
)
from llm_sandbox.exceptions import BackendError, ImageNotFoundError
from llm_sandbox.language_handlers.registry import BUILTIN
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.containers.engine import Engine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LANGUAGES = [name for name in recipe_names() if name not in (BASE, "python")]
WITH_IMAGES = [
    pytest.param(name, marks=pytest.mark.engine("docker", image=name)) for name in LANGUAGES
]
BROKEN = {
    "bash": ("rm /usr/bin/jq", "jq is not there"),
    "cpp": ("rm -r /usr/include/nlohmann", "nlohmann/json.hpp"),
    "go": ("rm -r /usr/lib/go-1.19/pkg/tool/*/link", "link"),
    "java": ("rm /usr/share/java/jfreechart.jar", "org.jfree"),
    "javascript": ("rm /usr/bin/tsc", "tsc"),
    "r": ("rm -r /usr/lib/R/site-library/ggplot2", "ggplot2"),
    "ruby": ("rm /usr/lib/ruby/3.1.0/json.rb", "json"),
}
LARGEST_MB = {
    "bash": 120,
    "cpp": 380,
    "go": 530,
    "java": 330,
    "javascript": 290,
    "r": 330,
    "ruby": 150,
}


def test_every_language_has_an_image() -> None:
    assert set(recipe_names()) - {BASE} == {recipe_name(name) for name in BUILTIN}
    assert set(LANGUAGES) == BROKEN.keys() == LARGEST_MB.keys()


def test_typescript_has_the_image_of_javascript() -> None:
    assert image_name("javascript") == image_name("typescript")
    assert get_recipe("javascript") == get_recipe("typescript")


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_smoke_test_is_a_program(name: str) -> None:
    recipe = get_recipe(name)
    dockerfile = (recipe.folder / "Dockerfile").read_text()
    (source,) = [
        line.split()[1]
        for line in dockerfile.splitlines()
        if line.endswith(" /usr/local/bin/smoke-test")
    ]
    # The builder makes a file executable by this.
    assert (recipe.folder / source).read_bytes().startswith(b"#!/")


@pytest.mark.parametrize("name", LANGUAGES)
def test_packages_stand_in_order_once(name: str) -> None:
    recipe = get_recipe(name)
    text = (recipe.folder / "debian.txt").read_text()
    own = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert sorted(set(own)) == own
    assert not set(own) & set(get_recipe(BASE).debian_packages), "the base has it already"


def test_what_is_left_out_is_left_out_of_a_local_root_as_well(tmp_path: Path) -> None:
    options = get_recipe("java").dpkg_options
    assert ["path-exclude=/usr/lib/jvm/*/jmods/*"] == options
    assert [] == get_recipe("ruby").dpkg_options
    command = bootstrap_command(tmp_path / "root.tar", "bookworm", [], "x86_64", options)
    assert f"--dpkgopt={options[0]}" in command


@pytest.mark.parametrize("name", WITH_IMAGES)
def test_an_image_holds_what_it_promises_and_is_small(name: str, engine: Engine) -> None:
    image = image_name(name)
    # The last line of each says a version.
    assert any(sign.isdigit() for sign in run_smoke_test(engine, image, image).splitlines()[-1])
    found = engine.client.images.get(image).attrs
    assert "65532:65532" == found["Config"]["User"]
    assert found["Size"] / 1_000_000 < LARGEST_MB[name]


@pytest.mark.parametrize("name", WITH_IMAGES)
def test_the_smoke_test_fails_when_something_promised_is_missing(
    name: str, engine: Engine, tmp_path: Path
) -> None:
    harm, complaint = BROKEN[name]
    lines = [f"FROM {image_name(name)}", "USER root", f"RUN {harm}", "USER 65532"]
    (tmp_path / "Dockerfile").write_text("\n".join(lines))
    arguments = {"path": str(tmp_path), "network_mode": "none"}
    image = follow_build(engine, "a broken image", arguments, print)
    try:
        with pytest.raises(BackendError, match=complaint):
            run_smoke_test(engine, image, "broken")
    finally:
        engine.api.remove_image(image)


@pytest.mark.parametrize("name", WITH_IMAGES)
def test_the_default_user_can_change_nothing_of_the_image(name: str, engine: Engine) -> None:
    writable = (
        "find / -xdev -writable -not -type l -not -path '/proc/*' -not -path '/tmp*' "
        "-not -path '/sandbox*' -not -path '/dev/*' 2>/dev/null; true"
    )
    options: dict[str, Any] = {"network_mode": "none", "cap_drop": ["ALL"], "remove": True}
    found = engine.client.containers.run(image_name(name), ["sh", "-c", writable], **options)
    # World-writable folders of Debian's own are all that is left.
    assert {"/run/lock", "/var/tmp"} >= set(found.decode().split())


@pytest.fixture
def _refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LLM_SANDBOX_MISSING_IMAGES", "refuse")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.mark.engine
@pytest.mark.usefixtures("_refusing")
@pytest.mark.parametrize("lang", ["ruby", "typescript"])
def test_a_missing_image_is_refused_with_what_to_type(
    lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llm_sandbox.backends import recipes

    monkeypatch.setattr(recipes, "VERSION", "0-missing")
    with (
        pytest.raises(ImageNotFoundError) as caught,
        SandboxSession(lang=lang, backend="docker"),
    ):
        pass
    assert f"llm-sandbox images build {lang} --engine docker" == caught.value.hint
