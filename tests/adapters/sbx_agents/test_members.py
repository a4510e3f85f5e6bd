"""Every member of the sandboxes of ``sbx-agents`` is here, with its signature and its default."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.adapters import sbx_agents
from llm_sandbox.adapters.sbx_agents import (
    DockerSandbox,
    DockerSbxSandbox,
    SandboxBackend,
    SandboxSession,
    WorkspaceFileMixin,
)

REQUIRED = object()
EXPORTED = (
    "DockerSandbox",
    "DockerSbxSandbox",
    "SandboxBackend",
    "SandboxSession",
    "WorkspaceFileMixin",
)
FIELDS: dict[type, dict[str, Any]] = {
    DockerSandbox: {
        "docker_args": [],
        "env": {},
        "id": "docker",
        "image": "python:3.12-slim",
        "name": None,
        "remove_on_exit": True,
        "workdir": "/workspace",
        "workspace": REQUIRED,
    },
    DockerSbxSandbox: {
        "branch": None,
        "codex_auth_from_host": False,
        "cpus": None,
        "force_recreate": False,
        "id": "docker_sbx",
        "memory": None,
        "name": None,
        "network_allow": [],
        "remove_on_exit": True,
        "secret_env": {},
        "secret_oauth": [],
        "secret_oauth_refresh": [],
        "workspace": REQUIRED,
    },
    SandboxSession: {"metadata": {}, "sandbox_name": None, "workspace": REQUIRED},
}
TURN = {
    "prepare": "(agent, run_config)",
    "run": "(session, command)",
    "collect": "(session)",
    "cleanup": "(session)",
}
METHODS: dict[type, dict[str, str]] = {
    SandboxBackend: TURN,
    DockerSandbox: TURN,
    DockerSbxSandbox: {
        **TURN,
        "check_agent_secrets": "(agent_id, *, timeout_seconds=10)",
        "check_available": "()",
        "check_ready": "(*, timeout_seconds=10)",
        "ensure_agent_auth": "(agent, run_config=None, *, stream_output=False)",
        "ensure_agent_secret": "(agent_id, *, timeout_seconds=10, stream_output=False)",
        "has_global_secret": "(service, *, timeout_seconds=10)",
        "is_available": "()",
        "is_ready": "(*, timeout_seconds=10)",
        "set_global_oauth_secret": "(service, *, timeout_seconds=120, stream_output=False)",
        "set_global_secret": "(service, value, *, timeout_seconds=10)",
    },
    WorkspaceFileMixin: {
        "delete_file": "(path)",
        "get_bytes": "(path)",
        "get_file": "(path, *, encoding='utf-8')",
        "list_files": "(pattern='**/*')",
        "put_bytes": "(path, content)",
        "put_file": "(path, content, *, encoding='utf-8')",
    },
}
OURS = {"engine": "sbx", "backend": None}
OF_CLASS = (
    *("check_agent_secrets", "check_available", "check_ready", "has_global_secret"),
    *("is_available", "is_ready", "set_global_oauth_secret", "set_global_secret"),
)


@pytest.mark.parametrize("name", EXPORTED)
def test_is_exported(name: str) -> None:
    assert name in sbx_agents.__all__
    assert hasattr(sbx_agents, name)


@pytest.mark.parametrize(
    ("owner", "name", "default"),
    [(owner, name, value) for owner, all_ in FIELDS.items() for name, value in all_.items()],
    ids=lambda value: (
        "required" if value is REQUIRED else getattr(value, "__name__", str(value))[:24]
    ),
)
def test_field(owner: Any, name: str, default: object) -> None:
    """A field has the default that callers of the other library rely on."""
    field = owner.model_fields[name]
    if default is REQUIRED:
        assert field.is_required()
    else:
        assert default == field.get_default(call_default_factory=True)


@pytest.mark.parametrize(
    ("owner", "name", "signature"),
    [(owner, name, text) for owner, all_ in METHODS.items() for name, text in all_.items()],
    ids=lambda value: getattr(value, "__name__", str(value))[:24],
)
def test_method(owner: type, name: str, signature: str) -> None:
    """A call that the other library's signature allows is allowed here; more is ours alone, by
    keyword and with a default.
    """
    parameters = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in inspect.signature(getattr(owner, name)).parameters.values()
        if one.name != "self"
    ]
    ours = [one for one in parameters if one.name in OURS]
    assert all(one.kind is one.KEYWORD_ONLY and one.default == OURS[one.name] for one in ours)
    shown = str(inspect.Signature([one for one in parameters if one.name not in OURS]))
    assert signature == shown
    if name in OF_CLASS:
        assert inspect.ismethod(getattr(owner, name))


@pytest.mark.parametrize("kind", [DockerSandbox, DockerSbxSandbox])
def test_is_a_backend_with_files(kind: Any, tmp_path: Path) -> None:
    sandbox = kind(workspace=tmp_path)
    assert isinstance(sandbox, SandboxBackend)
    assert isinstance(sandbox, WorkspaceFileMixin)
    assert kind.model_config["arbitrary_types_allowed"]
