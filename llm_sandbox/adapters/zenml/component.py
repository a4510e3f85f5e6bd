"""Components whose sessions are sandboxes of this library, independent of the ZenML base class."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from llm_sandbox.adapters.zenml.fields import ContainerFields, IsolatedFields
from llm_sandbox.adapters.zenml.machine import MachineSession
from llm_sandbox.adapters.zenml.references import is_secret_reference, parse_secret_reference
from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import SandboxNotFoundError, ValidationError
from llm_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml.base import BaseSandbox, BaseSandboxSettings
    from llm_sandbox.network import Network

    _Component = BaseSandbox
else:
    _Component = object

__all__ = ["IsolatedComponent", "MachineComponent"]

_TAG, _SETTINGS_TAG = "zenml.component", "zenml.settings"
_TAG_CHARS = 256


class MachineComponent(_Component):
    """Behaviour of such a component, as a mixin."""

    def _split_environment(
        self, settings: "BaseSandboxSettings"
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the plain and the secret environment variables of a session."""
        plain: dict[str, str] = {}
        secrets: dict[str, str] = {}
        for name, value in self._resolve_session_environment(settings).items():
            if is_secret_reference(value):
                secrets[name] = self._get_secret(*parse_secret_reference(value))
            else:
                plain[name] = value
        return plain, secrets

    def _resolved_text(self, value: str | None) -> str | None:
        """Return a setting, with a secret reference resolved."""
        if value is None or not is_secret_reference(value):
            return value
        return self._get_secret(*parse_secret_reference(value))

    def _read_snapshot(self, snapshot: SandboxSnapshot) -> tuple[Snapshot, Mapping[str, Any]]:
        """Return the snapshot of the library and the settings of the saved session.

        Raises:
            ValidationError: The snapshot is invalid or belongs to another component.
        """
        self._validate_snapshot(snapshot)
        try:
            saved = json.loads(snapshot.ref)
        except json.JSONDecodeError:
            saved = None
        settings = snapshot.metadata.get("settings", {})
        if not isinstance(saved, dict) or not isinstance(settings, dict):
            raise ValidationError(
                "the snapshot's reference was not created by this library", parameter="snapshot"
            )
        return Snapshot.from_dict(saved), settings


class IsolatedComponent(MachineComponent):
    """Behaviour of a component whose sandboxes are isolated and outlive the process that created
    them.
    """

    backend: ClassVar[str]
    """Name of the backend."""
    session_class: ClassVar[type[MachineSession]] = MachineSession
    """Class of the sessions."""

    def create_session(
        self, settings: "BaseSandboxSettings | None" = None, destroy_on_exit: bool = False
    ) -> MachineSession:
        """Create a sandbox, and a session of it; see `BaseSandbox.create_session`.

        Args:
            settings: Settings that override those of the component and the step.
            destroy_on_exit: Whether the end of the session's ``with`` block destroys the sandbox.
                The sandbox then also ends with this process.

        Raises:
            BackendUnavailableError: The backend is unavailable; the hint says what to do.
            UnsupportedError: The backend does not support a setting.
            ValidationError: A setting is invalid.
        """
        return self._make(self.resolve_settings(settings), destroy_on_exit, None)

    def attach(self, session_id: str) -> MachineSession:
        """Return another session of a living sandbox of this component.

        Environment, working directory and limits are those of its creation.

        Args:
            session_id: `SandboxSession.id`, possibly of another process of this user.

        Raises:
            SandboxNotFoundError: The sandbox does not exist, or belongs to another component.
        """
        sandbox = Sandbox.attach(session_id)
        if sandbox.tags.get(_TAG) != str(self.id):
            sandbox.detach()
            raise SandboxNotFoundError(
                f"{session_id} of component {self.name!r}",
                hint="attach with the component that made it",
                backend=self.backend,
            )
        return self.session_class(
            sandbox,
            parent=self,
            settings=_read_settings(sandbox.tags),
            secrets=self._split_environment(self.resolve_settings())[1],
        )

    def restore(self, snapshot: SandboxSnapshot) -> MachineSession:
        """Create a sandbox from a snapshot.

        The settings of the saved session override those of the component and the step; the
        environment is that of the component, since snapshots hold none.

        Args:
            snapshot: Snapshot of a session of this component.

        Raises:
            ValidationError: The snapshot belongs to another component.
        """
        saved, kept = self._read_snapshot(snapshot)
        cls = self.settings_class
        assert cls is not None, "these components have settings"  # noqa: S101
        settings = self.resolve_settings(cls.model_validate(kept))
        return self._make(settings, False, saved)

    def _make(
        self, settings: "BaseSandboxSettings", destroy_on_exit: bool, saved: Snapshot | None
    ) -> MachineSession:
        fields = cast(IsolatedFields, settings)
        image: str | Snapshot | None = saved
        if saved is None and isinstance(fields, ContainerFields):
            image = self._resolved_text(fields.image)
        plain, secrets = self._split_environment(settings)
        kept = settings.model_dump(mode="json", exclude_unset=True, exclude={"sandbox_environment"})
        sandbox = Sandbox.create(
            backend=self.backend,
            image=image,
            workdir=self._resolved_text(fields.workdir) or "",
            env=plain,
            secrets=secrets,
            limits=fields.get_limits(),
            network=cast("Network", fields.get_network()),
            timeout=fields.timeout,
            idle_timeout=fields.idle_timeout,
            tags={_TAG: str(self.id), **_settings_tags(kept)},
            on_exit="destroy" if destroy_on_exit else "keep",
        )
        try:
            return self.session_class(
                sandbox,
                parent=self,
                settings=kept,
                secrets=secrets,
                destroy_on_exit=destroy_on_exit,
            )
        except BaseException:
            sandbox.destroy()
            raise


def _settings_tags(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as tags, from which a session in another process restores them."""
    text = json.dumps(settings)
    parts = [text[start : start + _TAG_CHARS] for start in range(0, len(text), _TAG_CHARS)]
    return {f"{_SETTINGS_TAG}.{number}": part for number, part in enumerate(parts)}


def _read_settings(tags: Mapping[str, str]) -> dict[str, Any]:
    found = [
        tags[name] for number in range(len(tags)) if (name := f"{_SETTINGS_TAG}.{number}") in tags
    ]
    settings: dict[str, Any] = json.loads("".join(found))
    return settings
