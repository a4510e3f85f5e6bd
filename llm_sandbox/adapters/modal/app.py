"""Apps: names that group sandboxes."""

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
"""Prefix of the namespaces of all apps, which keeps other sandboxes of this user apart."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,58}", re.ASCII)
_ID = "ap-"


class App:
    """Name that groups the sandboxes created with it.

    `App.lookup` returns an app that sandboxes can be created with; an app made by the constructor
    is only usable inside its `run` block.

    Args:
        name: Name of the app: 1 to 58 letters, digits, ``.``, ``_`` or ``-``.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = None if name is None else _checked(name)
        self._namespace: str | None = None

    def __repr__(self) -> str:
        return f"App({self._name!r})"

    @property
    def name(self) -> str | None:
        """Name of the app."""
        return self._name

    @property
    def description(self) -> str | None:
        """Name of the app; the same as `name`."""
        return self._name

    @property
    def app_id(self) -> str | None:
        """Id of the app, for `Sandbox.list`; None before it is looked up or run."""
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
        """Look up an app by name.

        Args:
            name: Name of the app.
            client: None; there is nothing to connect to.
            environment_name: None; there are no environments.
            create_if_missing: Whether to create the app if it does not exist.

        Raises:
            NotFoundError: There is no app of that name.
            InvalidError: The name is invalid.
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
            detach: Whether sandboxes of the app keep running after the block, until their timeouts.
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
    """Return the namespace of the sandboxes of an app.

    Args:
        app: The app, or its id; None for sandboxes without one.

    Raises:
        ValueError: The app is neither looked up nor run.
        InvalidError: The value is neither an app nor the id of an app.
    """
    if app is None:
        return ANY_APP.rstrip(".")
    if isinstance(app, str):
        if not app.startswith(_ID):
            raise InvalidError(f"{app!r:.80} is not an app id", parameter="app_id")
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
    """Refuse parameters that name a place in Modal's cloud."""
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
