"""An image of steps: packages, commands, files, variables."""

import pathlib
import tempfile

from llm_sandbox.adapters import modal

app = modal.App.lookup("built", create_if_missing=True)
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "tool.py").write_text("print('a tool')\n")
    image = (
        modal.Image.debian_slim()
        .run_commands("mkdir -p /opt/made && echo made > /opt/made/file", "echo $HOME > /root/home")
        .env({"GREETING": 'say "hello" for $5'})
        .add_local_dir(folder, "/opt/tools", copy=True)
        .dockerfile_commands("LABEL of.tests=1", "RUN echo line > /opt/made/line")
        .workdir("/root/app")
        .run_commands("echo relative > here.txt")
    )
    sb = modal.Sandbox.create(app=app, image=image)
p = sb.exec(
    "sh", "-c", 'cat /opt/made/* here.txt /root/home; python3 /opt/tools/tool.py; echo "$GREETING"'
)
print(p.stdout.read(), p.stderr.read(), end="")
p = sb.exec("sh", "-c", "pwd; echo new > new.txt && cat new.txt")
print(p.stdout.read(), end="")
sb.terminate()
same = modal.Sandbox.create(
    "cat", "/opt/made/file", app=app, image=modal.Image.from_id(image.object_id)
)
print(same.stdout.read(), end="")
