"""Files that programs of a shell write, delete or open to others."""

import re
from collections.abc import Iterator, Sequence

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.sensitive_text import is_outside

__all__ = ["file_effects"]

_Act = tuple[Capability, Confidence, str]
_SETUID = re.compile(r"[ugoa]*\+[rwx]*s|[2467][0-7]{3}|0[2467][0-7]{3}")
_EVERYTHING = frozenset(("*", ".", "..", "./*", ".*", "../*", "~", "$HOME", "/", "/*"))
_LARGE = re.compile(r"(\d+)\s*([KMGTP]?)(?:i?B)?\Z", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_HUGE = 10 * 2**30


def file_effects(program: str, argv: Sequence[str | None]) -> Iterator[_Act]:
    """Yield what a command does to files outside of the working directory.

    Args:
        program: The program's name.
        argv: Its name and arguments; None for those that are not known.
    """
    words = [word for word in argv[1:] if word is not None]
    paths = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    if program in {"rm", "rmdir", "unlink"}:
        yield from _removed(paths, options)
    elif program == "find":
        deletes = "-delete" in options or "rm" in paths
        if deletes and paths and is_outside(paths[0]):
            yield Capability.FILE_DELETE, "high", paths[0]
    elif program in {"chmod", "chown", "chgrp"}:
        yield from _opened(program, paths)
    elif program == "dd":
        yield from _copied(words)
    else:
        for path in _written(program, paths, options):
            if is_outside(path):
                yield Capability.FILE_WRITE, "high", path
    if program in {"fallocate", "truncate", "head"}:
        for word in words:
            if _size(word.lstrip("-lsc")) > _HUGE:
                yield Capability.RESOURCE, "high", word


def _written(program: str, paths: list[str], options: list[str]) -> list[str]:
    if program in {"cp", "install", "ln", "mv", "rsync", "scp"}:
        return paths[1:][-1:]
    if program in {"tee", "touch", "mkdir", "truncate", "mkfifo", "mknod"}:
        return paths
    if program == "sed" and any(option.startswith(("-i", "--in-place")) for option in options):
        return paths[1:]
    return []


def _removed(paths: list[str], options: list[str]) -> Iterator[_Act]:
    forced = any(set(option) & set("rRf") for option in options if not option.startswith("--"))
    forced = forced or bool({"--recursive", "--force", "--no-preserve-root"} & set(options))
    for path in paths:
        if is_outside(path) or (forced and path in _EVERYTHING):
            yield Capability.FILE_DELETE, "high", path


def _opened(program: str, paths: list[str]) -> Iterator[_Act]:
    if program == "chmod" and paths and _SETUID.fullmatch(paths[0]):
        yield Capability.FILE_PERMISSION, "high", f"{program} {paths[0]}"
        return
    for path in paths[1:]:
        if is_outside(path):
            yield Capability.FILE_PERMISSION, "high", path


def _copied(words: list[str]) -> Iterator[_Act]:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    target = given.get("of", "")
    if target.startswith("/dev/") and is_outside(target):
        yield Capability.FILE_DELETE, "high", target
    elif target and is_outside(target):
        yield Capability.FILE_WRITE, "high", target
    endless = given.get("if", "") in {"/dev/zero", "/dev/urandom", "/dev/random"}
    if endless and target and "count" not in given:
        yield Capability.RESOURCE, "high", target


def _size(word: str) -> int:
    found = _LARGE.match(word)
    return int(found[1][:18]) * _UNITS[found[2].lower()] if found else 0
