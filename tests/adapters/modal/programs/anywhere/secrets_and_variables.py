"""Secrets are variables of all programs, or of one."""

from llm_sandbox.adapters import modal

app = modal.App.lookup("secrets", create_if_missing=True)
secret = modal.Secret.from_dict({"TOKEN": "t0p-s3cret", "REGION": "north", "GONE": None})
sb = modal.Sandbox.create(app=app, secrets=[secret], env={"REGION": "south"})


def run(*words, **options):
    p = sb.exec("sh", "-c", *words, **options)
    p.wait()
    return p.stdout.read().strip()


print(run("echo $TOKEN $REGION ${GONE-unset}"))
other = modal.Secret.from_dict({"TOKEN": "another", "ONLY_HERE": "yes"})
print(run("echo $TOKEN $ONLY_HERE", secrets=[other]))
print(run("echo $TOKEN ${ONLY_HERE-unset}"))
print("t0p-s3cret" in repr(secret))
try:
    modal.Secret.from_dict({"not-a-name": "x"})
    sb.exec("true", secrets=[modal.Secret.from_dict({"not-a-name": "x"})])
except modal.exception.InvalidError:
    print("no such name")
sb.terminate()
