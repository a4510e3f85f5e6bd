"""Stop code that takes too long: its processes are killed, and its output is kept."""

from argparse import ArgumentParser

from llm_sandbox import SandboxSession, SandboxTimeoutError

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

CODE = """
import subprocess, time
subprocess.Popen(["sleep", "1000"])
print("started", flush=True)
time.sleep(1000)
"""

with SandboxSession(backend=backend, lang="python", execution_timeout=2) as session:
    try:
        session.run(CODE)
    except SandboxTimeoutError as error:
        print("stopped:", error.result.stdout.strip(), "| exit code", error.result.exit_code)

    # Nothing of it is left, and the session can be used again.
    processes = session.execute_command("cat /proc/[0-9]*/cmdline").stdout
    print("still asleep:", "sleep" in processes)
    print(session.run("print('still here')").stdout, end="")
