"""A server in a sandbox without a network, reached from this machine, with asyncio."""

import asyncio
import urllib.request

from llm_sandbox.adapters import modal

SERVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from the sandbox")
HTTPServer(("127.0.0.1", 8000), Hello).serve_forever()
"""


async def main() -> None:
    app = await modal.App.lookup.aio("web-server", create_if_missing=True)
    sandbox = await modal.Sandbox.create.aio(
        *("python3", "-c", SERVER),
        app=app,
        timeout=60,
        unencrypted_ports=[8000],
        readiness_probe=modal.Probe.with_tcp(8000),
    )
    try:
        await sandbox.wait_until_ready.aio(timeout=30)
        host, port = (await sandbox.tunnels.aio())[8000].tcp_socket
        with await asyncio.to_thread(urllib.request.urlopen, f"http://{host}:{port}/") as answer:
            print(answer.read().decode())
    finally:
        await sandbox.terminate.aio()


if __name__ == "__main__":
    asyncio.run(main())
