"""Options of new sessions: those of `create_session` that a client may give, and how far."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from llm_sandbox.create import create_session
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.limits import LimitOptions, Limits
from llm_sandbox.secrets import Secret
from llm_sandbox.security import SecurityPolicy, get_security_policy
from llm_sandbox.server.live_sandbox import NewSandbox
from llm_sandbox.server.options import ServerOptions
from llm_sandbox.session.config import Start
from llm_sandbox.session.lock import Busy

__all__ = [
    "API_NAME",
    "REFUSED",
    "NewSession",
    "check_libraries",
    "limits_of",
    "read_options",
]

API_NAME = "v1"

_OF_OPERATOR = "the operator of this server has chosen it"
_OF_PROCESS = "it belongs to the process of the client, and cannot be sent"

REFUSED: Mapping[str, str] = {
    "backend": _OF_OPERATOR,
    "image": "the images of this server are its templates; name one as template",
    "dockerfile": "this server builds no images for clients",
    "keep_template": "this server builds no images for clients",
    "commit_container": "this server saves no images for clients",
    "commit_image_tag": "this server saves no images for clients",
    "verbose": "the log of this server has no events of sessions",
    "stream": "the Accept header of a run chooses between a result and a stream",
    "runtime_configs": "options of the engine are the operator's",
    "container_id": "clients have sandboxes of their own only",
    "client": _OF_PROCESS,
    "mounts": "folders of the server are not shown to clients; upload files instead",
    "allow_unsafe": "isolation is not weakened over HTTP",
    "environment": _OF_OPERATOR,
    "kube_namespace": _OF_OPERATOR,
    "pod_manifest": _OF_OPERATOR,
    "env_vars": "it is another name of env",
    "observers": _OF_PROCESS,
    "name": "sessions of this server have ids",
    "on_exit": "sessions of this server outlive their clients until their time is over",
    "idle_timeout": "a session without session_timeout ends when it was not used for the time that "
    "GET /v1/limits names",
    "pool": _OF_PROCESS,
    "encoding_errors": "bytes that are not UTF-8 always appear as escapes",
    "server": "it is this one",
    "token": "it belongs into the Authorization header",
}
"""Why a client cannot give an option of `create_session`; all others it can."""

_NARROWED: Mapping[str, tuple[Any, str]] = {
    "lang": (str | None, "Language of the code; None for the template's."),
    "secrets": (
        dict[str, str] | None,
        "Secret environment variables by name, which no answer shows.",
    ),
    "security_policy": (
        SecurityPolicy | str | None,
        "Policy by which `run` refuses code, or the name of a ready-made one.",
    ),
    "workdir": (str, "Working directory in the sandbox."),
    "env": (dict[str, str], "Environment variables of everything in the sandbox."),
    "libraries": (list[str], "Libraries to install at open."),
}
"""Types of options as JSON has them, where they differ from `create_session`'s."""

_OWN = {
    "template": (str, Field("base", description="Template; see GET /v1/limits.")),
    "metadata": (dict[str, str], Field(default_factory=dict, description="Labels of the client.")),
}


class _Refusing(BaseModel):
    """Base of the options: what is unknown or not a client's to give is refused, in words."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            for name in given.keys() & REFUSED.keys():
                raise ValueError(f"{name} cannot be given over HTTP: {REFUSED[name]}")
        return given


def _described(function: Any) -> dict[str, str]:
    """Return the descriptions of parameters, from the docstring."""
    _, _, text = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    items = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text.partition("\nRaises:")[0], re.M)
    return {name: " ".join(words.split()) for name, words in items}


def _limit_model() -> type[BaseModel]:
    options: dict[str, Any] = {
        name: (kind | None, None) for name, kind in get_type_hints(LimitOptions).items()
    }
    return create_model(
        "Limits",
        __config__=ConfigDict(extra="forbid"),
        __doc__="Limits of a session, each at most the operator's.",
        **options,
    )


@cache
def _model() -> type[BaseModel]:
    names = {"SecurityPolicy": SecurityPolicy, "Start": Start, "Busy": Busy, "Secret": Secret}
    unsent = dict.fromkeys(
        ("SandboxPool", "OnExit", "RunObserver", "ArtifactSandboxSession", "BaseSession"), object
    )
    hints = get_type_hints(create_session, localns={**names, **unsent})
    words = _described(create_session)
    chosen: dict[str, Any] = {**_OWN}
    for name, parameter in inspect.signature(create_session).parameters.items():
        if name in REFUSED:
            continue
        kind, text = hints[name], words[name]
        default = parameter.default
        if name == "limits":
            kind = _limit_model() | None
        if name in _NARROWED:
            kind, text = _NARROWED[name]
            default = None if name == "lang" else default
        if isinstance(default, Sequence) and not isinstance(default, str):
            default = list(default)
        if name == "env":
            default = {}
        chosen[name] = (kind, Field(default, description=text))
    return create_model(
        "NewSession", __base__=_Refusing, __doc__="Options of a new session.", **chosen
    )


NewSession = _model()
"""Model of the body that creates a session, made from the parameters of `create_session`."""


def limits_of(options: ServerOptions) -> Limits:
    """Return the limits of a session whose client names none.

    Those of the operator, with the content of created files, which only this API returns.
    """
    most, usual = options.limits, Limits()
    return most.updated(
        artifacts=usual.artifacts, output_bytes=min(usual.output_bytes, most.output_bytes)
    )


def _narrowed(options: ServerOptions, asked: Mapping[str, Any]) -> Limits:
    """Return limits with what a client asks for.

    Raises:
        UnsupportedError: One is more than the operator allows.
        ValidationError: A value is invalid.
    """
    base = limits_of(options)
    limits = base.replace(**asked) if asked else base
    for item in fields(Limits):
        most, value = getattr(options.limits, item.name), getattr(limits, item.name)
        if item.name == "artifacts":
            most = base.artifacts
        if item.name in ("cpus_requested", "memory_requested_bytes"):
            most = most or 0  # a share of the machine that nobody else gets
        is_more = value is not None and most is not None and value > most
        if is_more or (value is None and most):
            shown = "no limit" if value is None else f"{value:g}"
            raise UnsupportedError(
                f"limits.{item.name} of {shown}",
                reason=f"the operator of this server allows {most:g}",
            )
    return limits


def check_libraries(libraries: Sequence[str], options: ServerOptions) -> None:
    """Refuse libraries where the operator has closed the network that they come from.

    Raises:
        UnsupportedError: It is closed.
    """
    if libraries and options.network == "blocked":
        raise UnsupportedError(
            "libraries",
            reason="the operator of this server has closed the network that they come from",
            hint="the operator starts the server with --network internet",
        )


def read_options(given: BaseModel, options: ServerOptions) -> NewSandbox:
    """Return the request for a sandbox that options describe.

    Args:
        given: A `NewSession`.
        options: What the operator allows.

    Raises:
        UnsupportedError: A limit is more than the operator allows.
        ValidationError: A value is invalid.
    """
    values: dict[str, Any] = {name: getattr(given, name) for name in type(given).model_fields}
    check_libraries(values["libraries"], options)
    limits = values.pop("limits")
    asked = {} if limits is None else limits.model_dump(exclude_unset=True)
    for name in ("memory", "cpus"):
        value = values.pop(name)
        if value is not None:
            if name in asked or f"{name}_bytes" in asked:
                raise ValidationError(f"{name} is given twice", parameter=name)
            asked[name] = value
    policy = values.pop("security_policy")
    if isinstance(policy, str):
        policy = get_security_policy(policy)  # type: ignore[arg-type]  # checked there
    return NewSandbox(
        API_NAME,
        template=values.pop("template"),
        workdir=values.pop("workdir"),
        timeout_s=values.pop("session_timeout"),
        metadata=values.pop("metadata"),
        envs=values.pop("env"),
        network=values.pop("network"),
        lang=values.pop("lang"),
        limits=_narrowed(options, asked),
        session={**values, "security_policy": policy},  # type: ignore[typeddict-item]
    )
