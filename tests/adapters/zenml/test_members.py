"""Everything that ZenML's sandbox modules offer is here, with the same parameters."""

from __future__ import annotations

import abc
import importlib
import inspect
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.adapters import zenml
from llm_sandbox.host.distribution import install_command

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_DEFAULT = inspect.Parameter.empty
COMPONENT = {
    "name": NO_DEFAULT,
    "id": NO_DEFAULT,
    "config": NO_DEFAULT,
    "flavor": NO_DEFAULT,
    "type": NO_DEFAULT,
    "user": NO_DEFAULT,
    "created": NO_DEFAULT,
    "updated": NO_DEFAULT,
    "environment": None,
    "secrets": None,
    "labels": None,
    "connector_requirements": None,
    "connector": None,
    "connector_resource_id": None,
    "args": NO_DEFAULT,
    "kwargs": NO_DEFAULT,
}
MODEL = {"warn_about_plain_text_secrets": False, "kwargs": NO_DEFAULT}
COMMAND = {"command": NO_DEFAULT, "cwd": None, "env": None}
FLAVOR = ("config_class", "implementation_class", "type", "name")

# Where it is, what it is called, what its constructor takes; then methods with what they take, and
# properties.
TABLE: list[tuple[str, str, dict[str, Any], dict[str, dict[str, Any]], Iterable[str]]] = [
    (
        "base",
        "BaseSandbox",
        COMPONENT,
        {
            "create_session": {"settings": None},
            "attach": {"session_id": NO_DEFAULT},
            "restore": {"snapshot": NO_DEFAULT},
            "resolve_settings": {"override": None},
        },
        ("config", "settings_class"),
    ),
    ("base", "BaseSandboxConfig", MODEL, {}, ("is_local",)),
    ("base", "BaseSandboxFlavor", {}, {}, ("config_class", "implementation_class", "type")),
    ("base", "BaseSandboxSettings", MODEL, {}, ()),
    (
        "local_sandbox",
        "LocalSandbox",
        COMPONENT,
        {"create_session": {"settings": None}},
        ("config", "settings_class"),
    ),
    ("local_sandbox", "LocalSandboxConfig", MODEL, {}, ("is_local",)),
    (
        "local_sandbox",
        "LocalSandboxFlavor",
        {},
        {},
        (*FLAVOR, "docs_url", "logo_url", "sdk_docs_url"),
    ),
    ("local_sandbox", "LocalSandboxSettings", MODEL, {}, ()),
    (
        "local_sandbox",
        "LocalSandboxProcess",
        {"process": NO_DEFAULT, "session": NO_DEFAULT, "started_at": NO_DEFAULT},
        {"kill": {}, "stderr": {}, "stdout": {}, "wait": {"timeout": None}},
        ("exit_code",),
    ),
    (
        "local_sandbox",
        "LocalSandboxSession",
        {"workdir": NO_DEFAULT, "env": NO_DEFAULT, "parent": NO_DEFAULT},
        {},
        (),
    ),
    ("process", "SandboxExecError", {}, {}, ()),
    (
        "process",
        "SandboxOutput",
        {
            "stdout": NO_DEFAULT,
            "stderr": NO_DEFAULT,
            "exit_code": NO_DEFAULT,
            "stdout_truncated": False,
            "stderr_truncated": False,
        },
        {},
        (),
    ),
    (
        "process",
        "SandboxProcess",
        {"session": NO_DEFAULT, "started_at": NO_DEFAULT},
        {
            "collect": {"max_chars": 1_048_576},
            "kill": {},
            "stderr": {},
            "stdout": {},
            "wait": {"timeout": None},
        },
        ("exit_code",),
    ),
    (
        "session",
        "SandboxSession",
        {"id": NO_DEFAULT, "parent": NO_DEFAULT},
        {
            "aexec": COMMAND,
            "exec": COMMAND,
            "close": {},
            "create_snapshot": {},
            "destroy": {},
            "download_file": {"remote_path": NO_DEFAULT, "local_path": NO_DEFAULT},
            "upload_file": {"local_path": NO_DEFAULT, "remote_path": NO_DEFAULT},
        },
        ("closed",),
    ),
    ("session", "SandboxSessionClosedError", {}, {}, ()),
    ("snapshot", "SandboxSnapshot", {}, {}, ()),
]
BASES = {
    "BaseSandbox": (abc.ABC,),
    "BaseSandboxFlavor": (abc.ABC,),
    "SandboxProcess": (abc.ABC,),
    "SandboxSession": (abc.ABC,),
    "LocalSandbox": (zenml.BaseSandbox,),
    "LocalSandboxConfig": (zenml.BaseSandboxConfig, zenml.LocalSandboxSettings),
    "LocalSandboxFlavor": (zenml.BaseSandboxFlavor,),
    "LocalSandboxSettings": (zenml.BaseSandboxSettings,),
    "LocalSandboxProcess": (zenml.SandboxProcess,),
    "LocalSandboxSession": (zenml.SandboxSession,),
    "SandboxExecError": (RuntimeError,),
    "SandboxSessionClosedError": (RuntimeError,),
}
ABSTRACT = {
    "BaseSandbox": {"create_session"},
    "BaseSandboxFlavor": {"implementation_class"},
    "SandboxProcess": {"exit_code", "kill", "stderr", "stdout", "wait"},
}
PACKAGE = [
    "LOCAL_SANDBOX_FLAVOR",
    "BaseSandbox",
    "BaseSandboxConfig",
    "BaseSandboxFlavor",
    "BaseSandboxSettings",
    "LocalSandbox",
    "LocalSandboxConfig",
    "LocalSandboxFlavor",
    "LocalSandboxSettings",
    "SandboxExecError",
    "SandboxOutput",
    "SandboxProcess",
    "SandboxSession",
    "SandboxSessionClosedError",
    "SandboxSnapshot",
]


def takes(function: Any, expected: dict[str, Any], *, all_of_them: bool) -> None:
    """A function has these parameters, with these defaults; others of its own are optional."""
    found = dict(inspect.signature(function).parameters)
    for name, default in expected.items():
        assert name in found, f"{function}: no {name}"
        assert default == found[name].default, f"{function}: the default of {name}"
    more = set(found) - set(expected) - {"self"}
    assert not any(found[name].default is NO_DEFAULT for name in more), more
    if all_of_them:
        # Positional ones stand in the same order.
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD,)
        ours = [name for name in found if name in expected and found[name].kind in kinds]
        assert [name for name in expected if name in ours] == ours


@pytest.mark.parametrize("name", PACKAGE)
def test_the_package_exports_it(name: str) -> None:
    assert name in zenml.__all__
    assert hasattr(zenml, name)


def test_the_name_of_the_local_flavor() -> None:
    assert "local" == zenml.LOCAL_SANDBOX_FLAVOR == zenml.LocalSandboxFlavor().name


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}.{row[1]}")
def test_class_has_every_member(row: Any) -> None:
    module, name, constructor, methods, properties = row
    cls = getattr(importlib.import_module(f"llm_sandbox.adapters.zenml.{module}"), name)
    assert cls is getattr(zenml, name)
    if constructor:
        takes(cls.__init__, constructor, all_of_them=True)
    for method, parameters in methods.items():
        takes(getattr(cls, method), parameters, all_of_them=True)
    for attribute in properties:
        assert isinstance(inspect.getattr_static(cls, attribute), property), attribute
    assert issubclass(cls, BASES.get(name, ()) or object)
    assert all(issubclass(cls, base) for base in BASES.get(name, ()))
    assert ABSTRACT.get(name, set()) <= getattr(cls, "__abstractmethods__", set())


def test_fields_of_models() -> None:
    fields = {
        zenml.BaseSandboxSettings: {"sandbox_environment"},
        zenml.LocalSandboxSettings: {"sandbox_environment", "forward_env"},
        zenml.LocalSandboxConfig: {"sandbox_environment", "forward_env"},
        zenml.SandboxSnapshot: {"sandbox_id", "ref", "metadata"},
    }
    assert fields == {cls: set(cls.model_fields) for cls in fields}


def test_aexec_is_awaited() -> None:
    assert inspect.iscoroutinefunction(zenml.SandboxSession.aexec)


def test_nothing_imports_zenml_and_the_flavors_for_it_say_what_is_missing() -> None:
    """In a Python in which ZenML cannot be imported all modules can, and all stand-alone classes
    are there.
    """
    code = """
import sys, pkgutil, importlib, importlib.util
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "zenml":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "zenml" else find_spec(name, *a)
import llm_sandbox.adapters.zenml as package
from llm_sandbox.exceptions import MissingDependencyError
for found in pkgutil.iter_modules(package.__path__):
    importlib.import_module(f"{package.__name__}.{found.name}")
for name in package.__all__:
    getattr(package, name)
assert not [name for name in sys.modules if name.partition(".")[0] == "zenml"]
from llm_sandbox.adapters.zenml import stack
for name in stack.__all__:
    if name.endswith("Flavor"):
        try:
            getattr(stack, name)()
        except MissingDependencyError as error:
            print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "" == done.stderr
    assert 4 == done.stdout.count(install_command("zenml")), done.stdout
