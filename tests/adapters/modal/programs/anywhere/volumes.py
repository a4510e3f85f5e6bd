"""Two sandboxes and this process share a volume."""

import io

from llm_sandbox.adapters import modal

app = modal.App.lookup("volumes", create_if_missing=True)
with modal.Volume.ephemeral() as volume:
    with volume.batch_upload() as batch:
        batch.put_file(io.BytesIO(b"1 2 3"), "/numbers.txt")
    writer = modal.Sandbox.create(app=app, volumes={"/data": volume})
    writer.exec("sh", "-c", "tr ' ' '+' < /data/numbers.txt > /data/sum.txt").wait()
    volume.commit()
    writer.terminate()
    reader = modal.Sandbox.create(app=app, volumes={"/in": volume.read_only()})
    reader.reload_volumes()
    p = reader.exec(
        "sh", "-c", "echo $(( $(cat /in/sum.txt) )); touch /in/new 2>/dev/null || echo no"
    )
    p.wait()
    print(p.stdout.read(), end="")
    reader.terminate()
    print(sorted(entry.path for entry in volume.listdir("/")))
    print(b"".join(volume.read_file("sum.txt")))
    try:
        modal.Sandbox.create(app=app, volumes={"/a": volume, "/b": volume})
    except modal.exception.InvalidError:
        print("one place each")
