"""An image of steps: packages, commands, files, variables."""

import pathlib
import tempfile
import zipfile

from llm_sandbox.adapters import modal

FACTS = "of_tests-1.5.dist-info"
WHEEL = {
    "of_tests.py": "ANSWER = 42\n",
    f"{FACTS}/METADATA": "Metadata-Version: 2.1\nName: of-tests\nVersion: 1.5\n",
    f"{FACTS}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{FACTS}/RECORD": "",
}

app = modal.App.lookup("built", create_if_missing=True)
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "tool.py").write_text("print('a tool')\n")
    wheels = pathlib.Path(folder, "wheels")
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "of_tests-1.5-py3-none-any.whl", "w") as wheel:
        for name, text in WHEEL.items():
            wheel.writestr(name, text)
    image = (
        modal.Image.debian_slim()
        .pip_install("of-tests>1", find_links=str(wheels), extra_options="--no-index")
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
p = sb.exec("python3", "-c", "import of_tests, numpy; print(of_tests.ANSWER)")
print(p.stdout.read(), p.stderr.read(), end="")
p = sb.exec("sh", "-c", "pwd; echo new > new.txt && cat new.txt")
print(p.stdout.read(), end="")
sb.terminate()
same = modal.Sandbox.create(
    "cat", "/opt/made/file", app=app, image=modal.Image.from_id(image.object_id)
)
print(same.stdout.read(), end="")
