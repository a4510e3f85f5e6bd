"""Effects of calls that depend on their arguments: commands, files by path, loaders by options."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import strings
from llm_sandbox.security.python.folding import UNKNOWN, text_of
from llm_sandbox.security.python.full_names import names
from llm_sandbox.security.python.values import (
    Alternatives,
    Args,
    Const,
    Items,
    Keywords,
    OpenFile,
    PathValue,
    Ref,
    Value,
    options,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = [
    "CONDITIONS",
    "METHODS",
    "command_of",
    "is_outside",
    "is_shell",
    "open_file",
    "path_of",
    "report_call",
    "report_path_method",
    "report_shell",
    "report_write",
    "shortened",
]

_LONGEST_DETAIL = 120


def shortened(text: str) -> str:
    """Return the repr of a text, shortened for a sentence."""
    return repr(text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + "..")


def command_of(m: Interpreter, args: Args, keywords: Keywords) -> str:
    """Return the command that a call starts; empty when it is not known."""
    given = args[0] if args else keywords.get("args", keywords.get("cmd", keywords.get("command")))
    value = m.force(given)
    if isinstance(value, Alternatives):
        value = value.of[0]
    words = (
        value.items
        if isinstance(value, Items)
        else args
        if text_of(value) and len(args) > 1
        else [value]
    )
    texts = [_word(m.force(word)) for word in words[:50]]
    return " ".join(texts) if any(text != "?" for text in texts) else ""


def _word(value: Value | None) -> str:
    if isinstance(value, PathValue) and value.path:
        return value.path
    if isinstance(value, Ref) and value.name == "sys.executable":
        return "python"
    text = text_of(value)
    return text if text is not None else "?"


_SHELLS = frozenset(
    names(
        """
        os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput
        platform.popen asyncio.create_subprocess_shell IPython.shell().system
        IPython.shell().getoutput IPython.shell().system_piped IPython.shell().system_raw
        IPython.utils.process.system IPython.utils.process.getoutput
        """
    )
)


def is_shell(m: Interpreter, name: str, keywords: Keywords) -> bool:
    """Return whether a call passes its command to a shell."""
    if name in _SHELLS or name.endswith("_shell"):
        return True
    shell = keywords.get("shell")
    return isinstance(shell, Const) and bool(shell.value)


def report_shell(m: Interpreter, command: str, node: Any, subject: str) -> None:
    """Report the effects of a shell command."""
    from llm_sandbox.security.languages import engine_of
    from llm_sandbox.security.source import Source

    if command not in m.commands:
        m.commands[command] = engine_of("bash")(Source(command, "bash")).findings
    for raw in m.commands[command]:
        if raw.capability is not Capability.PROCESS_RUN:
            m.add(raw, node, (subject,))


_INSIDE = re.compile(
    r"/(?:tmp|var/tmp|sandbox|workspace|mnt/data|kaggle/working|content)(?:/|$)|/dev/(?:null|std\w+|tty|fd/\d)$"
)
_WEB = re.compile(r"(?:https?|ftps?|s3|gs|gcs|hdfs|abfs|sftp|ssh)://", re.IGNORECASE)


def report_call(
    m: Interpreter, capability: Capability, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> None:
    """Report a call of a function in `sinks`."""
    detail = ""
    if capability is Capability.PROCESS_RUN:
        command = command_of(m, args, keywords)
        if command:
            detail = f"with the command {shortened(command)}"
            if strings.installs(command):
                m.report(Capability.PACKAGE_INSTALL, node, ref.name, detail=detail, route=ref.route)
            if is_shell(m, ref.name, keywords):
                report_shell(m, command, node, ref.name)
            elif re.search(r"\bcrontab\b", command):
                m.report(Capability.PERSISTENCE, node, "crontab", detail=detail)
    elif capability is Capability.PROCESS_FORK and m.loops:
        m.report(Capability.RESOURCE, node, ref.name, detail="in a loop without an end")
    elif args:
        found = text_of(m.force(args[0]))
        if found is not None and capability is not Capability.DESERIALISE:
            detail = f"with {shortened(found)}"
    confidence = "high" if ref.sure else "medium"
    m.report(capability, node, ref.name, confidence=confidence, detail=detail, route=ref.route)  # type: ignore[arg-type]


def path_of(m: Interpreter, value: Value | None) -> str | None:
    """Return the path that a value names; None when it is not known."""
    settled = m.force(value)
    for one in options(settled):
        if isinstance(one, PathValue):
            return one.path
        text = text_of(one)
        if text is not None:
            return text
    return None


def is_outside(path: str) -> bool:
    """Return whether a path lies outside the working directory and temporary directories."""
    if path.startswith("~") or re.match(r"[A-Za-z]:[\\/]|\\\\", path):
        return True
    whole = posixpath.normpath(path)
    if whole.startswith("/"):
        return _INSIDE.match(whole.replace("//", "/")) is None
    return whole == ".." or whole.startswith("../")


def report_write(m: Interpreter, path: str | None, node: Any, subject: str) -> None:
    """Report a write to a file outside the working directory or to a start file."""
    if not path:
        return
    if strings.is_persistent(path):
        m.report(Capability.PERSISTENCE, node, path, detail=f"by {subject}")
    if is_outside(path):
        m.report(Capability.FILE_WRITE, node, path, detail=f"by {subject}")


def open_file(m: Interpreter, path: str | None, mode: Value | None) -> Value:
    """Return an open file as a value."""
    text = text_of(m.force(mode)) if mode is not None else "r"
    writes = text is None or any(letter in text for letter in "wax+")
    if path is not None and writes and mode is not None:
        m.files.setdefault(path.removeprefix("./"), "")
    return OpenFile(path, writes)


def _open(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    mode = args[1] if len(args) > 1 else keywords.get("mode")
    text = text_of(m.force(mode)) if mode is not None else "r"
    path = path_of(m, args[0] if args else keywords.get("file", keywords.get("filename")))
    if text is not None and any(letter in text for letter in "wax+"):
        report_write(m, path, node, "open")
    if path is not None and _WEB.match(path) and ref.name != "builtins.open":
        m.report(Capability.NETWORK_WEB, node, path)


def _os_open(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    flags = args[1] if len(args) > 1 else keywords.get("flags")
    if not (isinstance(flags, Ref) and flags.name == "os.O_RDONLY"):
        report_write(m, path_of(m, args[0] if args else None), node, "os.open")


def _writes_first(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    given = args[0] if args else next(iter(keywords.values()), None)
    report_write(m, path_of(m, given), node, ref.name)


def _writes_second(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    given = (
        args[1]
        if len(args) > 1
        else keywords.get("dst", keywords.get("path", keywords.get("target")))
    )
    report_write(m, path_of(m, given), node, ref.name)


def _yaml(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    loader = args[1] if len(args) > 1 else keywords.get("Loader")
    if isinstance(loader, Ref) and re.search(r"(?:Safe|Base)Loader$", loader.name):
        return
    m.report(Capability.DESERIALISE, node, ref.name, route=ref.route)


def _unless(keyword: str, wanted: object, default: bool) -> Any:
    def check(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
        given = keywords.get(keyword)
        value = m.plain(m.force(given)) if keyword in keywords else UNKNOWN
        if default if keyword not in keywords else value is wanted or value is UNKNOWN:
            m.report(Capability.DESERIALISE, node, ref.name, route=ref.route)

    return check


def _reads(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    given = args[0] if args else next(iter(keywords.values()), None)
    path = path_of(m, given)
    if path is not None and _WEB.match(path):
        m.report(Capability.NETWORK_WEB, node, ref.name, detail=f"of {shortened(path)}")


def _mmap(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    protection = m.plain(m.force(keywords.get("prot")))
    if (protection is UNKNOWN and "prot" in keywords) or (
        isinstance(protection, int) and protection & 4
    ):
        m.report(Capability.NATIVE, node, "mmap.mmap", detail="with memory that can be run")


def _allocates(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    given = m.plain(m.force(args[0])) if args else UNKNOWN
    count = 1
    shape = (
        given if isinstance(given, (tuple, list)) and ref.name.startswith("numpy.") else (given,)
    )
    for one in shape:
        count *= one if isinstance(one, int) else 0
    if count >= 10_000_000_000 or (ref.name.startswith("builtins.byte") and count >= 1_000_000_000):
        m.report(Capability.RESOURCE, node, "memory", detail=f"with {count:,} items")


def _logging(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    from llm_sandbox.security.python.nested_code import follow_factories

    follow_factories(m, args[0] if args else keywords.get("config"), node)


def _testmod(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    from llm_sandbox.security.python.nested_code import examples_of_functions

    examples_of_functions(m, node, ref.name)


def _print(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    file = keywords.get("file")
    if isinstance(file, OpenFile) and file.path is not None and file.writes:
        texts = [text_of(m.force(arg)) for arg in args]
        key = file.path.removeprefix("./")
        known = None not in texts
        m.files[key] = " ".join(text or "" for text in texts) + "\n" if known else None


def _path_class(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> None:
    """Report a method that is called on the class: ``Path.write_text(path, ..)``."""
    base = args[0] if args else None
    path_value = base if isinstance(base, PathValue) else PathValue(path_of(m, base))
    report_path_method(m, path_value, ref.name.rpartition(".")[2], args[1:], keywords, node)


_PANDAS_READ = names(
    """
        csv table json html xml excel parquet feather fwf stata sas hdf orc sql pickle
        """
)
_PATH_WRITES = names(
    """
        write_text write_bytes touch mkdir symlink_to hardlink_to link_to rename replace open
        """
)

CONDITIONS: dict[str, Any] = {
    **dict.fromkeys([f"pandas.read_{kind}" for kind in _PANDAS_READ], _reads),
    **dict.fromkeys(
        [f"polars.{how}_{k}" for how in ("read", "scan") for k in _PANDAS_READ], _reads
    ),
    **dict.fromkeys([f"pathlib.Path.{name}" for name in _PATH_WRITES], _path_class),
    **dict.fromkeys(
        names(
            """
            os.mkdir os.makedirs os.mknod os.mkfifo numpy.save numpy.savez numpy.savetxt
            numpy.savez_compressed matplotlib.pyplot.savefig io.FileIO logging.FileHandler
            logging.handlers.RotatingFileHandler
            """
        ),
        _writes_first,
    ),
    **dict.fromkeys(
        names(
            """
            os.rename os.renames os.replace os.symlink os.link shutil.copy shutil.copy2
            shutil.copyfile shutil.copytree shutil.move shutil.unpack_archive
            """
        ),
        _writes_second,
    ),
    **dict.fromkeys(
        names(
            """
            numpy.loadtxt numpy.genfromtxt matplotlib.pyplot.imread matplotlib.image.imread
            imageio.imread skimage.io.imread geopandas.read_file xarray.open_dataset
            numpy.DataSource().open numpy.lib.npyio.DataSource().open
            """
        ),
        _reads,
    ),
    **dict.fromkeys(
        names(
            """
            yaml.load yaml.load_all yaml.full_load yaml.full_load_all ruamel.yaml.load
            """
        ),
        _yaml,
    ),
    **dict.fromkeys(
        names(
            """
            builtins.bytearray builtins.bytes numpy.zeros numpy.ones numpy.empty numpy.full
            """
        ),
        _allocates,
    ),
    "builtins.open": _open,
    "builtins.print": _print,
    "doctest.testmod": _testmod,
    "codecs.open": _open,
    "logging.config.dictConfig": _logging,
    "mmap.mmap": _mmap,
    "numpy.load": _unless("allow_pickle", True, default=False),
    "numpy.lib.npyio.load": _unless("allow_pickle", True, default=False),
    "os.open": _os_open,
    "torch.load": _unless("weights_only", False, default=True),
}
"""Full name to the function that checks the arguments."""


def report_path_method(
    m: Interpreter, path_value: PathValue, name: str, args: Args, keywords: Keywords, node: Any
) -> None:
    """Report the effect of a method of a path."""
    path = path_value.path
    subject = f"pathlib.Path.{name}"
    if name in {"unlink", "rmdir"}:
        m.report(
            Capability.FILE_DELETE, node, subject, detail=f"of {shortened(path)}" if path else ""
        )
    elif name in {"chmod", "lchmod"}:
        m.report(
            Capability.FILE_PERMISSION,
            node,
            subject,
            detail=f"of {shortened(path)}" if path else "",
        )
    elif name in {"rename", "replace", "copy", "move"}:
        report_write(m, path_of(m, args[0] if args else keywords.get("target")), node, subject)
    elif name == "open":
        _open(m, Ref("builtins.open"), [path_value, *args], keywords, node)
    elif name in _PATH_WRITES:
        report_write(m, path, node, subject)
        if path is not None and name.startswith("write_"):
            m.files[path.removeprefix("./")] = text_of(
                m.force(args[0] if args else keywords.get("data"))
            )


def _saves(m: Interpreter, args: Args, keywords: Keywords, node: Any) -> None:
    path = path_of(m, args[0]) if args else None
    if path is not None and ("/" in path or path.startswith("~")):
        with m.unsure():
            report_write(m, path, node, node.func.attr)


def _queries(m: Interpreter, args: Args, keywords: Keywords, node: Any) -> None:
    """Scan the text of `DataFrame.query` and ``eval``, in which ``@name`` is a variable."""
    text = text_of(m.force(args[0])) if args else None
    if text is not None and ("@" in text or "__" in text) and "(" in text:
        from llm_sandbox.security.python.nested_code import run_text

        run_text(m, text.replace("@", " "), node, (f"DataFrame.{node.func.attr}",))


def _extracts(m: Interpreter, args: Args, keywords: Keywords, node: Any) -> None:
    path = path_of(m, args[0] if args else keywords.get("path"))
    if path is not None:
        with m.unsure():
            report_write(m, path, node, node.func.attr)


METHODS: dict[str, Any] = {
    **dict.fromkeys(
        names(
            """
            to_csv to_json to_excel to_parquet to_pickle to_html savefig write_html write_image
            write_text write_bytes save dump to_feather
            """
        ),
        _saves,
    ),
    "eval": _queries,
    "extract": _extracts,
    "extractall": _extracts,
    "query": _queries,
}
"""Method name, on an unknown value, to the function that checks the arguments."""
