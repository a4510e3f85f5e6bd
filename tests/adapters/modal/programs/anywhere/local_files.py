"""Files of this machine that a sandbox begins with, and where it begins."""

import pathlib
import tempfile

from llm_sandbox.adapters import modal

app = modal.App.lookup("local", create_if_missing=True)
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "main.py").write_text(
        "import os\nprint(os.environ['NAME'], os.getcwd())\n"
    )
    image = (
        modal.Image.debian_slim()
        .env({"NAME": "value"})
        .workdir("/root/work")
        .add_local_file(pathlib.Path(folder, "main.py"), "/app/main.py")
    )
    sb = modal.Sandbox.create("python3", "/app/main.py", app=app, image=image)
    print(sb.stdout.read(), end="")
    sb.wait()
    print(sb.returncode)
