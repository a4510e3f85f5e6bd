"""Resolution of artifacts and their versions, and the program that runs it: SETTINGS FOLDER
COORDINATES...
"""

import json
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .descriptions import Dependency, Descriptions, plain
from .repositories import Artifact, NotFoundError, Repositories, ResolutionError
from .versions import in_range, order

__all__ = ["Resolution", "main"]

_MOST_ARTIFACTS = 500
_LARGEST_FILE = 1 << 30


class Resolution:
    """Resolver of the transitive dependencies of artifacts."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._descriptions = Descriptions(repositories)

    def resolve(self, wanted: list[str]) -> list[Artifact]:
        """Return the artifacts needed at run time, the nearest first."""
        queue: deque[tuple[Dependency, frozenset[tuple[str, str]]]] = deque()
        for text in wanted:
            group, name, version = (*text.split(":"), "")[:3]
            queue.append((Dependency(group, name, version), frozenset()))
        chosen: dict[tuple[str, str, str, str], Artifact] = {}
        while queue:
            asked, excluded = queue.popleft()
            artifact = self._choose(asked)
            model = self._descriptions.read(artifact.group, artifact.name, artifact.version)
            for _ in range(5):
                if model.moved_to is None:
                    break
                moved = model.moved_to
                artifact = Artifact(moved.group, moved.name, moved.version, artifact.kind)
                model = self._descriptions.read(moved.group, moved.name, moved.version)
            if artifact.key in chosen:
                continue
            if len(chosen) == _MOST_ARTIFACTS:
                raise ResolutionError(f"it needs more than {_MOST_ARTIFACTS} artifacts")
            is_parent = model.packaging == "pom" and artifact.kind == "jar"
            kind = "pom" if is_parent else artifact.kind
            chosen[artifact.key] = Artifact(
                artifact.group, artifact.name, artifact.version, kind, artifact.classifier
            )
            for item in model.dependencies:
                outside = item.scope not in ("", "compile", "runtime") or item.optional == "true"
                if not outside and not _is_excluded(item, excluded) and item.key not in chosen:
                    queue.append((item, excluded | item.excluded))
        return [item for item in chosen.values() if item.kind != "pom"]

    def _choose(self, asked: Dependency) -> Artifact:
        version = asked.version
        if not version or version in ("LATEST", "RELEASE"):
            version = self._repositories.versions(asked.group, asked.name)[1]
        elif version[0] in "[(":
            known = self._repositories.versions(asked.group, asked.name)[0]
            fitting = [item for item in known if in_range(item, version)]
            if not fitting:
                raise NotFoundError(f"no version of {asked.group}:{asked.name} is in {version}")
            version = max(fitting, key=order)
        words = (asked.group, asked.name, version, asked.kind, asked.classifier)
        group, name, version, kind, classifier = (word and plain(word) for word in words)
        if version.upper().endswith("-SNAPSHOT"):
            raise ResolutionError(
                f"{group}:{name}:{version} is a snapshot, which are not supported"
            )
        return Artifact(group, name, version, kind, classifier)


def _is_excluded(item: Dependency, excluded: frozenset[tuple[str, str]]) -> bool:
    return any(group in (item.group, "*") and name in (item.name, "*") for group, name in excluded)


def main() -> int:
    """Run the program and return its exit code."""
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
