"""The end of a sandbox that somebody ended."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("ended", create_if_missing=True)
sb = modal.Sandbox.create("sh", "-c", "echo begun; sleep 100", app=app)
p = sb.exec("sh", "-c", "echo of exec; sleep 100")
print(next(iter(sb.stdout)), end="")
print(next(p.stdout), end="")
sb.terminate()
sb.terminate()
sb.wait(raise_on_termination=False)
print(sb.returncode)
try:
    sb.wait()
except modal.exception.SandboxTerminatedError:
    print("it was ended")
print(repr(p.stdout.read()))
