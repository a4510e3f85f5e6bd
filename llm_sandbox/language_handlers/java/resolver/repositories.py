"""Maven artifacts, and the repositories that hold them."""

import base64
import hashlib
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from xml.etree import ElementTree

from .versions import order

__all__ = ["Artifact", "NotFoundError", "Repositories", "ResolutionError", "parse", "text_of"]

_TIMEOUT_S = 30
_LARGEST_POM = 8 << 20
_PIECE = 1 << 20


class ResolutionError(Exception):
    """Error of a resolution that cannot succeed."""


class NotFoundError(ResolutionError):
    """Error of an artifact that no repository has."""


@dataclass(frozen=True)
class Artifact:
    """Coordinates of an artifact."""

    group: str
    name: str
    version: str
    kind: str = "jar"
    classifier: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Coordinates without the version."""
        return self.group, self.name, self.kind, self.classifier

    @property
    def file(self) -> str:
        """File name of the artifact."""
        ending = {"test-jar": "jar", "bundle": "jar", "ejb": "jar"}.get(self.kind, self.kind)
        classifier = self.classifier or {"test-jar": "tests"}.get(self.kind, "")
        return f"{self.name}-{self.version}{'-' if classifier else ''}{classifier}.{ending}"

    @property
    def path(self) -> str:
        """Path of the artifact in a repository."""
        return f"{self.group.replace('.', '/')}/{self.name}/{self.version}/{self.file}"

    def __str__(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"


class Repositories:
    """Repositories, in the order in which they are queried."""

    def __init__(self, known: list[dict[str, str]]) -> None:
        self._known = known

    def read(self, path: str, largest: int = _LARGEST_POM) -> bytes:
        """Return a file, verified by its checksum where the repository has one."""
        for repository in self._known:
            data = self._read(repository, path, largest)
            if data is None:
                continue
            digest = self._read(repository, f"{path}.sha1", 4096)
            said = digest.decode("ascii", "replace").split() if digest else []
            if said and said[0].lower() != hashlib.sha1(data).hexdigest():  # noqa: S324 - Maven's
                raise ResolutionError(f"{path.rpartition('/')[2]} is damaged: its digest differs")
            return data
        raise NotFoundError(f"no repository has {path}")

    def _read(self, repository: dict[str, str], path: str, largest: int) -> bytes | None:
        address = f"{repository['url'].rstrip('/')}/{urllib.parse.quote(path)}"
        request = urllib.request.Request(address, headers={"User-Agent": "llm-sandbox"})  # noqa: S310
        if repository.get("user"):
            login = f"{repository['user']}:{repository.get('password', '')}".encode()
            request.add_header("Authorization", f"Basic {base64.b64encode(login).decode()}")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                # In pieces: a file is given a buffer of the whole size that is asked for.
                data = bytearray()
                while len(data) <= largest and (piece := answer.read(_PIECE)):
                    data += piece
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                return None
            raise ResolutionError(
                f"{repository['id']} answers {error.code} {error.reason}"
            ) from None
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, FileNotFoundError) or "No such file" in str(reason):
                return None
            raise ResolutionError(f"Could not connect to {repository['id']}: {reason}") from None
        if len(data) > largest:
            raise ResolutionError(f"{path.rpartition('/')[2]} is larger than allowed")
        return bytes(data)

    def versions(self, group: str, name: str) -> tuple[list[str], str]:
        """Return all versions of an artifact, and the newest release."""
        path = f"{group.replace('.', '/')}/{name}/maven-metadata.xml"
        try:
            root = parse(self.read(path), path)
        except NotFoundError:
            raise NotFoundError(f"no repository has {group}:{name}") from None
        found = [item.text or "" for item in root.iterfind("versioning/versions/version")]
        release = text_of(root.find("versioning"), "release") or max(found, key=order, default="")
        return found, release


def parse(data: bytes, what: str) -> ElementTree.Element:
    """Parse an XML document; namespaces are removed from the names.

    Raises:
        ResolutionError: The data is not an XML document.
    """
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - in a throw-away sandbox
    except ElementTree.ParseError as error:
        raise ResolutionError(f"the description of {what} is broken: {error}") from None
    for item in root.iter():
        if isinstance(item.tag, str):
            item.tag = item.tag.rpartition("}")[2]
    return root


def text_of(element: ElementTree.Element | None, tag: str) -> str:
    """Return the text of a child element, empty if it is absent."""
    return (element.findtext(tag) or "").strip() if element is not None else ""
