"""Capabilities of the libraries of C and C++, by full name without ``std::``.

The name of a type stands for its constructor. Calls that change the privileges or the view of a
process (``unshare``, ``mount``, ``ptrace``) count as native, those that change its user as
permissions.
"""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.sinks import Sinks

__all__ = ["NETWORK_HEADERS", "NETWORK_NAMES", "OPENERS", "SINKS"]

_RUN = """system popen _popen _wpopen _wsystem execl execlp execle execv execvp execve execvpe
    execveat fexecve posix_spawn posix_spawnp wordexp ShellExecute ShellExecuteA ShellExecuteW
    ShellExecuteEx ShellExecuteExA ShellExecuteExW CreateProcess CreateProcessA CreateProcessW
    CreateProcessAsUserA WinExec _execl _execv _execvp _spawnl _spawnv _spawnvp
    boost::process::child boost::process::system boost::process::spawn
    boost::process::async_system boost::process::process boost::process::v1::child
    boost::process::v2::process QProcess::execute QProcess::startDetached Poco::Process::launch
    g_spawn_command_line_sync g_spawn_async"""

SINKS = Sinks(
    calls={
        Capability.PROCESS_RUN: _RUN,
        Capability.PROCESS_FORK: "fork vfork _Fork clone clone3 __clone daemon forkpty",
        Capability.PROCESS_SIGNAL: """kill killpg tgkill tkill pthread_kill sigqueue
            TerminateProcess pidfd_send_signal""",
        Capability.NETWORK_SOCKET: """socket socketpair getaddrinfo gethostbyname gethostbyaddr
            WSASocket WSASocketA WSASocketW WSAStartup BIO_new_connect BIO_new_accept
            boost::asio::ip::tcp::socket boost::asio::ip::tcp::acceptor
            boost::asio::ip::tcp::resolver boost::asio::ip::udp::socket
            boost::asio::ip::tcp::iostream boost::asio::connect asio::ip::tcp::socket
            asio::ip::tcp::acceptor asio::ip::tcp::resolver asio::ip::udp::socket asio::connect
            zmq_socket zmq::socket_t QTcpSocket QTcpServer sf::TcpSocket sf::TcpListener
            Poco::Net::StreamSocket Poco::Net::ServerSocket""",
        Capability.NETWORK_WEB: """curl_easy_perform curl_multi_perform cpr::Get cpr::Post
            httplib::Client httplib::SSLClient InternetOpenUrl InternetOpenUrlA URLDownloadToFile
            URLDownloadToFileA WinHttpSendRequest boost::beast::http::write
            Poco::Net::HTTPClientSession web::http::client::http_client""",
        Capability.NETWORK_TRANSFER: "ssh_connect libssh2_session_handshake ssh_new",
        Capability.FILE_DELETE: """unlink unlinkat rmdir _unlink _rmdir remove filesystem::remove
            filesystem::remove_all experimental::filesystem::remove_all
            experimental::filesystem::remove boost::filesystem::remove
            boost::filesystem::remove_all DeleteFile DeleteFileA DeleteFileW RemoveDirectory
            RemoveDirectoryA RemoveDirectoryW shred nftw""",
        Capability.FILE_PERMISSION: """chmod fchmod fchmodat chown lchown fchown fchownat _chmod
            filesystem::permissions boost::filesystem::permissions setuid seteuid setreuid
            setresuid setgid setegid setregid setresgid setgroups setxattr SetFileAttributesA
            cap_set_proc""",
        Capability.NATIVE: """dlopen dlmopen dlsym dlvsym syscall ptrace process_vm_readv
            process_vm_writev LoadLibrary LoadLibraryA LoadLibraryW LoadLibraryExA GetProcAddress
            VirtualAllocEx WriteProcessMemory CreateRemoteThread memfd_create unshare setns mount
            umount umount2 pivot_root chroot init_module finit_module bpf perf_event_open iopl
            ioperm userfaultfd keyctl reboot kexec_load boost::dll::import_symbol
            boost::dll::shared_library""",
        Capability.ENVIRONMENT: "getenv secure_getenv setenv putenv unsetenv clearenv",
        Capability.RESOURCE: "",
    },
    reads={Capability.ENVIRONMENT: "environ"},
    writes={
        "creat": 0,
        "filesystem::copy": 1,
        "filesystem::copy_file": 1,
        "filesystem::create_directories": 0,
        "filesystem::create_directory": 0,
        "filesystem::create_symlink": 1,
        "filesystem::rename": 1,
        "link": 1,
        "mkdir": 0,
        "mknod": 0,
        "ofstream": 0,
        "ofstream.open": 0,
        "rename": 1,
        "symlink": 1,
        "truncate": 0,
        "wofstream": 0,
    },
    commands=dict.fromkeys(_RUN.split(), 0),
)

OPENERS = {
    "fopen": 1,
    "freopen": 1,
    "fopen64": 1,
    "open": 1,
    "open64": 1,
    "openat": 2,
    "fstream": 1,
}
"""Functions that write or read, depending on the argument of that number."""

NETWORK_NAMES = frozenset({"accept", "accept4", "connect", "listen", "recvfrom", "sendto"})
"""Names that are too common to be meaningful without one of these headers."""
NETWORK_HEADERS = frozenset({"sys/socket.h", "winsock2.h", "netinet/in.h", "arpa/inet.h"})
