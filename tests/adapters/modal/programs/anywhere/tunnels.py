"""A server in a sandbox, and a client outside."""

import time
import urllib.error
import urllib.request

from llm_sandbox.adapters import modal

app = modal.App.lookup("web", create_if_missing=True)
sb = modal.Sandbox.create(
    *("python3", "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", "/tmp"),
    app=app,
    unencrypted_ports=[8000],
    timeout=60,
)
sb.exec("sh", "-c", "echo served > /tmp/page.txt").wait()
tunnel = sb.tunnels()[8000]
host, port = tunnel.tcp_socket
for _ in range(100):
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/page.txt") as answer:
            print(answer.status, answer.read())
        break
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.1)
print(list(sb.tunnels()))
sb.terminate()
