"""A program: as another system, import every module of the library that it is to have."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tests.hosts.linux_only import is_linux_only
from tests.hosts.other_system import become


def main(platform: str) -> int:
    become(platform)
    import llm_sandbox
    from llm_sandbox.exceptions import MissingDependencyError

    folder = Path(llm_sandbox.__file__).parent
    names = [
        ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]
    wanted = [name for name in names if not is_linux_only(name) and not name.endswith("__main__")]
    failed = 0
    for name in wanted:
        try:
            importlib.import_module(name)
        except MissingDependencyError as error:
            print(f"{name}: not tried: {error.message}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
    print(f"{len(wanted)} modules, of which {failed} cannot be imported")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
