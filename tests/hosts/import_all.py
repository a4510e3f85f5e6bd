"""A program: as another system, import every module of the library that it is to have."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback

from tests.hosts.linux_only import is_linux_only
from tests.hosts.other_system import become


def main(platform: str) -> int:
    become(platform)
    import llm_sandbox

    failed = 0
    names = [
        found.name
        for found in pkgutil.walk_packages(
            llm_sandbox.__path__, "llm_sandbox.", onerror=lambda _: None
        )
    ]
    for name in names:
        if is_linux_only(name) or name.endswith("__main__"):
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
            if "-v" in sys.argv:
                traceback.print_exc()
    loaded = sorted(name for name in sys.modules if is_linux_only(name))
    print(f"{len(names)} modules, {failed} failed; of Linux alone and loaded: {', '.join(loaded)}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
