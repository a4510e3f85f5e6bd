"""Stop code that takes too long, and keep its output until then.

A session by itself has no deadline: ``run`` waits for as long as the code takes. With ``timeout=``,
or ``execution_timeout=`` of the session for all runs, it raises `SandboxTimeoutError` instead.
"""

from llm_sandbox import SandboxSession, SandboxTimeoutError

CODE = """
import time

for second in range(60):
    print("working", second, flush=True)
    time.sleep(1)
"""

with SandboxSession(lang="python") as session:
    try:
        session.run(CODE, timeout=2.5)
    except SandboxTimeoutError as error:
        partial = error.result
        print("stopped with exit code", partial.exit_code)
        print("until then it said:", partial.stdout.splitlines())

    # The session can be used again.
    print(session.run("print('still here')").stdout, end="")
