"""Samples of archives, documents in archives, and packed files."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib

import numpy as np

from llm_sandbox.artifacts.base import Dimensions
from tests.artifacts.samples import Samples, corpus
from tests.artifacts.samples_pictures import patched

__all__ = ["SAMPLES"]

CUT = "cut short: there is no directory at its end"
OPEN = "application/vnd.oasis.opendocument"
MIB = 1024**2


def zipped(names, packing=zipfile.ZIP_DEFLATED, streamed=False):
    buffer = io.BytesIO()
    target = Unseekable(buffer) if streamed else buffer
    with zipfile.ZipFile(target, "w", packing) as file:
        for name in names:
            body = names[name] if isinstance(names, dict) else f"content of {name}"
            kept = zipfile.ZIP_STORED if name == "mimetype" else packing
            file.writestr(name, body, kept)
    return buffer.getvalue()


class Unseekable(io.RawIOBase):
    """A pipe: sizes can only be written behind what they are of."""

    def __init__(self, target):
        self.target = target

    def writable(self):
        return True

    def write(self, data):
        return self.target.write(data)


def claiming(content):
    """The archive with a directory in which each file has 4,294,967,294 bytes."""
    place = 0
    while (place := content.find(b"PK\x01\x02", place)) > 0:
        content = patched(content, place + 24, b"\xfe\xff\xff\xff")
        place += 4
    return content


def bomb(count):
    size = (2**32 - 2) * count
    return f"would need {size * 10 // 10**9 / 10} GB to unpack"


def office(folder, *more):
    return zipped(["[Content_Types].xml", "_rels/.rels", "docProps/app.xml", *more, f"{folder}/x"])


def opened(form):
    return zipped(
        {"mimetype": f"{OPEN}.{form}", "content.xml": "<a/>", "META-INF/manifest.xml": ""}
    )


def arrays():
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(5), b=np.eye(3))
    return buffer.getvalue()


def taped(form, size=None):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as file:
        info = tarfile.TarInfo("folder/a.txt")
        info.size = 5 if size is None else size
        file.addfile(info, io.BytesIO(b"hello"))
    return buffer.getvalue()


def taped_claim():
    info = tarfile.TarInfo("a.txt")
    info.size = 2**40
    return info.tobuf(tarfile.GNU_FORMAT) + b"hello" + bytes(507 + 1024)


ZIPPED = zipped(["a.txt", "folder/b.txt"])
DOCX = office("word", "word/document.xml")
XLSX = office("xl", "xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml")
PPTX = office("ppt", "ppt/presentation.xml", "ppt/slides/slide1.xml", "ppt/slides/slide2.xml")
EPUB = zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": "<a/>"})
ODT, ODS, ODP = opened("text"), opened("spreadsheet"), opened("presentation")
NPZ = arrays()
TORCH = zipped(["archive/data.pkl", "archive/byteorder", "archive/data/0"], zipfile.ZIP_STORED)
TAR = taped(tarfile.USTAR_FORMAT)
# Without the time, or two processes would give tests different names.
TGZ = gzip.compress(TAR, mtime=0)
GZIP = gzip.compress(b"hello " * 1000, mtime=0)
BZIP2 = bz2.compress(b"hello " * 1000)
XZ = lzma.compress(b"hello " * 1000)
ZSTD = corpus("sample.zst")
SEVEN = corpus("sample.7z")
# One raw block of nothing, after a header that claims 2**62 bytes.
ZSTD_CLAIM = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**62) + b"\x01\x00\x00"
SEVEN_CLAIM = struct.pack("<QQI", 2**60, 9, 0)
HUGE = gzip.compress(bytes(600 * MIB), 1, mtime=0)

SAMPLES = {
    "zip": Samples(
        "a.zip", ZIPPED, Dimensions(), ZIPPED[:-30], CUT,
        claiming(ZIPPED), Dimensions(), bomb(2),
        others={
            "b.zip": zipped(["a.txt", "b/c.txt"], streamed=True),
            "c.jar": zipped(["META-INF/MANIFEST.MF", "A.class"]),
            "d.zip": zipped([]),
        },
    ),
    "docx": Samples(
        "a.docx", DOCX, Dimensions(), DOCX[:-30], CUT, claiming(DOCX), Dimensions(), bomb(5),
    ),
    "xlsx": Samples(
        "a.xlsx", XLSX, Dimensions(pages=2), XLSX[:-30], CUT,
        claiming(XLSX), Dimensions(pages=2), bomb(7),
    ),
    "pptx": Samples(
        "a.pptx", PPTX, Dimensions(pages=2), PPTX[:-30], CUT,
        claiming(PPTX), Dimensions(pages=2), bomb(7),
    ),
    "odt": Samples(
        "a.odt", ODT, Dimensions(), ODT[:-30], CUT, claiming(ODT), Dimensions(), bomb(3),
    ),
    "ods": Samples(
        "a.ods", ODS, Dimensions(), ODS[:-30], CUT, claiming(ODS), Dimensions(), bomb(3),
    ),
    "odp": Samples(
        "a.odp", ODP, Dimensions(), ODP[:-30], CUT, claiming(ODP), Dimensions(), bomb(3),
    ),
    "epub": Samples(
        "a.epub", EPUB, Dimensions(), EPUB[:-30], CUT, claiming(EPUB), Dimensions(), bomb(2),
    ),
    "npz": Samples(
        "a.npz", NPZ, Dimensions(), NPZ[:-30], CUT, claiming(NPZ), Dimensions(), bomb(2),
    ),
    "torch": Samples(
        "a.pt", TORCH, Dimensions(), TORCH[:-30], f"holds a pickle, never opened; {CUT}",
        claiming(TORCH), Dimensions(), f"holds a pickle, never opened; {bomb(3)}",
        note="holds a pickle, never opened",
    ),
    "tar": Samples(
        "a.tar", TAR, Dimensions(),
        TAR[:514], "cut short: a file in it ends 3 bytes after the file does",
        taped_claim(), Dimensions(),
        f"cut short: a file in it ends {2**40 - 507 - 5 - 1024:,} bytes after the file does",
        others={"b.tar": taped(tarfile.GNU_FORMAT), "c.tar": taped(tarfile.PAX_FORMAT)},
    ),
    "gzip": Samples(
        "a.gz", GZIP, Dimensions(), GZIP[:-9], "cut short: the packed data does not end",
        HUGE, Dimensions(), "would need 629.1 MB to unpack",
        others={"b.tgz": TGZ, "c.gz": GZIP + GZIP, "d.gz": GZIP + bytes(512)},
    ),
    "bzip2": Samples(
        "a.bz2", BZIP2, Dimensions(),
        BZIP2[:-9], "cut short: the mark of its end is not there",
        bz2.compress(bytes(64 * MIB)), Dimensions(), "",
        others={f"{n}.bz2": bz2.compress(bytes(range(n))) for n in range(0, 64, 5)},
    ),
    "xz": Samples(
        "a.xz", XZ, Dimensions(), XZ[:-9], "cut short: there is no footer",
        lzma.compress(bytes(64 * MIB), preset=0), Dimensions(), "",
        others={"b.xz": XZ + bytes(8)},
    ),
    "zstd": Samples(
        "a.zst", ZSTD, Dimensions(),
        ZSTD[:-9], "cut short: a block ends 9 bytes after the file does",
        ZSTD_CLAIM, Dimensions(), "would need 4,611,686.0 TB to unpack",
    ),
    "7z": Samples(
        "a.7z", SEVEN, Dimensions(),
        SEVEN[:-9], "cut short: the directory ends 9 bytes after the file does",
        b"7z\xbc\xaf\x27\x1c\x00\x04" + struct.pack("<I", zlib.crc32(SEVEN_CLAIM)) + SEVEN_CLAIM,
        Dimensions(), f"cut short: the directory ends {2**60 + 9:,} bytes after the file does",
    ),
}  # fmt: skip
