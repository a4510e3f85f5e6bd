"""A sandbox made for one program: its output, its input and its exit code."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("entry", create_if_missing=True)
sb = modal.Sandbox.create(
    "sh", "-c", "echo one; echo two; read word; echo got $word; echo error >&2; exit 5", app=app
)
print(sb.returncode)
sb.stdin.write("three\n")
sb.stdin.write_eof()
sb.stdin.drain()
for line in sb.stdout:
    print("out:", line, end="")
print("err:", sb.stderr.read(), end="")
sb.wait()
print(sb.returncode, sb.poll())
print("again:", repr(sb.stdout.read()))
again = modal.Sandbox.from_id(sb.object_id)
print(again.returncode)
try:
    sb.exec("true")
except modal.exception.ConflictError:
    print("it has ended")
sb.terminate()
