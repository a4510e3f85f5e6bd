"""Recipes and names of images."""

import io
import re
import shutil
import tarfile

import pytest

from llm_sandbox import __version__
from llm_sandbox.backends import recipes
from llm_sandbox.backends.recipes import candidate_references, get_recipe, image_name, recipe_names
from llm_sandbox.exceptions import ValidationError


@pytest.fixture
def own_recipes(tmp_path, monkeypatch):
    """A copy of the recipes that may be changed."""
    copy = tmp_path / "images"
    shutil.copytree(recipes.RECIPES, copy)
    monkeypatch.setattr(recipes, "RECIPES", copy)
    return copy


def names_in(context):
    context.seek(0)
    with tarfile.open(fileobj=context) as archive:
        return {member.name: member.mode for member in archive}


def test_an_image_has_the_librarys_version():
    assert image_name("python") == f"llm-sandbox/python:{__version__}"
    assert get_recipe("base").image == f"llm-sandbox/base:{__version__}"


def test_an_unknown_image_names_the_known():
    with pytest.raises(ValidationError, match="'cobol'") as caught:
        get_recipe("cobol")
    assert "base, bash, cpp" in str(caught.value.hint)


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_is_complete(name):
    recipe = get_recipe(name)
    assert {"Dockerfile", "debian.txt", "recipe.toml"} <= {path.name for path in recipe.files()}
    dockerfile = (recipe.folder / "Dockerfile").read_text()
    assert dockerfile.rstrip().endswith("USER 65532:65532"), "its default user is not the sandbox's"
    assert "ARG BUILD" in dockerfile, "what a failed build leaves could not be found"
    if name != "base":
        assert "/usr/local/bin/smoke-test" in dockerfile
        assert set(get_recipe("base").debian_packages) < set(recipe.debian_packages)


def test_the_digest_is_of_the_content_alone(own_recipes):
    before = get_recipe("python").digest
    (own_recipes / "python" / "__pycache__").mkdir(exist_ok=True)
    (own_recipes / "python" / "__pycache__" / "smoke.pyc").write_bytes(b"x")
    (own_recipes / "python" / "smoke.py").touch()
    assert get_recipe("python").digest == before


@pytest.mark.parametrize("changed", ["python/smoke.py", "python/packages.txt", "base/debian.txt"])
def test_the_digest_changes_with_each_file_and_with_the_base(own_recipes, changed):
    before = get_recipe("python").digest
    with (own_recipes / changed).open("a") as file:
        file.write("# another line\n")
    assert get_recipe("python").digest != before


def test_a_file_under_another_name_is_another_recipe(own_recipes):
    before = get_recipe("python").digest
    (own_recipes / "python" / "prepare.py").rename(own_recipes / "python" / "prepared.py")
    assert get_recipe("python").digest != before


def test_equal_recipes_make_equal_contexts_whatever_became_of_modes_and_times(own_recipes):
    first, second = io.BytesIO(), io.BytesIO()
    get_recipe("base").write_context(first)
    for path in (own_recipes / "base").iterdir():
        path.chmod(0o600)
        path.touch()
    get_recipe("base").write_context(second)
    assert first.getvalue() == second.getvalue()
    assert names_in(second)["add-debian-packages"] == 0o755
    assert names_in(second)["Dockerfile"] == 0o644


def test_a_context_holds_what_was_fetched(tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "one-1-py3-none-any.whl").write_bytes(b"PK")
    context = io.BytesIO()
    get_recipe("python").write_context(context, wheels)
    assert {"wheels/one-1-py3-none-any.whl", "Dockerfile", "smoke.py"} <= set(names_in(context))


def test_every_python_package_has_a_version_and_hashes():
    text = (get_recipe("python").folder / "packages.txt").read_text()
    entries = text.replace("\\\n", "").splitlines()
    entries = [line for line in entries if line and not line.startswith("#")]
    pattern = re.compile(r"[a-z0-9-]+==[0-9][^\s]*(\s+--hash=sha256:[0-9a-f]{64})+")
    assert [] == [line for line in entries if not pattern.fullmatch(line)]
    names = {line.partition("==")[0] for line in entries}
    promised = {"ipykernel", "matplotlib", "matplotlib-inline", "numpy", "pandas", "pillow"}
    assert promised | {"pip", "plotly", "seaborn"} <= names


@pytest.mark.parametrize(
    ("engine", "name", "expected"),
    [
        ("docker", "llm-sandbox/python:1", ["llm-sandbox/python:1"]),
        (
            "podman",
            "llm-sandbox/python:1",
            [
                "llm-sandbox/python:1",
                "localhost/llm-sandbox/python:1",
                "docker.io/llm-sandbox/python:1",
            ],
        ),
        ("podman", "debian", ["debian", "localhost/debian", "docker.io/library/debian"]),
        ("podman", "quay.io/a/b", ["quay.io/a/b"]),
        ("podman", "localhost/a", ["localhost/a"]),
        ("podman", "localhost:5000/a", ["localhost:5000/a"]),
        ("podman", "sha256:abc", ["sha256:abc"]),
    ],
)
def test_podman_is_asked_under_the_names_it_may_have_given(engine, name, expected):
    assert candidate_references(engine, name) == expected
