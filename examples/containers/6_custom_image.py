"""Use an image of your own: name it. One without Python's kernel runs programs, too."""

from argparse import ArgumentParser

from llm_sandbox import SandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
parser.add_argument("--image", default="llm-sandbox/python:0.1.0")
arguments = parser.parse_args()

# With persistent=False every run is a fresh interpreter: all that the image needs is Python.
with SandboxSession(
    backend=arguments.backend, image=arguments.image, lang="python", persistent=False
) as session:
    print(session.run("import sys; print('python', sys.version.split()[0])").stdout, end="")
    print(session.run("print('x' in globals())").stdout, end="")
    print(session.execute_command("head -1 /etc/os-release").stdout, end="")
