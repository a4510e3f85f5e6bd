"""Replacement of symbolic links in an installed folder by their targets: a layer has none."""

import contextlib
import os
import re
import stat
from pathlib import Path

from llm_sandbox.exceptions import LibraryInstallationError

__all__ = ["replace_links"]

_MOST_STEPS = 40
_MOST_COPIES = 20_000
_MERGED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_LIBRARY = re.compile(r"lib[A-Za-z0-9_+.-]+\.so")
_OF_SYSTEM = re.compile(r"/(?:usr/)?lib(?:/[A-Za-z0-9_+.-]+)+")


def replace_links(root: Path) -> list[str]:
    """Replace every link below a folder by its target, without a copy.

    A link to a library of the system, which is not in the folder, becomes a linker script with its
    path; any other link that leads out of it, or nowhere, is removed.

    Args:
        root: The folder. It must not be modified meanwhile.

    Returns:
        Paths of the removed links, relative to the folder.

    Raises:
        LibraryInstallationError: The links form a cycle.
    """
    if root.is_symlink() or not root.is_dir():
        return []
    try:
        return _replace_all(root)
    except OSError as error:
        raise LibraryInstallationError(
            "the installed files have links that cannot be replaced",
            output=str(error),
            op="install",
        ) from error


def _replace_all(root: Path) -> list[str]:
    links = _take_links(root)
    is_system = (root / "usr").is_dir()
    replacing = _Replacing(root, links, is_system=is_system)
    # Folders are copied when what lies in them is there.
    left = [path for path in sorted(links) if not replacing.replace(path, folders=False)]
    left.sort(key=lambda path: -path.count("/"))
    return [path for path in left if not replacing.replace(path, folders=True)]


def _take_links(root: Path) -> dict[str, str]:
    found = {}
    # trust: written inside; walked by descriptors, and no link is followed.
    for folder, folders, names, fd in os.fwalk(root):
        relative = os.path.relpath(folder, root)
        for name in (*folders, *names):
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                path = os.path.normpath(os.path.join(relative, name))  # noqa: PTH118 - not of here
                found[path] = os.readlink(name, dir_fd=fd)
                os.unlink(name, dir_fd=fd)
    return found


class _Replacing:
    def __init__(self, root: Path, links: dict[str, str], *, is_system: bool) -> None:
        self._root = root
        self._links = links
        self._is_system = is_system
        self._left = _MOST_COPIES

    def replace(self, path: str, *, folders: bool) -> bool:
        """Replace a link by its target; return False if that is not in the folder, or is a folder
        and those are not requested.
        """
        place = self._root / path
        if place.exists():
            return True
        parts = self._resolve(path)
        source = self._root.joinpath(*parts) if parts else None
        if source is not None and source.is_file():
            os.link(source, place)
            return True
        if source is not None and source.is_dir():
            if not folders:
                return False
            # A link to a folder that it is in would go on for ever.
            if place.is_relative_to(source):
                return False
            self._copy(source, place, "/".join(parts or ()), path)
            return True
        target = self._outside(path)
        if target is not None and _LIBRARY.fullmatch(place.name) and _OF_SYSTEM.fullmatch(target):
            place.write_text(f"INPUT ( {target} )\n", encoding="ascii")
            return True
        return False

    def _copy(self, source: Path, place: Path, inside: str, path: str) -> None:
        place.mkdir()
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            self._left -= 1
            if self._left < 0:
                raise LibraryInstallationError(
                    "the installed files have links in circles", op="install"
                )
            here = place / entry.name
            if entry.is_dir(follow_symlinks=False):
                self._copy(Path(entry.path), here, f"{inside}/{entry.name}", f"{path}/{entry.name}")
            else:
                os.link(entry.path, here)

    def _resolve(self, path: str) -> list[str] | None:
        """Return the final target of a link below the folder; None if it leads out."""
        done: list[str] = path.split("/")[:-1]
        todo = self._words(path, done)
        for _ in range(_MOST_STEPS * 100):
            if not todo:
                return done
            word = todo.pop(0)
            if word in ("", "."):
                continue
            if word == "..":
                if not done:
                    return None
                done.pop()
                continue
            if not done and self._is_system and word in _MERGED:
                done.append("usr")
            done.append(word)
            here = "/".join(done)
            if here in self._links:
                done.pop()
                todo = [*self._words(here, done), *todo]
                if len(todo) > 1000:
                    return None
        return None

    def _words(self, link: str, done: list[str]) -> list[str]:
        target = self._links[link]
        if target.startswith("/"):
            done.clear()
        return target.split("/")

    def _outside(self, path: str) -> str | None:
        target = self._links[path]
        if not self._is_system:
            return None
        with contextlib.suppress(ValueError):
            joined = os.path.normpath(os.path.join("/", os.path.dirname(path), target))  # noqa: PTH118, PTH120
            return joined if "\0" not in joined else None
        return None
