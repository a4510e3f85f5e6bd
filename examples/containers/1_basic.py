"""Run code in a container: the same session as everywhere, on Docker or Podman.

To try it: python examples/containers/1_basic.py --backend podman
"""

from argparse import ArgumentParser

from llm_sandbox import SandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

with SandboxSession(backend=backend, lang="python") as session:
    session.run("words = 'the quick brown fox'.split()")
    result = session.run("print(len(words), 'words'); words[-1].upper()")
    print(result.stdout, end="")
    print(result.value)

    # What holds this container, resource by resource.
    print(session.isolation)
