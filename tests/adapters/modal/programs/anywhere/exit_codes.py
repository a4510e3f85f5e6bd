"""Exit codes of programs: a code, a signal, a timeout."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("codes", create_if_missing=True)
sb = modal.Sandbox.create(app=app)

ok = sb.exec("true")
print("true", ok.wait())

failed = sb.exec("sh", "-c", "echo oh no >&2; exit 3")
print("stderr", failed.stderr.read().strip())
failed.wait()
print("code", failed.returncode)

killed = sb.exec("sh", "-c", "kill -9 $$")
print("signal", killed.wait())

slow = sb.exec("sh", "-c", "echo begun; sleep 60", timeout=1)
print("timeout", slow.wait(), slow.stdout.read().strip())

running = sb.exec("sleep", "60")
print("running", running.poll())
try:
    print(running.returncode)
except modal.exception.InvalidError:
    print("not waited for")
sb.terminate()
