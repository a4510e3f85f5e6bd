"""A sandbox ends when its time is up, whatever runs in it."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("times", create_if_missing=True)
idle = modal.Sandbox.create(app=app, timeout=100, idle_timeout=1)
sb = modal.Sandbox.create("sh", "-c", "echo here; sleep 100", app=app, timeout=1)
print(sb.stdout.read().strip())
try:
    sb.wait()
except modal.exception.SandboxTimeoutError:
    print("its time was up")
print(sb.returncode)

try:
    idle.wait(raise_on_termination=False)
except modal.exception.TimeoutError:
    print("nobody used it")
print(idle.poll())
