"""Kinds by name: built in, registered, and from installed packages."""

import base64
import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint

import pytest

from llm_sandbox.artifacts import registry
from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.displays import plot_from_display
from llm_sandbox.artifacts.formats.images import PngKind
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.exceptions import ConfigurationError, ValidationError
from llm_sandbox.results.plots import FileType
from tests.artifacts.pictures import KINDS, PLOT, bundle


class PictKind(ArtifactKind):
    """A kind from outside."""

    mimes = ("image/x-pict", "image/pict")
    type = ArtifactType.IMAGE
    file_type = FileType.TXT

    def matches(self, content):
        return content.startswith(b"pict\x00")

    def describe(self, content):
        return Dimensions.of(len(content), float("nan"), -1)


class IncompleteKind(ArtifactKind):
    mimes = ("image/pict",)

    def matches(self, content):
        return True


PICT = {"image/pict": base64.b64encode(b"pict\x00a").decode()}


@pytest.fixture
def points(monkeypatch):
    def install(**targets):
        found = {
            name: EntryPoint(name, target, registry.ENTRY_POINT_GROUP)
            for name, target in targets.items()
        }
        monkeypatch.setattr(registry, "_installed", lambda: found)

    monkeypatch.setattr(registry, "_registered", {})
    install()
    return install


def test_the_built_in_kinds_are_ordered(points):
    assert ["png", "jpeg", "svg", "pdf", "html"] == registry.available()[:5]
    assert [type(kind) for kind in KINDS.values()] == [type(kind) for kind in registry.kinds()]
    assert [kind.file_type.mime for kind in KINDS.values()] == [
        kind.mimes[0] for kind in registry.kinds()
    ]
    assert PngKind is registry.load(" PNG ")


def test_an_unknown_kind_is_named(points):
    with pytest.raises(ValidationError, match="known: png, jpeg") as caught:
        registry.load("pict")
    assert "name" == caught.value.parameter


def test_a_registered_kind_comes_after_the_built_in_ones(points):
    assert plot_from_display(PICT, {}) is None
    registry.register("PICT", PictKind)
    assert "pict" == registry.available()[-1]
    plot = plot_from_display(PICT, {})
    assert (FileType.TXT, 6, None, None) == (plot.format, plot.width, plot.height, plot.dpi)
    assert FileType.PNG is plot_from_display(PICT | bundle("png"), {}).format


def test_a_registered_kind_takes_the_place_of_a_built_in_one(points):
    registry.register("png", PictKind)
    assert list(registry.BUILTIN) == registry.available()
    assert plot_from_display(bundle("png"), PLOT) is None


@pytest.mark.parametrize("kind", [str, PictKind(), IncompleteKind, ArtifactKind, None])
def test_only_complete_kinds_are_registered(points, kind):
    with pytest.raises(ValidationError):
        registry.register("pict", kind)


def test_an_installed_package_adds_a_kind(points, monkeypatch):
    module = type(sys)("artifact_plugin")
    module.PictKind = PictKind
    monkeypatch.setitem(sys.modules, "artifact_plugin", module)
    points(pict="artifact_plugin:PictKind", png="artifact_plugin:PictKind")
    assert PictKind is registry.load("pict")
    assert PngKind is registry.load("png")
    assert [*registry.BUILTIN, "pict"] == registry.available()
    assert 6 == plot_from_display(PICT, {}).width


@pytest.mark.parametrize("target", ["no_such_module_here:Kind", "json:no_such_name", "json:loads"])
def test_a_broken_package_costs_a_warning_and_no_plots(points, target):
    points(pict=target)
    with pytest.raises(ConfigurationError, match="'pict'"):
        registry.load("pict")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plot_from_display(bundle("png"), {}) is not None
    with pytest.warns(RuntimeWarning, match="'pict'"):
        assert plot_from_display(PICT, {}) is None


def test_installed_packages_are_read_once():
    registry._installed.cache_clear()
    assert registry._installed() is registry._installed()


def test_no_image_decoder_or_parser_is_imported():
    code = (
        "import sys; from llm_sandbox.artifacts.displays import plot_from_display\n"
        "print([name for name in sys.modules if name.startswith('llm_sandbox.artifacts.')])\n"
        "data = {'image/svg+xml': '<svg/>', 'text/html': '<p>'}\n"
        "assert plot_from_display(data, {}) is not None\n"
        "bad = {'PIL', 'matplotlib', 'xml', 'pyexpat', 'html.parser'} & set(sys.modules)\n"
        "assert not bad, bad\n"
        "assert 'llm_sandbox.artifacts.formats.documents' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    assert ".raster" not in done.stdout
