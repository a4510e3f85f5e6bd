"""Samples of tables, arrays, databases, and of what is never opened."""

import io
import pickle
import sqlite3
import struct
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from llm_sandbox.artifacts.base import Dimensions
from tests.artifacts.samples import Samples, corpus
from tests.artifacts.samples_pictures import PNG, patched

__all__ = ["SAMPLES"]

TABLE = pa.table(
    {
        "a": list(range(5)),
        "b": [{"x": 1, "y": [1, 2]}] * 5,
        "c": [None, "text", "", "é", None],
        "d": [True, False, None, True, True],
    }
)
OPAQUE = "a pickle, never opened"


def parquet(table=TABLE, **options):
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


def arrow(table=TABLE):
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def feather(version):
    buffer = io.BytesIO()
    pa.feather.write_feather(pa.table({"a": [1, 2]}), buffer, version=version)
    return buffer.getvalue()


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def sqlite():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a)")
    base.commit()
    content = base.serialize()
    base.close()
    return content


def varint(value):
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def parquet_claim(rows, columns):
    """A table whose footer is the claim alone: version, one element of a schema, and rows."""
    element = b"\x48\x01r" + b"\x15" + varint(columns * 2) + b"\x00"
    footer = b"\x15\x04" + b"\x19\x1c" + element + b"\x16" + varint(rows * 2) + b"\x00"
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


PARQUET = parquet()
ARROW = arrow()
NPY = npy(np.eye(3))
# As wide as the shape it takes the place of.
NPY_CLAIM = npy(np.zeros((100, 100), "u1"))[:128].replace(b"(100, 100), ", b"(9999999,99)")
HDF5 = corpus("sample.h5")
SQLITE = sqlite()
PICKLE = pickle.dumps({"a": list(range(100))}, protocol=4)
# A 64-bit program whose table of sections is where its header says.
ELF = b"\x7fELF\x02\x01\x01" + bytes(33) + struct.pack("<Q", 64) + bytes(10)
ELF += struct.pack("<HHH", 64, 2, 0) + bytes(128)

SAMPLES = {
    "parquet": Samples(
        "a.parquet", PARQUET, Dimensions(rows=5, columns=4),
        PARQUET[:-9], "cut short: there is no footer",
        parquet_claim(10**12, 50), Dimensions(rows=10**12, columns=50), "",
        others={
            "b.parquet": parquet(pa.table({"a": pa.array([], pa.int8())})),
            "c.pq": parquet(compression="none", version="1.0"),
            "d.parquet": parquet(pa.table({f"c{i}": [1.5] for i in range(2000)})),
        },
    ),
    "arrow": Samples(
        "a.arrow", ARROW, Dimensions(),
        ARROW[:-9], "cut short: there is no footer",
        patched(ARROW, len(ARROW) - 10, b"\xff\xff\xff\x7f"), Dimensions(),
        "its footer is damaged",
        others={"b.feather": feather(2)},
    ),
    "npy": Samples(
        "a.npy", NPY, Dimensions(rows=3, columns=3),
        NPY[:-9], "cut short: the array ends 9 bytes after the file does",
        NPY_CLAIM, Dimensions(rows=9_999_999, columns=99),
        "claims 989.9 MB; cut short: the array ends 989,999,901 bytes after the file does",
        others={
            "b.npy": npy(np.array(3)),
            "c.npy": npy(np.array(["é", "abc"])),
            "d.npy": npy(np.zeros((2, 3, 4), ">f4")),
            "e.npy": npy(np.zeros(2, [("a", "i4"), ("b", "f8")])),
        },
    ),
    "hdf5": Samples(
        "a.h5", HDF5, Dimensions(),
        HDF5[:-9], "cut short: the data ends 9 bytes after the file does",
        patched(HDF5, 40, struct.pack("<Q", 2**60)), Dimensions(),
        f"cut short: the data ends {2**60 - len(HDF5):,} bytes after the file does",
        others={"b.hdf5": corpus("latest.h5")},
    ),
    "sqlite": Samples(
        "a.db", SQLITE, Dimensions(),
        SQLITE[:-9], "cut short: the last page ends 9 bytes after the file does",
        patched(SQLITE, 28, b"\xff" * 4), Dimensions(),
        f"cut short: the last page ends {4096 * (2**32 - 1) - len(SQLITE):,} bytes"
        " after the file does",
    ),
    "pickle": Samples(
        "a.pkl", PICKLE, Dimensions(),
        PICKLE[:-9], f"{OPAQUE}; cut short: the first frame ends 9 bytes after the file does",
        patched(PICKLE, 3, struct.pack("<Q", 2**60)), Dimensions(),
        f"{OPAQUE}; cut short: the first frame ends {2**60 + 11 - len(PICKLE):,} bytes"
        " after the file does",
        note=OPAQUE,
        others={
            f"{protocol}.pkl": pickle.dumps(value, protocol=protocol)
            for protocol in (2, 3, 4, 5)
            for value in ({}, [1.5, None], "text", b"bytes", (1, 2), {1}, Path, np.arange(3), 7)
        },
    ),
    "elf": Samples(
        "a.so", ELF, Dimensions(),
        ELF[:-9], "cut short: the table of sections ends 9 bytes after the file does",
        patched(ELF, 40, struct.pack("<Q", 2**60)), Dimensions(),
        f"cut short: the table of sections ends {2**60 + 128 - len(ELF):,} bytes"
        " after the file does",
        others={"python": Path(sys.executable).resolve().read_bytes()},
    ),
    "data": Samples(
        "a.bin", bytes(range(256)), Dimensions(),
        bytes(range(100)), "",
        bytes(range(256)) * 40_000, Dimensions(), "",
        # Bytes are all that such a name and such a type claim.
        lie=PNG, lie_kind="png", lie_holds="",
    ),
    "empty": Samples(
        "nothing", b"", Dimensions(),
        b"", "empty",
        b"\x00" * 10_000_000, Dimensions(), "",
        giant_kind="data", note="empty",
    ),
}  # fmt: skip
