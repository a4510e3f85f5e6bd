"""Steps of E2B's Python SDK: signed links."""

import urllib.error
import urllib.request

import pytest

from tests.server.steps import Steps, World, do

STEPS = Steps()
step = STEPS


def fetch(url: str, data: bytes | None = None, kind: str = "application/octet-stream") -> bytes:
    asked = urllib.request.Request(url, data)
    if data is not None:
        asked.add_header("Content-Type", kind)
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return bytes(answer.read())


@step
async def link_to_download(w: World) -> None:
    await do(w.box.files.write("linked.txt", "by link"))
    assert b"by link" == fetch(w.box.download_url("linked.txt"))


@step
async def link_that_expires(w: World) -> None:
    url = w.box.download_url("linked.txt", use_signature_expiration=60)
    assert b"by link" == fetch(url)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(url.replace("signature_expiration=", "signature_expiration=1"))


@step
async def link_that_has_expired(w: World) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(w.box.download_url("linked.txt", use_signature_expiration=-5))


@step
async def link_to_upload(w: World) -> None:
    fetch(w.box.upload_url("uploaded.txt"), b"content")
    assert "content" == await do(w.box.files.read("uploaded.txt"))


@step
async def link_with_a_form(w: World) -> None:
    body = (
        b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nform\r\n'
        b"--xyz--\r\n"
    )
    fetch(w.box.upload_url("form.txt"), body, "multipart/form-data; boundary=xyz")
    assert "form" == await do(w.box.files.read("form.txt"))


@step
async def link_for_another_file(w: World) -> None:
    url = w.box.download_url("linked.txt")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(url.replace("linked.txt", "uploaded.txt"))


@step
async def link_to_download_is_none_to_upload(w: World) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        fetch(w.box.download_url("linked.txt"), b"x")
