"""Severity, message, reason, fix and CWE number of each capability.

CWE numbers are those of https://cwe.mitre.org.
"""

from typing import NamedTuple

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.models import SecurityIssueSeverity

__all__ = ["FACTS", "CapabilityFacts"]

_SAFE, _LOW, _MEDIUM, _HIGH = SecurityIssueSeverity


class CapabilityFacts(NamedTuple):
    """Texts and severity of one capability."""

    severity: SecurityIssueSeverity
    """Severity when no policy sets one."""
    message: str
    """Verb phrase of what the code does; the subject follows in brackets."""
    why: str
    """Reason why the capability matters."""
    fix: str
    """Advice on what to write instead."""
    cwe: int | None = None
    """Number in the Common Weakness Enumeration."""


FACTS: dict[Capability, CapabilityFacts] = {
    Capability.PROCESS_RUN: CapabilityFacts(
        _HIGH,
        "runs another program",
        "A program can do whatever the machine allows, whatever else this code avoids.",
        "Do the work in this language: its libraries read, compute and draw without a shell.",
        78,
    ),
    Capability.PROCESS_FORK: CapabilityFacts(
        _MEDIUM,
        "starts copies of its own process",
        "Copies outlive the code that made them and multiply what it uses.",
        "Compute in this process, vectorised or with threads.",
        400,
    ),
    Capability.PROCESS_SIGNAL: CapabilityFacts(
        _MEDIUM,
        "sends signals to processes",
        "A signal ends or stops programs that are not this code's own.",
        "End your own work by returning from it.",
        283,
    ),
    Capability.NETWORK_SOCKET: CapabilityFacts(
        _MEDIUM,
        "opens network connections",
        "Data can leave by a connection, and commands can arrive.",
        "Work on files that are there already; ask for the data to be uploaded.",
        918,
    ),
    Capability.NETWORK_WEB: CapabilityFacts(
        _LOW,
        "makes web requests",
        "A request can carry data out, and brings in text that nobody has read.",
        "Work on files that are there already; ask for the data to be uploaded.",
        918,
    ),
    Capability.NETWORK_TRANSFER: CapabilityFacts(
        _MEDIUM,
        "sends mail or transfers files",
        "Data can leave this way.",
        "Write the result to a file in the working directory; it is returned from there.",
        201,
    ),
    Capability.NETWORK_METADATA: CapabilityFacts(
        _HIGH,
        "asks a cloud's metadata service",
        "That service hands the machine's credentials to whoever asks.",
        "Nothing that runs here needs it: leave it out.",
        918,
    ),
    Capability.FILE_SENSITIVE: CapabilityFacts(
        _HIGH,
        "names files that hold secrets",
        "Keys, passwords and tokens are kept there.",
        "Read files of the working directory only.",
        552,
    ),
    Capability.FILE_WRITE: CapabilityFacts(
        _MEDIUM,
        "writes outside of the working directory",
        "Files there belong to the system or to other programs.",
        "Write to a relative path; what is written there is returned.",
        73,
    ),
    Capability.FILE_DELETE: CapabilityFacts(
        _LOW,
        "deletes files",
        "What is deleted does not come back.",
        "Leave files where they are; the sandbox is cleaned up by itself.",
        73,
    ),
    Capability.FILE_PERMISSION: CapabilityFacts(
        _LOW,
        "changes who may use a file",
        "A file can be made a program, or be opened to everybody.",
        "Leave permissions as they are.",
        732,
    ),
    Capability.NATIVE: CapabilityFacts(
        _HIGH,
        "reaches native memory or native functions",
        "There no rule of the language holds any more.",
        "Use the language's own libraries, such as array libraries for fast numbers.",
        676,
    ),
    Capability.DESERIALISE: CapabilityFacts(
        _LOW,
        "loads objects that can run code",
        "Whoever wrote the data decides what runs while it is loaded.",
        "Read CSV, JSON or Parquet.",
        502,
    ),
    Capability.DYNAMIC_CODE: CapabilityFacts(
        _MEDIUM,
        "runs text as code",
        "What runs cannot be read beforehand.",
        "Write the code itself; for data, use a parser such as JSON's.",
        95,
    ),
    Capability.DYNAMIC_UNRESOLVED: CapabilityFacts(
        _MEDIUM,
        "uses something whose name is only known when it runs",
        "It may be anything, and hiding a name is how refused functions are reached.",
        "Name the function, the attribute or the module directly.",
        470,
    ),
    Capability.MODULE_ESCAPE: CapabilityFacts(
        _MEDIUM,
        "hands on a module or function that can start programs or open connections",
        "What is done with it there cannot be followed.",
        "Call what you need where you need it, by its name.",
        470,
    ),
    Capability.INTROSPECTION: CapabilityFacts(
        _MEDIUM,
        "walks the interpreter's own objects",
        "From there every function can be reached, also those that are refused by name.",
        "Use the values that your code has made or was given.",
        913,
    ),
    Capability.ENVIRONMENT: CapabilityFacts(
        _LOW,
        "reads or changes environment variables",
        "Tokens and keys are often kept there.",
        "Put the value into the code, or ask for it.",
        526,
    ),
    Capability.PERSISTENCE: CapabilityFacts(
        _HIGH,
        "arranges to be started again later",
        "Code that starts by itself runs without anybody having asked for it.",
        "Do the work now; whoever runs this code starts it again when needed.",
        506,
    ),
    Capability.MINING: CapabilityFacts(
        _HIGH,
        "mines a currency",
        "That spends the machine on somebody else's account.",
        "Nothing that runs here needs it: leave it out.",
        400,
    ),
    Capability.RESOURCE: CapabilityFacts(
        _HIGH,
        "uses up the machine",
        "It ends in a timeout or at a limit, and takes the session's state with it.",
        "Work in pieces of a bounded size.",
        400,
    ),
    Capability.PACKAGE_INSTALL: CapabilityFacts(
        _MEDIUM,
        "installs packages",
        "A package runs code of its own when it is installed.",
        "Name the library to whoever runs this code: it is installed through the sandbox.",
        494,
    ),
    Capability.HIDDEN_TEXT: CapabilityFacts(
        _MEDIUM,
        "has characters that show something else than what runs",
        "Who reads the code does not see what it does.",
        "Write names in plain letters, and leave invisible characters out.",
        1007,
    ),
    Capability.UNPARSED: CapabilityFacts(
        _LOW,
        "cannot be read as a program",
        "What cannot be read cannot be judged.",
        "Correct the syntax.",
    ),
}
