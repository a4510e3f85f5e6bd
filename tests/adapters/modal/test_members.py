"""Every member and parameter of Modal's `Sandbox`, by name, order, kind and default."""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import Any

import pytest

from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal.io_streams import StreamReader, StreamWriter

PIPE = modal.StreamType.PIPE

# Name and default; "..." for none.
CREATE: list[tuple[str, Any]] = [
    ("entrypoint_args", ...),
    ("app", None),
    ("environment_name", None),
    ("image", None),
    ("mounts", ()),
    ("secrets", ()),
    ("network_file_systems", {}),
    ("timeout", None),
    ("workdir", None),
    ("gpu", None),
    ("cloud", None),
    ("region", None),
    ("cpu", None),
    ("memory", None),
    ("block_network", False),
    ("cidr_allowlist", None),
    ("volumes", {}),
    ("pty_info", None),
    ("encrypted_ports", ()),
    ("unencrypted_ports", ()),
    ("proxy", None),
    ("_experimental_scheduler_placement", None),
    ("client", None),
]
EXEC: list[tuple[str, Any]] = [
    ("self", ...),
    ("cmds", ...),
    ("pty_info", None),
    ("stdout", PIPE),
    ("stderr", PIPE),
    ("timeout", None),
    ("workdir", None),
    ("secrets", ()),
    ("text", True),
    ("bufsize", -1),
    ("_pty_info", None),
]
MEMBERS: dict[str, list[tuple[str, Any]]] = {
    "create": CREATE,
    "from_id": [("sandbox_id", ...), ("client", None)],
    "set_tags": [("self", ...), ("tags", ...), ("client", None)],
    "snapshot_filesystem": [("self", ...), ("timeout", 55)],
    "wait": [("self", ...), ("raise_on_termination", True)],
    "tunnels": [("self", ...), ("timeout", 50)],
    "terminate": [("self", ...)],
    "poll": [("self", ...)],
    "exec": EXEC,
    "list": [("app_id", None), ("tags", None), ("client", None)],
}
KEYWORD_ONLY = {"set_tags": {"client"}, "list": {"app_id", "tags", "client"}}


@pytest.mark.parametrize("name", MEMBERS)
def test_member_has_these_parameters_first(name: str) -> None:
    """What later versions of Modal added may come after them, and has a default."""
    found = list(inspect.signature(getattr(modal.Sandbox, name)).parameters.values())
    wanted = MEMBERS[name]
    assert wanted == [
        (one.name, ... if one.default is Parameter.empty else one.default)
        for one in found[: len(wanted)]
    ]
    for one in found[len(wanted) :]:
        assert one.kind is Parameter.KEYWORD_ONLY, one
        assert one.default is not Parameter.empty, one
    only = {one.name for one in found[: len(wanted)] if one.kind is Parameter.KEYWORD_ONLY}
    after_star = [one.kind for one in found].count(Parameter.VAR_POSITIONAL)
    assert after_star or only == KEYWORD_ONLY.get(name, set())


@pytest.mark.parametrize("name", ["create", "exec"])
def test_words_come_one_by_one(name: str) -> None:
    parameters = inspect.signature(getattr(modal.Sandbox, name)).parameters
    assert Parameter.VAR_POSITIONAL in [one.kind for one in parameters.values()]


@pytest.mark.parametrize("name", ["stdout", "stderr", "stdin", "returncode", "object_id"])
def test_property(name: str) -> None:
    assert isinstance(inspect.getattr_static(modal.Sandbox, name), property)


@pytest.mark.parametrize("name", ["create", "from_id", "from_name", "list"])
def test_static_call_has_a_twin(name: str) -> None:
    assert callable(getattr(modal.Sandbox, name).aio)


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (
            modal.Sandbox,
            """detach exec get_tags poll reload_volumes set_tags snapshot_directory
            snapshot_filesystem terminate tunnels wait wait_until_ready""",
        ),
        (modal.ContainerProcess, "poll wait"),
        (StreamReader, "read"),
        (StreamWriter, "drain write write_eof"),
        (modal.Volume, "commit copy_files listdir read_file_into_fileobj reload remove_file"),
        (modal.Image, "build publish"),
    ],
)
def test_method_has_a_twin(owner: type, names: str) -> None:
    """Of an object, which nobody has initialised: the twin is there before anything happens."""
    instance: Any = object.__new__(owner)
    for name in names.split():
        method = getattr(instance, name)
        assert inspect.iscoroutinefunction(method.aio), name
        assert method.__doc__, name


@pytest.mark.parametrize(
    ("name", "parents"),
    [
        ("ConflictError", ["InvalidError"]),
        ("ExecTimeoutError", ["TimeoutError"]),
        ("SandboxTimeoutError", ["TimeoutError"]),
        ("SandboxFilesystemNotFoundError", ["SandboxFilesystemError"]),
        *((name, ["Error"]) for name in modal.exception.__all__ if name != "Error"),
    ],
)
def test_errors_are_caught_by_their_parents(name: str, parents: list[str]) -> None:
    found = getattr(modal.exception, name)
    for parent in parents:
        assert issubclass(found, getattr(modal.exception, parent))
