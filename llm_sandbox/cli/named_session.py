"""`run --session NAME`: a session that is kept between commands, variables and all."""

import contextlib
from collections.abc import Iterator

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.options import SessionOptions
from llm_sandbox.cli.render import Progress, say
from llm_sandbox.const import language_name
from llm_sandbox.create import attach_session
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.session.session import BaseSession

__all__ = ["named_session"]

_IDLE_S = 86400.0


@contextlib.contextmanager
def named_session(name: str, options: SessionOptions, lang: str) -> Iterator[BaseSession]:
    """Attach to a session, or make one that is kept; let go of it at the end.

    Args:
        name: Its name.
        options: What was asked for; a session that is there must have it.
        lang: The language.
    """
    try:
        session = attach_session(name)
        try:
            _check_options(name, session, options, lang)
        except BaseException:
            session.detach()
            raise
    except SandboxNotFoundError as error:
        if error.end_reason is not None:
            say(f"the session {name} had ended ({error.end_reason}); this is a new one")
        with Progress("starting sandbox"):
            session = options.make_session(
                lang, whole=False, name=name, on_exit="keep", idle_timeout=_IDLE_S
            )
            session.open()
        say(f"the session {name} was made, and is kept: `llm-sandbox stop {name}` ends it")
    with session:
        if options.lib:
            with Progress(f"installing {', '.join(options.lib)}"):
                session.install(list(options.lib))
        yield session


def _check_options(name: str, session: BaseSession, options: SessionOptions, lang: str) -> None:
    """Refuse options that the session was not made with."""
    config = session.config
    network = options.network_value()
    limits = options.limits()
    sized = [options.memory, options.cpus, options.processes, options.disk, options.limit]
    differs = {
        "--lang": language_name(lang) != language_name(config.lang),
        "--backend": options.backend not in (None, session.backend),
        "--image": options.image is not None,
        "--mount": options.mounts() not in ({}, dict(config.mounts)),
        "--network": network not in ("blocked", config.network),
        "--memory or another limit": any(one is not None for one in (*sized, options.output_limit))
        and limits != config.limits,
        "--policy": options.policy is not None
        and options.security_policy() != config.security_policy,
        "--env": not options.variables().items() <= dict(config.env).items(),
    }
    other = [option for option, is_other in differs.items() if is_other]
    if other:
        usage_error(
            f"the session {name} was made with another {' and '.join(other)}",
            f"leave that out, give another name, or end it: llm-sandbox stop {name}",
        )
