"""Output of programs: targets, types, and repeated reading."""

from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal.stream_type import StreamType

app = modal.App.lookup("streams", create_if_missing=True)
sb = modal.Sandbox.create(app=app)

raw = sb.exec("printf", r"\377\000a", text=False)
print(raw.stdout.read(), raw.stdout.read())

lines = sb.exec("printf", "one\ntwo\nrest", bufsize=1)
print(list(lines.stdout), list(lines.stdout))

shown = sb.exec("echo", "straight to this terminal", stdout=StreamType.STDOUT)
shown.wait()

dropped = sb.exec("sh", "-c", "echo out; echo err >&2", stdout=StreamType.DEVNULL)
print(repr(dropped.stderr.read()))
try:
    dropped.stdout.read()
except ValueError as error:
    print(type(error).__name__)

utf8 = sb.exec("python3", "-c", "print('ä€😀' * 20000)")
print(len(utf8.stdout.read()))
broken = sb.exec("printf", r"\377")
try:
    broken.stdout.read()
except UnicodeDecodeError:
    print("no text")

try:
    sb.exec("true", text=False, bufsize=1)
except ValueError:
    print("lines are text")
sb.terminate()
