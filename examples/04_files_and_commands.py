"""Move files in and out, run commands, and use the machine below a session directly."""

import tempfile
from pathlib import Path

from llm_sandbox import Sandbox, SandboxSession

with tempfile.TemporaryDirectory() as folder, SandboxSession(lang="python") as session:
    source = Path(folder, "numbers.txt")
    source.write_text("3\n1\n2\n")

    session.copy_to_runtime(str(source), "/sandbox/numbers.txt")
    print(session.execute_command("sort -r numbers.txt").stdout.split())

    session.run("open('/sandbox/total.txt', 'w').write(str(sum(map(int, open('numbers.txt')))))")
    target = Path(folder, "total.txt")
    session.copy_from_runtime("/sandbox/total.txt", str(target))
    print("total:", target.read_text())

with Sandbox.create() as machine:
    machine.files.write_text("/sandbox/note.txt", "written from outside\n")
    print(machine.exec("cat", "/sandbox/note.txt").collect().stdout, end="")
    # What really holds on this machine, resource by resource.
    print(machine.isolation)
