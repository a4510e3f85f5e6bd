"""The program: SETTINGS FOLDER COORDINATES..."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .repositories import Artifact, Repositories, ResolutionError
from .resolution import Resolution

__all__ = ["main"]

_LARGEST_FILE = 1 << 30


def main() -> int:
    """Run the program."""
    settings, folder, *wanted = sys.argv[1:]
    known = json.loads(Path(settings).read_text("utf-8"))
    repositories = Repositories(known)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    try:
        artifacts = Resolution(repositories).resolve(wanted)
        names = [item.file for item in artifacts]

        def fetch(artifact: Artifact) -> None:
            data = repositories.read(artifact.path, _LARGEST_FILE)
            shared = names.count(artifact.file) > 1
            (target / f"{artifact.group + '.' if shared else ''}{artifact.file}").write_bytes(data)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fetch, artifacts))
    except ResolutionError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0
