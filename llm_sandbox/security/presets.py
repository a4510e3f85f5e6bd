"""Ready-made policies, from the most permissive to the strictest.

A preset names concerns; a concern is a handful of modules and patterns with one severity each.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)

__all__ = ["PolicyPreset", "get_security_policy"]

PolicyPreset: TypeAlias = Literal[
    "minimal",
    "development",
    "educational",
    "data_science",
    "web_scraping",
    "production",
    "strict",
]
"""Name of a ready-made policy."""

_, _LOW, _MEDIUM, _HIGH = SecurityIssueSeverity


@dataclass(frozen=True, slots=True)
class _Concern:
    severity: SecurityIssueSeverity
    description: str
    modules: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


_PROCESSES = _Concern(
    _HIGH,
    "starts other programs",
    ("subprocess", "pty"),
    (r"\bos\s*\.\s*(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|fork(?:pty)?)\s*\(",),
)
_NATIVE = _Concern(_HIGH, "reaches into native memory", ("ctypes", "cffi", "_ctypes"))
_SECRETS = _Concern(
    _HIGH,
    "reads files that hold secrets of the machine",
    patterns=(
        r"/etc/(?:shadow|gshadow|sudoers)\b",
        r"/proc/(?:self|\d+)/(?:environ|mem)\b",
        r"\.ssh/(?:id_\w+|authorized_keys)",
        r"\.aws/credentials\b",
        r"docker\.sock\b",
    ),
)
_METADATA = _Concern(
    _HIGH,
    "asks a cloud's metadata service",
    patterns=(r"\b169\.254\.169\.254\b", r"\bmetadata\.google\.internal\b"),
)
_DELETION = _Concern(
    _MEDIUM,
    "deletes whole directory trees",
    patterns=(r"\brmtree\s*\(", r"\brm\s+-\w*[rR]\w*\s+/"),
)
_SYSTEM = _Concern(
    _MEDIUM, "uses the operating system directly", ("os", "shutil", "signal", "resource")
)
_SOCKETS = _Concern(
    _MEDIUM, "opens network connections", ("socket", "socketserver", "asyncio.streams", "ssl")
)
_WEB = _Concern(
    _MEDIUM,
    "makes web requests",
    ("requests", "httpx", "aiohttp", "urllib.request", "urllib3", "http.client"),
)
_MAIL = _Concern(
    _MEDIUM,
    "sends mail or transfers files",
    ("smtplib", "ftplib", "telnetlib", "poplib", "imaplib", "paramiko"),
)
_DYNAMIC = _Concern(
    _MEDIUM,
    "runs text as code",
    patterns=(r"(?<![\w.])(?:eval|exec|compile)\s*\(", r"(?<![\w.])__import__\s*\("),
)
_PICKLES = _Concern(
    _LOW, "loads objects that can run code", ("pickle", "marshal", "shelve", "dill", "cloudpickle")
)
_INTROSPECTION = _Concern(
    _MEDIUM,
    "walks the interpreter's own objects",
    ("gc", "inspect"),
    (r"__(?:subclasses|globals|builtins|mro|bases|code)__",),
)
_PARALLEL = _Concern(
    _LOW, "starts threads or processes", ("threading", "multiprocessing", "concurrent.futures")
)

_ATTACKS = (_SECRETS, _METADATA)
_POLICIES: dict[str, tuple[SecurityIssueSeverity, tuple[_Concern, ...]]] = {
    "minimal": (_HIGH, _ATTACKS),
    "development": (_HIGH, (*_ATTACKS, _NATIVE, _DELETION, _DYNAMIC, _PICKLES)),
    "educational": (
        _MEDIUM,
        (*_ATTACKS, _PROCESSES, _NATIVE, _DELETION, _SOCKETS, _MAIL, _PICKLES, _PARALLEL),
    ),
    "data_science": (
        _MEDIUM,
        (*_ATTACKS, _PROCESSES, _NATIVE, _DELETION, _SOCKETS, _MAIL, _PICKLES),
    ),
    "web_scraping": (
        _MEDIUM,
        (*_ATTACKS, _PROCESSES, _NATIVE, _DELETION, _MAIL, _DYNAMIC, _PICKLES),
    ),
    "production": (
        _MEDIUM,
        (
            *_ATTACKS,
            _PROCESSES,
            _NATIVE,
            _DELETION,
            _SYSTEM,
            _SOCKETS,
            _MAIL,
            _DYNAMIC,
            _INTROSPECTION,
            _PICKLES,
        ),
    ),
    "strict": (
        _LOW,
        (
            *_ATTACKS,
            _PROCESSES,
            _NATIVE,
            _DELETION,
            _SYSTEM,
            _SOCKETS,
            _WEB,
            _MAIL,
            _DYNAMIC,
            _INTROSPECTION,
            _PICKLES,
            _PARALLEL,
        ),
    ),
}


def get_security_policy(preset: PolicyPreset) -> SecurityPolicy:
    """Return a new policy; changing it changes no other.

    Args:
        preset: `minimal` blocks only attacks on the machine's secrets, `development` adds native
            memory; `educational`, `data_science` and `web_scraping` block what their users do not
            need; `production` allows web requests but not the operating system; `strict` blocks
            every concern.

    Raises:
        ValidationError: no preset has this name.
    """
    if preset not in _POLICIES:
        known = ", ".join(get_args(PolicyPreset))
        raise ValidationError(f"unknown policy preset; known: {known}", parameter="preset")
    threshold, concerns = _POLICIES[preset]
    return SecurityPolicy(
        severity_threshold=threshold,
        patterns=[
            SecurityPattern(pattern=text, description=c.description, severity=c.severity)
            for c in concerns
            for text in c.patterns
        ],
        restricted_modules=[
            RestrictedModule(name=name, description=c.description, severity=c.severity)
            for c in concerns
            for name in c.modules
        ],
    )
