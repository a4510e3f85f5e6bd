"""Detached sessions: created in a sandbox daemon, and attached to from other processes."""

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Backend, MachineSpec
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import NameInUseError, UnsupportedError, ValidationError
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.machine import DetachedMachine
from llm_sandbox.sandbox.detached.record import ID, OnExit, check_name
from llm_sandbox.sandbox.detached.registry import find, find_by_name
from llm_sandbox.sandbox.detached.request import CreateRequest, DetachedSession
from llm_sandbox.sandbox.detached.start import attach, create_in_daemon
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.secrets.plan import plan_secrets
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llm_sandbox.telemetry import RunObserver

__all__ = ["DetachOptions", "detach_options_of", "find_session"]

_NAMESPACE = "default"


@dataclass(frozen=True)
class DetachOptions:
    """Options of a detached session.

    Attributes:
        name: Name of the session; None for its id alone.
        on_exit: Whether the session ends with the process that creates it.
        idle_timeout: Seconds without use after which it ends; None for no limit.
        found: Machine of the session, if another process has created it.
    """

    name: str | None = None
    on_exit: OnExit = "destroy"
    idle_timeout: float | None = None
    found: DetachedMachine | None = None

    @property
    def detaches(self) -> bool:
        """Whether the end of a with block detaches from the session."""
        return self.found is not None or self.on_exit == "keep"

    def machine(
        self, backend: Backend, spec: MachineSpec, config: SessionConfig
    ) -> DetachedMachine:
        """Return the machine; a new one is created by a sandbox daemon.

        Raises:
            NameInUseError: Another session has the name.
            UnsupportedError: The backend object, or an option, cannot be sent to another process.
        """
        if self.found is not None:
            return self.found
        try:
            request = CreateRequest(
                replace(spec, timeout_s=config.session_timeout),
                config.env,
                plan_secrets(config.secrets),
                config.network,
                name=self.name,
                namespace=_NAMESPACE,
                on_exit=self.on_exit,
                idle_timeout=self.idle_timeout,
                session=DetachedSession(str(config.lang), _serialize(config)),
            )
            return create_in_daemon(backend, request)
        except NameInUseError as error:
            error.hint = f"attach to that one, attach_session({self.name!r}), or use another name"
            raise


def detach_options_of(
    name: str | None, on_exit: OnExit, idle_timeout: float | None
) -> DetachOptions | None:
    """Return the options of a detached session; None if the session lives in this process.

    Raises:
        ValidationError: An option is invalid.
    """
    if on_exit not in ("destroy", "keep"):
        raise ValidationError(
            f"invalid on_exit: expected 'destroy' or 'keep', got {on_exit!r:.80}",
            parameter="on_exit",
        )
    idle_timeout = validate_timeout(idle_timeout, "idle_timeout")
    if name is None and on_exit == "destroy" and idle_timeout is None:
        return None
    return DetachOptions(None if name is None else check_name(name, "name"), on_exit, idle_timeout)


def _serialize(config: SessionConfig) -> str:
    from llm_sandbox.security import SecurityPolicy

    policy = config.security_policy
    if policy is not None and type(policy) is not SecurityPolicy:
        raise UnsupportedError(
            f"a security policy of type {type(policy).__name__}",
            reason="the policy of a detached session is sent to other processes, as plain data",
            hint="give a SecurityPolicy",
        )
    return json.dumps(
        {
            # Observers belong to a process; the policy is not a dataclass.
            "config": encode(replace(config, security_policy=None, observers=())),
            "policy": None if policy is None else policy.model_dump_json(),
        }
    )


def _deserialize(text: str) -> SessionConfig:
    found = json.loads(text)
    config: SessionConfig = decode(found["config"])
    if found["policy"] is None:
        return config
    from llm_sandbox.security import SecurityPolicy

    policy = SecurityPolicy.model_validate_json(found["policy"])
    return replace(config, security_policy=policy)


def find_session(
    name_or_id: str, *, observers: "Sequence[RunObserver]" = (), verbose: bool = False
) -> BaseSession:
    """Attach to a detached session; see `llm_sandbox.attach_session`."""
    with StateDir() as state_dir:
        if ID.fullmatch(str(name_or_id)):
            record = find(state_dir, name_or_id)
        else:
            check_name(name_or_id, "name_or_id")
            record = find_by_name(state_dir, name_or_id, _NAMESPACE)
        if record.place is not None:
            raise _without_session(name_or_id, record.id)
        machine = attach(state_dir, record)
    machine.lets_go = True
    try:
        detached = machine.info.request.session
        if detached is None:
            raise _without_session(name_or_id, record.id)
        config = replace(
            _deserialize(detached.words),
            limits=machine.spec.limits,  # which may have changed since
            observers=observers,
            verbose=verbose,
        )
        session = BaseSession(
            config,
            _backend(machine),
            f"the session {name_or_id} lives there",
            LanguageHandlerFactory.create_handler(config.lang),
            DetachOptions(machine.name, found=machine),
        )
        session.open()
    except BaseException:
        machine.release()
        raise
    return session


def _without_session(name_or_id: str, sandbox_id: str) -> ValidationError:
    return ValidationError(
        f"{name_or_id!r} is a sandbox without a session",
        parameter="name_or_id",
        hint=f"Sandbox.attach({sandbox_id!r}) attaches to it",
    )


def _backend(machine: DetachedMachine) -> Backend:
    backend = get_backend(machine.isolation.backend)
    options = machine.info.request.options
    return backend if options is None else backend.with_options(options)
