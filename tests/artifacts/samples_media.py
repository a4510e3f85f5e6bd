"""Samples of sound and video; most good ones are ffmpeg's, cut and claiming by hand."""

import io
import struct
import wave

from llm_sandbox.artifacts.base import Dimensions
from tests.artifacts.samples import Samples, corpus
from tests.artifacts.samples_pictures import patched

__all__ = ["SAMPLES"]

FOUR = b"\xff\xff\xff\xff"


def wav():
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(8000))
    return buffer.getvalue()


def after(content, name, gap, fields):
    """The content with other bytes at a place behind a name."""
    return patched(content, content.index(name) + len(name) + gap, fields)


def late(what, count):
    return f"cut short: {what} ends {count:,} bytes after the file does"


def tones(count):
    """MP3 frames of 128 kbit/s without any sound, and without an encoder's count."""
    return (b"\xff\xfb\x90\xc4" + bytes(413)) * count


WAV = wav()
AIFF = corpus("sample.aiff")
MP3 = corpus("sample.mp3")
AAC = corpus("sample.aac")
OGG = corpus("sample.ogg")
OGV = corpus("sample.ogv")
FLAC = corpus("sample.flac")
M4A = corpus("sample.m4a")
MP4 = corpus("sample.mp4")
MOV = corpus("sample.mov")
WEBM = corpus("sample.webm")
MKV = corpus("sample.mkv")
AVI = corpus("sample.avi")

SAMPLES = {
    "wav": Samples(
        "a.wav", WAV, Dimensions(duration_s=0.5),
        WAV[:-9], late("the container", 9),
        after(after(WAV, b"RIFF", 0, b"\xf0\xff\xff\x7f"), b"data", 0, b"\xcc\xff\xff\x7f"),
        Dimensions(duration_s=134217.725), late("the container", 2**31 - 8 - len(WAV)),
        # Written to a pipe: no size was known.
        others={"b.wav": after(after(WAV, b"RIFF", 0, FOUR), b"data", 0, FOUR)},
    ),
    "aiff": Samples(
        "a.aiff", AIFF, Dimensions(duration_s=0.05),
        AIFF[:-9], late("the container", 9),
        after(AIFF, b"COMM", 6, FOUR), Dimensions(duration_s=536870.912), "",
    ),
    "mp3": Samples(
        "a.mp3", MP3, Dimensions(duration_s=0.648),
        MP3[:-9], "cut short: 8 of 9 frames are there",
        after(MP3, b"Info", 4, b"\x7f\xff\xff\xff"), Dimensions(duration_s=154618822.584),
        "cut short: 9 of 2,147,483,647 frames are there",
        others={
            "b.mp3": tones(9),
            "c.mp3": tones(9) + b"TAG" + bytes(125),
            "d.mp3": b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10) + tones(9),
        },
    ),
    "aac": Samples(
        "a.aac", AAC, Dimensions(duration_s=0.64),
        AAC[:-9], late("the last frame", 9),
        AAC * 4000, Dimensions(duration_s=2560.0), "",
    ),
    "ogg": Samples(
        "a.ogg", OGG, Dimensions(duration_s=0.5),
        OGG[:-9], late("the last page", 9),
        patched(OGG, OGG.rindex(b"OggS") + 6, struct.pack("<Q", 8000 * 10**8)),
        Dimensions(duration_s=100_000_000.0), "",
        others={"b.opus": corpus("sample.opus")},
    ),
    "ogv": Samples(
        "a.ogv", OGV, Dimensions(),
        OGV[:-9], "cut short: the last page is not all there",
        patched(OGV, OGV.rindex(b"OggS") + 6, b"\x7f" * 8), Dimensions(), "",
    ),
    "flac": Samples(
        "a.flac", FLAC, Dimensions(duration_s=0.5),
        FLAC[: len(FLAC) - 600], "cut short: there is less sound than claimed",
        patched(FLAC, 21, b"\xff" * 5), Dimensions(duration_s=8589934.592),
        "cut short: there is less sound than claimed",
    ),
    "m4a": Samples(
        "a.m4a", M4A, Dimensions(duration_s=0.5),
        M4A[:-9], late("the box 'moov'", 9),
        after(M4A, b"mvhd", 16, b"\x3f\xff\xff\xff"), Dimensions(duration_s=134217.728), "",
    ),
    "mp4": Samples(
        "a.mp4", MP4, Dimensions(32, 16, duration_s=0.5),
        MP4[: MP4.index(b"moov") - 4], "cut short: there is no box 'moov'",
        after(MP4, b"tkhd", 76, FOUR * 2), Dimensions(65536, 65536, duration_s=0.5),
        "would need 17.1 GB to decode",
        # The index in front of the pictures, as it is put for the web.
        others={"b.mp4": MP4[: MP4.index(b"mdat") - 4] + MP4[MP4.index(b"moov") - 4 :]},
    ),
    "mov": Samples(
        "a.mov", MOV, Dimensions(32, 16, duration_s=0.5),
        MOV[:-9], late("the box 'moov'", 9),
        after(MOV, b"mvhd", 16, b"\x3f\xff\xff\xff"), Dimensions(32, 16, duration_s=1073741.823),
        "",
    ),
    "webm": Samples(
        "a.webm", WEBM, Dimensions(32, 16, duration_s=0.5),
        WEBM[:-9], late("the segment", 9),
        after(WEBM, b"\xb0\x81", 0, b"\x7f"), Dimensions(127, 16, duration_s=0.5), "",
    ),
    "matroska": Samples(
        "a.mkv", MKV, Dimensions(32, 16, duration_s=0.5),
        MKV[:-9], late("the segment", 9),
        after(MKV, b"\x44\x89\x88", 0, struct.pack(">d", 1e11)),
        Dimensions(32, 16, duration_s=100_000_000.0), "",
    ),
    "avi": Samples(
        "a.avi", AVI, Dimensions(32, 16, frames=5, duration_s=0.5),
        AVI[:-9], late("the container", 9),
        after(AVI, b"avih", 4 + 32, b"\xff\xff\xff\x7f" * 2),
        Dimensions(2**31 - 1, 2**31 - 1, frames=5, duration_s=0.5), "",
    ),
}  # fmt: skip
