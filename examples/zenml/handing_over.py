"""Pipeline whose steps share a sandbox: one prepares it, the next continues in it.

    pip install '.[zenml]' 'zenml[local]'
    python examples/zenml/handing_over.py [local | bubblewrap | docker | podman]

It registers what it needs with the ZenML that is configured; `ZENML_CONFIG_PATH=$(mktemp -d)` in
front gives it one of its own.
"""

import sys
from pathlib import Path

from zenml import pipeline, step
from zenml.client import Client
from zenml.enums import StackComponentType

FLAVORS = {
    "local": "LocalSandboxFlavor",
    "bubblewrap": "BubblewrapSandboxFlavor",
    "docker": "DockerSandboxFlavor",
    "podman": "PodmanSandboxFlavor",
}
DATA = Path(__file__).resolve().parents[1] / "data" / "penguins.csv"
CODE = """
import pandas as pd
data = pd.read_csv('penguins.csv')
print(data.groupby('species')['body_mass_g'].mean().idxmax())
"""


@step(enable_cache=False)
def prepare() -> str:
    sandbox = Client().active_stack.sandbox
    with sandbox.create_session() as session:  # closed at the end of the block, and still alive
        session.upload_file(str(DATA), "penguins.csv")
        return session.id


@step(enable_cache=False)
def analyse(session_id: str) -> str:
    sandbox = Client().active_stack.sandbox
    session = sandbox.attach(session_id)
    try:
        output = session.exec(["python", "-c", CODE]).collect()
        if output.exit_code != 0:
            raise RuntimeError(output.stderr)
        return output.stdout.strip()
    finally:
        session.destroy()


@step(enable_cache=False)
def analyse_alone() -> str:
    """Run both parts in one step: a local sandbox ends with its session."""
    sandbox = Client().active_stack.sandbox
    with sandbox.create_session() as session:
        session.upload_file(str(DATA), "penguins.csv")
        return session.exec([sys.executable, "-c", CODE]).collect().stdout.strip()


@pipeline(enable_cache=False)
def handing_over() -> None:
    analyse(prepare())


@pipeline(enable_cache=False)
def in_one_step() -> None:
    analyse_alone()


def activate(backend: str) -> None:
    """Register the flavor, a component of it and a stack with that, unless they exist."""
    client, kind = Client(), StackComponentType.SANDBOX
    flavor, name = f"llm_sandbox_{backend}", f"penguins_{backend}"
    if not client.list_flavors(name=flavor, type=kind).items:
        source = f"llm_sandbox.adapters.zenml.stack.{FLAVORS[backend]}"
        client.create_flavor(source=source, component_type=kind)
    if not client.list_stack_components(name=name, type=kind).items:
        settings = {} if backend == "local" else {"network": "blocked", "timeout": 600}
        client.create_stack_component(
            name=name, flavor=flavor, component_type=kind, configuration=settings
        )
    if not client.list_stacks(name=name).items:
        used = client.active_stack_model.components
        others = (StackComponentType.ORCHESTRATOR, StackComponentType.ARTIFACT_STORE)
        parts = {other: used[other][0].id for other in others}
        client.create_stack(name=name, components={**parts, kind: name})
    client.activate_stack(name)


def main() -> None:
    backend = sys.argv[1] if len(sys.argv) > 1 else "bubblewrap"
    activate(backend)
    run = in_one_step() if backend == "local" else handing_over()
    last = run.steps["analyse_alone" if backend == "local" else "analyse"]
    print(f"The heaviest species is {last.output.load()}.")


if __name__ == "__main__":
    main()
