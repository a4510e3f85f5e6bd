"""The images themselves: what they hold, and that a bad one is never given a name."""

import json
import re
import shutil
import socket
import uuid

import pytest

from llm_sandbox.backends import recipes
from llm_sandbox.backends.containers.images import build as image_build
from llm_sandbox.backends.containers.images.build import ImageBuilder
from llm_sandbox.backends.containers.images.smoke import run_smoke_test
from llm_sandbox.backends.containers.images.stream import follow_build, why_no_registry
from llm_sandbox.backends.recipes import get_recipe
from llm_sandbox.exceptions import BackendError, ImagePullError
from tests.images.conftest import remove

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.timeout(1500)]

HARDENED = {
    "network_mode": "none",
    "read_only": True,
    "cap_drop": ["ALL"],
    "tmpfs": {"/tmp": "mode=1777"},
    "remove": True,
}


def run(engine, image, *argv, **options):
    output = engine.client.containers.run(image, list(argv), **{**HARDENED, **options})
    return output.decode()


@pytest.fixture
def builder(engine):
    """A builder, and what it says."""
    said = []
    return lambda **options: (ImageBuilder(engine, on_step=said.append, **options), said)


@pytest.fixture
def tiny_recipes(tmp_path, monkeypatch, engine):
    """Recipes that are built in seconds: whatever `base` stands on, and a language `tiny`.

    Under another version, so that no real image changes its name.
    """
    version = f"0-{uuid.uuid4().hex[:8]}"
    for module in (recipes, image_build):
        monkeypatch.setattr(module, "VERSION", version)
    monkeypatch.setattr(recipes, "RECIPES", tmp_path / "images")
    tiny = tmp_path / "images" / "tiny"
    shutil.copytree(REAL_BASE, tmp_path / "images" / "base")
    tiny.mkdir()
    for name, text in {
        "recipe.toml": "",
        "debian.txt": "",
        "Dockerfile": "ARG BASE\nFROM ${BASE}\nARG BUILD\nLABEL llm-sandbox.build=${BUILD}\n"
        "COPY smoke /usr/local/bin/smoke-test\n",
        "smoke": "#!/bin/sh\nid -u\n",
    }.items():
        (tiny / name).write_text(text)
    yield tmp_path / "images"
    for name in ("tiny", "base"):
        remove(engine, f"llm-sandbox/{name}:{version}")


REAL_BASE = recipes.RECIPES / "base"


def stand_on(folder, name):
    (folder / "base" / "recipe.toml").write_text(f'suite = "bookworm"\nregistry = "{name}"\n')
    # The users of the image that it stands on are there already.
    path = folder / "base" / "Dockerfile"
    path.write_text(re.sub(r"RUN groupadd(.|\\\n)*?\n\n", "\n", path.read_text()))


def test_an_image_of_the_same_recipe_is_not_built_again(python_image, builder):
    make, said = builder()
    made = make.build(get_recipe("python"))
    assert (made.name, made.built, said) == (python_image, False, [])
    assert made.base in ("local", "registry")
    assert made.size < 600_000_000, "numpy, pandas, matplotlib, seaborn and plotly fit in less"


def test_the_python_image_holds_what_it_promises(python_image, engine):
    output = run_smoke_test(engine, python_image, python_image)
    for name in ("ipykernel", "matplotlib", "numpy", "pandas", "pillow", "plotly", "seaborn"):
        assert re.search(rf"^{name} +\d", output, re.MULTILINE), output


@pytest.mark.parametrize(
    ("instruction", "complaint"),
    [
        ("RUN rm -rf /opt/python/lib/python3.11/site-packages/seaborn", "seaborn"),
        ("RUN chmod u+s /usr/bin/env", "/usr/bin/env is setuid"),
        ("RUN rm -rf /opt/python/share/matplotlib", "list of fonts|list was not found"),
        (
            "RUN find /opt/python -path '*numpy/__pycache__/__init__*' -delete",
            "numpy has no byte code",
        ),
        ("ENV PATH=/usr/bin:/bin", "python on PATH is"),
        ("WORKDIR /tmp", "the working directory is /tmp"),
    ],
)
def test_the_smoke_test_fails_when_something_promised_is_missing(
    python_image, engine, tmp_path, instruction, complaint
):
    lines = [f"FROM {python_image}", "USER root", instruction, "USER 65532"]
    (tmp_path / "Dockerfile").write_text("\n".join(lines))
    arguments = {"path": str(tmp_path), "network_mode": "none"}
    image = follow_build(engine, "a broken image", arguments, print)
    try:
        with pytest.raises(BackendError, match=complaint) as caught:
            run_smoke_test(engine, image, "broken")
        assert "image 'broken' does not hold what it promises" in caught.value.message
    finally:
        engine.api.remove_image(image)


def test_the_default_user_can_change_nothing_of_the_image(python_image, engine):
    config = engine.client.images.get(python_image).attrs["Config"]
    assert config["User"] == "65532:65532"
    writable = (
        "find / -xdev -writable -not -type l "
        "-not -path '/proc/*' -not -path '/tmp*' -not -path '/sandbox*' -not -path '/dev/*'"
    )
    # World-writable folders of Debian's own are all that is left.
    found = run(engine, python_image, "sh", "-c", f"{writable} 2>/dev/null; true", read_only=False)
    assert {"/run/lock", "/var/tmp"} >= set(found.split())
    assert "supervisor:x:65531:" in run(engine, python_image, "cat", "/etc/passwd")


def test_the_first_plot_reads_no_fonts(python_image, engine):
    """The list made with the image is used, whatever folder `MPLCONFIGDIR` names."""
    script = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "import matplotlib.font_manager as f; print(len(f.fontManager.ttflist) > 10)"
    )
    options = {"environment": {"MPLCONFIGDIR": "/tmp/a/b"}, "stderr": True}
    output = run(engine, python_image, "python", "-c", script, **options)
    assert "True" in output
    assert "generated new fontManager" not in output
    without = run(
        engine, python_image, "python", "-S", "-c", "import sys; print(sys.flags.no_site)"
    )
    assert without == "1\n"


def test_matplotlib_makes_its_own_list_where_the_images_is_not_used(python_image, engine):
    """The control of the test above: without the hook, the fonts are read."""
    script = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'Matplotlib' not in repr(f)]\n"
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "import matplotlib.font_manager"
    )
    options = {"environment": {"MPLCONFIGDIR": "/tmp/a/b"}, "stderr": True}
    output = run(engine, python_image, "python", "-c", script, **options)
    assert "generated new fontManager" in output


def test_python_code_that_draws_nothing_makes_no_folder(python_image, engine):
    script = "import json, os; print(os.path.exists('/tmp/a'))"
    environment = {"MPLCONFIGDIR": "/tmp/a"}
    output = run(engine, python_image, "python", "-c", script, environment=environment)
    assert output == "False\n"


def test_a_registrys_base_is_pulled_built_upon_and_used_again(
    registry, python_image, engine, builder, tiny_recipes
):
    """Through a registry, as far as an image without a Debian goes: its base cannot be built on."""
    served, name = registry
    stand_on(tiny_recipes, name)
    make, said = builder(base="auto")
    with pytest.raises(BackendError, match="could not build the base image"):
        make.build(get_recipe("tiny"))
    assert said[:2] == [f"asking the registry for {name}", f"pulling {name}"]
    assert any("/blobs/" in path for path in served.asked)
    assert engine.find_image(get_recipe("base").image) is None, "a half-made image got a name"


def test_languages_share_one_base_and_are_proven_before_they_are_named(
    python_image, engine, builder, tiny_recipes
):
    stand_on(tiny_recipes, python_image)
    make, said = builder(base="registry")
    made = make.build(get_recipe("tiny"))
    assert (made.built, made.base) == (True, "registry")
    assert said == ["building the base image", "building the tiny image", "testing the tiny image"]
    labels = engine.client.images.get(made.name).labels
    assert labels["llm-sandbox.recipe"] == get_recipe("tiny").digest

    said.clear()
    (tiny_recipes / "tiny" / "smoke").write_text("#!/bin/sh\necho it is broken\nexit 4\n")
    with pytest.raises(BackendError, match=r"(?s)status 4.*it is broken"):
        make.build(get_recipe("tiny"))
    assert engine.find_image(made.name)["Id"] == made.id, "the old image lost its name to a bad one"
    assert said == ["building the tiny image", "testing the tiny image"], "the base is used again"
    assert [] == stages_of(engine)

    without = ImageBuilder(engine, on_step=said.append, base="registry", smoke=False)
    changed = without.build(get_recipe("tiny"))
    assert changed.id != made.id
    assert engine.find_image(made.id) is None, "the replaced image is still there"


def stages_of(engine):
    """What builds of these tests have left behind."""
    marked = [f"llm-sandbox={recipes.VERSION}"]
    left = engine.api.images(filters={"dangling": True, "label": marked})
    return [image["Id"] for image in left]


def test_a_named_registry_that_gives_nothing_is_an_error(builder, tiny_recipes):
    stand_on(tiny_recipes, "127.0.0.1:1/debian:test")
    make, _ = builder(base="registry")
    with pytest.raises(ImagePullError, match=r"127\.0\.0\.1:1/debian:test"):
        make.build(get_recipe("tiny"))


def test_a_registry_that_is_there_is_seen(registry, engine):
    _, name = registry
    assert why_no_registry(engine, name) is None
    assert engine.find_image(name) is None, "asking fetched it"
    assert "manifest unknown" in str(why_no_registry(engine, name.replace(":test", ":other")))


def test_a_registry_that_refuses_or_is_silent_is_not_waited_for(engine):
    assert "refused" in str(why_no_registry(engine, "127.0.0.1:1/debian:test"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}/debian:test"
        assert why_no_registry(engine, name, within_s=1) == "no answer within 1 s"


def test_without_a_registry_the_base_is_made_here(engine, builder, tiny_recipes):
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not installed")
    path = tiny_recipes / "base" / "recipe.toml"
    path.write_text('suite = "bookworm"\nregistry = "127.0.0.1:1/debian:test"\n')
    make, said = builder(base="auto")
    made = make.build(get_recipe("tiny"))
    assert (made.built, made.base) == (True, "local")
    assert made.size < 130_000_000
    assert said[0] == "asking the registry for 127.0.0.1:1/debian:test"
    assert re.match(r"no registry can be reached: .*127\.0\.0\.1:1.*refused", said[1])
    assert said[2:] == [
        "making a Debian root on this machine",
        "importing the Debian root",
        "building the base image",
        "adding Debian packages on this machine",
        "building the tiny image",
        "testing the tiny image",
    ]
    assert [] == stages_of(engine)
    assert not [n for i in engine.api.images() for n in i["RepoTags"] or () if "/root:" in n]
    packages = run(engine, made.name, "dpkg-query", "--show", "--showformat=${Package}\n").split()
    assert set(get_recipe("base").debian_packages) <= set(packages)
    assert "perl" not in packages
    assert "tzdata" in json.dumps(packages)
