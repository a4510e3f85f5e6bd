"""Jupyter kernel over one byte stream of frames, which can be forked.

It is ipykernel's `IPythonKernel`: IPython semantics, the display protocol, comms, completion. It
omits ZeroMQ: there are no sockets, no helper threads and no event loop before the first message, so
that a process with a built kernel can fork any number of times.
"""

import asyncio
import contextlib
import fnmatch
import functools
import logging
import os
import resource
import signal
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from types import FrameType, SimpleNamespace
from typing import Any

# The in-kernel debugger costs 60 ms at import and is not offered.
sys.modules.setdefault("debugpy", None)  # type: ignore[arg-type]

# isort: off - the first keeps the second from loading every client there is
from .messages import Channel, WireSession
from ipykernel.ipkernel import IPythonKernel
from jupyter_client.session import extract_header

# isort: on
from . import frames, parent_headers
from .confinement import raise_data_limit
from .main_module import Script, set_command_line
from .observer import Observer
from .descriptors import writers
from .shell import CellCompiler, SessionShell, complete, inspect, quiet
from .text_streams import InputStream, PeriodicFlush, TextStreams, is_delivering
from .tracebacks import NO_INPUT, safe_text
from .wire import NullWire, Wire

_NO_FILES = ("-", "-c")
"""Names that Python gives to code from its standard input or its command line."""
_FONT_LISTS = "/opt/llm_sandbox/fonts"
_PROMPT_SERVICES = {"complete": complete, "inspect": inspect}


class WireKernel(IPythonKernel):
    """One session's kernel."""

    shell_class = SessionShell
    compiler_class = CellCompiler
    _execute_sleep = 0.0
    services: dict[str, Any] = {}  # noqa: RUF012 - empty, and replaced whole
    """Functions that the host may call by name; the zygote sets them."""
    is_copy = False
    """Whether the user's code forked this process from the kernel."""
    is_script = False
    """Whether a cell is run as the file of a script, whose input is at its end."""
    argv: Sequence[str] = ()
    """Command line of the next cell, the name of its file first."""
    _users_streams: Any = None
    """The code's replacements of the streams, while a cell is answered."""
    _children_cpu = 0.0
    """CPU seconds of awaited children up to the end of the last cell."""

    @property
    def _supports_kernel_subshells(self) -> bool:
        return False

    def _abort_queues(self, subshell_id: Any = None) -> None:
        """Do nothing: there is no queue, as each request waits for the reply to the last."""

    def attach(self, wire: Wire) -> None:
        """Connect the built kernel to its stream. Called once, in the process that serves it."""
        self.wire = wire
        self._use_wire(wire)
        self.session.session = uuid.uuid4().hex
        self.session.pid = os.getpid()
        self.streams.install()
        sys.stdin = InputStream(self)
        self._modules = dict(sys.modules)
        self.observer = Observer(self.session)
        os.register_at_fork(before=self._flush_own, after_in_child=self._forked_by_user)
        self.flusher = PeriodicFlush(wire, self.streams)
        parent_headers.follow_threads(self.streams.share)
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.loop_was_used = False
        self.executing = False
        # Used by ipykernel's handling of interrupts in a running loop.
        self.io_loop = SimpleNamespace(
            asyncio_loop=self.loop, add_callback=self.loop.call_soon_threadsafe
        )
        signal.signal(signal.SIGINT, self._interrupted)

    def _flush_own(self) -> None:
        # Output from before a fork is sent once, and before the copy's.
        if not self.is_copy:
            self.streams.flush_own()

    def _forked_by_user(self) -> None:
        self.is_copy = True
        self.observer.stop()
        self.session.wire = None
        self.streams.become_forked()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        # Later while output is being written, which would be torn.
        if is_delivering(frame):
            self.streams.interrupt_later(self._interrupt)
        else:
            self._interrupt()

    def _interrupt(self) -> None:
        # One interrupt stops the code once, whichever stream was being written.
        self.streams.interrupt_later(None)
        if self.executing and not self.shell.reporting:
            raise KeyboardInterrupt

    def warm_up(self, *cells: str) -> None:
        """Run cells without a host, so that copy-on-write faults precede the first real cell."""
        wire, self.wire = self.wire, NullWire()
        self._use_wire(self.wire)
        for code in cells:
            header = {"msg_id": "", "msg_type": "execute_request", "session": "", "username": ""}
            content = {"code": code, "silent": True, "store_history": False, "allow_stdin": False}
            message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
            self._handle(frames.SHELL, message)
        self.wire = wire
        self._use_wire(wire)

    def _use_wire(self, wire: Wire) -> None:
        self.session.wire = wire
        self.streams.use_wire(wire)

    # --- serving

    def serve(self) -> None:
        """Answer frames until the host hangs up."""
        self._publish_status("starting", "shell")
        while True:
            try:
                frame = self._next()
            except (EOFError, ConnectionError, frames.FrameError):
                return
            self._handle(frame.channel, frame.message, frame.buffers)

    def _next(self) -> frames.Frame:
        if self.loop_was_used and not self.wire.has_frame():
            # Tasks that an earlier cell started go on between cells.
            readable = self.loop.create_future()
            self.loop.add_reader(self.wire.fileno(), _resolve, readable)
            self.observer.watching = True
            try:
                while not readable.done():
                    with contextlib.suppress(KeyboardInterrupt):
                        self._run_until(readable)
            finally:
                self.observer.watching = False
                self.loop.remove_reader(self.wire.fileno())
        return self.wire.receive()

    def _handle(
        self, channel: int, message: frames.Message, buffers: Sequence[memoryview] = ()
    ) -> None:
        kind = message["header"]["msg_type"]
        if kind == "llm_sandbox_configure":
            self._configure(message["content"])
            return
        handler = self.shell_handlers.get(kind) or self.control_handlers.get(kind)
        if kind == "llm_sandbox_call":
            handler = functools.partial(self._call, buffers)
        elif kind.startswith("comm_"):
            message["buffers"] = list(buffers)
        if handler is None:
            return
        self.wire.cork()
        self.streams.report_dropped()
        self.set_parent([], message, channel="shell")
        is_cell = kind == "execute_request"
        parent = parent_headers.begin(extract_header(message), is_cell=is_cell)
        if is_cell:
            self._begin_cell(message)
        self.observer.parent = parent.header
        self._publish_status("busy", "shell")
        with self.flusher.during():
            self._run_handler(handler, channel, message)
        self._flush_streams()
        parent_headers.end(parent)
        if self.is_copy:
            # A process that the code forked, and that outlives its cell: the stream is its
            # parent's.
            os._exit(0)
        self._publish_status("idle", "shell")
        self.wire.uncork()

    def _begin_cell(self, message: frames.Message) -> None:
        self.streams.begin()
        # Without a started process there are no leftovers.
        if not self.observer.saw_process and not _has_children():
            return
        workers, helpers = _multiprocessing_pids()
        others = writers(os.getpid()) - helpers
        # After an observed start the host does not read the pipes before it has this.
        if others or self.observer.saw_process:
            kind = None if not others else "workers" if others <= workers else "others"
            content = {"writers": kind}
            self.session.send(Channel(frames.IOPUB), "llm_sandbox_pipes", content, message)
            self.wire.flush()  # before anything that they write

    def _run_handler(self, handler: Any, channel: int, message: frames.Message) -> None:
        kind = message["header"]["msg_type"]
        self.executing = kind in ("execute_request", "llm_sandbox_call")
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            # `asyncio.run` leaves none.
            asyncio.set_event_loop(self.loop)
        try:
            result = handler(Channel(channel), [], message)
            if not asyncio.iscoroutine(result):
                return
            if self.executing and not _needs_loop(message["content"]["code"]):
                _run_without_loop(result)
                return
            self.loop_was_used = True
            self.streams.share()
            task = self.loop.create_task(result)
            try:
                self._run_until(task)
            except KeyboardInterrupt:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            pass  # between the user's code and the reply, or after the reply
        finally:
            self.executing = False
            if self._users_streams is not None:
                (sys.stdout, sys.stderr), self._users_streams = self._users_streams, None
            signal.signal(signal.SIGINT, self._interrupted)

    def _run_until(self, future: "asyncio.Future[Any]") -> None:
        """Run the event loop until `future` is done, also if another task raises SystemExit."""
        while not future.done():
            try:
                self.loop.run_until_complete(future)
            except SystemExit as error:
                if isinstance(future, asyncio.Task) and not future.done():
                    self.shell.exiting = error
                    future.cancel()
            except RuntimeError:
                # Otherwise the loop was stopped, by the code or after a SystemExit.
                if future.done() or self.loop.is_closed():
                    raise

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> dict[str, Any]:
        """Run a cell, and add the host's measurements to ipykernel's reply."""
        self.streams.repair()
        self._forward_input(allow_stdin)
        shell = self.shell
        script = None if silent else self._begin_script(code)
        cpu_before = time.process_time()
        error: BaseException | None = None
        self.observer.watching = self.observer.live = True
        try:
            result = await self._run_cell(code, silent, store_history)
            error = result.error_before_exec or result.error_in_exec
        except KeyboardInterrupt as interrupt:
            error = interrupt
            shell.showtraceback()
        finally:
            self.observer.watching = self.observer.live = False
            self._restore_input()
            error, shell.exiting = shell.exiting or error, None
            shell.compile.file = None
            if script is not None and not self.is_copy:
                script.remove()
                script.restore()
        reply: dict[str, Any] = {
            "status": "ok" if error is None else "error",
            "execution_count": shell.execution_count - 1,
            "user_expressions": shell.user_expressions(user_expressions or {}) if not error else {},
            "payload": shell.payload_manager.read_payload(),
        }
        shell.payload_manager.clear_payload()
        exits = isinstance(error, SystemExit)
        if error is not None:
            reply["ename"] = type(error).__name__
            reply["evalue"] = safe_text(error.code if isinstance(error, SystemExit) else error)
            reply["traceback"] = shell._last_traceback or []
        self._flush_streams()
        self.streams.repair()
        if "sys" not in sys.modules:
            sys.modules.update(self._modules)  # Jupyter's code imports some of them again by name
        own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        children_cpu = children.ru_utime + children.ru_stime
        reply["llm_sandbox"] = {
            "dropped": {name: below.dropped for name, below in self.streams.below.items()},
            "exit": _exit_code(error) if isinstance(error, SystemExit) else None,
            "exited_by": [reply["ename"], reply["evalue"]] if exits else None,
            "cpu_s": time.process_time() - cpu_before + children_cpu - self._children_cpu,
            "peak_rss": max(own.ru_maxrss, children.ru_maxrss) * 1024,
            "observed": self.observer.drain(),
        }
        self._children_cpu = children_cpu
        # Jupyter's own code writes to `sys.stdout` after this.
        self._users_streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.streams.own.values()
        return reply

    def _begin_script(self, code: str) -> Script | None:
        """Make the cell a script file with a command line, if that was requested."""
        argv, self.argv = self.argv, ()
        if argv and argv[0] in _NO_FILES:
            set_command_line(*argv)
            return None
        if not (argv or self.is_script):
            return None
        script = Script(code, self.shell.user_ns, argv)
        if argv:
            self.shell.compile.file = script.path
        return script

    async def _run_cell(self, code: str, silent: bool, store_history: bool) -> Any:
        shell = self.shell
        preprocessing_error = None
        try:
            transformed = shell.transform_cell(code)
        except Exception:  # noqa: BLE001 - reported by the shell with the cell
            transformed, preprocessing_error = code, sys.exc_info()
        result = None
        try:
            result = await shell.run_cell_async(
                code,
                store_history=store_history,
                silent=silent,
                transformed_cell=transformed,
                preprocessing_exc_tuple=preprocessing_error,
            )
            self._update_widgets()
        finally:
            # The code has ended: figures are drawn without interrupts from here on.
            self.executing = False
            shell.events.trigger("post_execute")
            if not silent:
                shell.events.trigger("post_run_cell", result)
        return result

    def _update_widgets(self) -> None:
        """Send the present text of the cell's widgets, while the cell can still be interrupted."""
        with contextlib.suppress(Exception):
            for content in self.session.widgets.take_changed():
                self.session.send(
                    self.iopub_socket, "update_display_data", content, self.get_parent()
                )

    def raw_input(self, prompt: str = "") -> str:
        """Read a line for `input` while a cell runs."""
        if self.is_script and not self._allow_stdin:
            print(prompt, end="", flush=True)
            raise EOFError(NO_INPUT)
        return str(super().raw_input(prompt))

    def getpass(self, prompt: str = "", *arguments: Any, **options: Any) -> str:
        """Read a line for `getpass.getpass` while a cell runs."""
        if self.is_script and not self._allow_stdin:
            print(prompt, end="", file=sys.stderr, flush=True)
            raise EOFError(NO_INPUT)
        return str(super().getpass(prompt, *arguments, **options))

    def _input_request(self, prompt: str, ident: Any, parent: Any, password: bool = False) -> str:
        self._flush_streams()
        content = {"prompt": str(prompt), "password": password}
        self.session.send(Channel(frames.STDIN), "input_request", content, parent)
        self.wire.flush()
        reply = self.wire.receive_on(frames.STDIN)
        value = str(reply["content"].get("value", ""))
        if value == "\x04":
            raise EOFError("no more input: stdin= was used up")
        return value

    def _call(
        self,
        buffers: Sequence[memoryview],
        channel: Channel,
        ident: Any,
        request: frames.Message,
    ) -> None:
        """Call a service for the host; the shim defines them."""
        answer: list[bytes] = []
        try:
            service = self._service(request["content"]["name"])
            content, answer = service(request["content"]["arguments"], list(buffers))
        except BaseException as error:  # noqa: BLE001 - reported to the host
            content = {"error": {"name": type(error).__name__, "value": safe_text(error)}}
        finally:
            # The reply is sent without interrupts.
            self.executing = False
        self.session.send(channel, "llm_sandbox_reply", content, request, buffers=answer)

    def _service(self, name: str) -> Any:
        if name == "background":
            return _nothing
        if name in _PROMPT_SERVICES:
            return functools.partial(_PROMPT_SERVICES[name], self)
        return self.services[name]

    # --- streams and settings

    def _flush_streams(self) -> None:
        self.streams.flush()

    def do_history(
        self,
        hist_access_type: str,
        output: bool,
        raw: bool,
        session: int | None = None,
        start: int | None = None,
        stop: int | None = None,
        n: int | None = None,
        pattern: str | None = None,
        unique: bool = False,
    ) -> dict[str, Any]:
        """Answer with the cells of this session, from memory."""
        manager = self.shell.history_manager
        cells = list(manager.input_hist_raw if raw else manager.input_hist_parsed)
        found = [(0, number, cell) for number, cell in enumerate(cells) if number > 0]
        if hist_access_type == "range":
            last = len(cells) if stop is None else stop
            found = [one for one in found if (start or 0) <= one[1] < last] if not session else []
        elif hist_access_type == "search":
            found = [one for one in found if fnmatch.fnmatchcase(one[2], pattern or "*")]
            if unique:
                found = sorted({one[2]: one for one in found}.values())
        if hist_access_type != "range" and n is not None:
            found = found[-n:] if n > 0 else []
        if output:
            results = self.shell.user_ns.get("Out", {})
            entries = [
                (s, k, (cell, safe_text(results[k]) if k in results else None))
                for s, k, cell in found
            ]
            return {"status": "ok", "history": entries}
        return {"status": "ok", "history": found}

    def _configure(self, settings: dict[str, Any]) -> None:
        if "environment" in settings:
            os.environ.clear()
            os.environ.update(settings["environment"])
            link_font_lists()
        for path in settings.get("library_paths", ()):
            if path not in sys.path:
                sys.path.insert(1, path)
        self.observer.add_libraries(*settings.get("library_paths", ()))
        if "output_bytes" in settings:
            for below in self.streams.below.values():
                below.limit = settings["output_bytes"]
        if "more_memory" in settings:
            raise_data_limit(settings["more_memory"])
        self.is_script = settings.get("script", self.is_script)
        self.shell.offline = settings.get("offline", self.shell.offline)
        self.argv = settings.get("argv", self.argv)
        self.session.display_bytes = settings.get("display_bytes", self.session.display_bytes)


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _multiprocessing_pids() -> tuple[set[int], set[int]]:
    """Return the pids of multiprocessing's workers, and of its helpers, which print nothing."""
    process: Any = sys.modules.get("multiprocessing.process")
    server: Any = sys.modules.get("multiprocessing.forkserver")
    trackers = [
        getattr(sys.modules.get(name), "_resource_tracker", None)
        for name in (
            "multiprocessing.resource_tracker",
            "joblib.externals.loky.backend.resource_tracker",
        )
    ]
    workers: set[Any] = {child.ident for child in list(getattr(process, "_children", ()))}
    helpers: set[Any] = {
        getattr(getattr(server, "_forkserver", None), "_forkserver_pid", None),
        *(getattr(tracker, "_pid", None) for tracker in trackers),
    }
    return workers, helpers


def _nothing(*_: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Answer an empty call, whose effect is that late output was sent before."""
    return {}, []


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _needs_loop(code: str) -> bool:
    """Return whether a cell must run inside a running event loop.

    Other cells run outside of one, so that `asyncio.run`, common in generated code, works as in a
    script.
    """
    if "asyncio.run(" in code or "run_until_complete(" in code:
        return False
    return any(
        word in code
        for word in ("await", "async ", "create_task(", "ensure_future(", "get_running_loop")
    )


def _run_without_loop(coroutine: Any) -> None:
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("the cell awaited something outside of an event loop")


def _exit_code(error: SystemExit) -> int:
    """Return the exit code of a SystemExit, and print its text to standard error."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF if -(1 << 63) <= error.code < 1 << 63 else 0xFF
    try:
        text = str(error.code)
    except Exception:  # noqa: BLE001 - a user's __str__ may do anything
        text = safe_text(error.code)
    with contextlib.suppress(Exception):
        print(text, file=sys.stderr)
    return 1


def link_font_lists() -> None:
    """Link the font lists that were made outside to where matplotlib looks for them."""
    folder = os.environ.get("MPLCONFIGDIR")
    if not folder or "matplotlib.font_manager" in sys.modules:
        return
    try:
        names = os.listdir(_FONT_LISTS)
        os.makedirs(folder, exist_ok=True)
        for name in names:
            os.symlink(os.path.join(_FONT_LISTS, name), os.path.join(folder, name))
    except OSError:
        pass  # matplotlib makes its own list then


def build() -> WireKernel:
    """Build an unconnected kernel: all work that may happen before a fork."""
    quiet()
    session = WireSession(key=b"", log=logging.Logger("session", logging.CRITICAL + 1))

    async def construct() -> WireKernel:
        # The singleton, by which comms find the kernel.
        kernel: WireKernel = WireKernel.instance(
            # A logger apart from the code's loggers and handlers.
            log=logging.Logger("kernel", logging.CRITICAL + 1),
            session=session,
            iopub_socket=Channel(frames.IOPUB),
            stdin_socket=Channel(frames.STDIN),
            shell_channel_thread=SimpleNamespace(parent_thread=threading.main_thread()),
            user_ns=None,  # a plain module's own names, as where Jupyter starts it
        )
        return kernel

    loop = asyncio.new_event_loop()
    kernel = loop.run_until_complete(construct())
    loop.close()
    kernel.streams = TextStreams(session)
    # IPython's `exit` requests a front end to close; a program means `sys.exit`.
    kernel.shell.push({"exit": sys.exit, "quit": sys.exit}, interactive=False)
    return kernel
