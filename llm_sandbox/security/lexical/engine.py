"""Engine without grammars: R as calls, all other languages as words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.lexical.regions import Kind, mask, regions
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.sensitive_text import find_sensitive_text, is_outside
from llm_sandbox.security.source import Source

__all__ = ["RULES", "WordRules", "scan", "scan_words"]


@dataclass(frozen=True)
class WordRules:
    """Rules of a language for words.

    Args:
        calls: For each capability the dotted names of functions that have it, separated by blanks.
            One that begins with a dot is the end of a longer name: ``.exec``.
        names: The same for names that have it without a call.
        marks: For each capability a regular expression of code that has it.
        imports: Pattern of imports, with the names of modules as groups. The group ``as`` is the
            alias of the module.
        writes: Names of calls whose first argument is the path of a file that they write.
    """

    calls: dict[Capability, str]
    names: dict[Capability, str] = field(default_factory=dict)
    marks: dict[Capability, str] = field(default_factory=dict)
    imports: str = ""
    writes: str = ""

    def table(self) -> dict[str, tuple[Capability, bool]]:
        """Return names with their capability, and whether they have to be called."""
        called = {
            name: (capability, True)
            for capability, names in self.calls.items()
            for name in names.split()
        }
        for capability, names in self.names.items():
            called.update((name, (capability, False)) for name in names.split())
        return called


_NAME = re.compile(
    r"(?<![\w$@.])[^\W\d][\w$]*(?:\s{0,8}(?:\.|::|->|\?\.)\s{0,8}[^\W\d][\w$]*)*+[!?]?"
)
_JOINT = re.compile(r"\s*(?:\.|::|->|\?\.)\s*")
_CALL = re.compile(r"\s{0,8}(?:\(|[`'\"]|\s(?=[\"'`:%]))")
_FIRST_TEXT = re.compile(r"\s{0,8}\(?\s{0,8}[rbuRLf]?[\"'`]")


def scan_words(source: Source, rules: WordRules) -> ScanOutput:
    """Scan a program by its words.

    Never raises; time grows with the length of the text. Findings have medium confidence unless the
    full name of a library's function is written out.

    Args:
        source: The program.
        rules: Rules of the language.
    """
    found = ScanOutput("lexical")
    code = mask(source.text, source.lang, "code")
    renamed = _report_imports(source, rules, found, code)
    found.findings.extend(_report_names(source, rules, renamed, code))
    for capability, expression in rules.marks.items():
        for hit in re.finditer(expression, code, re.MULTILINE):
            span = source.span(hit.start(), hit.end())
            found.findings.append(RawFinding(capability, span, hit[0].strip()[:60], "medium"))
    found.findings.extend(_report_sensitive(source))
    return found


def _report_imports(
    source: Source, rules: WordRules, found: ScanOutput, code: str
) -> dict[str, str]:
    """Report the imported modules; return the names that the program binds them to."""
    renamed: dict[str, str] = {}
    if not rules.imports:
        return renamed
    for hit in re.finditer(rules.imports, code, re.MULTILINE):
        for index, group in enumerate(hit.groups(), 1):
            if group is None or hit.re.groupindex.get("as") == index:
                continue
            # The name may be a string, which is blank in the code.
            for name in re.split(r"\s*,\s*", source.text[hit.start(index) : hit.end(index)]):
                module, _, alias = name.strip().partition(" as ")
                module = module.strip().strip("\"'`<>;")
                if module:
                    span = source.span(hit.start(), hit.end())
                    found.modules.append(ModuleUse(module, span))
                    if alias.strip():
                        renamed[alias.strip()] = module
                    elif hit.re.groupindex.get("as") and hit["as"]:
                        renamed[hit["as"]] = module
    return renamed


def _report_names(
    source: Source, rules: WordRules, renamed: dict[str, str], code: str
) -> Iterator[RawFinding]:
    table, writes = rules.table(), frozenset(rules.writes.split())
    for hit in _NAME.finditer(code):
        parts = _JOINT.split(hit[0])
        parts[:1] = renamed.get(parts[0], parts[0]).split(".")
        name = ".".join(parts)
        is_called = _CALL.match(code, hit.end()) is not None
        span = source.span(hit.start(), hit.end())
        known = _known(table, parts)
        if known is not None and (is_called or not known[2]):
            confidence: Confidence = "high" if known[1] == name and len(parts) > 1 else "medium"
            yield RawFinding(known[0], span, name, confidence)
        if writes and (name in writes or f".{parts[-1]}" in writes):
            path = _first_text(source, hit.end())
            if path and is_outside(path):
                yield RawFinding(Capability.FILE_WRITE, span, name, "medium", f"to {path[:80]!r}")


def _known(
    table: dict[str, tuple[Capability, bool]], parts: list[str]
) -> tuple[Capability, str, bool] | None:
    for index in range(max(0, len(parts) - 4), len(parts)):
        name = ".".join(parts[index:])
        for key in (name, f".{name}" if index else ""):
            if key in table:
                capability, called = table[key]
                return capability, key, called
    beginning = ".".join(parts[:2])
    if len(parts) > 2 and beginning in table and not table[beginning][1]:
        return table[beginning][0], beginning, False
    return None


def _first_text(source: Source, at: int) -> str:
    begins = _FIRST_TEXT.match(source.text, at)
    if begins is None:
        return ""
    quote = source.text[begins.end() - 1]
    end = source.text.find(quote, begins.end(), begins.end() + 300)
    return source.text[begins.end() : end] if end > 0 else ""


def _report_sensitive(source: Source) -> Iterator[RawFinding]:
    known = regions(source.text, source.lang)
    texts = [(start, end) for start, end, kind in known if kind is Kind.STRING]
    if source.lang == "bash" or not known:
        texts = [(0, len(source.text))]
    for start, end in texts:
        for first, last, capability, what in find_sensitive_text(source.text[start:end]):
            span = source.span(start + first, start + last)
            subject = source.text[start + first : start + last]
            yield RawFinding(capability, span, subject, "high", what)


_RUN, _FORK, _SIGNAL = Capability.PROCESS_RUN, Capability.PROCESS_FORK, Capability.PROCESS_SIGNAL
_SOCKET, _WEB = Capability.NETWORK_SOCKET, Capability.NETWORK_WEB
_TRANSFER, _NATIVE = Capability.NETWORK_TRANSFER, Capability.NATIVE
_DELETE, _MODE = Capability.FILE_DELETE, Capability.FILE_PERMISSION
_LOAD, _DYNAMIC, _UNKNOWN = (
    Capability.DESERIALISE,
    Capability.DYNAMIC_CODE,
    Capability.DYNAMIC_UNRESOLVED,
)
_ENVIRONMENT, _INSPECT = Capability.ENVIRONMENT, Capability.INTROSPECTION
_INSTALL = Capability.PACKAGE_INSTALL

_PYTHON = WordRules(
    calls={
        _RUN: "os.system os.popen subprocess.run subprocess.call subprocess.Popen "
        "subprocess.check_call subprocess.check_output subprocess.getoutput "
        "subprocess.getstatusoutput pty.spawn os.execv os.execve os.execvp os.execl os.execlp "
        "os.spawnl os.spawnv os.spawnlp os.spawnvp os.posix_spawn os.startfile check_output Popen "
        "asyncio.create_subprocess_shell asyncio.create_subprocess_exec",
        _FORK: "os.fork os.forkpty multiprocessing.Process multiprocessing.Pool "
        "ProcessPoolExecutor",
        _SIGNAL: "os.kill os.killpg signal.pthread_kill",
        _SOCKET: "socket.socket socket.create_connection socket.create_server "
        "asyncio.open_connection asyncio.start_server http.server.HTTPServer "
        "socketserver.TCPServer",
        _WEB: "requests.get requests.post requests.put requests.request requests.Session "
        "urllib.request.urlopen urllib.request.urlretrieve urlopen httpx.get httpx.post "
        "http.client.HTTPConnection http.client.HTTPSConnection aiohttp.ClientSession",
        _TRANSFER: "smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP paramiko.SSHClient telnetlib.Telnet",
        _NATIVE: "ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.PyDLL cffi.FFI os.memfd_create",
        _LOAD: "pickle.load pickle.loads pickle.Unpickler marshal.loads marshal.load shelve.open "
        "dill.loads dill.load cloudpickle.loads yaml.load yaml.unsafe_load torch.load joblib.load "
        "pandas.read_pickle pd.read_pickle",
        _DYNAMIC: "eval exec builtins.eval builtins.exec",
        _UNKNOWN: "__import__ importlib.import_module",
        _DELETE: "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree",
        _MODE: "os.chmod os.chown os.lchown",
        _ENVIRONMENT: "os.getenv os.putenv os.unsetenv",
        _INSPECT: "gc.get_objects sys._getframe inspect.currentframe",
        _INSTALL: "pip.main",
    },
    names={
        _ENVIRONMENT: "os.environ os.environb",
        _INSPECT: ".__subclasses__ .__globals__ .f_globals",
    },
    marks={_RUN: r"^[ \t]*![ \t]*\w[^\n]{0,200}|^%%(?:bash|sh|script)\b|^[ \t]*%sx?\b"},
    imports=r"^[ \t]*(?:import[ \t]+([\w.][\w., \t]*)|from[ \t]+([\w.]+)[ \t]+import\b)",
    writes="open io.open",
)
_JAVASCRIPT = WordRules(
    calls={
        _RUN: "child_process.exec child_process.execSync child_process.spawn "
        "child_process.spawnSync child_process.execFile child_process.execFileSync execSync "
        "spawnSync execFileSync execFile Bun.spawn Deno.run Deno.Command .execSync .spawnSync",
        _FORK: "child_process.fork cluster.fork",
        _SIGNAL: "process.kill process.abort",
        _SOCKET: "net.connect net.createConnection net.createServer net.Socket tls.connect "
        "dgram.createSocket http.createServer https.createServer WebSocket",
        _WEB: "fetch http.get http.request https.get https.request axios axios.get axios.post "
        "XMLHttpRequest",
        _NATIVE: "process.binding process.dlopen process._linkedBinding",
        _LOAD: "v8.deserialize serialize.unserialize unserialize",
        _DYNAMIC: "eval Function vm.runInNewContext vm.runInThisContext vm.runInContext vm.Script",
        _DELETE: "fs.unlink fs.unlinkSync fs.rm fs.rmSync fs.rmdir fs.rmdirSync .unlinkSync "
        ".rmSync .rmdirSync",
        _MODE: "fs.chmod fs.chmodSync fs.chown fs.chownSync .chmodSync",
    },
    names={_ENVIRONMENT: "process.env", _NATIVE: "process.mainModule"},
    imports=r"(?:\brequire[ \t]*\([ \t]*|\bfrom[ \t]+|\bimport[ \t]*\(?[ \t]*)"
    r"([\"'`][^\"'`\n]{1,100}[\"'`])",
    writes=".writeFile .writeFileSync .appendFile .appendFileSync .createWriteStream",
)
_JAVA = WordRules(
    calls={
        _RUN: "Runtime.getRuntime ProcessBuilder .getRuntime java.lang.ProcessBuilder",
        _SIGNAL: ".destroyForcibly ProcessHandle.of",
        _SOCKET: "Socket ServerSocket DatagramSocket SocketChannel.open ServerSocketChannel.open",
        _WEB: "URL HttpClient.newHttpClient .openConnection .openStream HttpURLConnection",
        _NATIVE: "System.load System.loadLibrary Unsafe.getUnsafe Linker.nativeLinker .loadLibrary",
        _LOAD: ".readObject ObjectInputStream XMLDecoder XStream",
        _DYNAMIC: "ScriptEngineManager .defineClass URLClassLoader",
        _UNKNOWN: "Class.forName .loadClass",
        _INSPECT: ".setAccessible .getDeclaredMethod .getDeclaredField",
        _DELETE: "Files.delete Files.deleteIfExists .deleteOnExit",
        _MODE: "Files.setPosixFilePermissions .setExecutable .setWritable",
        _ENVIRONMENT: "System.getenv",
    },
    imports=r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)(?:\.\*)?[ \t]*;",
    writes="FileWriter FileOutputStream PrintWriter RandomAccessFile",
)
_CPP = WordRules(
    calls={
        _RUN: "system std.system popen execl execlp execle execv execve execvp execvpe fexecve "
        "posix_spawn posix_spawnp",
        _FORK: "fork vfork clone std.fork",
        _SIGNAL: "kill killpg tgkill raise pthread_kill",
        _SOCKET: "socket connect bind listen accept getaddrinfo gethostbyname",
        _WEB: "curl_easy_init curl_easy_perform",
        _NATIVE: "dlopen dlsym syscall mmap mprotect ptrace memfd_create process_vm_writev "
        "process_vm_readv init_module",
        _DELETE: "unlink unlinkat rmdir std.remove std.filesystem.remove fs.remove fs.remove_all "
        "std.filesystem.remove_all",
        _MODE: "chmod fchmod chown fchown setuid setgid",
        _ENVIRONMENT: "getenv std.getenv secure_getenv setenv putenv unsetenv",
    },
    marks={_NATIVE: r"\b(?:asm|__asm__|__asm)\b[ \t]*(?:volatile|__volatile__|goto)?[ \t]*[({]"},
    imports=r"^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]{1,100})>|(\"[^\"\n]{1,100}\"))",
    writes="fopen std.ofstream ofstream",
)
_GO = WordRules(
    calls={
        _RUN: "exec.Command exec.CommandContext os.StartProcess syscall.Exec syscall.ForkExec",
        _SIGNAL: "syscall.Kill .Kill .Signal",
        _SOCKET: "net.Dial net.DialTimeout net.Listen net.ListenPacket net.DialTCP "
        "http.ListenAndServe tls.Dial",
        _WEB: "http.Get http.Post http.PostForm http.NewRequest http.DefaultClient.Do",
        _TRANSFER: "smtp.SendMail ssh.Dial ftp.Dial",
        _NATIVE: "plugin.Open syscall.Syscall syscall.Syscall6 syscall.RawSyscall syscall.Mmap "
        "unsafe.Pointer syscall.PtraceAttach unix.Syscall",
        _LOAD: "gob.NewDecoder",
        _DELETE: "os.Remove os.RemoveAll",
        _MODE: "os.Chmod os.Chown",
        _ENVIRONMENT: "os.Getenv os.Environ os.LookupEnv os.Setenv os.ExpandEnv os.Unsetenv",
    },
    imports=r"^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?(\"[\w./\-@ ]{1,100}\")[ \t]*$",
    writes="os.Create os.WriteFile ioutil.WriteFile os.OpenFile",
)
_RUBY = WordRules(
    calls={
        _RUN: "system exec spawn IO.popen Open3.capture2 Open3.capture3 Open3.popen3 "
        "Open3.capture2e Process.spawn PTY.spawn Kernel.system Kernel.exec Kernel.spawn",
        _FORK: "fork Process.fork Kernel.fork Process.daemon",
        _SIGNAL: "Process.kill",
        _SOCKET: "TCPSocket.new TCPSocket.open TCPServer.new UDPSocket.new UNIXSocket.new "
        "Socket.new Socket.tcp",
        _WEB: "Net.HTTP.get Net.HTTP.new Net.HTTP.start Net.HTTP.post URI.open HTTParty.get "
        "Faraday.get RestClient.get",
        _TRANSFER: "Net.FTP.new Net.FTP.open Net.SMTP.start Net.SSH.start Net.SCP.start",
        _NATIVE: "Fiddle.dlopen Fiddle.Function.new Fiddle.Handle.new DL.dlopen syscall",
        _LOAD: "Marshal.load Marshal.restore YAML.load YAML.unsafe_load Psych.load",
        _DYNAMIC: "eval instance_eval class_eval module_eval .instance_eval .class_eval "
        ".module_eval binding.eval .eval",
        _UNKNOWN: ".const_get",
        _DELETE: "File.delete File.unlink FileUtils.rm FileUtils.rm_r FileUtils.rm_rf Dir.rmdir",
        _MODE: "File.chmod File.chown FileUtils.chmod FileUtils.chown",
        _INSTALL: "gemfile Gem.install",
    },
    names={
        _ENVIRONMENT: "ENV",
        _INSPECT: "ObjectSpace.each_object ObjectSpace TracePoint",
    },
    marks={_RUN: r"`[^`\n]{1,200}`|%x[\[({<|!]"},
    imports=r"^[ \t]*(?:require|require_relative|load)[ \t]*\(?[ \t]*([\"'][^\"'\n]{1,100}[\"'])",
    writes="File.write IO.write File.binwrite",
)
# Where a command begins.
_START = (
    r"(?:(?:^|[;&|(`])[ \t]*"
    r"(?:(?:sudo|xargs|exec|command|nohup|time|then|do|else|env|if|while|!)[ \t]+)?(?:[\w./]+/)?)"
)
_BASH = WordRules(
    calls={},
    marks={
        _WEB: rf"{_START}(?:curl|wget|lynx|aria2c)[ \t]",
        _SOCKET: rf"{_START}(?:nc|ncat|netcat|socat|telnet)[ \t]|/dev/(?:tcp|udp)/",
        _TRANSFER: rf"{_START}(?:ssh|scp|sftp|ftp|rsync|sendmail)[ \t]",
        _RUN: rf"{_START}(?:sudo|su|nsenter|chroot|unshare|docker|kubectl)[ \t]",
        _SIGNAL: rf"{_START}(?:kill|pkill|killall)[ \t]",
        _DYNAMIC: rf"{_START}eval[ \t]|\|[ \t]*(?:ba|z|da)?sh\b",
        _DELETE: rf"{_START}(?:shred|mkfs(?:\.\w+)?)[ \t]"
        r"|{_START}rm[ \t][^\n;&|]*?[ \t][/~$*]",
        _MODE: rf"{_START}(?:chmod|chown)[ \t][^\n;&|]*?[ \t][/~$]",
        _NATIVE: rf"{_START}(?:gdb|strace|insmod|modprobe)[ \t]",
        _INSTALL: rf"{_START}(?:pip3?|npm|gem|cargo|go|apt|apt-get|apk|dnf|yum)[ \t]+"
        r"(?:-\w+[ \t]+){0,3}(?:install|add)\b",
        Capability.FILE_WRITE: r">{1,2}[ \t]*(?:/(?!dev/(?:null|std|tty)|tmp/)|~)[^\s;&|]{1,200}",
    },
    imports=r"(?:^|[;&|][ \t]*)(?:source|\.)[ \t]+([\w./~\-]{1,200})",
)

RULES: dict[str, WordRules] = {
    "bash": _BASH,
    "cpp": _CPP,
    "go": _GO,
    "java": _JAVA,
    "javascript": _JAVASCRIPT,
    "python": _PYTHON,
    "ruby": _RUBY,
}
"""Rules of each language; R has an engine of its own."""


_NONE = WordRules({})


def scan(source: Source) -> ScanOutput:
    """Scan a program by its words, or by its calls in R.

    Never raises and runs nothing; time grows with the length of the text. In a language without
    rules only sensitive names in its text are found.
    """
    if source.lang == "r":
        from llm_sandbox.security.lexical.r.engine import scan as scan_r

        return scan_r(source)
    return scan_words(source, RULES.get(source.lang, _NONE))
