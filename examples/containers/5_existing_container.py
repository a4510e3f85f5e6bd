"""Work in a container that is there already, and leave it running."""

from argparse import ArgumentParser

from docker.types import Ulimit

from llm_sandbox import SandboxSession
from llm_sandbox.backends.registry import get_backend

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

# Any container will do; this one is made by the engine's own client. Its limits are named because
# Podman would ask for the most there can be, which not every service may give.
client = get_backend(backend).engine.client
container = client.containers.run(
    "llm-sandbox/python:0.1.0",
    ["sleep", "600"],
    detach=True,
    network_mode="none",
    ulimits=[Ulimit(name=name, soft=1024, hard=1024) for name in ("nofile", "nproc")],
)
try:
    there = {"container_id": container.id, "workdir": "/home/work"}
    with SandboxSession(backend=backend, lang="python", **there) as session:
        session.run("open('note.txt', 'w').write('left by the session')")
    container.reload()
    print("the container is", container.status)
    print(container.exec_run(["cat", "/home/work/note.txt"]).output.decode())
finally:
    container.remove(force=True)
