"""Bindings of secrets: the hosts, paths and fields where a placeholder is replaced by its value."""

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from llm_sandbox.secrets.plan import Binding

__all__ = ["Bindings", "HostBindings", "encoded_forms", "replace_in_target", "replace_in_value"]

_BASIC = re.compile(r"(basic[ \t]+)([A-Za-z0-9+/=_-]+)", re.ASCII | re.IGNORECASE)
_CREDENTIALS = frozenset({"authorization", "proxy-authorization"})
"""Fields whose basic credentials are decoded."""
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})*)+", re.ASCII)
"""A path without the parameters that some servers cut off at a semicolon."""
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})", re.ASCII)
_MAY_BE_ESCAPED = frozenset(map(ord, " !\"#$&'()*+,:<=>?@[]^`{|}"))
"""Characters that may be escaped in a path. Excluded are those that need no escape, those that
servers may take for parts of another path (slashes, dots, semicolons) or for another escape, and
all beyond ASCII, which has several spellings."""
_REROUTING = frozenset(
    {
        "x-accel-redirect",
        "x-envoy-original-path",
        "x-forwarded-path",
        "x-forwarded-prefix",
        "x-forwarded-uri",
        "x-original-uri",
        "x-original-url",
        "x-rewrite-uri",
        "x-rewrite-url",
    }
)
"""Fields from which some servers take the path, instead of from the request line."""


@dataclass(frozen=True)
class _Host:
    wildcard: str
    name: str
    port: int
    prefix: str

    def names(self, name: str) -> bool:
        if not self.wildcard:
            return name == self.name
        if not name.endswith(f".{self.name}"):
            return False
        before = name.removesuffix(f".{self.name}")
        return bool(before) and (self.wildcard == "**" or "." not in before)

    def begins(self, target: str, *, rerouted: bool) -> bool:
        if self.prefix == "/":
            return True
        if rerouted:
            return False
        path = _canonical(target.partition("?")[0])
        if path is None:
            return False
        folder = self.prefix if self.prefix.endswith("/") else f"{self.prefix}/"
        return path == self.prefix or path.startswith(folder)


def _canonical(path: str) -> str | None:
    """Return a path without escapes; None if a server may read it as another path."""
    if not _PATH.fullmatch(path):
        return None
    if any(int(code, 16) not in _MAY_BE_ESCAPED for code in _ESCAPED.findall(path)):
        return None
    path = unquote(path)
    parts = path.split("/")[1:]
    # Some servers strip dots and spaces from the end of a name: one of these alone is empty there.
    if not all(part.strip(". ") for part in (*parts[:-1], parts[-1] or "-")):
        return None
    return path


def _read_host(rule: str) -> _Host:
    host, slash, rest = rule.partition("/")
    name, _, port = host.rpartition(":")
    for wildcard in ("**", "*"):
        if name.startswith(f"{wildcard}."):
            return _Host(wildcard, name.removeprefix(f"{wildcard}."), int(port), slash + rest)
    return _Host("", name, int(port), slash + rest)


class HostBindings:
    """Secrets that are bound to one host and port."""

    def __init__(self, secrets: Sequence[tuple[Binding, tuple[_Host, ...]]]) -> None:
        self._secrets = secrets

    def at(self, target: str, fields: Collection[str] = ()) -> list[Binding]:
        """Return the bindings that apply to a request.

        Args:
            target: The request target: the path, and the query.
            fields: The names of the request's fields.
        """
        rerouted = not _REROUTING.isdisjoint(map(str.lower, fields))
        return [
            binding
            for binding, hosts in self._secrets
            if any(host.begins(target, rerouted=rerouted) for host in hosts)
        ]

    def words(self) -> dict[bytes, bytes]:
        """Return every encoding of the values, for the scrubber, with its replacement."""
        found: dict[bytes, bytes] = {}
        for binding, _ in self._secrets:
            for word, other in encoded_forms(binding.value, binding.placeholder):
                found.setdefault(word, other)
        return found


class Bindings:
    """All secrets of a sandbox.

    Args:
        bindings: Placeholder, value and hosts of each secret.
    """

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self.all = tuple(bindings)
        self._hosts = [(one, tuple(map(_read_host, one.hosts))) for one in self.all]

    def names(self) -> Iterator[str]:
        """Yield the host names of all bindings, without their wildcard labels."""
        for _, hosts in self._hosts:
            yield from (host.name for host in hosts)

    def bound(self, name: str | None, port: int) -> HostBindings | None:
        """Return the secrets that are bound to a host and port; None if there are none."""
        found = []
        for binding, hosts in self._hosts:
            matching = tuple(
                host for host in hosts if name and host.names(name) and host.port == port
            )
            if matching:
                found.append((binding, matching))
        return HostBindings(found) if found else None

    def names_host(self, name: str | None) -> bool:
        """Return whether a secret is bound to a host name, on any port."""
        return name is not None and any(
            host.names(name) for _, hosts in self._hosts for host in hosts
        )

    def sent(self, text: str, besides: Sequence[Binding] = ()) -> str | None:
        """Return the name of a secret whose placeholder is in a head, also where it is encoded.

        Args:
            text: The head.
            besides: Bindings whose placeholders are permitted there.
        """
        texts = [text, unquote(text)]
        texts += [decoded for _, token in _BASIC.findall(text) if (decoded := _decoded(token))]
        for binding in self.all:
            if binding not in besides and any(binding.placeholder in one for one in texts):
                return binding.name
        return None


def replace_in_value(name: str, value: str, bindings: Sequence[Binding]) -> str:
    """Replace placeholders by values in a field.

    Encoded text is searched in credentials alone: a host may echo any other field, in a form that
    the scrubber does not know.

    Args:
        name: The field's name.
        value: Its value.
        bindings: The bindings that apply.
    """
    found = _BASIC.fullmatch(value) if name.lower() in _CREDENTIALS else None
    if found is not None and (decoded := _decoded(found[2])):
        replaced = _replace(decoded, bindings)
        if replaced != decoded:
            return found[1] + base64.b64encode(replaced.encode()).decode("ascii")
    return _replace(value, bindings)


def replace_in_target(target: str, bindings: Sequence[Binding]) -> str:
    """Replace placeholders by values in the fields of a query that the bindings list."""
    path, mark, query = target.partition("?")
    if not mark or not any(binding.query for binding in bindings):
        return target
    pairs = []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        matching = [binding for binding in bindings if unquote(name) in binding.query]
        replaced = _replace(unquote(value), matching)
        changed = equals and replaced != unquote(value)
        pairs.append(f"{name}={quote(replaced, safe='')}" if changed else pair)
    return f"{path}?{'&'.join(pairs)}"


def _replace(text: str, bindings: Sequence[Binding]) -> str:
    for binding in bindings:
        text = text.replace(binding.placeholder, binding.value)
    return text


def _decoded(token: str) -> str | None:
    try:
        data = base64.b64decode(token.translate(_FROM_URL_SAFE) + "=" * (-len(token) % 4))
        return data.decode("utf-8")
    except (binascii.Error, ValueError):
        return None


_FROM_URL_SAFE = str.maketrans("-_", "+/")


_LONGEST = 4096
"""Characters of a value; a longer one is known in two encodings only, as each may become six."""


def encoded_forms(value: str, placeholder: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the encodings of a value in which a host may echo it, each with its replacement.

    The replacement has the same length: the placeholder in the same encoding if that fits.

    Args:
        value: Printable ASCII.
        placeholder: Its placeholder.
    """
    short = len(value) <= _LONGEST
    written = zip(_written(value), _written(placeholder), strict=True) if short else ()
    for word, other in ((value, placeholder), (quote(value, safe=""), ""), *written):
        same = len(word) == len(other)
        yield word.encode(), (other if same else "*" * len(word)).encode()


def _written(text: str) -> Iterator[str]:
    yield text.lower()
    yield text.upper()
    escaped = "".join(f"%{ord(sign):02x}" for sign in text)
    quoted = quote(text, safe="")
    for form in (quoted, quote(quoted, safe=""), escaped):
        yield form
        yield _lower_escapes(form)
        yield form.upper() if form is escaped else form
    in_json = json.dumps(text)[1:-1]
    yield in_json
    yield in_json.replace("/", "\\/")
    points = [f"{ord(sign):04x}" for sign in text]
    yield "".join(f"\\u{point}" for point in points)
    yield "".join(f"\\u{point.upper()}" for point in points)
    # As encoders that write JSON into HTML pages do.
    for rare in ("<>&", "<>&'=", "<>&'+"):
        yield "".join(f"\\u{ord(sign):04x}" if sign in rare else sign for sign in in_json)
    yield html.escape(text)
    yield "".join(f"&#{ord(sign)};" for sign in text)
    yield "".join(f"&#x{ord(sign):x};" for sign in text)
    yield "".join(f"\\x{ord(sign):02x}" for sign in text)
    yield text.encode().hex()
    yield text.encode().hex().upper()
    yield text.encode().hex(":")
    yield text[::-1]
    for before in range(5):
        yield _inner(base64.b32encode, 5, text.encode(), before)
    for before in range(3):
        inner = _inner(base64.b64encode, 6, text.encode(), before)
        yield inner
        yield inner.translate(_URL_SAFE)
        yield quote(inner, safe="")


def _lower_escapes(text: str) -> str:
    """Return a text with its percent escapes in lower case."""
    first, *rest = text.split("%")
    return "%".join([first, *(f"{part[:2].lower()}{part[2:]}" for part in rest)])


def _inner(encode: Callable[[bytes], bytes], bits: int, data: bytes, before: int) -> str:
    """Return the characters that encode some data alone, whatever comes before and after it.

    Args:
        encode: Base 32 or 64.
        bits: Number of bits that a character encodes.
        data: The data.
        before: Number of bytes before the data, modulo the size of an encoded block.
    """
    whole = encode(bytes(before) + data).decode("ascii")
    return whole[-(-before * 8 // bits) : (before + len(data)) * 8 // bits]


_URL_SAFE = str.maketrans("+/", "-_")
