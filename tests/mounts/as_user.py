"""Mounts of an ordinary user; prints JSON.

    python as_user.py BACKEND FOLDER

FOLDER has ``mine``, which is the user's, and ``roots``, which root alone may write to.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from llm_sandbox import Bind, Sandbox, SandboxError, Volume

BACKEND, FOLDER = sys.argv[1], Path(sys.argv[2])


def owner(path: Path) -> int:
    return path.lstat().st_uid


def refused(**options: Any) -> str:
    try:
        Sandbox.create(backend=BACKEND, **options).destroy()
    except SandboxError as error:
        return str(error.code)
    return "made"


def main() -> None:
    mine, roots = FOLDER / "mine", FOLDER / "roots"
    said: dict[str, Any] = {"host": os.getuid()}
    mounts = {
        "/mine": Bind(mine, read_only=False),
        "/roots": Bind(roots),
        "/cache": Volume("ours"),
    }
    with Sandbox.create(backend=BACKEND, mounts=mounts) as sandbox:
        script = (
            "cat /mine/private; echo 1 > /mine/new; mkdir /mine/folder; echo 2 > /cache/kept; "
            "cat /roots/open; cat /roots/private || echo refused; touch /roots/x || echo read-only"
        )
        said["inside"] = sandbox.sh(script).collect().stdout.split()
    said["owners"] = sorted({owner(mine / "new"), owner(mine / "folder")})
    volume = Volume("ours")
    said["volume"] = volume.files.get("kept").decode().strip()
    said["not one's own"] = refused(mounts={"/roots": Bind(roots, read_only=False)})
    named = Bind(roots, read_only=False, dangerous=True)
    said["writable roots"] = refused(mounts={"/roots": named})
    with Sandbox.create(backend=BACKEND, mounts={"/cache": volume}) as sandbox:
        said["again"] = sandbox.sh("cat /cache/kept").collect().stdout.strip()
    Volume.delete("ours")
    said["volumes"] = [one.name for one in Volume.list()]
    print(json.dumps(said), flush=True)


main()
