"""`run --session NAME`: a session that is kept between commands, variables and all."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from llm_sandbox.cli.endings import usage_error
from llm_sandbox.cli.options import MachineOptions
from llm_sandbox.cli.render import Progress, say
from llm_sandbox.const import language_name
from llm_sandbox.create import attach_session
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.session.session import BaseSession

__all__ = ["named_session"]

_IDLE_S = 86400.0


@contextlib.contextmanager
def named_session(name: str, machine: MachineOptions) -> Iterator[BaseSession]:
    """Attach to a session, or make one that is kept; let go of it at the end.

    Args:
        name: Its name.
        machine: What was asked for; a session that is there must have it.
    """
    machine = replace(machine, whole=False)
    try:
        session = attach_session(name)
        try:
            _check_options(name, session, machine)
        except BaseException:
            session.detach()
            raise
    except SandboxNotFoundError as error:
        if error.end_reason is not None:
            say(f"the session {name} had ended ({error.end_reason}); this is a new one")
        with Progress("starting sandbox"):
            session = machine.make_session(name=name, on_exit="keep", idle_timeout=_IDLE_S)
            session.open()
        say(f"the session {name} was made, and is kept: `llm-sandbox stop {name}` ends it")
    with session:
        if machine.libraries:
            with Progress(f"installing {', '.join(machine.libraries)}"):
                session.install(list(machine.libraries))
        yield session


def _check_options(name: str, session: BaseSession, machine: MachineOptions) -> None:
    """Refuse options that the session was not made with."""
    config = session.config
    differs = {
        "--lang": language_name(machine.lang) != language_name(config.lang),
        "--backend": machine.backend not in (None, session.backend),
        "--network": machine.network not in ("blocked", config.network),
        "--memory": machine.memory is not None and machine.limits() != config.limits,
        "--policy": machine.policy is not None
        and machine.security_policy() != config.security_policy,
        "--env": not machine.variables().items() <= dict(config.env).items(),
    }
    other = [option for option, is_other in differs.items() if is_other]
    if other:
        usage_error(
            f"the session {name} was made with another {' and '.join(other)}",
            f"leave that out, give another name, or end it: llm-sandbox stop {name}",
        )
