"""Talk to a program: what is written is sent by drain()."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("talk", create_if_missing=True)
sb = modal.Sandbox.create(app=app)

p = sb.exec("python3", "-u", "-c", "while True: print('->', input().upper())", bufsize=1)
lines = iter(p.stdout)
for word in ("hello", "world"):
    p.stdin.write(word + "\n")
    p.stdin.drain()
    print(next(lines), end="")
p.stdin.write(b"bytes\n")
p.stdin.write_eof()
p.stdin.drain()
print(next(lines), end="")
print("ended with", p.wait())

try:
    p.stdin.write("more")
except ValueError as error:
    print(type(error).__name__)
sb.terminate()
