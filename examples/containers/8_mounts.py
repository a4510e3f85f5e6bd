"""Show a folder of this machine to the code, read-only."""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from llm_sandbox import SandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

with TemporaryDirectory() as folder:
    Path(folder).chmod(0o755)  # code runs as another user
    Path(folder, "numbers.txt").write_text("3\n4\n5\n")

    with SandboxSession(backend=backend, lang="python", mounts=[f"{folder}:/data:ro"]) as session:
        print(session.run("print(sum(map(int, open('/data/numbers.txt'))))").stdout, end="")
        failed = session.run("open('/data/numbers.txt', 'w')")
        print(failed.stderr.strip().splitlines()[-1])
