"""Capabilities of JavaScript's libraries, by full name.

Names are without ``node:``. ``new X()`` and calls without a name, ``x()``, are calls alike. Loading
WebAssembly counts as native: it runs machine code that nobody can read here.
"""

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.sinks import Sinks

__all__ = ["ALIASES", "GLOBALS", "SINKS"]

GLOBALS = frozenset(
    [
        "Array",
        "ActiveXObject",
        "Buffer",
        "Bun",
        "Deno",
        "EventSource",
        "Function",
        "JSON",
        "Number",
        "Object",
        "Promise",
        "Proxy",
        "Reflect",
        "RegExp",
        "SharedWorker",
        "String",
        "Symbol",
        "WebAssembly",
        "WebSocket",
        "Worker",
        "XMLHttpRequest",
        "atob",
        "btoa",
        "decodeURI",
        "decodeURIComponent",
        "document",
        "escape",
        "eval",
        "execScript",
        "exports",
        "fetch",
        "global",
        "globalThis",
        "importScripts",
        "module",
        "navigator",
        "parseInt",
        "process",
        "require",
        "self",
        "setImmediate",
        "setInterval",
        "setTimeout",
        "top",
        "unescape",
        "window",
    ]
)
"""Relevant names that the language or Node.js defines without an import."""

ALIASES = {
    "global": "globalThis",
    "window": "globalThis",
    "self": "globalThis",
    "top": "globalThis",
    "fs/promises": "fs.promises",
    "timers/promises": "timers",
    "process.mainModule.require": "require",
    "require.main.require": "require",
    "module.require": "require",
    "module.parent.require": "require",
    "module._load": "require",
    "module.constructor": "module",
    "module.Module": "module",
    "process.mainModule": "module",
    "require.main": "module",
    "process.getBuiltinModule": "require",
    "process.constructor": "Function",
    "require.constructor": "Function",
    "child_process.default": "child_process",
    "execScript": "eval",
    "process._linkedBinding": "process.binding",
    "?.constructor.constructor": "Function",
    "Array.constructor": "Function",
    "Object.constructor": "Function",
    "String.constructor": "Function",
    "Number.constructor": "Function",
    "RegExp.constructor": "Function",
}

_FS_DELETE = "unlink unlinkSync rm rmSync rmdir rmdirSync"
_FS_PERMISSION = "chmod chmodSync chown chownSync lchmod lchown lchownSync fchmod fchown fchmodSync"
_FS_WRITE = """writeFile writeFileSync appendFile appendFileSync createWriteStream mkdir mkdirSync
    truncate truncateSync outputFile outputFileSync outputJson writeJson writeJsonSync"""
_FS_TWO_PATHS = (
    "copyFile copyFileSync rename renameSync symlink symlinkSync link linkSync cp cpSync"
)


def _fs(names: str) -> str:
    modules = ("fs", "fs.promises", "fs-extra", "graceful-fs")
    return " ".join(f"{module}.{name}" for module in modules for name in names.split())


_RUN = """child_process.exec child_process.execSync child_process.execFile
    child_process.execFileSync
    child_process.spawn child_process.spawnSync child_process.ChildProcess.spawn
    execa execa.execa execa.execaSync execa.sync execa.command execa.$ shelljs.exec cross-spawn
    cross-spawn.sync cross-spawn.spawn zx.$ zx.exec open Deno.run Deno.Command Bun.spawn
    Bun.spawnSync node-pty.spawn shelljs.cmd sudo-prompt.exec node-cmd.run node-cmd.get
    ActiveXObject"""

SINKS = Sinks(
    calls={
        Capability.PROCESS_RUN: _RUN,
        Capability.PROCESS_FORK: """child_process.fork cluster.fork cluster.setupPrimary
            cluster.setupMaster""",
        Capability.PROCESS_SIGNAL: "process.kill process._kill Deno.kill tree-kill fkill",
        Capability.NETWORK_SOCKET: """net.connect net.createConnection net.createServer net.Socket
            net.Server net.Socket().connect dgram.createSocket dgram.Socket tls.connect
            tls.createServer tls.TLSSocket http.createServer https.createServer http2.createServer
            http2.createSecureServer http.Server https.Server http2.connect WebSocket ws
            ws.WebSocket ws.Server ws.WebSocketServer socket.io socket.io-client
            socket.io-client.io dns.lookup dns.resolve dns.resolve4 dns.resolve6 dns.resolveTxt
            dns.resolveAny dns.promises.lookup dns.promises.resolve dns.promises.resolveTxt
            dns/promises.lookup dns/promises.resolve dns/promises.resolveTxt Deno.connect
            Deno.listen Bun.listen Bun.connect Bun.serve express().listen express.listen
            inspector.open net.Server().listen http.Server().listen EventSource""",
        Capability.NETWORK_WEB: """fetch http.get http.request https.get https.request
            XMLHttpRequest axios axios.get axios.post axios.request axios.put axios.delete
            node-fetch node-fetch.default got got.get got.post got.stream request request.get
            request.post undici.fetch undici.request undici.stream superagent.get superagent.post
            needle needle.get needle.post ky ky.get ky.post navigator.sendBeacon cross-fetch
            http.ClientRequest""",
        Capability.NETWORK_TRANSFER: """nodemailer.createTransport ssh2.Client ssh2-sftp-client
            basic-ftp.Client ftp imap node-ssh.NodeSSH simple-git webdav.createClient""",
        Capability.FILE_DELETE: _fs(_FS_DELETE)
        + " fs-extra.remove fs-extra.removeSync fs-extra.emptyDir rimraf rimraf.sync rimraf.rimraf "
        " del del.deleteAsync shelljs.rm Deno.remove Deno.removeSync",
        Capability.FILE_PERMISSION: _fs(_FS_PERMISSION)
        + " process.setuid process.setgid process.seteuid process.setegid process.setgroups"
        " process.initgroups shelljs.chmod Deno.chmod Deno.chmodSync",
        Capability.NATIVE: """process.binding process.dlopen ffi-napi.Library ffi.Library
            ref-ffi.Library koffi.load node-gyp-build bindings WebAssembly.instantiate
            WebAssembly.instantiateStreaming WebAssembly.compile WebAssembly.compileStreaming
            WebAssembly.Module WebAssembly.Instance Deno.dlopen bun:ffi.dlopen wasi.WASI
            node:ffi.dlopen""",
        Capability.DESERIALISE: """v8.deserialize v8.Deserializer node-serialize.unserialize
            serialize-to-js.deserialize funcster.deepDeserialize cryo.parse js-yaml.unsafeLoad
            serialize-javascript.deserialize""",
        Capability.DYNAMIC_CODE: """eval Function vm.runInThisContext vm.runInNewContext
            vm.runInContext vm.Script vm.compileFunction vm.SourceTextModule vm2.VM vm2.NodeVM
            vm2.VM().run vm2.NodeVM().run module._compile module._extensions
            repl.start importScripts
            safe-eval isolated-vm.Isolate module.register module.registerHooks require-from-string
            inspector.Session inspector/promises.Session""",
        Capability.INTROSPECTION: """process._getActiveHandles process._getActiveRequests
            v8.writeHeapSnapshot v8.getHeapSnapshot v8.setFlagsFromString""",
        Capability.ENVIRONMENT: "dotenv.config process.loadEnvFile Deno.env.get Deno.env.toObject",
        Capability.PERSISTENCE: "node-cron.schedule.system node-windows.Service node-linux.Service",
    },
    reads={
        Capability.ENVIRONMENT: "process.env Bun.env",
        Capability.INTROSPECTION: "require.cache module._cache require.extensions",
    },
    writes={
        **dict.fromkeys(_fs(_FS_WRITE).split(), 0),
        **dict.fromkeys(_fs(_FS_TWO_PATHS).split(), 1),
        "Deno.writeTextFile": 0,
        "Deno.writeFile": 0,
        "Bun.write": 0,
    },
    commands=dict.fromkeys(_RUN.split(), 0),
    watched=frozenset(
        [
            "child_process",
            "vm",
            "cluster",
            "net",
            "dgram",
            "tls",
            "worker_threads",
            "process",
            "module",
            "repl",
            "inspector",
        ]
    ),
)
