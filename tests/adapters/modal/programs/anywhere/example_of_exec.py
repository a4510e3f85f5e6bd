"""Start a sandbox, run a program in it, and print what it writes, line by line."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("my-app", create_if_missing=True)

sandbox = modal.Sandbox.create("sleep", "infinity", app=app)

process = sandbox.exec(
    "bash", "-c", "for i in $(seq 1 10); do echo foo $i; sleep 0.02; done", bufsize=1
)

for line in process.stdout:
    print(line, end="")

process.wait()
print(process.returncode)
sandbox.terminate()
