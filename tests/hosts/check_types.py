"""A program: check the types as another system has them, of all that is not of Linux alone.

``python tests/hosts/check_types.py darwin``; `make lint` runs it. What differs from the ordinary
check is the platform, and that `linux_only` modules are read and not judged.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from tests.hosts.linux_only import is_linux_only  # noqa: E402


def main(platform: str) -> int:
    package = _ROOT / "llm_sandbox"
    names = [
        ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(package.rglob("*.py"))
    ]
    listed = ", ".join(f'"{name}"' for name in names if is_linux_only(name))
    settings = (_ROOT / "pyproject.toml").read_text("utf-8")
    # Its packages stand here under their own names alone, so that the paths are still the root's.
    added = f"\n[[tool.mypy.overrides]]\nmodule = [{listed}]\nignore_errors = true\n"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "pyproject.toml"
        config.write_text(settings + added, "utf-8")
        words = ("--config-file", str(config), "--platform", platform)
        cache = ("--cache-dir", str(_ROOT / ".mypy_cache" / platform))
        return subprocess.run(
            [sys.executable, "-m", "mypy", *words, *cache, "llm_sandbox"], cwd=_ROOT
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
