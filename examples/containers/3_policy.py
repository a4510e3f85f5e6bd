"""Refuse code by a policy before it runs. The container is the wall; the policy is a signal."""

from argparse import ArgumentParser

from llm_sandbox import SandboxSession, SecurityViolationError, get_security_policy

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

policy = get_security_policy("production")

with SandboxSession(backend=backend, lang="python", security_policy=policy) as session:
    for code in ("print(sum(range(10)))", "import subprocess; subprocess.run(['ls'])"):
        try:
            print("ran:", session.run(code).stdout.strip())
        except SecurityViolationError as error:
            print("refused:", error.message)
