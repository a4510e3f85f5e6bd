"""Sandboxes are found by their app and their tags."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("tagged", create_if_missing=True)
first = modal.Sandbox.create("sleep", "100", app=app)
second = modal.Sandbox.create("sleep", "100", app=app)
first.set_tags({"stage": "prod", "number": "1"})
second.set_tags({"stage": "prod", "number": "2"})


def numbers(**tags):
    return [sb.get_tags().get("number") for sb in modal.Sandbox.list(app_id=app.app_id, tags=tags)]


print(numbers(), numbers(stage="prod"), numbers(stage="prod", number="1"), numbers(stage="dev"))
first.set_tags({"stage": "dev"})
print(numbers(stage="prod"), first.get_tags())
for sb in modal.Sandbox.list(app_id=app.app_id):
    sb.terminate()
print(list(modal.Sandbox.list(app_id=app.app_id)))
