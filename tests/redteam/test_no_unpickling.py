"""Bytes from inside are never turned into objects or programs by the host."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import llm_sandbox

PACKAGE = Path(llm_sandbox.__file__).parent
LANGUAGES = PACKAGE / "language_handlers"
INSIDE = (PACKAGE / "guest", LANGUAGES / "python" / "shim", LANGUAGES / "java" / "resolver")
# What nothing from inside has written: a report that is only written, the settings of Maven in the
# home of whoever runs this, and the user's own handler, which the host only writes and the process
# that reads code receives first.
OF_THE_USER = {
    "cli/kubernetes.py": {"import yaml"},  # writes manifests, and reads none
    "evaluation/junit_report.py": {"import xml"},
    "language_handlers/java/packages.py": {"import xml"},
    "security/scan_pool.py": {"import pickle"},
    "security/scan_worker.py": {"import pickle", "pickle.loads"},
}
FORBIDDEN_MODULES = {
    "_pickle", "cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve", "torch", "xmlrpc",
    "xml", "lxml", "yaml",
}  # fmt: skip
FORBIDDEN_NAMES = {"compile", "eval", "exec", "__import__"}
FORBIDDEN_METHODS = {"extract", "extractall", "load_module", "read_pickle", "unsafe_load"}
PICKLE_READERS = {"load", "loads", "Unpickler"}
MUST_SAY_NO = {"load": "allow_pickle", "Popen": "shell", "run": "shell"}


def offences(text: str) -> list[tuple[int, str]]:
    """Lines of a module that turn bytes into objects or programs."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").split(".")[0]}
        else:
            names = set()
        found += [(node.lineno, f"import {name}") for name in names & FORBIDDEN_MODULES]
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in FORBIDDEN_NAMES:
            found.append((node.lineno, called.id))
        if isinstance(called, ast.Attribute):
            if called.attr in FORBIDDEN_METHODS:
                found.append((node.lineno, called.attr))
            if (
                isinstance(called.value, ast.Name)
                and called.value.id == "pickle"
                and called.attr in PICKLE_READERS
            ):
                found.append((node.lineno, f"pickle.{called.attr}"))
            for word in node.keywords:
                if (
                    word.arg is not None
                    and word.arg == MUST_SAY_NO.get(called.attr)
                    and not (isinstance(word.value, ast.Constant) and word.value.value is False)
                ):
                    found.append((node.lineno, f"{called.attr}({word.arg}=...)"))
    return found


def host_modules() -> list[Path]:
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if not any(folder in path.parents for folder in INSIDE)
    ]


def test_the_host_has_no_such_call() -> None:
    """No module outside of the guest imports a deserialiser, evaluates text, or extracts an
    archive.
    """
    found = {}
    for path in host_modules():
        name = str(path.relative_to(PACKAGE))
        listed = offences(path.read_text(encoding="utf-8"))
        listed = [(line, what) for line, what in listed if what not in OF_THE_USER.get(name, ())]
        if listed:
            found[name] = listed
    assert found == {}
    assert len(host_modules()) > 50


@pytest.mark.parametrize(
    "text",
    [
        "import pickle", "from pickle import loads", "import xml.etree.ElementTree", "eval(x)",
        "archive.extractall()", "numpy.load(path, allow_pickle=True)", "exec(x, {})",
        "subprocess.run(x, shell=True)", "import yaml", "frame = pandas.read_pickle(x)",
        "pickle.loads(x)",
    ],
)  # fmt: skip
def test_the_tripwire_would_notice(text: str) -> None:
    """Each forbidden line is found when it is there."""
    assert offences(text)


def test_a_pickle_from_inside_stays_bytes(session: object, tmp_path: Path) -> None:
    """A pickle that would run code arrives, by each way, as the bytes it is."""
    marker = tmp_path / "pwned"
    program = f"""
import os, pickle
class Bomb:
    def __reduce__(self): return (os.system, ('touch {marker}',))
data = pickle.dumps(Bomb())
open('artifact.pkl', 'wb').write(data); os.makedirs('out', exist_ok=True)
open('out/data.npy', 'wb').write(data); open('out/state.pt', 'wb').write(data)
from IPython.display import display
import base64
display({{'application/x-pickle': base64.b64encode(data).decode()}}, raw=True)
Bomb()
"""
    result = session.run(program)  # type: ignore[attr-defined]
    result.to_dict()
    files = session.sandbox.files  # type: ignore[attr-defined]
    assert files.read_bytes("artifact.pkl").startswith(b"\x80")
    files.download("out", tmp_path / "out")
    session.get_archive("out")  # type: ignore[attr-defined]
    assert not marker.exists()
    import pickle

    pickle.loads((tmp_path / "out" / "data.npy").read_bytes())
    assert marker.exists()  # the control: this is what unpickling would have done
