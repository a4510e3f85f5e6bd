"""Names that stand for the same module."""

from functools import lru_cache

__all__ = ["canonical"]

_SAME = {
    "IPython.core.getipython.get_ipython()": "IPython.shell()",
    "IPython.core.interactiveshell.InteractiveShell.instance()": "IPython.shell()",
    "IPython.get_ipython()": "IPython.shell()",
    "IPython.core.interactiveshell.InteractiveShell()": "IPython.shell()",
    "IPython.core.getipython.get_ipython": "IPython.get_ipython",
    "IPython.terminal.interactiveshell.TerminalInteractiveShell.instance()": "IPython.shell()",
    "IPython.InteractiveShell.instance()": "IPython.shell()",
    "IPython.InteractiveShell()": "IPython.shell()",
    "ipykernel.zmqshell.ZMQInteractiveShell.instance()": "IPython.shell()",
    "__builtin__": "builtins",
    "_io.FileIO": "io.FileIO",
    "_io.open": "builtins.open",
    "_pickle": "pickle",
    "builtins.file": "builtins.open",
    "cPickle": "pickle",
    "importlib._bootstrap.__import__": "builtins.__import__",
    "importlib._bootstrap._gcd_import": "importlib.import_module",
    "importlib.__import__": "builtins.__import__",
    "io.open": "builtins.open",
    "nt": "os",
    "ntpath": "os.path",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path",
    "pathlib.PurePosixPath": "pathlib.Path",
    "pathlib._local.Path": "pathlib.Path",
    "posix": "os",
    "posixpath": "os.path",
    "six.moves.builtins": "builtins",
    "six.moves.cPickle": "pickle",
    "six.moves.urllib": "urllib",
    "urllib2": "urllib.request",
    "urllib3.contrib.pyopenssl": "urllib3",
}
_ROOTS = frozenset(name.partition(".")[0] for name in _SAME)


@lru_cache(maxsize=4096)
def _same(name: str) -> str:
    at = len(name)
    while at > 0:
        head = _SAME.get(name[:at])
        if head is not None:
            return head + name[at:]
        at = name.rfind(".", 0, at)
    return name


def canonical(name: str) -> str:
    """Return the name by which the rules know something: ``os.system`` for ``posix.system``."""
    return _same(name) if name.partition(".")[0] in _ROOTS else name
