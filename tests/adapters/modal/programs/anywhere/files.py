"""Files of a sandbox, without a program."""

import pathlib
import tempfile

from llm_sandbox.adapters import modal

app = modal.App.lookup("files", create_if_missing=True)
sb = modal.Sandbox.create(app=app)
fs = sb.filesystem
fs.write_text("hello\n", "/tmp/made/here/a.txt")
fs.write_bytes(b"\x00\xff", "/tmp/made/b.bin")
print(fs.read_text("/tmp/made/here/a.txt"), fs.read_bytes("/tmp/made/b.bin"))
fs.make_directory("/tmp/made/empty")
print([(info.name, info.is_dir(), info.is_file()) for info in fs.list_files("/tmp/made")])
print(fs.stat("/tmp/made/b.bin").size)
with tempfile.TemporaryDirectory() as folder:
    local = pathlib.Path(folder, "local.txt")
    local.write_text("from outside")
    fs.copy_from_local(local, "/tmp/made/copy.txt")
    p = sb.exec("sed", "-i", "s/out/in/", "/tmp/made/copy.txt")
    p.wait()
    fs.copy_to_local("/tmp/made/copy.txt", pathlib.Path(folder, "deep/back.txt"))
    print(pathlib.Path(folder, "deep/back.txt").read_text())
fs.remove("/tmp/made", recursive=True)
try:
    fs.stat("/tmp/made")
except modal.exception.SandboxFilesystemNotFoundError:
    print("gone")
try:
    fs.read_text("relative.txt")
except modal.exception.InvalidError:
    print("not absolute")
sb.terminate()
