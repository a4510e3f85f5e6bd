"""Scan of library names before their installation, by the purpose of each library.

Names are graded before anything is downloaded. A library with a single purpose counts as that
capability; all others are graded by the policy's restricted modules alone.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability, Finding
from llm_sandbox.security.policy_evaluator import PolicyEvaluator
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.models import SecurityPolicy
    from llm_sandbox.security.report import ScanReport

__all__ = ["scan_libraries"]

_PURPOSES: dict[str, dict[Capability, str]] = {
    "python": {
        Capability.PROCESS_RUN: "pexpect ptyprocess sh plumbum invoke delegator-py sarge",
        Capability.NATIVE: "cffi frida pymem python-ptrace keystone-engine unicorn",
        Capability.NETWORK_TRANSFER: "paramiko fabric asyncssh pysftp scp ftputil yagmail "
        "redmail aiosmtplib telnetlib3",
        Capability.NETWORK_SOCKET: "scapy impacket python-nmap pwntools",
        Capability.DESERIALISE: "dill cloudpickle jsonpickle",
    },
    "javascript": {
        Capability.PROCESS_RUN: "execa shelljs cross-spawn node-pty zx child-process-promise",
        Capability.NATIVE: "ffi-napi koffi node-ffi ref-napi",
        Capability.NETWORK_TRANSFER: "ssh2 node-ssh nodemailer basic-ftp",
        Capability.NETWORK_SOCKET: "ws socket.io",
        Capability.DESERIALISE: "node-serialize",
    },
    "ruby": {
        Capability.PROCESS_RUN: "open4 childprocess tty-command posix-spawn",
        Capability.NATIVE: "ffi fiddle",
        Capability.NETWORK_TRANSFER: "net-ssh net-scp net-sftp net-ftp mail",
    },
    "r": {
        Capability.PROCESS_RUN: "processx sys callr",
        Capability.NATIVE: "rJava inline",
        Capability.NETWORK_TRANSFER: "ssh mailR emayili",
    },
}
"""Single-purpose libraries by language and capability, as canonical names separated by spaces."""

_MODULES = {
    "attrs": "attr",
    "beautifulsoup4": "bs4",
    "dnspython": "dns",
    "gitpython": "git",
    "mysqlclient": "MySQLdb",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "psycopg2-binary": "psycopg2",
    "pycryptodome": "Crypto",
    "pyopenssl": "OpenSSL",
    "pyserial": "serial",
    "python-dateutil": "dateutil",
    "python-docx": "docx",
    "python-dotenv": "dotenv",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
}
"""Python libraries whose module has another name."""

_VERSION = re.compile(r"[\[<>=!~;\s]|(?<=[^@/])@")


def scan_libraries(libraries: Sequence[str], lang: str, policy: "SecurityPolicy") -> "ScanReport":
    """Scan the names of libraries that are about to be installed.

    Args:
        libraries: Requirements in the syntax of the language's package manager.
        lang: The language.
        policy: The policy that grades the findings.

    Returns:
        The report; the line of each finding is the index of its library in the list, from 1.
    """
    from llm_sandbox.security.report import ScanReport

    names = [str(library).replace("\n", " ") for library in libraries]
    source = Source("\n".join(names), lang)
    output = ScanOutput("lexical")
    if policy.enforcement != "off":
        for number, name in enumerate(names, 1):
            _add_library(output, source, number, name)
    return ScanReport(
        lang=lang,
        engine="lexical",
        policy=policy.name,
        threshold=policy.severity_threshold.word,
        enforcement=policy.enforcement,
        findings=tuple(_once(PolicyEvaluator(policy, source).grade_output(output))),
    )


def _add_library(output: ScanOutput, source: Source, number: int, library: str) -> None:
    name = _VERSION.split(library.strip(), maxsplit=1)[0].lower()
    canonical = re.sub(r"[-_.]+", "-", name)
    span = source.line_span(number)
    for capability, members in _PURPOSES.get(source.lang, {}).items():
        if {name, canonical} & set(members.lower().split()):
            detail = "as a library that is made for it"
            output.findings.append(RawFinding(capability, span, name, detail=detail))
    modules = {name, canonical.replace("-", "_"), canonical.replace("-", ".")}
    if source.lang == "python":
        modules.add(_MODULES.get(canonical, name))
    output.modules.extend(ModuleUse(module, span) for module in sorted(modules))


def _once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield one finding for each rule and library."""
    seen = set()
    for finding in findings:
        if (key := (finding.rule_id, finding.line)) not in seen:
            seen.add(key)
            yield finding
