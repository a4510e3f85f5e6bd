"""Capabilities of Java's libraries, by full name.

The name of a class stands for its constructor. Looking up methods by name is harmless by itself:
the result is tracked; setting a member accessible is introspection.
"""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.sinks import Sinks

__all__ = ["CLASSES", "PACKAGES", "RETURNS", "SINKS"]

_FILES = "java.nio.file.Files"


def _of(owner: str, names: str) -> str:
    return " ".join(f"{owner}.{name}" for name in names.split())


_COMMANDS = {
    "java.lang.Runtime.exec": 0,
    "java.lang.ProcessBuilder": 0,
    "java.lang.ProcessBuilder.command": 0,
}
_WRITERS = {
    "java.io.FileOutputStream": 0,
    "java.io.FileWriter": 0,
    "java.io.PrintStream": 0,
    "java.io.PrintWriter": 0,
    "java.io.RandomAccessFile": 0,
    f"{_FILES}.copy": 1,
    f"{_FILES}.createDirectories": 0,
    f"{_FILES}.createDirectory": 0,
    f"{_FILES}.createFile": 0,
    f"{_FILES}.createLink": 0,
    f"{_FILES}.createSymbolicLink": 0,
    f"{_FILES}.move": 1,
    f"{_FILES}.newBufferedWriter": 0,
    f"{_FILES}.newOutputStream": 0,
    f"{_FILES}.write": 0,
    f"{_FILES}.writeString": 0,
}

SINKS = Sinks(
    calls={
        Capability.PROCESS_RUN: """java.lang.Runtime.exec java.lang.ProcessBuilder.start
            java.lang.ProcessBuilder.startPipeline java.lang.ProcessImpl.start
            java.lang.UNIXProcess java.awt.Desktop.open java.awt.Desktop.browse
            org.apache.commons.exec.DefaultExecutor.execute""",
        Capability.PROCESS_SIGNAL: """java.lang.ProcessHandle.destroy
            java.lang.ProcessHandle.destroyForcibly sun.misc.Signal.raise
            java.lang.Runtime.halt""",
        Capability.NETWORK_SOCKET: """java.net.Socket java.net.ServerSocket java.net.DatagramSocket
            java.net.MulticastSocket java.nio.channels.SocketChannel.open
            java.nio.channels.ServerSocketChannel.open java.nio.channels.DatagramChannel.open
            java.nio.channels.AsynchronousSocketChannel.open
            java.nio.channels.AsynchronousServerSocketChannel.open
            javax.net.SocketFactory.createSocket javax.net.ssl.SSLSocketFactory.createSocket
            javax.net.ServerSocketFactory.createServerSocket
            javax.net.ssl.SSLServerSocketFactory.createServerSocket
            com.sun.net.httpserver.HttpServer.create com.sun.net.httpserver.HttpsServer.create
            java.net.InetAddress.getByName java.net.InetAddress.getAllByName
            java.rmi.registry.LocateRegistry.getRegistry
            java.rmi.registry.LocateRegistry.createRegistry java.rmi.Naming.lookup""",
        Capability.NETWORK_WEB: """java.net.URL.openStream java.net.URL.openConnection
            java.net.URL.getContent java.net.http.HttpClient.send
            java.net.http.HttpClient.sendAsync java.net.http.HttpClient.newWebSocketBuilder
            org.apache.http.client.HttpClient.execute okhttp3.OkHttpClient.newCall
            org.jsoup.Jsoup.connect javax.imageio.ImageIO.read()""",
        Capability.NETWORK_TRANSFER: """javax.mail.Transport.send jakarta.mail.Transport.send
            com.jcraft.jsch.JSch.getSession org.apache.commons.net.ftp.FTPClient.connect""",
        Capability.FILE_DELETE: f"""java.io.File.delete java.io.File.deleteOnExit {_FILES}.delete
            {_FILES}.deleteIfExists org.apache.commons.io.FileUtils.deleteDirectory
            org.apache.commons.io.FileUtils.forceDelete""",
        Capability.FILE_PERMISSION: f"""{_FILES}.setPosixFilePermissions {_FILES}.setOwner
            {_FILES}.setAttribute java.io.File.setExecutable java.io.File.setReadable
            java.io.File.setWritable java.io.File.setReadOnly""",
        Capability.NATIVE: """java.lang.System.load java.lang.System.loadLibrary
            java.lang.Runtime.load java.lang.Runtime.loadLibrary sun.misc.Unsafe.*
            jdk.internal.misc.Unsafe.* jdk.internal.* java.lang.foreign.Linker.*
            java.lang.foreign.SymbolLookup.* java.lang.foreign.MemorySegment.reinterpret
            com.sun.jna.Native.* com.sun.jna.NativeLibrary.* com.sun.jna.Function.*
            com.sun.jna.Memory jnr.ffi.LibraryLoader.*""",
        Capability.DESERIALISE: """java.io.ObjectInputStream.readObject
            java.io.ObjectInputStream.readUnshared java.beans.XMLDecoder.readObject
            java.beans.XMLDecoder org.yaml.snakeyaml.Yaml.load org.yaml.snakeyaml.Yaml.loadAll
            org.yaml.snakeyaml.Yaml.loadAs com.thoughtworks.xstream.XStream.fromXML
            com.esotericsoftware.kryo.Kryo.readClassAndObject
            com.caucho.hessian.io.HessianInput.readObject
            org.apache.commons.lang3.SerializationUtils.deserialize
            java.rmi.MarshalledObject.get""",
        Capability.DYNAMIC_CODE: """javax.script.ScriptEngine.eval javax.script.ScriptEngine.compile
            javax.script.Compilable.compile
            groovy.lang.GroovyShell.evaluate groovy.lang.GroovyShell.parse
            groovy.lang.GroovyShell.run groovy.util.Eval.me
            groovy.lang.GroovyClassLoader.parseClass jdk.jshell.JShell.eval
            javax.tools.JavaCompiler.getTask javax.tools.JavaCompiler.run
            java.net.URLClassLoader java.net.URLClassLoader.newInstance
            java.lang.ClassLoader.defineClass java.security.SecureClassLoader.defineClass
            java.net.URLClassLoader.defineClass java.lang.invoke.MethodHandles.Lookup.defineClass
            java.lang.invoke.MethodHandles.Lookup.defineHiddenClass
            bsh.Interpreter.eval org.mvel2.MVEL.eval ognl.Ognl.getValue
            org.python.util.PythonInterpreter.exec org.mozilla.javascript.Context.evaluateString
            org.springframework.expression.spel.standard.SpelExpressionParser.parseExpression
            org.graalvm.polyglot.Context.eval javax.naming.InitialContext.lookup
            javax.naming.Context.lookup javax.naming.InitialContext.doLookup
            javax.naming.directory.InitialDirContext.lookup
            com.sun.tools.attach.VirtualMachine.attach
            com.sun.tools.attach.VirtualMachine.loadAgent
            java.lang.instrument.Instrumentation.redefineClasses
            java.lang.instrument.Instrumentation.addTransformer
            java.lang.instrument.Instrumentation.appendToBootstrapClassLoaderSearch""",
        Capability.INTROSPECTION: """java.lang.reflect.Method.setAccessible
            java.lang.reflect.Field.setAccessible java.lang.reflect.Constructor.setAccessible
            java.lang.reflect.AccessibleObject.setAccessible
            java.lang.reflect.AccessibleObject.trySetAccessible
            java.lang.invoke.MethodHandles.privateLookupIn
            java.lang.StackWalker.getInstance java.lang.System.setSecurityManager""",
        Capability.ENVIRONMENT: "java.lang.System.getenv java.lang.ProcessBuilder.environment",
    },
    writes=_WRITERS,
    commands=_COMMANDS,
)

RETURNS = {
    "java.lang.Runtime.getRuntime": "java.lang.Runtime",
    "java.lang.ProcessHandle.current": "java.lang.ProcessHandle",
    "java.lang.ProcessHandle.of": "java.lang.ProcessHandle",
    "java.lang.ProcessHandle.allProcesses": "java.lang.ProcessHandle",
    "java.lang.Process.toHandle": "java.lang.ProcessHandle",
    "java.awt.Desktop.getDesktop": "java.awt.Desktop",
    "java.net.URI.toURL": "java.net.URL",
    "java.net.URI.create": "java.net.URI",
    "java.net.http.HttpClient.newHttpClient": "java.net.http.HttpClient",
    "java.net.http.HttpClient.newBuilder": "java.net.http.HttpClient",
    "javax.net.SocketFactory.getDefault": "javax.net.SocketFactory",
    "javax.net.ssl.SSLSocketFactory.getDefault": "javax.net.ssl.SSLSocketFactory",
    "javax.net.ServerSocketFactory.getDefault": "javax.net.ServerSocketFactory",
    "javax.script.ScriptEngineManager.getEngineByName": "javax.script.ScriptEngine",
    "javax.script.ScriptEngineManager.getEngineByExtension": "javax.script.ScriptEngine",
    "javax.tools.ToolProvider.getSystemJavaCompiler": "javax.tools.JavaCompiler",
    "jdk.jshell.JShell.create": "jdk.jshell.JShell",
    "jdk.jshell.JShell.builder": "jdk.jshell.JShell",
    "java.lang.foreign.Linker.nativeLinker": "java.lang.foreign.Linker",
    "java.lang.invoke.MethodHandles.lookup": "java.lang.invoke.MethodHandles.Lookup",
    "java.lang.invoke.MethodHandles.publicLookup": "java.lang.invoke.MethodHandles.Lookup",
    "java.util.Base64.getDecoder": "java.util.Base64.Decoder",
    "java.util.Base64.getUrlDecoder": "java.util.Base64.Decoder",
    "java.util.Base64.getMimeDecoder": "java.util.Base64.Decoder",
    "java.nio.file.Path.toFile": "java.io.File",
    "org.graalvm.polyglot.Context.create": "org.graalvm.polyglot.Context",
    "com.sun.tools.attach.VirtualMachine.attach": "com.sun.tools.attach.VirtualMachine",
    "sun.misc.Unsafe.getUnsafe": "sun.misc.Unsafe",
}
"""Class of the result of methods that return another class than their own."""

_LANG = """Boolean Character Class ClassLoader Integer Math Object Process ProcessBuilder
    ProcessHandle Runtime StackWalker String StringBuffer StringBuilder System Thread"""
_OTHERS = """java.io.File java.io.ObjectInputStream java.io.FileReader java.nio.file.Path
    java.nio.file.Paths java.nio.file.Files java.net.URI java.net.URL java.util.Base64
    java.lang.reflect.Method java.lang.reflect.Field java.lang.reflect.Constructor
    java.lang.reflect.AccessibleObject java.lang.invoke.MethodHandles
    java.lang.invoke.MethodHandles.Lookup javax.script.ScriptEngineManager
    java.net.http.HttpClient javax.tools.ToolProvider"""


def _classes() -> dict[str, str]:
    found = {name: f"java.lang.{name}" for name in _LANG.split()}
    names = [*_OTHERS.split(), *RETURNS, *_WRITERS, *_COMMANDS]
    for listed in SINKS.calls.values():
        names.extend(listed.split())
    for full in names:
        parts = full.split(".")
        for index, part in enumerate(parts):
            if part[:1].isupper():
                found.setdefault(part, ".".join(parts[: index + 1]))
                break
    return found


CLASSES = _classes()
"""Simple name to full name of the relevant classes."""

PACKAGES = frozenset({"java", "javax", "jakarta", "sun", "jdk", "com", "org", "groovy", "bsh"})
"""First components of full names."""
