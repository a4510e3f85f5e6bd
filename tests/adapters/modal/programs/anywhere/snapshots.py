"""Save a sandbox's files, and begin others with them."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("snapshots", create_if_missing=True)
sb = modal.Sandbox.create(app=app, workdir="/root/project")
sb.exec("sh", "-c", "echo 1 > state.txt").wait()
image = sb.snapshot_filesystem()
print(sb.poll(), type(image).__name__)
sb.exec("sh", "-c", "echo 2 > state.txt").wait()
sb.terminate()
for number in (1, 2):
    fork = modal.Sandbox.create(app=app, image=image)
    p = fork.exec("sh", "-c", f"cat state.txt; echo fork {number} >> state.txt; cat state.txt")
    print(p.stdout.read(), end="")
    fork.terminate()
