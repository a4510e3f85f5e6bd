"""Apps: names that sandboxes are gathered under."""

import os
import re
import secrets
from pathlib import Path
from types import TracebackType

from llm_sandbox.adapters.modal.calls import Function
from llm_sandbox.adapters.modal.configuration import refuse
from llm_sandbox.adapters.modal.exception import InvalidError, NotFoundError
from llm_sandbox.sandbox import Sandbox as Machine
from llm_sandbox.sandbox.detached.state_dir import default_state_dir

__all__ = ["ANY_APP", "App", "namespace_of", "refuse_environment"]

ANY_APP = "modal."
"""What the namespaces of all apps begin with, so that other sandboxes of this user stay apart."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,58}", re.ASCII)
_ID = "ap-"


class App:
    """An app: a name for the sandboxes that are created with it.

    `App.lookup` gives one to create sandboxes with; one that is made by its constructor is only
    usable in its `run`.

    Args:
        name: Its name: 1 to 58 letters, digits, ``.``, ``_`` or ``-``.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = None if name is None else _checked(name)
        self._namespace: str | None = None

    def __repr__(self) -> str:
        return f"App({self._name!r})"

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._name

    @property
    def description(self) -> str | None:
        """As `name`."""
        return self._name

    @property
    def app_id(self) -> str | None:
        """Its id, by which `Sandbox.list` knows it; None before it is looked up or run."""
        return None if self._namespace is None else _ID + self._namespace.removeprefix(ANY_APP)

    @Function
    @staticmethod
    def lookup(
        name: str,
        *,
        client: object = None,
        environment_name: str | None = None,
        create_if_missing: bool = False,
    ) -> "App":
        """Return the app of that name.

        Args:
            name: Its name.
            client: None; there is nothing to connect to.
            environment_name: None; there are no environments.
            create_if_missing: Whether one that nobody has made yet is made.

        Raises:
            NotFoundError: There is none.
            InvalidError: The name cannot be one.
        """
        refuse_environment(client, environment_name)
        app = App(name)
        mark = _folder() / _checked(name)
        if create_if_missing:
            mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            mark.touch()
        elif not mark.exists():
            raise NotFoundError(
                f"there is no app {name!r}", hint=f"App.lookup({name!r}, create_if_missing=True)"
            )
        app._namespace = ANY_APP + name
        return app

    def run(self, *, detach: bool = False) -> "_Run":
        """Return a context manager, for ``with`` or ``async with``, in which the app can be used.

        Args:
            detach: Whether its sandboxes live on after the block, until their timeouts.
        """
        return _Run(self, detach=detach)


class _Run:
    def __init__(self, app: App, *, detach: bool) -> None:
        self._app = app
        self._detach = detach

    def __enter__(self) -> App:
        if self._app._namespace is not None:
            raise InvalidError("the app runs already")
        self._app._namespace = f"{ANY_APP}run-{secrets.token_hex(8)}"
        return self._app

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        namespace, self._app._namespace = self._app._namespace, None
        if not self._detach and namespace is not None:
            for sandbox in Machine.list(namespace=namespace):
                sandbox.destroy()

    async def __aenter__(self) -> App:
        return self.__enter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await Function(self.__exit__).aio(exc_type, exc_val, exc_tb)


def namespace_of(app: App | str | None) -> str:
    """The namespace of an app's sandboxes.

    Args:
        app: The app, or its id; None for sandboxes without one.

    Raises:
        ValueError: The app is neither looked up nor run.
        InvalidError: It is no app, or no id of one.
    """
    if app is None:
        return ANY_APP.rstrip(".")
    if isinstance(app, str):
        if not app.startswith(_ID):
            raise InvalidError(f"{app!r:.80} is no id of an app", parameter="app_id")
        return ANY_APP + _checked(app.removeprefix(_ID), "app_id")
    if not isinstance(app, App):
        raise InvalidError(f"app is an App, not {type(app).__name__}", parameter="app")
    if app._namespace is None:
        # Not ours, as this is what programs catch.
        raise ValueError(
            "the app is not running: App.lookup(name, create_if_missing=True) gives one that is, "
            "and so does `with app.run():`"
        )
    return app._namespace


def refuse_environment(client: object, environment_name: str | None) -> list[str]:
    """Refuse, or name, what says where in Modal's cloud something is."""
    ignored = []
    if client is not None:
        ignored.append(refuse("client=", "nothing is connected to: sandboxes live on this machine"))
    if environment_name is not None:
        ignored.append(
            refuse("environment_name=", "this machine has no environments", hint="use another app")
        )
    return ignored


def _checked(name: object, parameter: str = "name") -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidError(
            f"an app's {parameter} is 1 to 58 letters, digits, '.', '_' or '-', unlike "
            f"{name!r:.80}",
            parameter=parameter,
        )
    return name


def _folder() -> Path:
    return Path(os.path.dirname(default_state_dir())) / "modal" / "apps"  # noqa: PTH120
