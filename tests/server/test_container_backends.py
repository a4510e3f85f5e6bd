"""The server on a container engine: templates with images, contexts, kernels, restarts."""

import pytest

from llm_sandbox.backends.recipes import image_name
from tests.server.fronts import front, text
from tests.server.requests import ask, create, inside
from tests.server.servers import served

pytestmark = pytest.mark.engine("docker", image="python")


def test_sandboxes_are_containers() -> None:
    template = f"science=python:{image_name('python')}"
    with served("--template", template, backend="docker") as server:
        made = create(server.port, templateID="science")
        reply = ask(server.port, "POST", "/execute", {"code": "6 * 7"}, inside(made, 49999))
        assert b'"text":"42"' in reply.body.replace(b" ", b"")
        headers = inside(made) | {"Content-Type": "application/octet-stream"}
        assert 200 == ask(server.port, "POST", "/files?path=f", b"in", headers).status
        assert b"in" == ask(server.port, "GET", "/files?path=f", None, inside(made)).body
        assert 204 == ask(server.port, "DELETE", f"/sandboxes/{made['sandboxID']}").status
        refused = ask(server.port, "POST", "/v2/sandboxes", {"templateID": "none"})
        assert (404, True) == (refused.status, "science" in refused.json["message"])
        kernel = ask(server.port, "POST", "/api/kernels", {"name": "science"}).json
        with front(server.port, kernel["id"]) as client:
            assert "'kept'" == text(client.run("open('f', 'w').write('kept'); 'kept'"))
            assert 200 == ask(server.port, "POST", f"/api/kernels/{kernel['id']}/restart").status
            assert "'kept'" == text(client.run("open('f').read()"))
        assert 204 == ask(server.port, "DELETE", f"/api/kernels/{kernel['id']}").status
