# Reads, lists and searches for what is the host's. ARGUMENTS: word, paths, folders.
import json
import os
import stat

word = ARGUMENTS["word"]
found = {"read": [], "listed": [], "names": [], "environ": [], "sockets": [], "pids": 0, "docker": []}
for path in ARGUMENTS["paths"]:
    try:
        with open(path, "rb") as file:
            file.read(1 << 16)
        found["read"].append(path)
    except OSError:
        pass
for path in ARGUMENTS["folders"]:
    try:
        if os.listdir(path):
            found["listed"].append(path)
    except OSError:
        pass
if word in repr(dict(os.environ)):
    found["environ"].append("own")
for name in os.listdir("/proc"):
    if not name.isdigit():
        continue
    found["pids"] += 1
    for part in ("environ", "cmdline"):
        try:
            with open(f"/proc/{name}/{part}", "rb") as file:
                if word.encode() in file.read():
                    found["environ"].append(f"{part} of another process")
        except OSError:
            pass
seen = 0
for folder, folders, names in os.walk("/"):
    if folder in ("/proc", "/sys"):
        folders[:] = []
        continue
    for name in names:
        seen += 1
        if word in name:
            found["names"].append(os.path.join(folder, name))
        if name.endswith(".sock") or folder.startswith(("/run", "/var", "/tmp")):
            try:
                if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode):
                    found["sockets"].append(os.path.join(folder, name))
            except OSError:
                pass
    if seen > ARGUMENTS.get("most", 400_000):
        break
for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"):
    if os.path.exists(path):
        found["docker"].append(path)
print(json.dumps(found))
