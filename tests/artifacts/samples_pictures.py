"""Samples of pictures and drawings."""

import io
import struct
import zlib

from matplotlib.figure import Figure
from PIL import Image

from llm_sandbox.artifacts.base import Dimensions
from tests.artifacts.samples import Samples

__all__ = ["SAMPLES"]

BIG = 100_000


def saved(form, mode="RGB", size=(7, 5), **options):
    buffer = io.BytesIO()
    Image.effect_noise(size, 50).convert(mode).save(buffer, form, **options)
    return buffer.getvalue()


def moving(form, **options):
    frames = [Image.new("RGB", (7, 5), colour) for colour in ("red", "green", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, form, save_all=True, append_images=frames[1:], duration=200, **options)
    return buffer.getvalue()


def drawn(form):
    figure = Figure(figsize=(2, 1), dpi=50)
    figure.add_subplot().plot([1, 2])
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form)
    return buffer.getvalue()


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def patched(content, place, fields):
    return content[:place] + fields + content[place + len(fields) :]


def box(name, body):
    return struct.pack(">I", 8 + len(body)) + name + body


def heic(width, height):
    """What a reader finds the size in; the coded picture itself is left out."""
    size = box(b"ispe", bytes(4) + struct.pack(">II", width, height))
    meta = bytes(4) + box(b"hdlr", bytes(24)) + box(b"iprp", box(b"ipco", size))
    brands = b"heic" + bytes(4) + b"mif1heic"
    return box(b"ftyp", brands) + box(b"meta", meta) + box(b"mdat", b"coded" * 20)


PNG = saved("png", dpi=(90, 90))
PNG_BOMB = (
    PNG[:8]
    + chunk(b"IHDR", struct.pack(">IIBBBBB", BIG, BIG, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(bytes(1_000_000)))
    + chunk(b"IEND", b"")
)
JPEG = saved("jpeg", dpi=(90, 90))
FRAME = JPEG.index(b"\xff\xc0")
GIF = moving("gif")
WEBP = saved("webp", lossless=True)
CANVAS = b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff" * 6
BMP = saved("bmp", dpi=(90, 90))
ICO = saved("ico", size=(32, 32), sizes=[(16, 16), (32, 32)])
TIFF = moving("tiff")
TIFF_BOMB = struct.pack(
    "<2sHIHHHIIHHIIHHIIHHIII", b"II", 42, 8, 4,
    256, 4, 1, BIG, 257, 4, 1, BIG, 273, 4, 1, 62, 279, 4, 1, 8, 0,
) + bytes(8)  # fmt: skip
AVIF = saved("avif", size=(64, 48))
SPATIAL = AVIF.index(b"ispe") + 8
SVG = drawn("svg")
PDF = drawn("pdf")
PDF_CLAIM = (
    b"%PDF-1.4\n1 0 obj <</Type /Pages /Count 999999999 /Kids []>> endobj\n"
    b"2 0 obj <</Type /Page /MediaBox [0 0 14400000 14400000]>> endobj\nstartxref\n0\n%%EOF\n"
)
EPS = drawn("eps")
PS = drawn("ps")
BOX = b"%%BoundingBox: 0 0 999999999 999999999\n%%Pages: 999999999\n"

SAMPLES = {
    "png": Samples(
        "a.png", PNG, Dimensions(7, 5, 90),
        PNG[:-20], "cut short: there is no IEND chunk",
        PNG_BOMB, Dimensions(BIG, BIG),
        "would need 30.0 GB to decode; it has too few bytes for so many pixels",
        others={"b.apng": moving("png"), "c.png": saved("png", "P"), "d.png": saved("png", "1")},
    ),
    "jpeg": Samples(
        "a.jpg", JPEG, Dimensions(7, 5, 90),
        JPEG[:-20], "cut short: there is no end of the image",
        patched(JPEG, FRAME + 5, b"\xff" * 4), Dimensions(65535, 65535, 90),
        "would need 12.8 GB to decode",
        others={"b.jpeg": saved("jpeg", size=(64, 64), progressive=True)},
    ),
    "gif": Samples(
        "a.gif", GIF, Dimensions(7, 5, frames=3, duration_s=0.6),
        GIF[:-1], "cut short: there is no trailer",
        patched(GIF, 6, b"\xff" * 4), Dimensions(65535, 65535, frames=3, duration_s=0.6),
        "would need 17.1 GB to decode",
        others={"b.gif": saved("gif", "P")},
    ),
    "webp": Samples(
        "a.webp", WEBP, Dimensions(7, 5),
        WEBP[:-9], "cut short: the container ends 9 bytes after the file does",
        b"RIFF" + struct.pack("<I", 4 + len(CANVAS)) + b"WEBP" + CANVAS,
        Dimensions(1 << 24, 1 << 24), "would need 1,125.8 TB to decode",
        others={"b.webp": saved("webp"), "c.webp": saved("webp", "RGBA"), "d.webp": moving("webp")},
    ),
    "bmp": Samples(
        "a.bmp", BMP, Dimensions(7, 5, 90),
        BMP[:-9], "cut short: the picture ends 9 bytes after the file does",
        patched(BMP, 18, struct.pack("<ii", BIG, -BIG)), Dimensions(BIG, BIG, 90),
        "would need 30.0 GB to decode; "
        f"cut short: the picture ends {3 * BIG * BIG + 54 - len(BMP):,} bytes after the file does",
        others={"b.bmp": saved("bmp", "P"), "c.bmp": saved("bmp", "1"), "d.bmp": saved("bmp", "L")},
    ),
    "ico": Samples(
        "a.ico", ICO, Dimensions(32, 32),
        ICO[:-9], "cut short: an icon ends 9 bytes after the file does",
        patched(ICO, 6, b"\x00\x00\x00\x00\x01\x00\x20\x00\xff\xff\xff\x7f"),
        Dimensions(256, 256),
        f"cut short: an icon ends {2**31 - 1 + 38 - len(ICO):,} bytes after the file does",
    ),
    "tiff": Samples(
        "a.tif", TIFF, Dimensions(7, 5, pages=3),
        TIFF[:-40], "cut short: the picture ends 29 bytes after the file does",
        TIFF_BOMB, Dimensions(BIG, BIG, pages=1), "would need 10.0 GB to decode",
        others={"b.tiff": saved("tiff", "1"), "c.tiff": saved("tiff", compression="tiff_lzw")},
    ),
    "avif": Samples(
        "a.avif", AVIF, Dimensions(64, 48),
        AVIF[:-9], "cut short: the box 'mdat' ends 9 bytes after the file does",
        patched(AVIF, SPATIAL, struct.pack(">II", BIG, BIG)), Dimensions(BIG, BIG),
        "would need 40.0 GB to decode",
    ),
    "heic": Samples(
        "a.heic", heic(640, 480), Dimensions(640, 480),
        heic(640, 480)[:-9], "cut short: the box 'mdat' ends 9 bytes after the file does",
        heic(BIG, BIG), Dimensions(BIG, BIG), "would need 40.0 GB to decode",
    ),
    "svg": Samples(
        "a.svg", SVG, Dimensions(192, 96),
        SVG[:-9], "cut short: the svg element does not end",
        b"<svg width='2e9' height='2e9'>" + b"<g/>" * 3_000_000 + b"</svg>",
        Dimensions(2_000_000_000, 2_000_000_000), "",
        others={"b.svg": b"<svg/>", "c.svg": b"<a:svg xmlns:a='x'></a:svg >\n<!-- end -->\n"},
    ),
    "pdf": Samples(
        "a.pdf", PDF, Dimensions(144, 72, pages=1),
        PDF[:-9], "cut short: there is no end of the file",
        PDF_CLAIM, Dimensions(14_400_000, 14_400_000, pages=999_999_999), "",
    ),
    "eps": Samples(
        "a.eps", EPS, Dimensions(144, 72, pages=None),
        EPS[: len(EPS) // 2], "cut short: the program does not end",
        b"%!PS-Adobe-3.0 EPSF-3.0\n" + BOX + b"showpage\n",
        Dimensions(999_999_999, 999_999_999, pages=999_999_999), "",
        others={"b.eps": b"\xc5\xd0\xd3\xc6" + struct.pack("<II", 30, len(EPS)) + bytes(18) + EPS},
    ),
    "postscript": Samples(
        "a.ps", PS, Dimensions(144, 72, pages=1),
        PS[: len(PS) // 2], "cut short: the program does not end",
        b"%!PS-Adobe-3.0\n" + BOX + b"showpage\n",
        Dimensions(999_999_999, 999_999_999, pages=999_999_999), "",
    ),
}  # fmt: skip
