"""The image of Python sessions with this library's runtime, for a cluster of a test run.

    python tests/cluster_image.py LOAD

LOAD is a program that brings an image, an archive on its standard input, into the cluster:
``load-image -``. The image is that of the Docker engine, with one more layer, so that no engine has
to build it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from typing import IO, TYPE_CHECKING

from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.runtime import describe_runtime, pack

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "opt/llm_sandbox/"


def write_image(
    saved: IO[bytes] | None,
    target: IO[bytes],
    name: str,
    layer: bytes,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Write an archive of an image with one more layer.

    Args:
        saved: Archive of the image that it is added to; None for an image of the layer alone.
        target: Receives the archive.
        name: The image's name in it.
        layer: Archive of the layer.
        changes: What differs in the configuration of its containers; None for nothing.
    """
    digest = hashlib.sha256(layer).hexdigest()
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers"}}
    config["rootfs"]["diff_ids"] = []
    layers: list[str] = []
    with tarfile.open(fileobj=target, mode="w|") as written:
        if saved is not None:
            with tarfile.open(fileobj=saved) as source:
                manifest = json.load(source.extractfile("manifest.json"))[0]
                config = json.load(source.extractfile(manifest["Config"]))
                layers = manifest["Layers"]
                for path in dict.fromkeys(layers):
                    member = source.getmember(path)
                    written.addfile(member, source.extractfile(member) if member.isreg() else None)
        config["rootfs"]["diff_ids"].append(f"sha256:{digest}")
        config.pop("history", None)
        config["config"] = {**(config.get("config") or {}), **(changes or {})}
        described = json.dumps(config).encode()
        named = f"{hashlib.sha256(described).hexdigest()}.json"
        layers = [*layers, f"{digest}/layer.tar"]
        manifest = [{"Config": named, "RepoTags": [name], "Layers": layers}]
        for path, data in (
            (layers[-1], layer),
            (named, described),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            written.addfile(member, io.BytesIO(data))


def runtime_layer() -> bytes:
    """Return the layer with this library's runtime."""
    return pack(describe_runtime(os.uname().machine), FOLDER)


def main(load: list[str]) -> int:
    """Entry point; returns the exit code."""
    name = image_name("python")
    with tempfile.TemporaryFile() as saved:
        done = subprocess.run(["docker", "save", name], stdout=saved, check=False)
        if done.returncode:
            return done.returncode
        saved.seek(0)
        with subprocess.Popen(load, stdin=subprocess.PIPE) as loading:
            write_image(saved, loading.stdin, name, runtime_layer())
            loading.stdin.close()
        return loading.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
