"""ZenML's components, flavors and settings, tried on each flavor; and its classes."""

from __future__ import annotations

import dataclasses
import inspect
import json
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from llm_sandbox import Snapshot
from llm_sandbox.adapters import zenml
from tests.matrix.probes import Probes, forget

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml import BaseSandbox, SandboxSession

PUBLIC = {
    "LOCAL_SANDBOX_FLAVOR",
    "BaseSandbox",
    "BaseSandboxConfig",
    "BaseSandboxFlavor",
    "BaseSandboxSettings",
    "SandboxSnapshot",
    "LocalSandbox",
    "LocalSandboxConfig",
    "LocalSandboxFlavor",
    "LocalSandboxSettings",
    "SandboxExecError",
    "SandboxOutput",
    "SandboxProcess",
    "SandboxSession",
    "SandboxSessionClosedError",
}
RECORD = (
    *("name", "id", "config", "flavor", "type", "user", "created", "updated", "environment"),
    *("secrets", "labels", "connector_requirements", "connector", "connector_resource_id"),
)
WORDS = ["sh", "-c"]

probe: Probes[Zenml] = Probes()


class Zenml:
    """A flavor, a component of it, and a session that its probes share."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.flavor = getattr(zenml, f"{backend.capitalize()}SandboxFlavor")()
        self.component = self.make_component()

    def make_component(self, **record: Any) -> BaseSandbox:
        now = datetime.now(UTC)
        facts = {
            "name": "tried",
            "id": uuid4(),
            "config": self.flavor.config_class(),
            "flavor": self.flavor.name,
            "type": self.flavor.type,
            "user": None,
            "created": now,
            "updated": now,
        }
        made: BaseSandbox = self.flavor.implementation_class(**{**facts, **record})
        return made

    @cached_property
    def session(self) -> SandboxSession:
        return self.component.create_session()

    def settings(self, **settings: Any) -> Any:
        return self.component.settings_class(**settings)

    def output(self, script: str, **options: Any) -> str:
        """What a shell's script prints in the shared session."""
        return self.session.exec([*WORDS, script], **options).collect().stdout

    def use(self) -> None:
        """Nothing is chosen for the process."""

    def close(self) -> None:
        if "session" in vars(self):
            self.session.destroy()


# --- data


@probe("LOCAL_SANDBOX_FLAVOR")
def local_flavor() -> None:
    assert "local" == zenml.LOCAL_SANDBOX_FLAVOR == zenml.LocalSandboxFlavor().name


@probe("all")
def public_names() -> None:
    assert set() == PUBLIC - set(zenml.__all__)
    assert all(hasattr(zenml, name) for name in PUBLIC)


@probe("BaseSandbox")
def record_of_a_component() -> None:
    """Its parameters stand in the reference's order, and a secret's reference is no name."""
    parameters = list(inspect.signature(zenml.BaseSandbox).parameters)
    assert [*RECORD, "args", "kwargs"] == parameters
    ours = Zenml("local")
    owner, marks = uuid4(), {"team": "a"}
    made = ours.make_component(user=owner, labels=marks, environment={"A": "1"})
    assert (owner, marks, {"A": "1"}, []) == (
        made.user,
        made.labels,
        made.environment,
        made.secrets,
    )
    with pytest.raises(ValueError, match="secret reference"):
        ours.make_component(name="{{name.key}}")


@probe("BaseSandboxConfig", "BaseSandboxSettings")
def models() -> None:
    for cls in (zenml.BaseSandboxConfig, zenml.BaseSandboxSettings):
        assert {} == cls(warn_about_plain_text_secrets=True).model_dump(exclude_unset=True)
        with pytest.raises(ValueError, match="strange"):
            cls(strange=1)


@probe("LocalSandbox")
def local_component() -> None:
    made = Zenml("local").component
    assert isinstance(made, zenml.LocalSandbox)
    assert isinstance(made.config, zenml.LocalSandboxConfig)
    assert zenml.LocalSandboxSettings is made.settings_class


@probe("LocalSandboxConfig")
def local_config() -> None:
    assert issubclass(zenml.LocalSandboxConfig, zenml.BaseSandboxConfig)
    config = zenml.LocalSandboxConfig(sandbox_environment={"A": "1"})
    assert {"sandbox_environment": {"A": "1"}} == config.model_dump(exclude_unset=True)
    assert config.is_local


@probe("LocalSandboxFlavor")
def local_flavor_class() -> None:
    flavor = zenml.LocalSandboxFlavor()
    assert isinstance(flavor, zenml.BaseSandboxFlavor)
    assert zenml.LocalSandboxConfig is flavor.config_class
    assert zenml.LocalSandbox is flavor.implementation_class


@probe("SandboxOutput")
def output_record() -> None:
    output = zenml.SandboxOutput("out", "err", 3)
    assert ("out", "err", 3, False, False) == dataclasses.astuple(output)
    with pytest.raises(dataclasses.FrozenInstanceError):
        output.exit_code = 0  # type: ignore[misc]


@probe("SandboxSnapshot")
def snapshot_record() -> None:
    saved = zenml.SandboxSnapshot(sandbox_id=UUID(int=7), ref="somewhere", metadata={"a": 1})
    assert saved == zenml.SandboxSnapshot.model_validate_json(saved.model_dump_json())
    assert {} == zenml.SandboxSnapshot(sandbox_id=UUID(int=7), ref="somewhere").metadata


# --- components


@probe("sandbox-config")
def config(face: Zenml) -> None:
    given = face.flavor.config_class(sandbox_environment={"A": "1"})
    assert given is face.make_component(config=given).config


@probe("sandbox-settings_class")
def settings_class(face: Zenml) -> None:
    assert issubclass(face.component.settings_class or object, zenml.BaseSandboxSettings)


@probe("sandbox-create_session", "session-id")
def create_session(face: Zenml) -> None:
    """Each session has a sandbox and an id of its own."""
    with face.component.create_session(destroy_on_exit=True) as other:
        assert other.id
        assert other.id != face.session.id
        assert 0 == other.exec([*WORDS, "echo only here > mark"]).wait()
        assert "" == face.output("cat mark 2>/dev/null")


@probe("sandbox-attach")
def attach(face: Zenml) -> None:
    """Another handle of the same sandbox, with its environment."""
    mine = face.component.create_session(face.settings(sandbox_environment={"WHO": "me"}))
    try:
        assert 0 == mine.exec([*WORDS, "echo here > mark"]).wait()
        other = face.component.attach(mine.id)
        output = other.exec([*WORDS, "cat mark; echo $WHO"]).collect()
        assert (mine.id, "here\nme\n") == (other.id, output.stdout)
        other.close()
    finally:
        mine.destroy()


@probe("sandbox-resolve_settings")
def resolve_settings(face: Zenml) -> None:
    """What is set explicitly replaces the component's as a whole."""
    component = face.make_component(
        config=face.flavor.config_class(sandbox_environment={"A": "1", "B": "2"})
    )
    assert {"A": "1", "B": "2"} == component.resolve_settings().sandbox_environment
    override = zenml.BaseSandboxSettings(sandbox_environment={"C": "3"})
    resolved = component.resolve_settings(override)
    assert {"C": "3"} == resolved.sandbox_environment
    assert isinstance(resolved, component.settings_class or object)


@probe("sandbox-restore", "session-create_snapshot")
def restore(face: Zenml) -> None:
    """A new session has the saved files, and no other component's has."""
    session = face.component.create_session()
    try:
        assert 0 == session.exec([*WORDS, "echo saved > mark"]).wait()
        saved = session.create_snapshot()
        assert face.component.id == saved.sandbox_id
        with pytest.raises(ValueError, match="component"):
            face.make_component().restore(saved)
        restored = face.component.restore(saved)
        try:
            assert session.id != restored.id
            assert "saved\n" == restored.exec(["cat", "mark"]).collect().stdout
        finally:
            restored.destroy()
    finally:
        session.destroy()
    forget(Snapshot.from_dict(json.loads(saved.ref)))


@probe("config-is_local")
def is_local(face: Zenml) -> None:
    assert face.component.config.is_local is True


# --- flavors


@probe("flavor-config_class", "flavor-implementation_class")
def flavor_classes(face: Zenml) -> None:
    assert issubclass(face.flavor.config_class, zenml.BaseSandboxConfig)
    assert issubclass(face.flavor.implementation_class, zenml.BaseSandbox)


@probe("flavor-type")
def flavor_type(face: Zenml) -> None:
    assert "sandbox" == face.flavor.type == face.flavor.type.value


@probe("flavor-name")
def flavor_name(face: Zenml) -> None:
    assert face.backend in face.flavor.name


@probe("flavor-docs_url", "flavor-sdk_docs_url")
def flavor_urls(face: Zenml) -> None:
    """No page of another project is said to be ours."""
    for url in (face.flavor.docs_url, face.flavor.sdk_docs_url):
        assert url is None or "zenml" not in url


@probe("flavor-logo_url")
def flavor_logo(face: Zenml) -> None:
    assert face.flavor.logo_url.startswith("data:image/svg+xml,%3Csvg")


# --- settings


@probe("settings-sandbox_environment")
def sandbox_environment(face: Zenml) -> None:
    settings = face.settings(sandbox_environment={"COLOUR": "blue"})
    with face.component.create_session(settings, destroy_on_exit=True) as session:
        assert "blue\n" == session.exec([*WORDS, "echo $COLOUR"]).collect().stdout


@probe("LocalSandboxSettings")
def forward_env(face: Zenml) -> None:
    """Variables of this process enter a session by name, and no others do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATRIX_GIVEN", "given")
        patch.setenv("MATRIX_KEPT", "kept")
        settings = face.settings(forward_env=["MATRIX_GIVEN"])
        with face.component.create_session(settings, destroy_on_exit=True) as session:
            shown = session.exec([*WORDS, "echo $MATRIX_GIVEN $MATRIX_KEPT"]).collect().stdout
    assert "given\n" == shown
