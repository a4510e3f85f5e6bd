"""What words of each language do, for reading it without its grammar."""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.lexical.words import WordRules

__all__ = ["RULES"]

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
"""The rules of each language; R has an engine of its own."""
