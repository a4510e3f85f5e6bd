"""What attacks do: one call each, with the audit event by which the interpreter tells of it."""

# ruff: noqa: E501
# Because: a row of the table is a line.

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ACTS", "CORE", "HARMLESS", "Act"]


@dataclass(frozen=True)
class Act:
    """A call of a module's function that raises an audit event."""

    capability: str
    """What the scanner calls it; empty for a harmless one."""
    module: str
    """Dotted name of the module."""
    function: str
    """The function in it, possibly with an attribute in between."""
    arguments: str
    """Source of the arguments."""
    events: tuple[str, ...] = ()
    """Names of the audit events, one of which must come."""
    needle: str = "w4tch"
    """Text that must be in the event's arguments; empty for any."""

    @property
    def name(self) -> str:
        """The dotted name of what is called."""
        return f"{self.module}.{self.function}"


POPEN = ("subprocess.Popen",)
SOCKET = ("socket.__new__", "socket.getaddrinfo", "socket.connect", "socket.bind")
PICKLE = "b'cw4tch\\nname\\n.'"

CORE = (
    # Every technique is applied to each of these.
    Act("process.run", "os", "system", "'echo w4tch'", ("os.system",)),
    Act("process.run", "subprocess", "getoutput", "'echo w4tch'", POPEN),
    Act("process.fork", "os", "fork", "", ("os.fork",), ""),
    Act("process.signal", "os", "kill", "1, 0", ("os.kill",), ""),
    Act("network.socket", "socket", "create_connection", "('w4tch.invalid', 9)", SOCKET),
    Act("network.web", "urllib.request", "urlopen", "'http://w4tch.invalid/'", ("urllib.Request",)),
    Act("network.transfer", "ftplib", "FTP", "'w4tch.invalid'", ("ftplib.connect",)),
    Act("file.sensitive", "builtins", "open", "'/etc/shadow'", ("open",), "/etc/shadow"),
    Act("file.write", "io", "open", "'/usr/lib/w4tch.py', 'w'", ("open",)),
    Act("file.delete", "shutil", "rmtree", "'/home/w4tch'", ("shutil.rmtree",)),
    Act("file.permission", "os", "chmod", "'/usr/bin/w4tch', 0o4755", ("os.chmod",)),
    Act("native", "ctypes", "CDLL", "'w4tch.so'", ("ctypes.dlopen",)),
    Act("deserialise", "pickle", "loads", PICKLE, ("pickle.find_class",)),
    Act("dynamic.code", "builtins", "exec", "'w4tch = 1'", ("exec",)),
)

ACTS = (
    *CORE,
    # The breadth of each capability, in its ordinary spellings.
    Act("process.run", "os", "popen", "'echo w4tch'", POPEN),
    Act("process.run", "os", "execv", "'/bin/echo', ['echo', 'w4tch']", ("os.exec",)),
    Act("process.run", "os", "execvp", "'echo', ['echo', 'w4tch']", ("os.exec",)),
    Act("process.run", "os", "execl", "'/bin/echo', 'echo', 'w4tch'", ("os.exec",)),
    Act("process.run", "os", "posix_spawn", "'/bin/w4tch', ['w4tch'], {}", ("os.posix_spawn",)),
    Act("process.run", "os", "spawnlp", "0, 'echo', 'echo', 'w4tch'", ("os.fork", "os.exec"), ""),
    Act("process.run", "subprocess", "run", "['echo', 'w4tch']", POPEN),
    Act("process.run", "subprocess", "Popen", "['echo', 'w4tch']", POPEN),
    Act("process.run", "subprocess", "call", "'echo w4tch', shell=True", POPEN),
    Act("process.run", "subprocess", "check_call", "('echo', 'w4tch')", POPEN),
    Act("process.run", "subprocess", "check_output", "['echo', 'w4tch'], text=True", POPEN),
    Act("process.run", "subprocess", "getstatusoutput", "'echo w4tch'", POPEN),
    Act("process.run", "pty", "spawn", "['echo', 'w4tch']", ("pty.spawn",)),
    Act("process.run", "posix", "system", "'echo w4tch'", ("os.system",)),
    Act("process.fork", "os", "forkpty", "", ("os.forkpty",), ""),
    Act("process.fork", "pty", "fork", "", ("os.forkpty",), ""),
    Act("process.signal", "os", "killpg", "1, 0", ("os.killpg",), ""),
    Act("process.signal", "signal", "pthread_kill", "1, 0", ("signal.pthread_kill",), ""),
    Act("network.socket", "socket", "socket", "", ("socket.__new__",), ""),
    Act("network.socket", "socket", "getaddrinfo", "'w4tch.invalid', 80", SOCKET),
    Act("network.socket", "socket", "create_server", "('127.0.0.1', 9)", SOCKET, ""),
    Act("network.socket", "socket", "gethostbyname", "'w4tch.invalid'", ("socket.gethostbyname",)),
    Act("network.web", "urllib.request", "urlretrieve", "'http://w4tch.invalid/x'", ("urllib.Request",)),
    Act("network.web", "http.client", "HTTPConnection('w4tch.invalid').request", "'GET', '/'", ("http.client.connect",)),
    Act("network.web", "http.client", "HTTPSConnection('w4tch.invalid').connect", "", ("http.client.connect",)),
    Act("network.transfer", "smtplib", "SMTP", "'w4tch.invalid'", ("smtplib.connect",)),
    Act("network.transfer", "poplib", "POP3", "'w4tch.invalid'", ("poplib.connect",)),
    Act("network.transfer", "imaplib", "IMAP4", "'w4tch.invalid'", ("imaplib.open",)),
    Act("network.metadata", "urllib.request", "urlopen", "'http://169.254.169.254/latest/w4tch'", ("urllib.Request",)),
    Act("network.metadata", "http.client", "HTTPConnection('metadata.google.internal').request", "'GET', '/'", ("http.client.connect",), "metadata"),
    Act("file.sensitive", "io", "open", "'/root/.ssh/id_rsa'", ("open",), "id_rsa"),
    Act("file.sensitive", "os", "open", "'/etc/shadow', 0", ("open",), "/etc/shadow"),
    Act("file.sensitive", "pathlib", "Path('/root/.aws/credentials').read_text", "", ("open",), "credentials"),
    Act("file.sensitive", "pathlib", "Path.home().joinpath('.ssh', 'id_rsa').read_bytes", "", ("open",), "id_rsa"),
    Act("file.sensitive", "builtins", "open", "'/proc/self/environ', 'rb'", ("open",), "environ"),
    Act("file.sensitive", "shutil", "copy", "'/etc/shadow', 'w4tch'", ("shutil.copyfile", "open"), "shadow"),
    Act("file.write", "builtins", "open", "'/etc/w4tch.conf', 'w'", ("open",)),
    Act("file.write", "builtins", "open", "'/etc/w4tch', mode='ab'", ("open",)),
    Act("file.write", "pathlib", "Path('/etc/w4tch').write_text", "'x'", ("open",)),
    Act("file.write", "pathlib", "Path('/usr/bin/w4tch').write_bytes", "b'x'", ("open",)),
    Act("file.delete", "shutil", "rmtree", "'/', ignore_errors=True", ("shutil.rmtree",), "'/'"),
    Act("file.delete", "os", "remove", "'/etc/w4tch'", ("os.remove",)),
    Act("file.delete", "os", "unlink", "'/usr/w4tch'", ("os.remove",)),
    Act("file.delete", "os", "rmdir", "'/home/w4tch'", ("os.rmdir",)),
    Act("file.delete", "pathlib", "Path('/etc/w4tch').unlink", "", ("os.remove",)),
    Act("file.permission", "os", "chown", "'/etc/w4tch', 0, 0", ("os.chown",)),
    Act("file.permission", "pathlib", "Path('/etc/w4tch').chmod", "0o777", ("os.chmod",)),
    Act("file.permission", "os", "lchown", "'/etc/w4tch', 0, 0", ("os.chown",)),
    Act("native", "ctypes", "cdll.LoadLibrary", "'w4tch.so'", ("ctypes.dlopen",)),
    Act("native", "ctypes", "PyDLL", "'w4tch.so'", ("ctypes.dlopen",)),
    Act("native", "ctypes", "string_at", "id(0), 8", ("ctypes.string_at",), ""),
    Act("native", "ctypes", "c_int.from_address", "id(0)", ("ctypes.cdata",), ""),
    Act("native", "_ctypes", "dlopen", "'w4tch.so', 2", ("ctypes.dlopen",)),
    Act("deserialise", "pickle", "load", f"__import__('io').BytesIO({PICKLE})", ("pickle.find_class",)),
    Act("deserialise", "pickle", f"Unpickler(__import__('io').BytesIO({PICKLE})).load", "", ("pickle.find_class",)),
    Act("deserialise", "_pickle", "loads", PICKLE, ("pickle.find_class",)),
    Act("deserialise", "marshal", "loads", "b'\\xda\\x05w4tch'", ("marshal.loads",)),
    Act("dynamic.code", "builtins", "eval", "'w4tch'", ("exec",)),
    Act("dynamic.code", "builtins", "exec", "compile('w4tch = 1', '<x>', 'exec')", ("exec",)),
    Act("dynamic.code", "builtins", "eval", "compile('w4tch', '<x>', 'eval')", ("exec",)),
    Act("dynamic.code", "code", "InteractiveInterpreter().runsource", "'w4tch = 1'", ("exec",)),
    Act("dynamic.code", "timeit", "timeit", "'w4tch = 1', number=1", ("compile",)),
    Act("dynamic.code", "cProfile", "run", "'w4tch = 1'", ("exec",)),
    Act("environment", "os", "putenv", "'W4TCH', 'x'", ("os.putenv",), "W4TCH"),
    Act("environment", "os", "unsetenv", "'W4TCH'", ("os.unsetenv",), "W4TCH"),
    Act("environment", "os", "environ.setdefault", "'W4TCH', 'x'", ("os.putenv",), "W4TCH"),
    Act("environment", "os", "environ.update", "{'W4TCH': 'x'}", ("os.putenv",), "W4TCH"),
    Act("introspection", "gc", "get_objects", "", ("gc.get_objects",), ""),
    Act("introspection", "gc", "get_referrers", "1.5", ("gc.get_referrers",), ""),
    Act("introspection", "sys", "_getframe", "0", ("sys._getframe",), ""),
    Act("persistence", "builtins", "open", "'/root/.bashrc', 'a'", ("open",), "bashrc"),
    Act("persistence", "pathlib", "Path('/root/.ssh/authorized_keys').write_text", "'x'", ("open",), "authorized_keys"),
    Act("persistence", "builtins", "open", "'/etc/systemd/system/w4tch.service', 'w'", ("open",)),
    Act("persistence", "os", "system", "'crontab -l | cat - w4tch | crontab -'", ("os.system",)),
    Act("mining", "os", "system", "'./xmrig -o stratum+tcp://w4tch.invalid:3333'", ("os.system",)),
    Act("mining", "subprocess", "run", "['xmrig', '--url', 'stratum+tcp://w4tch.invalid']", POPEN),
    Act("package.install", "subprocess", "run", "['pip', 'install', 'w4tch']", POPEN),
    Act("package.install", "os", "system", "'python -m pip install w4tch'", ("os.system",)),
    Act("package.install", "subprocess", "check_call", "[__import__('sys').executable, '-m', 'pip', 'install', 'w4tch']", POPEN),
)  # fmt: skip

HARMLESS = (
    Act("", "math", "sqrt", "16"),
    Act("", "string", "capwords", "'echo hello'"),
    Act("", "statistics", "mean", "[1, 2, 4]"),
)
