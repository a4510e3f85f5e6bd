"""Build the image from a Dockerfile, once: later sessions find it."""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from llm_sandbox import SandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

DOCKERFILE = """
FROM llm-sandbox/python:0.1.0
COPY greeting.txt /srv/greeting.txt
"""

with TemporaryDirectory() as folder:
    Path(folder, "Dockerfile").write_text(DOCKERFILE)
    Path(folder, "greeting.txt").write_text("hello from the image\n")

    # keep_template=True would keep the image after the last session that uses it.
    with SandboxSession(backend=backend, dockerfile=folder, lang="python") as session:
        print(session.run("print(open('/srv/greeting.txt').read())").stdout.strip())
