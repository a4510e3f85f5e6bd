"""Plot files from a tar archive that a sandbox made."""

import base64
import io
import tarfile
from collections.abc import Iterable
from pathlib import PurePosixPath

from llm_sandbox.data import FileType, PlotOutput
from llm_sandbox.exceptions import ArtifactLimitError, ProtocolError

__all__ = ["plots_from_archive"]

_TYPES = {
    "png": FileType.PNG,
    "jpg": FileType.JPEG,
    "jpeg": FileType.JPEG,
    "svg": FileType.SVG,
    "pdf": FileType.PDF,
    "html": FileType.HTML,
}


def plots_from_archive(
    content: bytes | Iterable[bytes], *, total_bytes: int = 64 * 1024**2, files: int = 200
) -> list[PlotOutput]:
    """Return the plot files of a tar archive, sorted by name; links and special files are skipped.

    Args:
        content: The archive, whole or in pieces.
        total_bytes: Largest archive accepted, in bytes; 64 MiB.
        files: Most plots returned; 200.

    Raises:
        ArtifactLimitError: the archive is larger than `total_bytes`.
        ProtocolError: `content` is not a tar archive.
    """
    pieces = (content,) if isinstance(content, (bytes, bytearray, memoryview)) else content
    archive = bytearray()
    for piece in pieces:
        archive += piece
        if len(archive) > total_bytes:
            raise ArtifactLimitError("the plots are larger than the limit", limit=total_bytes)
    if not archive:
        return []
    found: list[tuple[str, PlotOutput]] = []
    try:
        # trust: the archive comes from inside; "r:" unpacks no compression, nothing is extracted.
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for member in tar:
                kind = _TYPES.get(PurePosixPath(member.name).suffix.lower().lstrip("."))
                # A sparse member may claim any size; a regular one cannot exceed the archive.
                if kind is None or not member.isreg() or member.issparse():
                    continue
                stream = tar.extractfile(member)
                if stream is None or len(found) == files:
                    continue
                encoded = base64.b64encode(stream.read()).decode("ascii")
                found.append((member.name, PlotOutput(kind, encoded)))
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise ProtocolError("the plot archive is not a tar archive") from error
    return [plot for _, plot in sorted(found, key=lambda item: item[0])]
