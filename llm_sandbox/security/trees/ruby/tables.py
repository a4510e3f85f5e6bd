"""Capabilities of Ruby's methods, by name; ``::`` is written as a dot."""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.sinks import Sinks

__all__ = ["EVALUATORS", "KERNEL", "LOOKUPS", "PIPES", "SENDERS", "SINKS"]

_COMMANDS = (
    "` IO.popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 PTY.spawn "
    "Process.exec Process.spawn exec spawn system"
)

SINKS = Sinks(
    calls={
        Capability.PROCESS_RUN: "system exec spawn ` test_fork_exec IO.popen Open3.capture2 "
        "Open3.capture2e Open3.capture3 Open3.popen2 Open3.popen2e Open3.popen3 Open3.pipeline "
        "Open3.pipeline_r Open3.pipeline_rw Open3.pipeline_w Open3.pipeline_start PTY.spawn "
        "PTY.getpty Process.spawn Process.exec Shell.new POSIX.Spawn.* TTY.Command.new "
        "WIN32OLE.new RubyVM.InstructionSequence.load_from_binary",
        Capability.PROCESS_FORK: "fork Process.fork Process.daemon Process._fork Parallel.map "
        "Parallel.each",
        Capability.PROCESS_SIGNAL: "Process.kill Process.setpriority Process.abort",
        Capability.NETWORK_SOCKET: "TCPSocket.new TCPSocket.open TCPSocket.gethostbyname "
        "TCPServer.new TCPServer.open UDPSocket.new UNIXSocket.new UNIXSocket.open UNIXServer.new "
        "Socket.new Socket.tcp Socket.udp Socket.unix Socket.tcp_server_loop Socket.tcp_server "
        "Socket.getaddrinfo Addrinfo.tcp OpenSSL.SSL.SSLSocket.new WEBrick.HTTPServer.new "
        "Resolv.getaddress Resolv.DNS.new DRb.start_service DRbObject.new_with_uri "
        "Sinatra.Base.run! Rack.Handler.*",
        Capability.NETWORK_WEB: "Net.HTTP.* Net.HTTP.Get.new Net.HTTP.Post.new URI.open "
        "OpenURI.open_uri HTTParty.* Faraday.* RestClient.* Typhoeus.* Excon.* HTTP.* "
        "HTTPClient.new Mechanize.new Curl.* Curl.Easy.*",
        Capability.NETWORK_TRANSFER: "Net.FTP.* Net.SMTP.* Net.SSH.* Net.SCP.* Net.SFTP.* "
        "Net.IMAP.* Net.POP3.* Net.Telnet.* Mail.deliver Mail.new Pony.mail",
        Capability.FILE_DELETE: "File.delete File.unlink FileUtils.rm FileUtils.rm_f "
        "FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove "
        "FileUtils.remove_entry FileUtils.remove_entry_secure FileUtils.remove_dir "
        "FileUtils.remove_file FileUtils.rmdir FileUtils.safe_unlink Dir.delete Dir.rmdir "
        "Dir.unlink",
        Capability.FILE_PERMISSION: "File.chmod File.lchmod File.chown File.lchown "
        "FileUtils.chmod FileUtils.chmod_R FileUtils.chown FileUtils.chown_R File.umask "
        "Process.UID.* Process.Sys.* Process.uid= Process.euid=",
        Capability.NATIVE: "syscall Fiddle.* Fiddle.Function.new Fiddle.Handle.new "
        "Fiddle.Pointer.* DL.* DL.Handle.new FFI.* FFI.Function.new FFI.DynamicLibrary.open "
        "FFI.MemoryPointer.new RubyInline.*",
        Capability.DESERIALISE: "Marshal.load Marshal.restore YAML.load YAML.unsafe_load "
        "YAML.unsafe_load_file YAML.load_file YAML.load_documents YAML.load_stream Psych.load "
        "Psych.unsafe_load Psych.load_stream Oj.object_load Oj.load PStore.new "
        "JSON.unsafe_load",
        Capability.INTROSPECTION: "ObjectSpace.* TracePoint.* set_trace_func RubyVM.stat "
        "ObjectSpace.WeakMap.each binding.local_variable_get",
        Capability.ENVIRONMENT: "ENV.*",
        Capability.PACKAGE_INSTALL: "gemfile Gem.install Bundler.setup_and_install "
        "Gem.Commands.InstallCommand.new Gem.DependencyInstaller.new",
    },
    reads={Capability.ENVIRONMENT: "ENV"},
    writes={
        "File.binwrite": 0,
        "File.link": 1,
        "File.rename": 1,
        "File.symlink": 1,
        "File.write": 0,
        "FileUtils.copy": 1,
        "FileUtils.cp": 1,
        "FileUtils.cp_r": 1,
        "FileUtils.install": 1,
        "FileUtils.ln": 1,
        "FileUtils.ln_s": 1,
        "FileUtils.mkdir": 0,
        "FileUtils.mkdir_p": 0,
        "FileUtils.move": 1,
        "FileUtils.mv": 1,
        "FileUtils.touch": 0,
        "Dir.mkdir": 0,
        "IO.binwrite": 0,
        "IO.write": 0,
    },
    commands=dict.fromkeys(_COMMANDS.split(), 0),
    plain="ObjectSpace.garbage_collect ObjectSpace.count_objects ENV.dup Net.HTTP.version "
    "HTTP.Status Net.HTTP.Response",
)
"""Methods of the core, of the standard library and of well-known gems."""

KERNEL = frozenset(("Kernel", "Object", "BasicObject", "Process", "self", "TOPLEVEL_BINDING"))
"""Receivers whose methods can be called without a receiver."""

SENDERS = frozenset(("__send__", "public_send", "send", "try"))
"""Methods that call the method named by their first argument."""

LOOKUPS = frozenset(("instance_method", "method", "public_method", "singleton_method"))
"""Methods that return the method named by their first argument."""

EVALUATORS = frozenset(
    ("class_eval", "class_exec", "eval", "instance_eval", "instance_exec", "module_eval")
)
"""Methods that run text as code."""

PIPES = frozenset(
    ("IO.binread", "IO.foreach", "IO.read", "IO.readlines", "IO.write", "URI.open", "open")
)
"""Methods whose path argument is a command when it begins with a bar."""
