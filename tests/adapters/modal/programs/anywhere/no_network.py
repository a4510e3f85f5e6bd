"""Network of a sandbox: none, or listed hosts."""

from llm_sandbox.adapters import modal

TRY = """
import socket
try:
    with socket.create_connection(("192.0.2.7", 80), timeout=5) as there:
        there.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        print("reached" if there.recv(100) else "not reached")
except OSError:
    print("not reached")
"""

app = modal.App.lookup("closed", create_if_missing=True)
for options in ({"block_network": True}, {"cidr_allowlist": []}):
    sb = modal.Sandbox.create(app=app, **options)
    print(sb.exec("python3", "-c", TRY).stdout.read().strip())
    sb.terminate()
try:
    modal.Sandbox.create(app=app, block_network=True, cidr_allowlist=["10.0.0.0/8"])
except modal.exception.InvalidError:
    print("one or the other")
