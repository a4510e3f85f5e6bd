"""Alternatives to the scanner: regular expressions of two strictnesses, and bandit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BANDIT_LEVELS", "bandit", "expressions"]

BANDIT_LEVELS = ("LOW", "MEDIUM", "HIGH")

_ORDINARY_MODULES = (
    *("subprocess", "ctypes", "cffi", "pty", "socket", "socketserver", "ftplib", "telnetlib"),
    *("smtplib", "poplib", "imaplib", "paramiko", "pickle", "marshal", "shelve", "dill"),
    *("multiprocessing", "signal", "gc"),
)
_ORDINARY_CALLS = (
    r"\bos\s*\.\s*(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|fork(?:pty)?|kill(?:pg)?)\s*\(",
    r"\bos\s*\.\s*(?:remove|unlink|rmdir|removedirs|chmod|chown|lchown|putenv|unsetenv)\s*\(",
    r"\bos\s*\.\s*environ\b",
    r"\bshutil\s*\.\s*rmtree\s*\(",
    r"\bsubprocess\s*\.\s*\w+\s*\(",
    r"(?<![\w.])(?:eval|exec|compile)\s*\(",
    r"(?<![\w.])__import__\s*\(",
    r"\bimportlib\s*\.\s*import_module\s*\(",
    r"\burllib\s*\.\s*request\b|\bhttp\s*\.\s*client\b|\brequests\s*\.\s*\w+\s*\(",
    r"\b(?:c?pickle|marshal)\s*\.\s*loads?\s*\(",
    r"/etc/(?:shadow|passwd|sudoers)|\.ssh/|\.aws/|/proc/self|169\.254\.169\.254",
    r"open\s*\(\s*[rbf]?['\"]/(?:etc|usr|bin|root|home)\b",
    r"__(?:subclasses|globals|builtins|mro|bases)__",
    r"\bsys\s*\.\s*(?:modules|_getframe)\b",
    r"(?m)^\s*!|^\s*%{1,2}(?:sx|system|bash|sh|script)\b",
)
_STRICT_MODULES = (
    *_ORDINARY_MODULES,
    *("os", "sys", "shutil", "importlib", "inspect", "builtins", "threading", "asyncio", "code"),
    *(
        "tempfile",
        "pathlib",
        "io",
        "glob",
        "codecs",
        "base64",
        "zlib",
        "urllib",
        "http",
        "requests",
    ),
    *("pkgutil", "runpy", "operator", "platform"),
)
_STRICT_CALLS = (
    *_ORDINARY_CALLS,
    r"(?<![\w.])(?:getattr|setattr|delattr|globals|locals|vars|open|input|breakpoint)\s*\(",
    r"\b__\w+__\s*(?:\(|\[|\.)",
    r"\bget_ipython\b",
)


def _imports(modules: Sequence[str]) -> str:
    names = "|".join(modules)
    return rf"(?m)^\s*(?:import\s+(?:{names})\b|from\s+(?:{names})\b[\w.]*\s+import\b)"


_LEVELS = {
    "ordinary": re.compile("|".join(f"(?:{p})" for p in (
        *(part.replace("(?m)", "") for part in _ORDINARY_CALLS), _imports(_ORDINARY_MODULES)[4:]
    )), re.MULTILINE),
    "strict": re.compile("|".join(f"(?:{p})" for p in (
        *(part.replace("(?m)", "") for part in _STRICT_CALLS), _imports(_STRICT_MODULES)[4:]
    )), re.MULTILINE),
}  # fmt: skip
_COMMENT = re.compile(r"#[^\n]*|'''[\s\S]*?'''|\"\"\"[\s\S]*?\"\"\"")


def expressions(code: str, level: str) -> bool:
    """Return whether regular expressions refuse code, after comments and long texts are removed.

    Args:
        code: The code.
        level: ``ordinary`` for dangerous calls and modules, ``strict`` for everything by which one
            gets at the system, or at names.
    """
    return _LEVELS[level].search(_COMMENT.sub(" ", code)) is not None


def bandit(codes: Sequence[str]) -> list[int] | None:
    """Return the highest severity of bandit's findings in each, 0 to 3; None without bandit."""
    from importlib.util import find_spec

    if find_spec("bandit") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for number, code in enumerate(codes):
            path = Path(folder, f"{number // 1000:03}", f"p{number:06}.py")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(code.encode("utf-8", "surrogateescape"))
        done = subprocess.run(
            [sys.executable, "-m", "bandit", "-r", folder, "-f", "json", "-q", "-n", "0"],
            capture_output=True,
            text=True,
            check=False,
        )
    results = json.loads(done.stdout)["results"]
    worst = [0] * len(codes)
    for result in results:
        number = int(Path(result["filename"]).stem[1:])
        worst[number] = max(worst[number], 1 + BANDIT_LEVELS.index(result["issue_severity"]))
    return worst
