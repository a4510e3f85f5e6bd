"""Settings of a session, checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from llm_sandbox.backends.base import validate_workdir
from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits, validate_timeout
from llm_sandbox.mounts import Mount, check_mounts
from llm_sandbox.network import Network, rules_of
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret
from llm_sandbox.session.lock import Busy

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["SessionConfig", "Start"]

Start = Literal["warm", "cold"]


@dataclass(frozen=True)
class SessionConfig:
    """Settings of one session.

    Raises:
        ValidationError: A value is invalid; `parameter` names it.
    """

    lang: str = SupportedLanguage.PYTHON
    """Language of the code: a `SupportedLanguage`, or the name of one that was registered."""
    workdir: str = "/sandbox"
    """Working directory in the sandbox, absolute."""
    limits: Limits = field(default_factory=Limits)
    """Resources that the sandbox may use."""
    network: Network = "blocked"
    """Network of the sandbox: none, the hosts of rules, the public internet, or the host's."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of everything that runs in the sandbox."""
    secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan = field(
        default_factory=SecretPlan, repr=False
    )
    """Secrets of the sandbox, which no representation and no error shows."""
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    """Mounts of the host in the sandbox, by path inside."""
    libraries: Sequence[str] = ()
    """Libraries to install at open."""
    skip_environment_setup: bool = False
    """Whether installing in the sandbox is refused."""
    persistent: bool = True
    """Whether variables are kept from run to run."""
    start: Start = "warm"
    """``warm``: the interpreter is a fork of a shared, preloaded one. ``cold``: it shares no memory
    layout."""
    enable_plotting: bool = True
    """Whether displays that are plots are listed in `ExecutionResult.plots`."""
    security_policy: "SecurityPolicy | None" = None
    """Policy that refuses code before it is run."""
    default_timeout: float | None = None
    """Seconds for commands, and for runs without a timeout of their own."""
    execution_timeout: float | None = None
    """Seconds for runs."""
    session_timeout: float | None = None
    """Seconds until the sandbox ends, counted from when it is open."""
    verbose: bool = False
    """Whether events are logged at level INFO."""
    observers: "Sequence[RunObserver]" = field(default=(), repr=False, compare=False)
    """Called with a `RunRecord` after each run, command and installation."""
    busy: Busy = "wait"
    """Behaviour of a call while another thread's runs: ``wait``, or ``raise``
    `SessionBusyError`.
    """

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
        rules_of(self.network)  # raises for an invalid network
        object.__setattr__(self, "secrets", plan_secrets(self.secrets))
        if self.skip_environment_setup and self.libraries:
            raise ValidationError(
                "libraries= cannot be installed with skip_environment_setup=True",
                parameter="libraries",
                hint="use an image that has them, or leave skip_environment_setup out",
            )
        if self.start not in ("warm", "cold"):
            raise ValidationError(
                f"invalid start: expected 'warm' or 'cold', got {self.start!r}", parameter="start"
            )
        if self.busy not in ("wait", "raise"):
            raise ValidationError(
                f"invalid busy: expected 'wait' or 'raise', got {self.busy!r}", parameter="busy"
            )

    def run_timeout(self, asked: float | None) -> float | None:
        """Return the seconds that a run may take: its own timeout, else the session's."""
        for value in (asked, self.execution_timeout, self.default_timeout):
            if value is not None:
                return value
        return None

    def get_execution_timeout(self) -> float | None:
        """Return the seconds that a run without a timeout may take; None for no limit."""
        return self.run_timeout(None)

    def program_environment(self) -> dict[str, str]:
        """Return the caller's environment variables, secrets included."""
        return {**plan_secrets(self.secrets).env, **self.env}


def _check_policy(policy: object) -> None:
    if policy is None:
        return
    from llm_sandbox.security import SecurityPolicy

    if not isinstance(policy, SecurityPolicy):
        name = policy if isinstance(policy, str) else "production"
        raise ValidationError(
            f"invalid security_policy: expected a SecurityPolicy, got {type(policy).__name__}",
            parameter="security_policy",
            hint=f"security_policy=get_security_policy({name!r})",
        )
