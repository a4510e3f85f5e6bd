"""What a session was asked for, checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from llm_sandbox.backends.base import Backend, validate_workdir
from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.limits import Limits, validate_timeout
from llm_sandbox.mounts import Mount, check_mounts
from llm_sandbox.network import Network, rules_of
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret
from llm_sandbox.session.lock import Busy
from llm_sandbox.session.resolution import apply_runtime_configs, take_place

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["SessionConfig", "Start", "settle"]

Start = Literal["warm", "cold"]


@dataclass(frozen=True)
class SessionConfig:
    """The settings of one session.

    Raises:
        ValidationError: A value is not acceptable; `parameter` names it.
    """

    lang: str = SupportedLanguage.PYTHON
    """Language of the code: a `SupportedLanguage`, or the name of one that was registered."""
    workdir: str = "/sandbox"
    """Working directory in the sandbox, absolute."""
    limits: Limits = field(default_factory=Limits)
    """What the sandbox may use."""
    network: Network = "blocked"
    """What the sandbox reaches: nothing, what rules allow, the public internet, or what the host
    does."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of everything that runs in the sandbox."""
    secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan = field(
        default_factory=SecretPlan, repr=False
    )
    """What it gets of secrets, which no representation and no error shows."""
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    """What of this computer the sandbox is given, by path inside."""
    libraries: Sequence[str] = ()
    """Libraries to install at open."""
    skip_environment_setup: bool = False
    """Whether the sandbox is used as it is, and nothing may be installed in it."""
    persistent: bool = True
    """Whether variables are kept from run to run."""
    start: Start = "warm"
    """``warm``: the interpreter is a fork of a shared, preloaded one. ``cold``: it shares no memory
    layout."""
    enable_plotting: bool = True
    """Whether displays that are plots are listed in `ExecutionResult.plots`."""
    security_policy: "SecurityPolicy | None" = None
    """What code is refused before it is run."""
    default_timeout: float | None = None
    """Seconds for commands, and for runs without a timeout of their own."""
    execution_timeout: float | None = None
    """Seconds for runs."""
    session_timeout: float | None = None
    """Seconds until the sandbox ends, counted from when it is open."""
    verbose: bool = False
    """Whether what happens is logged at level INFO."""
    observers: "Sequence[RunObserver]" = field(default=(), repr=False, compare=False)
    """Called with a `RunRecord` after each run, command and installation."""
    busy: Busy = "wait"
    """What a call does while another thread's runs: ``wait`` for its turn, or ``raise``
    `SessionBusyError`."""

    def __post_init__(self) -> None:
        for name in ("default_timeout", "execution_timeout", "session_timeout"):
            object.__setattr__(self, name, validate_timeout(getattr(self, name), name))
        object.__setattr__(self, "workdir", validate_workdir(self.workdir))
        object.__setattr__(self, "mounts", check_mounts(self.mounts, self.workdir))
        object.__setattr__(self, "lang", language_name(self.lang))
        _check_policy(self.security_policy)
        if self.observers != ():
            from llm_sandbox.telemetry.record import checked_observers

            object.__setattr__(self, "observers", checked_observers(self.observers))
        rules_of(self.network)  # refuses what is no network
        object.__setattr__(self, "secrets", plan_secrets(self.secrets))
        if self.skip_environment_setup and self.libraries:
            raise ValidationError(
                "libraries= cannot be installed with skip_environment_setup=True",
                parameter="libraries",
                hint="use an image that has them, or leave skip_environment_setup out",
            )
        if self.start not in ("warm", "cold"):
            raise ValidationError(
                f"start is 'warm' or 'cold', not {self.start!r}", parameter="start"
            )
        if self.busy not in ("wait", "raise"):
            raise ValidationError(f"busy is 'wait' or 'raise', not {self.busy!r}", parameter="busy")

    def run_timeout(self, asked: float | None) -> float | None:
        """Seconds that a run may take: what was asked, else the session's own."""
        for value in (asked, self.execution_timeout, self.default_timeout):
            if value is not None:
                return value
        return None

    def get_execution_timeout(self) -> float | None:
        """Seconds that a run may take when it names no timeout; None for no limit."""
        return self.run_timeout(None)

    def program_environment(self) -> dict[str, str]:
        """The caller's variables, secrets included."""
        return {**plan_secrets(self.secrets).env, **self.env}


def _check_policy(policy: object) -> None:
    if policy is None:
        return
    from llm_sandbox.security import SecurityPolicy

    if not isinstance(policy, SecurityPolicy):
        name = policy if isinstance(policy, str) else "production"
        raise ValidationError(
            f"security_policy must be a SecurityPolicy, not {type(policy).__name__}",
            parameter="security_policy",
            hint=f"security_policy=get_security_policy({name!r})",
        )


def settle(
    backend: Backend,
    config: SessionConfig,
    asked: Mapping[str, Any],
    runtime_configs: Mapping[str, Any] | None = None,
    client: object = None,
) -> tuple[Backend, SessionConfig]:
    """Return the backend and the settings that a session has after all that was asked for.

    Args:
        backend: The one that was chosen.
        config: The settings so far.
        asked: Options of containers, by the names of a session's arguments.
        runtime_configs: Engine options by docker-py's names.
        client: An engine's client.

    Raises:
        UnsupportedError: The backend cannot honour an option.
        ValidationError: A value is not acceptable.
        SecurityError: An option would open a container's walls and is not in ``allow_unsafe``.
    """
    mounts = asked.get("mounts")
    # One of Docker's own is a mapping, too.
    if isinstance(mounts, Mapping) and "Target" not in mounts:
        asked = {**asked, "mounts": ()}
        config = replace(config, mounts=mounts)
    config, configs = take_place(config, runtime_configs)
    if not backend.has_containers:
        _refuse_container_options(backend.name, {**asked, "client": client})
        return backend, apply_runtime_configs(config, configs, backend)
    from llm_sandbox.session.containers import bind_container

    return bind_container(backend, config, asked, configs, client)


def _refuse_container_options(backend: str, options: Mapping[str, object]) -> None:
    """Refuse what only a container engine has, rather than ignore it.

    Raises:
        UnsupportedError: An option has a value that asks for something.
    """
    for name, value in options.items():
        # Where nothing is built, nothing is kept.
        if name != "keep_template" and not (value is None or value is False or value in ((), [])):
            engine = "micromamba" if name == "environment" else "docker"
            raise UnsupportedError(
                f"{name}=",
                backend,
                "it has no images and no containers",
                hint=f"name a container backend: backend={engine!r}",
            )
