"""Wait until a server takes connections."""

from llm_sandbox.adapters import modal

SERVER = """
import socket, time
time.sleep(0.3)
with socket.create_server(("127.0.0.1", 9000)) as server:
    while True:
        server.accept()[0].close()
"""
app = modal.App.lookup("ready", create_if_missing=True)
sb = modal.Sandbox.create(
    "python3", "-c", SERVER, app=app, readiness_probe=modal.Probe.with_tcp(9000, interval_ms=50)
)
sb.wait_until_ready(timeout=30)
p = sb.exec(
    "python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 9000)); print(1)"
)
print(p.stdout.read(), p.wait())
sb.terminate()
