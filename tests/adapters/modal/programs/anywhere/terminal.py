"""A program with a terminal: its errors are among its output."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("terminal", create_if_missing=True)
sb = modal.Sandbox.create(app=app)
look = "import sys; print(sys.stdout.isatty()); print('error', file=sys.stderr)"
p = sb.exec("python3", "-c", look, pty=True)
p.wait()
print(p.stdout.read().replace("\r\n", "\n"), end="")
print(repr(p.stderr.read()))
plain = sb.exec("python3", "-c", look)
print(plain.stdout.read(), end="")
sb.terminate()

program = "stty -echo; stty size; read word; echo $word"
shell = modal.Sandbox.create("sh", "-c", program, app=app, pty=True)
print(next(iter(shell.stdout)).strip())
shell.stdin.write("typed\n")
shell.stdin.drain()
shell.wait()
print(shell.stdout.read().strip(), shell.returncode)
