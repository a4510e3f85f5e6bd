"""Capabilities of Go's packages, by import path and name.

Decoding gob, JSON or YAML runs no code in Go and is harmless, as are text templates. Conversions by
``unsafe`` are native; its size functions are not.
"""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.sinks import Sinks

__all__ = ["SINKS"]

_UNIX = ("syscall", "golang.org/x/sys/unix", "golang.org/x/sys/windows")


def _system(names: str) -> str:
    return " ".join(f"{package}.{name}" for package in _UNIX for name in names.split())


def _each(package: str, names: str) -> str:
    return " ".join(f"{package}.{name}" for name in names.split())


_RUN = (
    _each(
        "os/exec",
        "Command CommandContext Cmd.Run Cmd.Start Cmd.Output Cmd.CombinedOutput",
    )
    + " os.StartProcess C.system C.popen C.execl C.execve C.execvp"
    + " github.com/creack/pty.Start github.com/bitfield/script.Exec "
    + _system("Exec ForkExec StartProcess CreateProcess")
)
_NET = """Dial DialTimeout DialTCP DialUDP DialUnix DialIP Listen ListenTCP ListenUDP ListenUnix
    ListenPacket ListenIP ListenMulticastUDP ListenConfig.Listen Dialer.Dial Dialer.DialContext
    LookupHost LookupIP LookupAddr LookupTXT LookupMX LookupNS LookupCNAME ResolveTCPAddr
    FileConn FileListener Resolver.LookupHost DefaultResolver.LookupHost"""
_WEB = """Get Post Head PostForm NewRequest NewRequestWithContext Client.Do Client.Get Client.Post
    Client.Head Client.PostForm DefaultClient.Do DefaultClient.Get DefaultClient.Post
    DefaultTransport.RoundTrip Transport.RoundTrip"""

SINKS = Sinks(
    calls={
        Capability.PROCESS_RUN: _RUN,
        Capability.PROCESS_FORK: "C.fork C.vfork",
        Capability.PROCESS_SIGNAL: _each(
            "os", "FindProcess().Kill FindProcess().Signal Process.Kill Process.Signal"
        )
        + " os/exec.Cmd.Process.Kill C.kill "
        + _system("Kill Tgkill PtraceAttach TerminateProcess"),
        Capability.NETWORK_SOCKET: _each("net", _NET)
        + " "
        + _each(
            "crypto/tls", "Dial DialWithDialer Listen NewListener Dialer.Dial Dialer.DialContext"
        )
        + " "
        + _each(
            "net/http",
            """ListenAndServe ListenAndServeTLS Serve ServeTLS Server.ListenAndServe
            Server.ListenAndServeTLS Server.Serve""",
        )
        + " net/rpc.Dial net/rpc.DialHTTP net/rpc/jsonrpc.Dial C.socket"
        + " github.com/gorilla/websocket.DefaultDialer.Dial golang.org/x/net/websocket.Dial"
        + " nhooyr.io/websocket.Dial google.golang.org/grpc.Dial google.golang.org/grpc.NewClient "
        + _system("Socket Connect Bind Listen Accept Sendto"),
        Capability.NETWORK_WEB: _each("net/http", _WEB)
        + " net/http/httputil.NewSingleHostReverseProxy",
        Capability.NETWORK_TRANSFER: """net/smtp.SendMail net/smtp.Dial net/smtp.NewClient
            golang.org/x/crypto/ssh.Dial github.com/jlaffaye/ftp.Dial
            github.com/pkg/sftp.NewClient""",
        Capability.FILE_DELETE: _each("os", "Remove RemoveAll Root.Remove")
        + " C.unlink C.remove "
        + _system("Unlink Unlinkat Rmdir DeleteFile"),
        Capability.FILE_PERMISSION: _each("os", "Chmod Chown Lchown File.Chmod File.Chown")
        + " "
        + _system("Chmod Fchmod Fchmodat Chown Fchown Lchown Setuid Setgid Setreuid Setresuid"),
        Capability.NATIVE: """plugin.Open unsafe.Pointer unsafe.Slice unsafe.String unsafe.Add
            unsafe.StringData unsafe.SliceData C.dlopen C.dlsym C.mprotect C.mmap
            github.com/ebitengine/purego.Dlopen github.com/ebitengine/purego.SyscallN
            golang.org/x/sys/windows.NewLazyDLL golang.org/x/sys/windows.LoadDLL
            syscall.NewLazyDLL syscall.LoadDLL syscall.LoadLibrary syscall.GetProcAddress """
        + _system(
            """Syscall Syscall6 Syscall9 SyscallN RawSyscall RawSyscall6 Mprotect PtracePokeText
            PtracePeekText PtraceTraceme Mount Unmount Unshare Setns Chroot PivotRoot InitModule
            MemfdCreate Reboot VirtualAlloc VirtualProtect"""
        ),
        Capability.DYNAMIC_CODE: """github.com/traefik/yaegi/interp.New().Eval
            github.com/traefik/yaegi/interp.Interpreter.Eval
            github.com/robertkrimen/otto.New().Run github.com/robertkrimen/otto.Run
            github.com/dop251/goja.New().RunString github.com/dop251/goja.New().RunProgram
            github.com/yuin/gopher-lua.NewState().DoString
            github.com/d5/tengo/v2.NewScript""",
        Capability.ENVIRONMENT: _each(
            "os", "Getenv LookupEnv Environ Setenv Unsetenv Clearenv ExpandEnv"
        )
        + " C.getenv "
        + _system("Getenv Environ Setenv"),
    },
    reads={Capability.ENVIRONMENT: "", Capability.NETWORK_WEB: ""},
    writes={
        "io/ioutil.WriteFile": 0,
        "os.Create": 0,
        "os.CopyFS": 0,
        "os.Link": 1,
        "os.Mkdir": 0,
        "os.MkdirAll": 0,
        "os.Rename": 1,
        "os.Symlink": 1,
        "os.Truncate": 0,
        "os.WriteFile": 0,
        "syscall.Link": 1,
        "syscall.Mkdir": 0,
        "syscall.Rename": 1,
        "syscall.Symlink": 1,
    },
    commands={**dict.fromkeys(_RUN.split(), 0), "os/exec.CommandContext": 1},
)
