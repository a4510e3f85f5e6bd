"""Options that several commands share, and the sessions that they describe."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.grammar import Option
from llm_sandbox.cli.render import Progress, say
from llm_sandbox.cli.resource_options import ResourceOptions

if TYPE_CHECKING:
    from llm_sandbox.mounts import Bind
    from llm_sandbox.network import Network as SandboxNetwork
    from llm_sandbox.sandbox.detached.record import OnExit
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.session import BaseSession

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "MachineOptions",
    "Network",
    "NetworkOption",
    "SessionOption",
    "SessionOptions",
    "named_session",
    "opened_session",
    "read_seconds",
    "ready_session",
]

SessionOption = Annotated[
    str | None,
    Option(
        "--session",
        help="Run in the session of this name, with the variables and files that it has; made if "
        "there is none. It ends when it was unused for 24 hours, or by `stop NAME`.",
        metavar="NAME",
    ),
]
DEFAULT_TIMEOUT_S = 300.0
"""Default time limit of a program in seconds."""
_ACCESS = {"ro": True, "rw": False}
_IDLE_S = 86400.0


class Network(StrEnum):
    """Network access of the sandbox."""

    BLOCKED = "blocked"
    INTERNET = "internet"
    OPEN = "open"


NetworkOption = Annotated[
    Network,
    Option(
        "--network",
        help="`internet` is what is public, `open` shares the network of this machine.",
    ),
]


class MachineOptions(ResourceOptions):
    """Options of a sandbox."""

    backend: Annotated[
        str | None,
        Option(
            "--backend",
            "-b",
            help="Where the sandbox is made; without it, the strongest that works here (see "
            "doctor).",
            metavar="NAME",
        ),
    ] = None
    image: Annotated[
        str | None, Option("--image", help="Image of a container.", metavar="IMAGE")
    ] = None
    mount: Annotated[
        list[str] | None,
        Option(
            "--mount",
            help="File or folder of this computer to show at PATH, read-only unless it ends in "
            ":rw; may be repeated.",
            metavar="HOST:PATH[:ro|rw]",
        ),
    ] = None
    network: Annotated[
        Network,
        Option(
            "--network",
            help="`internet` is what is public, `open` shares the network of this machine.",
        ),
    ] = Network.BLOCKED
    allow: Annotated[
        list[str] | None,
        Option(
            "--allow",
            help="Host that may be connected to, such as pypi.org, *.example.com:443 or "
            "10.0.0.5:5432, and no other; may be repeated.",
            metavar="HOST[:PORT]",
        ),
    ] = None
    deny: Annotated[
        list[str] | None,
        Option(
            "--deny",
            help="Host that stays closed, whatever else is open; may be repeated.",
            metavar="HOST",
        ),
    ] = None
    env: Annotated[
        list[str] | None,
        Option("--env", "-e", help="Environment variable; may be repeated.", metavar="KEY=VALUE"),
    ] = None

    def variables(self) -> dict[str, str]:
        """Return the variables of `--env`."""
        return dict(_variable(entry) for entry in self.env or ())

    def mounts(self) -> "dict[str, Bind]":
        """Return the mounts of `--mount`, by path inside."""
        return dict(_bind(entry) for entry in self.mount or ())

    def network_value(self) -> "SandboxNetwork":
        """Return the network, or the rules for it.

        Raises:
            ValidationError: A rule is invalid.
        """
        if not self.allow and not self.deny:
            return cast("SandboxNetwork", self.network.value)
        from llm_sandbox.network import NetworkRules

        if self.network is Network.OPEN:
            usage_error("--network open has no rules", "leave out --allow and --deny, or it")
        if self.network is Network.INTERNET:
            if self.allow:
                usage_error("--network internet allows more than --allow", "leave one of them out")
            return NetworkRules.internet(deny=self.deny or ())
        if not self.allow:
            usage_error("--deny closes what is closed already", "--network internet --deny HOST")
        addresses = [rule for rule in self.allow if _is_address(rule)]
        names = [rule for rule in self.allow if rule not in addresses]
        return NetworkRules.allow(domains=names, cidrs=addresses, deny=self.deny or ())


class SessionOptions(MachineOptions):
    """Options of a session."""

    lib: Annotated[
        list[str] | None,
        Option("--lib", help="Library to install first; may be repeated.", metavar="NAME"),
    ] = None
    output_limit: Annotated[
        str | None,
        Option(
            "--output-limit",
            help="What is kept of each stream of one run, such as 50m; 10m without it, 0 for "
            "nothing.",
            metavar="SIZE",
        ),
    ] = None
    policy: Annotated[
        str | None,
        Option(
            "--policy",
            help="Refuse code that this policy does not allow: minimal, development, educational, "
            "data_science, web_scraping, production, strict, or a TOML or JSON file.",
            metavar="PRESET|FILE",
        ),
    ] = None

    def sizes(self) -> list[tuple[str, str, str | None]]:
        """Return the options that are sizes, with `--output-limit`."""
        return [*super().sizes(), ("--output-limit", "output_bytes", self.output_limit)]

    def security_policy(self) -> "SecurityPolicy | None":
        """Return the policy of `--policy`, a preset or a file; None without one.

        Raises:
            ValidationError: There is no such preset, or the file describes no policy.
        """
        if self.policy is None:
            return None
        # Loads pydantic, which nothing else here needs.
        from llm_sandbox.security.policy_file import find_policy

        return find_policy(self.policy)

    def make_session(
        self,
        lang: str,
        *,
        whole: bool,
        name: str | None = None,
        on_exit: "OnExit" = "destroy",
        idle_timeout: float | None = None,
    ) -> "BaseSession":
        """Create the session, without opening it.

        Args:
            lang: The language.
            whole: Whether the session runs one whole program and nothing else.
            name: Name of a detached session; None for no name.
            on_exit: Whether the session ends with this command.
            idle_timeout: Seconds without use after which it ends; None for no limit.

        Raises:
            SandboxError: An option is invalid, or nothing here isolates.
        """
        from llm_sandbox.create import create_session

        return create_session(
            **self.session_arguments(lang, whole=whole),
            name=name,
            on_exit=on_exit,
            idle_timeout=idle_timeout,
        )

    def session_arguments(self, lang: str, *, whole: bool) -> dict[str, Any]:
        """Return the arguments of `create_session` that the options stand for; see `make_session`.

        Raises:
            SandboxError: An option is not acceptable.
        """
        from llm_sandbox.const import SupportedLanguage, language_name

        return {
            "backend": self.backend,
            "image": self.image,
            "lang": lang,
            "limits": self.limits(),
            "network": self.network_value(),
            "mounts": self.mounts(),
            "env": self.variables(),
            "security_policy": self.security_policy(),
            # Python's whole programs run in its kernel, which captures what they show.
            "persistent": not whole or language_name(lang) == SupportedLanguage.PYTHON,
        }


@contextlib.contextmanager
def opened_session(
    options: SessionOptions, lang: str, *, whole: bool = False
) -> "Iterator[BaseSession]":
    """Open a session and install its libraries, with progress messages; close it at the end.

    Args:
        options: Options of the command.
        lang: The language.
        whole: Whether the session runs one whole program and nothing else.
    """
    session = _take_ready_session(options, lang, whole=whole)
    if session is None:
        with Progress("starting sandbox"):
            session = options.make_session(lang, whole=whole)
            session.open()
    try:
        if options.lib:
            with Progress(f"installing {', '.join(options.lib)}"):
                session.install(list(options.lib))
        yield session
    finally:
        session.close()


ready_session: "BaseSession | None" = None
"""Open session with the default options for one whole Python program, in a worker of the command
daemon; None elsewhere."""


def _take_ready_session(options: SessionOptions, lang: str, *, whole: bool) -> "BaseSession | None":
    """Return the session that a worker has opened, if it is the one that the options describe."""
    global ready_session
    session, ready_session = ready_session, None
    if session is None:
        return None
    ready = SessionOptions().session_arguments("python", whole=True)
    if session.is_open and options.session_arguments(lang, whole=whole) == ready:
        return session
    session.close()
    return None


def read_seconds(text: str) -> float:
    """Parse the seconds of ``--timeout``; infinity for ``none``.

    Raises:
        ValueError: The text is not a number.
    """
    return float("inf" if text.strip().lower() == "none" else text)


def _is_address(rule: str) -> bool:
    from ipaddress import AddressValueError, IPv4Address

    try:
        IPv4Address(rule.partition("/")[0].partition(":")[0])
    except AddressValueError:
        return False
    return True


def _bind(entry: str) -> "tuple[str, Bind]":
    from pathlib import Path

    from llm_sandbox.mounts import Bind

    before, _, last = entry.rpartition(":")
    paths, access = (before, last) if last in _ACCESS else (entry, "ro")
    host, colon, inside = paths.rpartition(":")
    if not colon or not host or not inside.startswith("/"):
        usage_error(
            f"--mount: expected HOST:PATH with an absolute PATH, got {entry!r}",
            "--mount HOST:PATH[:ro|rw]",
        )
    if not Path(host).exists():
        usage_error(f"--mount: there is no {host}", "--mount HOST:PATH[:ro|rw]")
    return inside, Bind(host, read_only=_ACCESS[access])


def _variable(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not name or not equals:
        # The entry itself may be a secret that was put in the wrong place.
        usage_error("--env needs a name and a value", "--env KEY=VALUE")
    return name, value


@contextlib.contextmanager
def named_session(name: str, options: SessionOptions, lang: str) -> "Iterator[BaseSession]":
    """Attach to a detached session, or create one; detach from it at the end of the block.

    Args:
        name: Name of the session.
        options: Options of the command; an existing session must have been created with them.
        lang: Language of the session.
    """
    from llm_sandbox.create import attach_session
    from llm_sandbox.exceptions import SandboxNotFoundError

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
        say(f"the session {name} was created, and is detached: `llm-sandbox stop {name}` ends it")
    with session:
        if options.lib:
            with Progress(f"installing {', '.join(options.lib)}"):
                session.install(list(options.lib))
        yield session


def _check_options(name: str, session: "BaseSession", options: SessionOptions, lang: str) -> None:
    """Refuse options that the session was not created with."""
    from llm_sandbox.const import language_name

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
