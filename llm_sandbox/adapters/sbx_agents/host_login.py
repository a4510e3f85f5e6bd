"""The host's own sign-in of Codex, for the one case that it is copied into a sandbox."""

import json
import os
import stat
from pathlib import Path

from llm_sandbox.exceptions import SandboxError, SecurityError

__all__ = ["read_codex_login"]

_LARGEST = 1 << 20


def read_codex_login() -> bytes:
    """Return the file that Codex keeps its ChatGPT sign-in in, ``auth.json`` in ``$CODEX_HOME`` or
    ``~/.codex``.

    Raises:
        SandboxError: There is none, or it is of another kind.
        SecurityError: It is no file of this user's own.
    """
    base = os.environ.get("CODEX_HOME", "")
    path = (Path(base) if base.startswith("/") else Path.home() / ".codex") / "auth.json"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SandboxError(
            f"{path} cannot be read: {os.strerror(error.errno or 0)}",
            op="prepare",
            hint="sign in on this machine first: codex login",
        ) from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise SecurityError(f"{path} is no file of this user's own", op="prepare")
        data = file.read(_LARGEST + 1)
    try:
        content = json.loads(data)
    except ValueError:
        content = None  # its text is not repeated: it may hold a token
    if len(data) > _LARGEST or not isinstance(content, dict):
        raise SandboxError(
            f"{path} is no JSON object",
            op="prepare",
            hint="sign in anew on this machine: codex logout && codex login",
        )
    if content.get("auth_mode") != "chatgpt":
        raise SandboxError(
            f"{path} is of another kind than a ChatGPT sign-in",
            op="prepare",
            hint="sign in with ChatGPT on this machine: codex login",
        )
    return data
