"""Revealing string constants: sensitive paths, addresses, names of programs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.full_names import names

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["check_size", "check_text", "installs", "is_persistent"]

_SHORTEST = 6
_LARGEST = 1_000_000_000
_TELLING = {
    Capability.FILE_SENSITIVE: r"""
        /etc/(?:shadow|gshadow|passwd|sudoers|krb5\.keytab|kubernetes/\S*\.conf|ssl/private)\b
        |\.ssh/(?:id_[a-z0-9]+|identity|config|known_hosts)\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b
        |/etc/ssh/ssh_host_\w+ |/root/\.\w+ |/etc/master\.passwd
        |\.aws/(?:credentials|config)\b|\.azure/\w+|\.config/gcloud|\.kube/config\b|\.docker/config\.json
        |\.gnupg\b|\.netrc\b|\.pgpass\b|\.my\.cnf\b|\.git-credentials\b|\.npmrc\b|\.pypirc\b
        |\.(?:bash|zsh|python|mysql|psql)_history\b
        |/proc/(?:self|thread-self|\d+|1)/(?:environ|mem|maps|cmdline|root|fd|cwd|exe)\b|/proc/kcore\b
        |/proc/sys(?:rq-trigger)|/dev/(?:mem|kmem)\b
        |/var/run/secrets/kubernetes|/run/secrets/|docker\.sock\b|containerd\.sock\b|crio\.sock\b
        |\.mozilla/firefox|google-chrome/Default|Login\s?Data\b|Local\s?State\b|wallet\.dat\b
        |\\SAM\b|NTUSER\.DAT|Library/Keychains
    """,
    Capability.NETWORK_METADATA: r"""
        169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200
        |fd00:ec2::254|metadata\.azure\.internal|\b2852039166\b|\b0xa9fea9fe\b
        |\b0251\.0376\.0251\.0376\b|instance-data\.ec2
    """,
    Capability.MINING: r"""
        stratum\+(?:tcp|ssl|udp)://|\bxmrig\b|\bminerd\b|\bcpuminer\b|\bcgminer\b|\bethminer\b|\bnbminer\b
        |minexmr|nanopool|supportxmr|cryptonight|coinhive|\bxmr-stak\b
    """,
}
_PATTERNS = [(c, re.compile(p, re.VERBOSE | re.IGNORECASE)) for c, p in _TELLING.items()]
_HINTS = names(
    r"""
    /etc/ .ssh id_r id_d id_e /root/ .aws .azure gcloud .kube .docker .gnupg .netrc .pgpass
    .my.cnf .git- .npmrc .pypirc _history /proc/ /dev/mem /dev/kmem /secrets/ .sock .mozilla
    google-chrome wallet \sam ntuser keychains 169.254 metadata. 100.100.1 fd00: 2852039166
    a9fea9fe 0251. instance-data stratum xmr miner nanopool cryptonight coinhive
    """
)
"""Lower-case words one of which occurs in each text that a pattern above matches."""
_HINT = re.compile(r"login.?data|local.?state|" + "|".join(map(re.escape, _HINTS)), re.IGNORECASE)
_LONG = 60
_PERSISTENT = re.compile(
    r"""\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|kshrc|cshrc|bash_logout)$
    |/etc/(?:cron|profile|init\.d|rc\.local|rc\d|ld\.so\.preload|environment|inittab|anacron)
    |/var/spool/(?:cron|at) |\.config/(?:autostart|systemd|fish) |authorized_keys
    |(?:systemd|LaunchAgents|LaunchDaemons)/ |(?:site|user)customize\.py$ |\.pth$
    |Start\s?Menu/Programs/Startup |\.git/hooks/ |\.ipython/profile |\.vimrc$ |\.pam_environment$
    |\.xinitrc$ |\.xprofile$ |\.inputrc$ |ipython_config\.py$ |\.ssh/rc$ |\.ssh/config$
    |/etc/udev/rules |/etc/xdg/autostart |/etc/sudoers""",
    re.VERBOSE | re.IGNORECASE,
)
_INSTALLS = re.compile(
    r"\b(?:pip[\d.]*|conda|mamba|micromamba|apt|apt-get|dnf|yum|apk|brew|gem|npm|yarn|pnpm|cargo|go|"
    r"snap|pipx|easy_install|poetry|uv(?:\s+pip)?)(?:\s+-\S+)*\s+(?:install|add|i|get)\b",
)


def check_text(m: Interpreter, text: str | bytes, node: Any) -> None:
    """Report sensitive names in a constant text."""
    if len(text) < _SHORTEST:
        return
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    if not _is_hinted(text):
        return
    for capability, pattern in _PATTERNS:
        match = pattern.search(text)
        if match is not None:
            m.report(capability, node, match[0])


def _is_hinted(text: str) -> bool:
    if len(text) <= _LONG:
        return _HINT.search(text) is not None
    # Looking for one word after the other is faster in long texts than for all at once.
    small = text.lower()
    return any(word in small for word in _HINTS) or "login" in small or "local" in small


def is_persistent(path: str) -> bool:
    """Return whether a file at the path is run or loaded again later."""
    return _PERSISTENT.search(path) is not None


def installs(command: str) -> bool:
    """Return whether a command installs packages."""
    return _INSTALLS.search(command) is not None


def check_size(
    m: Interpreter, kind: type[ast.operator], one: Any, other: Any, node: ast.AST
) -> None:
    """Report an operator on constants that exhausts the memory."""
    if kind is ast.Mult:
        size, times = (one, other) if isinstance(other, int) else (other, one)
        is_sized = isinstance(times, int) and isinstance(size, (str, bytes, list, tuple))
        if is_sized and len(size) * times >= _LARGEST:
            m.report(
                Capability.RESOURCE, node, "memory", detail=f"with {len(size) * times:,} items"
            )
    elif kind is ast.Pow and isinstance(one, int) and isinstance(other, int):
        if abs(one) > 1 and other >= 100_000_000 // max(abs(one).bit_length(), 1):
            m.report(Capability.RESOURCE, node, "memory", detail="by a power")
    elif kind is ast.LShift and isinstance(other, int) and other >= _LARGEST:
        m.report(Capability.RESOURCE, node, "memory", detail="by a shift")
