"""Hooks of the documentation site: pages and examples that lie outside of `docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
_LINK = re.compile(r"\]\((?P<up>(?:\.\./)*)(?P<path>[^):#\s]+)(?P<rest>[^)\s]*)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository's root, and the examples."""
    examples = (ROOT / "examples").rglob("*")
    for path in [*(ROOT / name for name in PAGES), *examples]:
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            # Below `examples`, a Markdown file is a source to read like the others.
            name = f"{name}.txt" if name.startswith("examples/") and path.suffix == ".md" else name
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links between `docs` and the rest of the repository at their place in the site."""
    source = page.file.src_uri
    depth = source.count("/")

    def moved(link: re.Match[str]) -> str:
        up, path, rest = link["up"], link["path"], link["rest"]
        if up.count("..") == depth + 1:
            up = "../" * depth
        elif source in PAGES:
            path = path.removeprefix("docs/")
        if (ROOT / path).is_dir():
            path = f"{path}/README.md.txt" if (ROOT / path / "README.md").exists() else "index.md"
        elif path.startswith("examples/") and path.endswith(".md"):
            path = f"{path}.txt"
        return f"]({up}{path}{rest})"

    return _LINK.sub(moved, markdown)
