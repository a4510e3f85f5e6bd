"""Copying saved files to where they were."""

from __future__ import annotations

import os
import shutil

from . import linux


def restore(source: str, target: str, user: tuple[int, int] | None) -> None:
    """Copy what is in a folder into another one, as a user of the machine would.

    Raises:
        OSError: It could not be copied whole.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            if user is not None:
                linux.set_user(*user)
            for entry in os.scandir(source):
                place = os.path.join(target, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    shutil.copytree(entry.path, place, symlinks=True)
                else:
                    shutil.copy2(entry.path, place, follow_symlinks=False)
        except (OSError, shutil.Error) as error:
            os.write(write, str(error).encode()[:4000])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as report:
        words = report.read()
    os.waitpid(pid, 0)
    if words:
        raise OSError(f"the saved files could not be copied: {words.decode('utf-8', 'replace')}")
