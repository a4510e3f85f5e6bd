"""A pipeline of real ZenML whose steps use each flavor; run by the tests with a Python that has it.

The one word is the flavor. The last line says as JSON what the steps saw.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

from zenml import get_step_context, pipeline, step
from zenml.client import Client
from zenml.config.global_config import GlobalConfiguration
from zenml.enums import StackComponentType
from zenml.sandboxes import (
    BaseSandbox,
    SandboxExecError,
    SandboxProcess,
    SandboxSession,
    SandboxSessionClosedError,
    SandboxSnapshot,
)

from llm_sandbox import Snapshot

STACK = "llm_sandbox.adapters.zenml.stack"
FLAVORS = {
    "llm_sandbox_local": "LocalSandboxFlavor",
    "llm_sandbox_bubblewrap": "BubblewrapSandboxFlavor",
    "llm_sandbox_docker": "DockerSandboxFlavor",
    "llm_sandbox_podman": "PodmanSandboxFlavor",
}


def the_sandbox() -> BaseSandbox:
    """The component of the active stack."""
    component = Client().active_stack.sandbox
    assert isinstance(component, BaseSandbox)
    return component


@step(enable_cache=False)
def make() -> dict[str, Any]:
    """Start commands in a session that another step goes on with."""
    component = the_sandbox()
    session = component.create_session()
    assert isinstance(session, SandboxSession)
    process = session.exec(
        [
            "sh",
            "-c",
            'echo out $FROM_COMPONENT $FROM_STEP; echo err >&2; printf %s "$TOKEN" > token',
        ]
    )
    assert isinstance(process, SandboxProcess)
    output = process.collect()
    seen: dict[str, Any] = {
        "id": session.id,
        "backend": component.flavor,
        "stdout": output.stdout,
        "stderr": output.stderr,
        "exit_code": output.exit_code,
        "token": session.exec("cat token").collect().stdout,
    }
    session.exec(["sh", "-c", "echo a secret: s3cr3t-value"]).collect()
    try:
        session.exec(["no-such-program"])
    except SandboxExecError as error:
        seen["missing"] = error.kind
    session.close()
    try:
        session.exec("true")
    except SandboxSessionClosedError:
        seen["closed"] = True
    seen["step"] = get_step_context().step_run.name
    return seen


@step(enable_cache=False)
def save(made: dict[str, Any]) -> SandboxSnapshot:
    """Go on with the session of the other step, save it, and destroy it."""
    component = the_sandbox()
    if component.flavor == "llm_sandbox_local":
        session = component.create_session()
    else:
        session = component.attach(made["id"])
        assert session.exec("cat token").collect().stdout == "s3cr3t-value"
    session.exec(["sh", "-c", "rm -f token; echo of the snapshot > saved.txt"]).collect()
    snapshot = session.create_snapshot()
    session.destroy()
    return snapshot


@step(enable_cache=False)
def restore(snapshot: SandboxSnapshot) -> dict[str, Any]:
    """Make a session of the snapshot, which came as an artifact."""
    component = the_sandbox()
    session = component.restore(snapshot)
    try:
        return {
            "restored": session.exec("cat saved.txt").collect().stdout,
            "environment": session.exec(["sh", "-c", "echo $FROM_COMPONENT"]).collect().stdout,
            "snapshot": type(snapshot).__module__,
        }
    finally:
        session.destroy()


@pipeline(enable_cache=False)
def flavors() -> None:
    """The three steps, one after another."""
    restore(save(make()))


def prepare(client: Client, flavor: str) -> None:
    """Register a flavor, a component of it and a stack with that."""
    client.create_flavor(
        source=f"{STACK}.{FLAVORS[flavor]}", component_type=StackComponentType.SANDBOX
    )
    configuration: dict[str, Any] = {
        "sandbox_environment": {"FROM_COMPONENT": flavor, "TOKEN": "{{vault.token}}"}
    }
    if flavor != "llm_sandbox_local":
        configuration["network"] = "blocked"
    client.create_stack_component(
        name=f"the_{flavor}",
        flavor=flavor,
        component_type=StackComponentType.SANDBOX,
        configuration=configuration,
    )
    stack = client.active_stack_model.components
    name = f"stack_{flavor}"
    client.create_stack(
        name=name,
        components={
            StackComponentType.ORCHESTRATOR: stack[StackComponentType.ORCHESTRATOR][0].id,
            StackComponentType.ARTIFACT_STORE: stack[StackComponentType.ARTIFACT_STORE][0].id,
            StackComponentType.SANDBOX: f"the_{flavor}",
        },
    )
    client.activate_stack(name)


def delete(snapshot: SandboxSnapshot) -> None:
    """Delete what is saved."""
    Snapshot.from_dict(json.loads(snapshot.ref)).delete()


def read_log(path: str) -> list[tuple[int, str]]:
    """Level and text of each line that ZenML has stored."""
    with open(path) as stored:  # noqa: PTH123
        lines = [json.loads(line) for line in stored]
    return [(line["level"], line["message"]) for line in lines]


def run(flavor: str) -> dict[str, Any]:
    """Run the pipeline on a flavor, and read what it left in ZenML's store."""
    client = Client()
    prepare(client, flavor)
    override = {"FROM_COMPONENT": flavor, "FROM_STEP": "step", "TOKEN": "{{vault.token}}"}
    settings = {f"sandbox.{flavor}": {"sandbox_environment": override}}
    run = flavors.with_options(settings=settings)()
    found = client.get_pipeline_run(run.id)
    steps = found.steps
    seen = steps["make"].output.load()
    seen |= steps["restore"].output.load()
    seen["status"] = str(found.status)
    seen["metadata"] = {key: str(value) for key, value in steps["make"].run_metadata.items()}
    for one in steps["make"].log_collection or []:
        if one.source.startswith("sandbox:"):
            seen.setdefault("logs", {})[one.source] = read_log(one.uri)
    delete(steps["save"].output.load())
    client.activate_stack("default")
    return seen


def refused(flavor: str) -> str:
    """What ZenML says to a configuration that is none."""
    try:
        Client().create_stack_component(
            name="refused",
            flavor=flavor,
            component_type=StackComponentType.SANDBOX,
            configuration={
                "forward_env" if flavor == "llm_sandbox_local" else "network": "sideways"
            },
        )
    except Exception as error:  # noqa: BLE001 - of which class it is, is ZenML's affair
        return f"{type(error).__name__}: {error}"
    return "nothing"


def main(words: list[str]) -> None:
    """Run the pipeline on a flavor, with a secret in ZenML's store."""
    warnings.simplefilter("ignore")
    Client().create_secret("vault", values={"token": "s3cr3t-value"})
    (flavor,) = words
    seen = {"zenml": version("zenml"), **run(flavor), "refused": refused(flavor)}
    seen["analytics"] = GlobalConfiguration().analytics_opt_in
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1:])
