"""The tree stays readable: its names, the length of its files, what each module makes public."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from llm_sandbox.exceptions import MissingDependencyError

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "llm_sandbox"
MOST_LINES = 600
LEAST_LINES = 60
ALONE = {
    "llm_sandbox.cli.entry": "loaded before anything else, and by the console script",
    "llm_sandbox.exceptions.aliases": "names of another project, kept apart",
    "llm_sandbox.guest.installers": "the rule of what is an installation, tested without IPython",
    "llm_sandbox.language_handlers.cpp.packages": "each language has one",
    "llm_sandbox.security.lexical.grammars.r": "loaded by the name of the language",
    "llm_sandbox.security.package_validators": "an import path of other programs",
}
"""Short modules with a single importer, each with the reason why it is one."""

# What runs inside the sandbox is started, not imported by users: it has no public names.
INSIDE = ("guest", "images", "shim")


def our_files() -> list[Path]:
    folders = ("llm_sandbox", "examples", "benchmarks")
    return sorted(path for name in folders for path in (ROOT / name).rglob("*.py"))


def public_modules() -> list[Path]:
    return sorted(
        path
        for path in PACKAGE.rglob("*.py")
        if not set(INSIDE).intersection(path.relative_to(PACKAGE).parts)
        and not any(
            part.startswith("_") and part != "__init__.py"
            for part in path.relative_to(PACKAGE).parts
        )
    )


def names_of(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple):
        return [name for element in target.elts for name in names_of(element)]
    return []


def defined_names(tree: ast.Module) -> set[str]:
    """The public names that a module makes itself, those it imports left out."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(name for target in node.targets for name in names_of(target))
        elif isinstance(node, ast.AnnAssign):
            names.update(names_of(node.target))
    return {name for name in names if not name.startswith("_")} - {"logger"}


def declared_names(tree: ast.Module) -> list[str] | None:
    """The module's `__all__`, or None where it has none."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            return list(ast.literal_eval(node.value))
    return None


def order(name: str) -> tuple[int, list[tuple[int, int | str]]]:
    """The order that ruff gives `__all__`: constants, classes, the rest; numbers by their value."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = [part for part in re.split(r"(\d+)", name) if part]
    return kind, [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def identify(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "name", ["docs", "examples", "images", "language_handlers", "llm_sandbox", "tests"]
)
def test_top_level_name_is_a_folder(name: str) -> None:
    assert (ROOT / name).is_dir()


@pytest.mark.parametrize("name", ["images", "language_handlers"])
def test_name_is_a_relative_link_into_the_package(name: str) -> None:
    """The root's links show the real folders wherever the tree is moved to."""
    link = ROOT / name
    if not link.is_symlink():
        pytest.skip("this copy of the tree was made without symbolic links")
    assert Path("llm_sandbox", name) == link.readlink()


@pytest.mark.parametrize("path", our_files(), ids=identify)
def test_file_is_short(path: Path) -> None:
    """A file is one noun, and a noun fits in 600 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def imported_modules(path: Path, name: str, known: set[str]) -> set[str]:
    """The modules of the package that a module imports, wherever in it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found & known - {name}


def test_short_modules_have_several_importers() -> None:
    """A short module that one other imports is a part of that one, unless there is a reason."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    importers: dict[str, set[str]] = {}
    for name, path in modules.items():
        for other in imported_modules(path, name, set(modules)):
            importers.setdefault(other, set()).add(name)
    alone = {
        name
        for name, path in modules.items()
        if path.name != "__init__.py"
        and len(importers.get(name, ())) == 1
        and len(path.read_text(encoding="utf-8").splitlines()) < LEAST_LINES
    }
    assert sorted(ALONE) == sorted(alone)


@pytest.mark.parametrize("path", public_modules(), ids=identify)
def test_all_is_what_the_module_defines(path: Path) -> None:
    """`__all__` is sorted, without repetition, and leaves out no public name of the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = defined_names(tree)
    declared = declared_names(tree)
    if declared is None:
        assert set() == defined, "public names, but no __all__"
        return
    assert sorted(set(declared), key=order) == declared
    assert set() == defined - set(declared)


@pytest.mark.parametrize("path", public_modules(), ids=identify)
def test_all_can_be_imported(path: Path) -> None:
    """Each name of `__all__` is really there, those resolved on first use too."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    try:
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    except MissingDependencyError as error:
        pytest.skip(f"{error.message}; `make frameworks` has the frameworks that are not here")
    missing = [name for name in getattr(module, "__all__", []) if not hasattr(module, name)]
    assert [] == missing
