"""Sensitive names in text: secrets, metadata services, mining pools, start files.

The rules are the same for every language. `find_sensitive_text` searches the content of one string
literal or any other text; `is_outside` and `installs_packages` classify paths and commands that an
engine has resolved.
"""

import re
from posixpath import normpath
from typing import NamedTuple

from llm_sandbox.results.findings import Capability

__all__ = ["find_sensitive_text", "installs_packages", "is_outside"]

_LONGEST = 100_000


class _SensitiveText(NamedTuple):
    capability: Capability
    what: str
    words: tuple[str, ...]
    """Words one of which each match contains; searching for them first is faster."""
    expression: re.Pattern[str]


def _sensitive(capability: Capability, what: str, words: str, *expressions: str) -> _SensitiveText:
    # `/` stands for a slash or for backslashes, once or doubled; the text is in lower case.
    either = re.compile("|".join(expressions).replace("/", "/{1,4}"))
    return _SensitiveText(capability, what, tuple(words.split()), either)


_SECRET = Capability.FILE_SENSITIVE
_AGAIN = Capability.PERSISTENCE
_CLOUD = Capability.NETWORK_METADATA
_MINE = Capability.MINING

# The first match wins. No expression has nested repetitions: searching is linear.
_SENSITIVE = (
    _sensitive(
        _AGAIN, "a list of keys that may log in", "authorized_keys", r"\bauthorized_keys2?\b"
    ),
    _sensitive(
        _AGAIN,
        "a table of scheduled jobs",
        "cron",
        r"\bcrontab\b",
        r"/etc/cron(?:\.\w+)?\b",
        r"/var/spool/cron",
    ),
    _sensitive(_AGAIN, "a scheduled task", "schtasks", r"\bschtasks\b"),
    _sensitive(
        _AGAIN,
        "a shell's start file",
        ".bash .z .ksh .csh .profile /profile bash.bashrc config.fish",
        r"(?<![\w.])\.(?:bashrc|bash_profile|bash_login|bash_logout|zshrc|zshenv|zprofile)\b",
        r"(?<![\w.])\.(?:kshrc|cshrc)\b",
        r"(?:^|[~/ ])\.profile\b",
        r"/etc/(?:profile|bash\.bashrc|zsh/zshrc)\b",
        r"\bconfig\.fish\b",
    ),
    _sensitive(
        _AGAIN,
        "a service that the machine starts",
        "systemd /etc/",
        r"/systemd/(?:system|user)\b",
        r"/etc/(?:init\.d|rc\.local|inittab|rc\d?\.d)\b",
    ),
    _sensitive(
        _AGAIN,
        "what a desktop starts",
        "launch autostart startup currentversion",
        r"/launch(?:agents|daemons)\b",
        r"\.config/autostart\b",
        r"/start menu/programs/startup\b",
        r"/currentversion/run(?:once)?\b",
    ),
    _sensitive(
        _AGAIN, "what is loaded into every program", "ld.so", r"/etc/ld\.so\.(?:preload|conf)\b"
    ),
    _sensitive(
        _SECRET,
        "accounts and their passwords",
        "/etc/ /config/ hklm",
        r"/etc/(?:passwd|shadow|gshadow|sudoers|master\.passwd|security/opasswd)\b",
        r"/system32/config/(?:sam|system|security)\b",
        r"\bhklm/(?:sam|security)\b",
    ),
    _sensitive(
        _SECRET,
        "private keys",
        ".ssh id_ /etc/ .gnupg",
        r"\.ssh/(?:id_\w+|identity|config|known_hosts)\b",
        r"\bid_(?:rsa|dsa|ecdsa|ed25519)\b",
        r"(?:^|[~/])\.ssh/?$",
        r"/etc/ss[lh]/(?:private\b|ssh_host_)",
        r"(?:^|[~/])\.gnupg\b",
    ),
    _sensitive(
        _SECRET,
        "a cloud's credentials",
        ".aws gcloud application_default .azure .oci .boto",
        r"\.aws/(?:credentials|config|sso)\b",
        r"\.config/gcloud\b",
        r"application_default_credentials\.json",
        r"\.azure/(?:accesstokens|msal_token_cache|azureprofile)",
        r"\.oci/config\b",
        r"(?:^|[~/])\.boto\b",
    ),
    _sensitive(
        _SECRET,
        "a cluster's credentials",
        ".kube kubernetes kubelet /secrets rancher",
        r"\.kube/config\b",
        r"/etc/kubernetes\b",
        r"/var/lib/kubelet\b",
        r"(?:/var)?/run/secrets\b",
        r"/etc/rancher\b",
    ),
    _sensitive(
        _SECRET,
        "stored passwords or tokens",
        "netrc pgpass .my.cnf .npmrc .pypirc .git- .vault- .docker .cargo .gem .config/gh .terra",
        r"(?:^|[~/])(?:[._]netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials)\b",
        r"(?:^|[~/])\.vault-token\b",
        r"\.docker/config\.json\b",
        r"\.(?:cargo|gem|terraform\.d)/credentials\b",
        r"\.config/gh/hosts\.yml\b",
    ),
    _sensitive(
        _SECRET,
        "a browser's or a wallet's store",
        "wallet.dat logins key3 key4 cookies data mozilla chrome keychains keystore bitcoin ele",
        r"\b(?:wallet\.dat|logins\.json|key[34]\.db|cookies\.sqlite)\b",
        r"/(?:login|web) data\b",
        r"/\.mozilla/firefox\b",
        r"/user data/default\b",
        r"/\.config/(?:google-chrome|chromium)\b",
        r"/library/keychains\b",
        r"/\.ethereum/keystore\b",
        r"/\.(?:bitcoin|electrum)\b",
    ),
    _sensitive(
        _SECRET,
        "what was typed before",
        "_history",
        r"\.(?:bash|zsh|sh|python|node_repl|mysql|psql|irb)_history\b",
    ),
    _sensitive(
        _SECRET,
        "the inside of a process or of the kernel",
        "proc",
        r"/proc/(?:self|thread-self|\d+|\*|%[ds]|\$?\{?\w*\}?)/"
        r"(?:environ|mem|maps|root|fd|cwd|ns|auxv|cgroup|task)\b",
        r"/proc/(?:kcore|kallsyms|kmsg|sysrq-trigger|sys/kernel)\b",
    ),
    _sensitive(
        _SECRET,
        "the machine's memory or disks",
        "/dev/",
        r"/dev/(?:k?mem|port|[svh]d[a-z]\d*|nvme\d\w*)\b",
    ),
    _sensitive(
        _SECRET,
        "the door to a container engine",
        ".sock release_agent",
        r"\b(?:docker|podman|crio|containerd|cri-dockerd)\.sock\b",
        r"\brelease_agent\b",
    ),
    _sensitive(
        _CLOUD,
        "a cloud's metadata service",
        "169.254 metadata meta-data 100.100 fd00:ec2 2852039166 0xa9 0251.",
        r"(?<![\d.])169\.254\.(?:169\.25[34]|170\.23?2)(?!\.?\d)",
        r"(?<![\w.])metadata\.(?:google\.internal|goog|azure\.internal|tencentyun\.com)\b",
        r"(?<![\d.])100\.100\.100\.200(?!\.?\d)",
        r"fd00:ec2::254",
        r"(?:/|^)(?:2852039166|0xa9fea9fe|0xa9\.0xfe\.0xa9\.0xfe|0251\.0376\.0251\.0376)\b",
        r"/latest/meta-data\b",
        r"/computemetadata/v1\b",
        r"/metadata/identity/oauth2\b",
    ),
    _sensitive(
        _MINE,
        "a miner or a mining pool",
        "stratum xmr miner crypto random coin nice mine nano donate",
        r"\bstratum\d?\+(?:tcp|ssl|tls|udp)://",
        r"\bxmr(?:ig|-stak|-node)",
        r"\b(?:minerd|(?:cpu|cc|eth|nb|phoenix|lol|cg|bfg)miner)\b",
        r"\b(?:cryptonight|randomx|coinhive|coin-?imp|crypto-?loot|nicehash|minergate)\b",
        r"\b(?:supportxmr|moneroocean|nanopool|minexmr)\b",
        r"--donate-level\b",
    ),
)

_INSTALLERS = re.compile(
    r"(?:^|[\s;&|(\"'`/,\[])"
    r"(?:(?:pip\d?(?:\.\d+)?|pipx|conda|mamba|micromamba|gem|bundle|cargo|brew|apk|dnf|yum|apt"
    r"|apt-get|aptitude|zypper|snap|cpan|cpanm|poetry|luarocks|composer|npm|pnpm|yarn|bun|go)"
    r"(?:\.exe|\.cmd)?[\"']?,?\s+(?:--?[\w=.:/-]+[\"']?,?\s+){0,6}"
    r"[\"']?(?:install|i|add|get|require|ci)(?:[\s\"',;&|)]|$)"
    r"|pacman\s+-S|npx\s+(?:--?\w+\s+){0,3}\w|easy_install\s)"
)


def find_sensitive_text(text: str) -> list[tuple[int, int, Capability, str]]:
    """Return the sensitive names in a text.

    Args:
        text: Content of one string literal; of more than 100,000 characters, the first ones.

    Returns:
        For each name its first offset in `text`, the offset after it, its capability, and a
        description: ``a cloud's credentials``. Sorted by offset; no two overlap.
    """
    if len(text) < 5:
        return []
    low = text[:_LONGEST].replace("\\", "/")
    lower = low.lower()
    if len(lower) == len(low):
        low = lower
    found: list[tuple[int, int, Capability, str]] = []
    for capability, what, words, expression in _SENSITIVE:
        for word in words:
            if word in low:
                hits = [hit.span() for hit in expression.finditer(low)]
                found += [(start, end, capability, what) for start, end in hits]
                break
    return _apart(found) if found else found


def _apart(
    found: list[tuple[int, int, Capability, str]],
) -> list[tuple[int, int, Capability, str]]:
    kept: list[tuple[int, int, Capability, str]] = []
    for hit in sorted(found, key=lambda each: each[:2]):
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
    return kept


def is_outside(path: str, workdir: str = "/sandbox") -> bool:
    """Return whether a path is neither below the working directory nor a temporary one.

    Args:
        path: Path as the program has it. Home directories (``~``, ``$HOME``) and drives are
            outside, and so is a relative path that climbs out of the working directory.
        workdir: The working directory; that of sessions by default.
    """
    path = path[:_LONGEST].removeprefix("file://").replace("\\", "/")
    if path.startswith(("~", "$HOME", "${HOME}", "%")) or re.match(r"[A-Za-z]:/", path):
        return True
    if not path.startswith("/"):
        return normpath(path).split("/", 1)[0] == ".."
    path = "/" + normpath(path).lstrip("/")
    if path in {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"}:
        return False
    return not any(
        path == root or path.startswith(f"{root}/")
        for root in ("/tmp", "/var/tmp", "/dev/shm", "/dev/fd", workdir)  # noqa: S108 - named only
    )


def installs_packages(command: str) -> bool:
    """Return whether a command line installs packages: ``pip install x``, ``apt-get -y install``.

    Args:
        command: The command, or its words with spaces between them; its first 100,000 characters.
    """
    return _INSTALLERS.search(command[:_LONGEST]) is not None
