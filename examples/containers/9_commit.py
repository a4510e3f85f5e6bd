"""Keep a container as an image when its session ends, and go on from there later."""

from argparse import ArgumentParser

from llm_sandbox import SandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

first = SandboxSession(backend=backend, lang="python", commit_container=True)
with first:
    first.run("open('state.txt', 'w').write('as it was left')")
image = first.committed_image
print("kept as", image)

with SandboxSession(backend=backend, lang="python", image=image) as later:
    print(later.run("print(open('state.txt').read())").stdout, end="")

print(f"to be rid of it: {backend} rmi {image}")
