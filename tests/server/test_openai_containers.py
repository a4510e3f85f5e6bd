"""OpenAI's own client, unmodified, and its calls for containers."""

import base64
import io
from collections.abc import Iterator

import openai
import pytest

from tests.server.servers import Served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(scope="module")
def container(client: openai.OpenAI) -> str:
    return client.containers.create(name="one", memory_limit="1g").id


def test_a_container_is_described(client: openai.OpenAI, container: str) -> None:
    found = client.containers.retrieve(container)
    assert ("one", "running", "container") == (found.name, found.status, found.object)
    assert "1g" == found.memory_limit
    assert found.expires_after is not None
    assert 20 == found.expires_after.minutes


def test_containers_are_listed(client: openai.OpenAI, container: str) -> None:
    assert container in [one.id for one in client.containers.list()]


def test_a_list_has_pages(client: openai.OpenAI, container: str) -> None:
    others = [client.containers.create(name="page").id for _ in range(2)]
    page = client.containers.list(limit=2)
    assert page.has_more
    assert {container, *others} <= {one.id for one in client.containers.list(limit=2)}
    for other in others:
        client.containers.delete(other)


def test_a_container_is_deleted(client: openai.OpenAI) -> None:
    made = client.containers.create(name="short")
    client.containers.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        client.containers.retrieve(made.id)


def test_files(client: openai.OpenAI, container: str) -> None:
    made = client.containers.files.create(container, file=("data.csv", io.BytesIO(b"a\n1\n")))
    assert ("/mnt/data/data.csv", 4) == (made.path, made.bytes)
    assert made.id in [one.id for one in client.containers.files.list(container)]
    assert 4 == client.containers.files.retrieve(made.id, container_id=container).bytes
    content = client.containers.files.content.retrieve(made.id, container_id=container)
    assert b"a\n1\n" == content.read()
    client.containers.files.delete(made.id, container_id=container)
    with pytest.raises(openai.NotFoundError):
        client.containers.files.retrieve(made.id, container_id=container)


def test_a_file_id_leads_nowhere_else(client: openai.OpenAI, container: str) -> None:
    client.containers.files.create(container, file=("ok.txt", b"ok"))

    def content(path: str) -> bytes:
        name = f"cfile_{path.encode().hex()}"
        return client.containers.files.content.retrieve(name, container_id=container).read()

    assert b"ok" == content("ok.txt")
    for path in ("../../etc/passwd", "/etc/passwd"):
        with pytest.raises(openai.NotFoundError, match="no such file"):
            content(path)


def test_code_runs_beside_it(client: openai.OpenAI, container: str) -> None:
    """Not a route of OpenAI's: there, code runs in the Responses API only."""
    client.containers.files.create(container, file=("n.txt", b"41"))
    code = (
        "import matplotlib.pyplot as plt\nprint(int(open('/mnt/data/n.txt').read()) + 1)\n"
        "plt.plot([1, 2]); plt.show()"
    )
    found = client.post(f"/containers/{container}/run", body={"code": code}, cast_to=dict)
    assert ("code_interpreter_call", "completed") == (found["type"], found["status"])
    logs, image = found["outputs"]
    assert "42\n" in logs["logs"]
    assert base64.b64decode(image["url"].partition(",")[2]).startswith(b"\x89PNG")


def test_code_that_fails(client: openai.OpenAI, container: str) -> None:
    found = client.post(f"/containers/{container}/run", body={"code": "1/0"}, cast_to=dict)
    assert "failed" == found["status"]
    assert "ZeroDivisionError" in found["outputs"][0]["logs"]


def test_code_that_is_too_slow(client: openai.OpenAI, container: str) -> None:
    body = {"code": "print('x', flush=True)\nwhile True: pass", "timeout": 1}
    found = client.post(f"/containers/{container}/run", body=body, cast_to=dict)
    assert ("failed", True) == (found["status"], "x" in found["outputs"][0]["logs"])


def test_what_it_cannot_do_is_refused(client: openai.OpenAI, container: str) -> None:
    with pytest.raises(openai.BadRequestError, match="stores no files"):
        client.containers.create(name="x", file_ids=["file-1"])
    with pytest.raises(openai.BadRequestError, match="65536 MiB"):
        client.containers.create(name="x", memory_limit="64g")
    with pytest.raises(openai.BadRequestError, match="closed it"):
        client.containers.create(
            name="x", network_policy={"type": "allowlist", "allowed_domains": ["example.com"]}
        )
    with pytest.raises(openai.BadRequestError, match="stores no files"):
        client.containers.files.create(container, file_id="file-1")


def test_a_sandbox_of_another_api_is_no_container(client: openai.OpenAI, server: Served) -> None:
    from tests.server.requests import create

    name = f"cntr_{create(server.port)['sandboxID']}"
    assert name not in [one.id for one in client.containers.list()]
    with pytest.raises(openai.NotFoundError):
        client.containers.retrieve(name)
