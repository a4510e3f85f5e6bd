"""Image of a server that grades programs in a pod, made without building a container."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from llm_sandbox.backends.recipes import image_name
from tests.cluster_image import write_image

NAME = "docker.io/llm-sandbox-test/server:latest"
ENTRYPOINT = ["python3", "-m", "llm_sandbox", "serve", "--host", "0.0.0.0"]
ROOT = Path(__file__).resolve().parents[2]
OURS = ("llm_sandbox", "language_handlers")
TARGET = "opt/server"


def load_server_image(load: list[str]) -> None:
    """Bring the image of the server into the cluster.

    Args:
        load: Program that brings an image, an archive on its standard input, into the cluster.
    """
    with tempfile.TemporaryFile() as saved:
        subprocess.run(["docker", "save", image_name("python")], stdout=saved, check=True)
        saved.seek(0)
        config = {"Entrypoint": ENTRYPOINT, "Cmd": [], "Env": [f"PYTHONPATH=/{TARGET}"]}
        with subprocess.Popen(load, stdin=subprocess.PIPE) as loading:
            assert loading.stdin is not None
            write_image(saved, loading.stdin, NAME, _installed(), config)
            loading.stdin.close()
            assert 0 == loading.wait(120)


def _installed() -> bytes:
    """Return an archive with what this interpreter runs the server from."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name in OURS:
            archive.add(ROOT / name, f"{TARGET}/{name}", filter=_without_caches)
        for dist in _needed("sandboxed-interpreter[server,kubernetes]"):
            for file in dist.files or ():
                path = Path(str(dist.locate_file(file)))
                if path.is_file() and ".." not in file.parts and path.suffix != ".pyc":
                    archive.add(path, f"{TARGET}/{file}")
    return written.getvalue()


def _without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member


def _needed(word: str) -> list[Distribution]:
    """Return what a requirement needs, itself left out."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(word)]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        for extra in wanted.extras or {""}:
            if (wanted.name, extra) in seen:
                continue
            seen.add((wanted.name, extra))
            dist = distribution(wanted.name)
            found[wanted.name] = dist
            for line in dist.requires or ():
                needed = Requirement(line)
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    waiting.append(needed)
    return [dist for dist in found.values() if dist.name != "sandboxed-interpreter"]
