"""A name that is taken once among an app's living sandboxes."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("named", create_if_missing=True)
sb = modal.Sandbox.create("sleep", "100", app=app, name="worker")
try:
    modal.Sandbox.create(app=app, name="worker")
except modal.exception.AlreadyExistsError:
    print("taken")
same = modal.Sandbox.from_name("named", "worker")
print(same.object_id == sb.object_id)
print(modal.Sandbox.from_id(sb.object_id).poll())
same.terminate()
try:
    modal.Sandbox.from_name("named", "worker")
except modal.exception.NotFoundError:
    print("released")
try:
    modal.Sandbox.from_id("sb-0123456789abcdef")
except modal.exception.NotFoundError:
    print("unknown")
again = modal.Sandbox.create(app=app, name="worker")
again.terminate()
