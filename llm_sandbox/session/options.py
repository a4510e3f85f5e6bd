"""Options of a session: the keyword arguments of `create_session`, as a typed dictionary.

`create_session` has the one full list with defaults and descriptions; whatever else makes sessions
takes ``**options: Unpack[SessionOptions]`` and passes them on.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from llm_sandbox.limits import LimitOptions, Limits, Size
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network

if TYPE_CHECKING:
    from llm_sandbox.pool import ContainerPoolManager
    from llm_sandbox.sandbox.detached.record import OnExit
    from llm_sandbox.secrets import Secret
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.config import Start
    from llm_sandbox.session.lock import Busy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["SessionOptions", "same_parameters"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class SessionOptions(TypedDict, total=False):
    """See `create_session` for what each one means."""

    keep_template: bool
    commit_container: bool
    verbose: bool
    stream: bool
    runtime_configs: Mapping[str, Any] | None
    workdir: str | None
    enable_plotting: bool
    security_policy: "SecurityPolicy | None"
    default_timeout: float | None
    execution_timeout: float | None
    session_timeout: float | None
    container_id: str | None
    client: object
    commit_image_tag: str | None
    mounts: Mapping[str, Mount] | Sequence[Any]
    allow_unsafe: Sequence[str]
    environment: str | None
    libraries: Sequence[str]
    skip_environment_setup: bool
    env: Mapping[str, str] | None
    env_vars: Mapping[str, str] | None
    secrets: "Mapping[str, str] | Sequence[Secret] | None"
    limits: Limits | LimitOptions | None
    memory: Size | None
    cpus: float | None
    network: Network
    persistent: bool
    start: "Start"
    observers: "Sequence[RunObserver]"
    name: str | None
    on_exit: "OnExit"
    idle_timeout: float | None
    pool: "ContainerPoolManager | None"
    encoding_errors: str | None
    busy: "Busy"


def same_parameters(original: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Return a decorator that shows the parameters of another function to `help` and `inspect`.

    Args:
        original: The function with the full list. The decorated one, which may have a ``self``
            before, takes ``**options`` for its keyword-only parameters.
    """

    def decorate(function: _Function) -> _Function:
        own, full = signature(function), signature(original)
        first = [one for one in own.parameters.values() if one.name == "self"]
        parameters: list[Parameter] = [*first, *full.parameters.values()]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        result = function.__annotations__.get("return")
        function.__wrapped__ = original  # type: ignore[attr-defined]  # resolves its annotations
        function.__annotations__ = {**original.__annotations__, "return": result}
        return function

    return decorate
