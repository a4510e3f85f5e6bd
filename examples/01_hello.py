"""Run code in a sandbox: what one call defines, the next one finds."""

from llm_sandbox import SandboxSession

with SandboxSession(lang="python") as session:
    session.run("answer = 6 * 7")
    result = session.run("print('hello from the sandbox:', answer)")
    print(result.stdout, end="")

    # A program that fails is a result like any other: nothing is raised here.
    failed = session.run("print('before'); answer / 0")
    print(failed.exit_code, failed.stdout.strip(), "|", failed.stderr.strip().splitlines()[-1])
