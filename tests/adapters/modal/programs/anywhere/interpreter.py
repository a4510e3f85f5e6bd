"""An interpreter that keeps its variables: a driver in the sandbox runs what is sent to it."""

import json

from llm_sandbox.adapters import modal

DRIVER = """
import contextlib, io, json, sys
names = {}
for line in sys.stdin:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            exec(json.loads(line)["code"], names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    sys.__stdout__.write(json.dumps({"output": shown.getvalue()}) + "\\n")
    sys.__stdout__.flush()
"""

app = modal.App.lookup("interpreter", create_if_missing=True)
sb = modal.Sandbox.create(app=app)
p = sb.exec("python3", "-c", DRIVER, bufsize=1)
answers = iter(p.stdout)
for code in ("x = 20", "print(x + 1)", "print(y)", "x += 1\nprint(x * 2)"):
    p.stdin.write(json.dumps({"code": code}) + "\n")
    p.stdin.drain()
    print(repr(json.loads(next(answers))["output"]))
sb.terminate()
