"""Pictures and displays that several tests look at."""

import base64
import io

from matplotlib.figure import Figure
from PIL import Image

from llm_sandbox.artifacts.formats.documents import PdfKind
from llm_sandbox.artifacts.formats.images import JpegKind, PngKind
from llm_sandbox.artifacts.formats.markup import HtmlKind, SvgKind

__all__ = ["FILES", "KINDS", "PLOT", "bundle", "carried", "drawn", "saved", "typed"]

KINDS = {
    "png": PngKind(),
    "jpeg": JpegKind(),
    "svg": SvgKind(),
    "pdf": PdfKind(),
    "html": HtmlKind(),
}
PLOT = {"llm_sandbox": {"kind": "plot", "source": "matplotlib", "event": "show"}}


def typed(name):
    return {"llm_sandbox": {"type": name}}


def drawn(name, **options):
    figure = Figure(figsize=(2, 1), dpi=50)
    figure.add_subplot().plot([1, 2])
    buffer = io.BytesIO()
    figure.savefig(buffer, format=name, **options)
    return buffer.getvalue()


def saved(name, size=(7, 5), **options):
    buffer = io.BytesIO()
    Image.new("RGB", size, "red").save(buffer, name, **options)
    return buffer.getvalue()


FILES = {
    "png": drawn("png"),
    "jpeg": drawn("jpeg"),
    "svg": drawn("svg"),
    "pdf": drawn("pdf"),
    "html": b"<!DOCTYPE html>\n<html><body><div>plot</div></body></html>",
}


def carried(name, content=None):
    content = FILES[name] if content is None else content
    kind = KINDS[name]
    return content.decode() if kind.textual else base64.b64encode(content).decode()


def bundle(*names, **others):
    found = {"text/plain": "<Figure>"} | {KINDS[n].mimes[0]: carried(n) for n in names}
    return found | others
