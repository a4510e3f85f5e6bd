"""The classes of container engines: their reference's names, parameters, order and defaults, and
that every parameter has an effect or is refused.
"""

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from llm_sandbox import (
    ArtifactSandboxSession,
    BaseSession,
    SandboxSession,
    ValidationError,
    aio,
    create_session,
)
from llm_sandbox.docker import SandboxDockerSession
from llm_sandbox.exceptions import (
    LanguageNotSupportedError,
    UnsupportedError,
)
from llm_sandbox.micromamba import MicromambaSession
from llm_sandbox.podman import SandboxPodmanSession

MARK = "/srv/mark"

# --- names, order, defaults

DOCKER = """
client=None, image=None, dockerfile=None, lang="python", keep_template=False,
commit_container=False, verbose=False, stream=False, runtime_configs=None, workdir="/sandbox",
security_policy=None, default_timeout=None, execution_timeout=None, session_timeout=None,
container_id=None, **kwargs
"""
PODMAN = """
client=None, image=None, dockerfile=None, lang="python", keep_template=False,
commit_container=False, verbose=False, mounts=None, stream=False, runtime_configs=None,
workdir="/sandbox", security_policy=None, default_timeout=None, execution_timeout=None,
session_timeout=None, container_id=None, **kwargs
"""
MICROMAMBA = """
client=None, image="mambaorg/micromamba:latest", dockerfile=None, lang="python",
keep_template=False, verbose=False, mounts=None, environment="base", commit_container=False,
stream=True, runtime_configs=None, workdir="/sandbox", security_policy=None, default_timeout=None,
execution_timeout=None, session_timeout=None, container_id=None, **kwargs
"""
ARTIFACT = """
backend=None, image=None, dockerfile=None, lang="python", *, keep_template=False,
commit_container=False, verbose=False, runtime_configs=None, workdir="/sandbox",
enable_plotting=True, security_policy=None, container_id=None
"""
MEMBERS = [
    *("open", "close", "run", "execute_command", "execute_commands", "install", "is_safe"),
    *("copy_to_runtime", "copy_from_runtime", "get_archive", "container", "client", "is_open"),
    *("using_existing_container", "docker_image", "keep_template", "commit_container"),
    *("stream", "verbose", "committed_image"),
]

Parameter = tuple[str, inspect._ParameterKind, object]


def parameters(text: str) -> list[Parameter]:
    """What a signature in words says: name, kind and default of each."""
    definition = ast.parse(f"def f({text.strip()}): pass").body[0]
    scope: dict[str, Any] = {}
    exec(compile(ast.Module([definition], []), "<reference>", "exec"), scope)
    return listed(scope["f"])


def listed(function: Callable[..., Any]) -> list[Parameter]:
    found = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in found if one.name != "self"]


@pytest.mark.parametrize(
    ("cls", "text"),
    [
        (SandboxDockerSession, DOCKER),
        (SandboxPodmanSession, PODMAN),
        (MicromambaSession, MICROMAMBA),
    ],
    ids=["docker", "podman", "micromamba"],
)
def test_engine_sessions_have_the_reference_signature(cls: type, text: str) -> None:
    assert parameters(text) == listed(cls)


@pytest.mark.parametrize(
    "function",
    [ArtifactSandboxSession, create_session, aio.create_session],
    ids=["class", "function", "aio"],
)
def test_sessions_have_the_reference_parameters(function: Callable[..., Any]) -> None:
    """In order and with its defaults, but for `backend`: None picks the strongest that works."""
    found = listed(function)
    wanted = parameters(ARTIFACT)
    assert [one for one in found if one in wanted] == wanted
    assert all(
        kind is inspect.Parameter.KEYWORD_ONLY for name, kind, _ in found[4:] if name != "lang"
    )


def test_the_family_is_the_references() -> None:
    assert issubclass(SandboxDockerSession, BaseSession)
    assert issubclass(SandboxPodmanSession, SandboxDockerSession)
    assert issubclass(MicromambaSession, SandboxDockerSession)
    assert SandboxSession is create_session


@pytest.mark.parametrize("cls", [SandboxDockerSession, SandboxPodmanSession, MicromambaSession])
def test_members(cls: type) -> None:
    annotated = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})}
    assert [] == [name for name in MEMBERS if not (hasattr(cls, name) or name in annotated)]


def test_the_engines_client_is_still_imported_by_its_name() -> None:
    """A module of ours that is called docker does not stand before the one that it uses."""
    code = (
        "import llm_sandbox.docker, llm_sandbox.podman, docker, sys;"
        "assert hasattr(docker, 'DockerClient'), docker; print(docker.__version__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)


# --- arguments that are refused, without an engine


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("mount", "mounts"), ("libs", None), ("default_timeouts", "default_timeout")],
)
def test_an_unknown_argument_is_refused_with_the_nearest(name: str, nearest: str | None) -> None:
    with pytest.raises(ValidationError, match=name) as caught:
        SandboxDockerSession(**{name: 1})
    assert caught.value.parameter == name
    assert nearest is None or nearest in str(caught.value.hint)


@pytest.mark.parametrize(
    "arguments",
    [
        {"image": "a", "dockerfile": "b"},
        {"container_id": "a", "image": "b"},
        {"commit_image_tag": "a:b"},
        {"runtime_configs": {"mem_limits": "1g"}},
        {"runtime_configs": ["mem_limit"]},
        {"mounts": ["nowhere"]},
        {"allow_unsafe": ["everything"]},
        {"lang": "cobol"},
        {"default_timeout": -1},
        {"workdir": "/usr"},
    ],
    ids=str,
)
@pytest.mark.parametrize("backend", ["docker", "podman"])
def test_what_cannot_be_is_refused(backend: str, arguments: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, LanguageNotSupportedError)):
        create_session(backend=backend, **arguments)


def test_an_environment_is_for_micromamba() -> None:
    with pytest.raises(UnsupportedError, match="environment=") as caught:
        create_session(backend="docker", environment="base")
    assert "env={" in str(caught.value.hint)


@pytest.mark.parametrize(
    "arguments",
    [
        {"image": "a"},
        {"dockerfile": "a"},
        {"container_id": "a"},
        {"commit_container": True},
        {"commit_image_tag": "a:b"},
        {"mounts": ["/a:/b"]},
        {"allow_unsafe": ["mounts"]},
        {"environment": "base"},
        {"client": object()},
        {"runtime_configs": {"labels": {}}},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_what_has_no_containers_refuses_their_options(arguments: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match=next(iter(arguments))):
        create_session(backend="bubblewrap", **arguments)


def test_equal_options_share_a_backend_and_others_do_not() -> None:
    """By which sessions that ask the same find containers that were made ready for them."""

    def backend_of(**arguments: Any) -> object:
        return create_session(backend="docker", **arguments)._backend  # type: ignore[attr-defined]

    configs = {"labels": {"a": "b"}, "mem_limit": "256m"}
    one = backend_of(runtime_configs=configs)
    assert one is backend_of(runtime_configs=dict(reversed(configs.items())))
    assert one is backend_of(runtime_configs={**configs, "environment": {"A": "1"}, "timeout": 3})
    assert one is not backend_of(runtime_configs={**configs, "mem_limit": "128m"})
    assert backend_of() is backend_of(runtime_configs={"environment": {"A": "1"}})
    assert not backend_of(commit_container=True).pooled  # type: ignore[attr-defined]
    assert not backend_of(container_id="a").pooled  # type: ignore[attr-defined]


def test_runtime_configs_are_the_callers() -> None:
    """They are neither changed nor followed when they change."""
    configs = {"environment": {"A": "1"}, "mem_limit": "256m", "timeout": 7}
    session = create_session(backend="docker", runtime_configs=configs, env={"B": "2"})
    assert {"environment": {"A": "1"}, "mem_limit": "256m", "timeout": 7} == configs
    configs["environment"]["A"] = "changed"  # type: ignore[index]
    assert {"A": "1", "B": "2"} == session.config.env
    assert 256 << 20 == session.config.limits.memory_bytes
    assert 7 == session.config.run_timeout(None)
