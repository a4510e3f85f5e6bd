"""Living sandbox of a tenant, with its interpreters, programs and watchers."""

import contextlib
import hashlib
import json
import shlex
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_network
from typing import Protocol

from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.create import SessionOptions
from llm_sandbox.egress.addresses import is_own, is_public
from llm_sandbox.exceptions import (
    SandboxError,
    SandboxFileNotFoundError,
    SandboxNotFoundError,
    UnsupportedError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.server.contexts import Context, open_context
from llm_sandbox.server.programs import ProgramTable
from llm_sandbox.server.runs import RunTable
from llm_sandbox.server.watchers import Watcher
from llm_sandbox.session.session import BaseSession

__all__ = ["LIVE_KEY", "Attachment", "LiveSandbox", "NewSandbox"]

LIVE_KEY = "llm_sandbox.live"
"""Key of a request's scope for the sandbox that it is for."""

_MOST_CONTEXTS = 32
_MOST_WATCHERS = 64
_CHANGE_DIRECTORY = {
    "python": "__import__('os').chdir({})",
    "javascript": "process.chdir({})",
    "typescript": "process.chdir({})",
    "ruby": "Dir.chdir({})",
    "r": "setwd({})",
}
"""Statement that changes the working directory of an interpreter, with JSON text for the path."""


@dataclass(frozen=True)
class NewSandbox:
    """Request for a sandbox."""

    api: str
    """API that it is for, which lists it."""
    template: str = "base"
    """Name of the template, or of a snapshot of the tenant."""
    workdir: str = "/home/user"
    """Working directory, and home of its user."""
    timeout_s: float | None = None
    """Seconds until it ends; None for the server's default."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Labels of the client's."""
    envs: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of everything in it."""
    network: Network = "blocked"
    """Its network."""
    memory_bytes: int | None = None
    """Its memory; None for the server's limit, which is the most."""
    lang: str | None = None
    """Language of its first interpreter; None for the template's."""
    limits: Limits | None = None
    """All of its limits, where each was checked; None for the server's."""
    session: SessionOptions = field(default_factory=SessionOptions)
    """Further options of its first interpreter, as `create_session` takes them."""

    @property
    def digest(self) -> str:
        """Digest that tells this request from others."""
        words = "\n".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self))
        return hashlib.sha256(words.encode()).hexdigest()

    def check_network(self) -> None:
        """Check that the network leads to the public internet at most.

        Raises:
            UnsupportedError: It leads to this computer's own network.
        """
        if self.network == "open":
            raise UnsupportedError(
                "the network 'open'", reason="clients of this server never share its own network"
            )
        if not isinstance(self.network, NetworkRules):
            return
        numbers = [*self.network.cidrs, *(address for _, address in self.network.hosts)]
        for one in numbers:
            network = ip_network(one.partition(":")[0] if one.count(":") == 1 else one)
            first = network.network_address
            if not is_public(first) or is_own(first):
                raise UnsupportedError(
                    f"the address {one}",
                    reason="clients of this server reach public addresses only",
                )


class Attachment(Protocol):
    """State of an API for one sandbox, which ends with it."""

    def close(self) -> None:
        """End it."""


class LiveSandbox:
    """Sandbox that lives, and everything that clients have started in it. Thread-safe.

    Args:
        sandbox_id: Id that clients know it by.
        tenant: Its tenant.
        request: What was asked for.
        session: Its first interpreter, whose end ends the sandbox.
        backend: Its backend.
        timeout_s: Seconds until it ends.
        access_token: Token that opens its files and programs.
        traffic_token: Token that opens its interpreters and ports.
        is_kept: Whether it outlives the server.
    """

    def __init__(
        self,
        sandbox_id: str,
        tenant: str,
        request: NewSandbox,
        session: BaseSession,
        backend: Backend,
        timeout_s: float,
        access_token: str,
        traffic_token: str,
        *,
        is_kept: bool = False,
    ) -> None:
        self.id = sandbox_id
        self.tenant = tenant
        self.request = request
        self.backend = backend
        self.access_token = access_token
        self.traffic_token = traffic_token
        self.is_kept = is_kept
        self.started_at = self.active_at = time.time()
        self.ends_at = self.started_at + timeout_s
        self.timeout_s = timeout_s
        self.sandbox = session.sandbox
        self.programs = ProgramTable(self.sandbox)
        self.runs = RunTable()
        self._session = session
        self._lock = threading.RLock()
        first = Context(session, request.workdir)
        self._contexts: dict[str, Context] = {first.id: first}
        self._defaults: dict[str, Context] = {first.language: first}
        self._watchers: dict[str, Watcher] = {}
        self._is_ending = False
        self.attachment: Attachment | None = None
        """State of its API; None without any."""

    @property
    def has_ended(self) -> bool:
        """True once it has ended."""
        return self.sandbox.end_reason is not None

    @property
    def session(self) -> BaseSession:
        """Its first interpreter."""
        return self._session

    @property
    def language(self) -> str:
        """Language of its first interpreter."""
        return str(self._session.config.lang)

    def set_timeout(self, seconds: float) -> None:
        """Have it end `seconds` from now."""
        self.sandbox.set_timeout(seconds)
        self.ends_at = time.time() + seconds
        self.timeout_s = seconds

    def keep_for(self, seconds: float) -> None:
        """Have it end `seconds` from now at the earliest."""
        if time.time() + seconds > self.ends_at:
            self.set_timeout(seconds)

    def touch(self) -> None:
        """Note that a client uses it."""
        self.active_at = time.time()

    def leave(self) -> None:
        """Let it outlive this server, with its first interpreter, its files and its programs."""
        self._session.interrupt()
        self._let_go()
        self._session.detach()

    def end(self) -> None:
        """End it with everything in it."""
        self._let_go()
        self._session.close()

    def _let_go(self) -> None:
        """End what this server has for it."""
        with self._lock:
            self._is_ending = True
            attachment, self.attachment = self.attachment, None
            contexts = [one for one in self._contexts.values() if one.session is not self._session]
            self._contexts = {}
            self._watchers = {}
        self.runs.stop()
        if attachment is not None:
            attachment.close()
        for context in contexts:
            with contextlib.suppress(SandboxError):
                context.session.close()

    def attach(self, attachment: Attachment) -> None:
        """Attach what its API needs for it, which is closed with it.

        Raises:
            SandboxNotFoundError: It has ended.
        """
        with self._lock:
            if not self._is_ending:
                self.attachment = attachment
                return
        attachment.close()
        raise SandboxNotFoundError(self.id, hint=None)

    # --- interpreters

    def contexts(self) -> list[Context]:
        """Return its interpreters, oldest first."""
        with self._lock:
            return list(self._contexts.values())

    def context(self, context_id: str) -> Context:
        """Return an interpreter by its id.

        Raises:
            SandboxNotFoundError: There is none.
        """
        with self._lock:
            if context_id in self._contexts:
                return self._contexts[context_id]
        raise SandboxNotFoundError(f"context {context_id}", hint=None)

    def find_default(self, language: str | None) -> Context | None:
        """Return the interpreter for code without a context if there is one; it never waits."""
        found = self._defaults.get(language or self.language)
        return found if found is not None and found.id in self._contexts else None

    def default_context(self, language: str | None) -> Context:
        """Return the interpreter for code without a context, made when it is first needed."""
        with self._lock:
            name = language or self.language
            found = self._defaults.get(name)
            if found is None or found.id not in self._contexts:
                found = self._defaults[name] = self.create_context(name)
            return found

    def create_context(self, language: str | None = None, cwd: str | None = None) -> Context:
        """Start another interpreter.

        Args:
            language: Its language; None for that of the first.
            cwd: Its working directory; None for the sandbox's.

        Raises:
            LanguageNotSupportedError: There is no such language.
            UnsupportedError: There are too many, or the language cannot change its directory.
            ToolchainNotFoundError: The sandbox lacks the language's programs.
        """
        with self._lock:
            if len(self._contexts) >= _MOST_CONTEXTS:
                raise UnsupportedError(f"more than {_MOST_CONTEXTS} contexts of one sandbox")
            name = language or self.language
            given = self._session.config
            config = replace(
                given, lang=name, network="blocked", mounts={}, session_timeout=None, libraries=()
            )
            session = open_context(self.sandbox, self.backend, config)
            context = Context(session, cwd or self.request.workdir)
            try:
                if cwd is not None and cwd != self.request.workdir:
                    _enter(session, context.language, cwd)
            except BaseException:
                session.close()
                raise
            self._contexts[context.id] = context
            return context

    def remove_context(self, context_id: str) -> None:
        """End an interpreter; the first one is replaced by a fresh one when it is needed again."""
        context = self.context(context_id)
        with self._lock:
            self._contexts.pop(context_id, None)
        if context.session is self._session:
            context.session.interrupt()
            context.session.restart()
        else:
            context.session.close()

    # --- watchers

    def watch(self, folder: str, *, recursive: bool) -> Watcher:
        """Watch a directory until `unwatch`; see `Watcher`."""
        watcher = Watcher(self.sandbox.files, folder, recursive=recursive)
        with self._lock:
            if len(self._watchers) >= _MOST_WATCHERS:
                raise UnsupportedError(f"more than {_MOST_WATCHERS} watchers of one sandbox")
            self._watchers[watcher.id] = watcher
        return watcher

    def watcher(self, watcher_id: str) -> Watcher:
        """Return a watcher by its id.

        Raises:
            SandboxNotFoundError: There is none.
        """
        with self._lock:
            if watcher_id in self._watchers:
                return self._watchers[watcher_id]
        raise SandboxNotFoundError(f"watcher {watcher_id}", hint=None)

    def unwatch(self, watcher_id: str) -> None:
        """Forget a watcher."""
        self.watcher(watcher_id)
        with self._lock:
            self._watchers.pop(watcher_id, None)


def _enter(session: BaseSession, language: str, cwd: str) -> None:
    statement = _CHANGE_DIRECTORY.get(language)
    if statement is None and language == SupportedLanguage.BASH:
        statement = f"cd -- {shlex.quote(cwd)}"
    if statement is None:
        raise UnsupportedError(
            f"a working directory of its own for {language}",
            reason="its interpreter cannot change it",
        )
    result = session.run(statement.replace("{}", json.dumps(cwd)))
    if result.exit_code != 0:
        raise SandboxFileNotFoundError(f"there is no directory {cwd!r}", path=cwd)
