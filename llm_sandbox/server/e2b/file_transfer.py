"""Route ``/files`` of envd: files are downloaded and uploaded, in pieces."""

import contextlib
import gzip
import posixpath
import tempfile
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import IO, Any
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from llm_sandbox.exceptions import (
    FileError,
    SandboxIsADirectoryError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.server.answers import (
    TooLargeError,
    check_length,
    in_thread,
    parse_object,
    read_body,
)
from llm_sandbox.server.e2b.filesystem import real_path
from llm_sandbox.server.live_sandbox import LiveSandbox

__all__ = ["compose", "download", "upload"]

_PIECE = 1 << 20
_MOST_FILES = 1000


async def download(request: Request, live: LiveSandbox, most: int) -> Response:
    """Return the content of a file.

    Raises:
        SandboxIsADirectoryError: It is a directory.
        OutputLimitError: It has more than `most` bytes.
    """
    path = real_path(live, request.query_params.get("path", ""))
    entry = await in_thread(live.sandbox.files.stat, path)
    if entry.kind == "directory":
        raise SandboxIsADirectoryError(f"{path} is a directory", path=path)
    # trust: the content is from inside; as an attachment no browser renders it.
    name = quote(posixpath.basename(path).encode("utf-8", "surrogateescape"), safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
    }
    kind = "application/octet-stream"
    if entry.size <= _PIECE:
        data = await in_thread(live.sandbox.files.read_bytes, path, most)
        if "gzip" in request.headers.get("accept-encoding", "") and _wants_gzip(request):
            data = await in_thread(gzip.compress, data, 5)
            headers["Content-Encoding"] = "gzip"
        return Response(data, media_type=kind, headers=headers)
    folder = tempfile.TemporaryDirectory(prefix="llm-sandbox-download-")
    try:
        target = f"{folder.name}/content"
        await in_thread(live.sandbox.files.download, path, target, limit=most)
        file = open(target, "rb")  # noqa: SIM115, PTH123, ASYNC230 - closed with the answer
    finally:
        await in_thread(folder.cleanup)
    return StreamingResponse(
        _pieces(file), media_type=kind, headers=headers, background=BackgroundTask(file.close)
    )


def _wants_gzip(request: Request) -> bool:
    """Return whether only gzip is accepted, as clients ask for that deliberately."""
    return request.headers["accept-encoding"].strip() == "gzip"


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while data := await in_thread(file.read, _PIECE):
        yield data


async def upload(request: Request, live: LiveSandbox, most: int) -> Response:
    """Write the files of a request: one as it is, or the parts of a form.

    Raises:
        TooLargeError: There are more than `most` bytes.
        NoSpaceError: The sandbox has no space left.
    """
    # What no file of the sandbox can hold is not even held here.
    most = min(most, live.sandbox.limits.file_size_bytes)
    given = request.query_params.get("path")
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if any(name.startswith("x-metadata-") for name in request.headers):
        raise UnsupportedError("metadata of files")
    if kind == "multipart/form-data":
        written = await _write_form(request, live, given, most)
    elif kind == "application/octet-stream":
        path = real_path(live, given)
        await _write_body(request, live, path, most)
        written = [path]
    else:
        raise ValidationError("invalid Content-Type: expected a form or application/octet-stream")
    files = [{"path": path, "name": posixpath.basename(path), "type": "file"} for path in written]
    return JSONResponse(files)


async def _write_body(request: Request, live: LiveSandbox, path: str, most: int) -> None:
    encoding = request.headers.get("content-encoding", "identity")
    if encoding not in ("gzip", "identity"):
        raise ValidationError("invalid Content-Encoding: expected gzip or none")
    check_length(request, most)
    unpack = _Unpacker(most) if encoding == "gzip" else None
    with tempfile.TemporaryFile() as held:
        count = 0
        async for piece in request.stream():
            data = piece if unpack is None else unpack.feed(piece)
            count += len(data)
            if count > most:
                raise TooLargeError(f"the file is larger than {most} bytes")
            held.write(data)
        held.seek(0)
        await in_thread(_write, live, path, held)


class _Unpacker:
    """Decompressor that stops at a size."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._stream = zlib.decompressobj(31)

    def feed(self, piece: bytes) -> bytes:
        """Return what a piece of gzip holds, at most one byte over the limit."""
        try:
            return self._stream.decompress(piece, self._most + 1)
        except zlib.error:
            raise ValidationError("invalid body: expected gzip") from None


async def _write_form(
    request: Request, live: LiveSandbox, given: str | None, most: int
) -> list[str]:
    check_length(request, most + _PIECE)
    parser = MultiPartParser(
        request.headers, _counted(request, most), max_files=_MOST_FILES, max_fields=_MOST_FILES
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        raise ValidationError(f"invalid body: {getattr(error, 'message', error)}") from None
    async with contextlib.aclosing(_closing(form)):
        parts = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not parts:
            raise ValidationError("invalid body: expected a form with files")
        if given is not None and len(parts) > 1:
            raise ValidationError("path= is for one file, and the form has several")
        paths = [real_path(live, given or part.filename) for part in parts]
        for path, part in zip(paths, parts, strict=True):
            await in_thread(_write, live, path, part.file)
        return paths


async def _closing(form: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await form.close()


async def _counted(request: Request, most: int) -> AsyncGenerator[bytes]:
    count = 0
    async for piece in request.stream():
        count += len(piece)
        if count > most + _PIECE:
            raise TooLargeError(f"the files are larger than {most} bytes")
        yield piece


def _write(live: LiveSandbox, path: str, source: Any) -> None:
    files = live.sandbox.files
    files.write_bytes(path, source.read(_PIECE))
    for data in _rest(source):
        files.write_bytes(path, data, append=True)


def _rest(source: Any) -> Iterator[bytes]:
    while data := source.read(_PIECE):
        yield data


async def compose(request: Request, live: LiveSandbox, most: int) -> Response:
    """Join files of the sandbox to one, and remove them."""
    body = parse_object(await read_body(request, most))
    sources = body.get("source_paths")
    if not isinstance(sources, list) or not sources:
        raise ValidationError("invalid source_paths: expected paths", parameter="source_paths")
    paths = [real_path(live, path) for path in sources]
    target = real_path(live, body.get("destination"))

    def join() -> None:
        for path in paths:
            live.sandbox.files.stat(path)
        live.sandbox.files.mkdir(posixpath.dirname(target))
        script = 'to=$1; shift; cat -- "$@" > "$to" && rm -f -- "$@"'
        done = live.sandbox.exec("sh", "-c", script, "sh", target, *paths).collect()
        if done.exit_code:
            raise FileError(f"the files could not be joined: {done.stderr.strip()[:500]}")

    await in_thread(join)
    return JSONResponse({"path": target, "name": posixpath.basename(target), "type": "file"})
