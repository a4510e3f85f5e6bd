"""Fleet: all sandboxes of a server, by tenant, within quotas."""

import contextlib
import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.create import SessionOptions, create_session
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ContainerGoneError,
    ImageNotFoundError,
    SandboxError,
    SandboxNotFoundError,
    SessionBusyError,
    ToolchainNotFoundError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.server.errors import DrainingError, QuotaExceededError
from llm_sandbox.server.evaluations import EvaluationTable
from llm_sandbox.server.ledger import Entry, Ledger
from llm_sandbox.server.live_sandbox import LiveSandbox, NewSandbox
from llm_sandbox.server.options import ServerOptions, Template
from llm_sandbox.session.detached import find_session
from llm_sandbox.session.session import BaseSession

__all__ = ["Fleet"]

_MINUTE_S = 60.0
_REMEMBERED_S = 600.0
"""Seconds for which an idempotency key is remembered."""
_ATTACH_S = 20.0
_KEPT_APIS = ("e2b", "openai", "v1")
"""APIs whose sandboxes are kept; a kernel of Jupyter ends with its clients' connections."""


class _Tenant:
    """Sandboxes, backends and quotas of one tenant."""

    def __init__(self) -> None:
        self.sandboxes: dict[str, LiveSandbox] = {}
        self.backends: dict[str, Backend] = {}
        self.creations: deque[float] = deque()
        self.pending = 0
        self.programs = 0
        self.waiting = 0
        self.turn = threading.Condition()
        self.evaluations = EvaluationTable()


@dataclass
class _Promise:
    """Sandbox that was asked for with an idempotency key."""

    digest: str
    """Digest of the request."""
    made_at: float
    done: threading.Event = field(default_factory=threading.Event)
    outcome: LiveSandbox | None = None


class Fleet:
    """Owner of all sandboxes: tenants, deadlines, quotas, tokens. Safe to use from several threads.

    Args:
        options: Options of the server.
    """

    def __init__(self, options: ServerOptions | None = None) -> None:
        self.options = options or ServerOptions()
        keep = self.options.keep
        self._ledger = None if keep is None else Ledger(keep)
        self._secret = secrets.token_bytes(32) if self._ledger is None else self._ledger.secret
        self._lock = threading.Lock()
        self._tenants: dict[str, _Tenant] = {}
        self._all: dict[str, LiveSandbox] = {}
        self._creating: set[str] = set()
        self._promises: dict[tuple[str, str], _Promise] = {}
        self._active = 0
        self.is_draining = False

    # --- sandboxes

    def create(
        self, tenant: str, request: NewSandbox, idempotency_key: str | None = None
    ) -> LiveSandbox:
        """Create a sandbox.

        Args:
            tenant: Its tenant.
            request: What is asked for.
            idempotency_key: Key for which the same sandbox is returned for ten minutes.

        Raises:
            QuotaExceededError: The tenant has too many, or creates them too quickly.
            DrainingError: The server is about to end.
            ImageNotFoundError: There is no such template.
            UnsupportedError: The operator does not allow an option, or the backend has it not.
            ValidationError: An option is invalid.
        """
        if idempotency_key is None:
            return self._create(tenant, request, None)
        place = (tenant, idempotency_key)
        with self._lock:
            self._forget_promises()
            promise = self._promises.get(place)
            is_mine = promise is None
            if promise is None:
                promise = self._promises[place] = _Promise(request.digest, time.monotonic())
        if promise.digest != request.digest:
            raise ValidationError(
                "invalid Idempotency-Key: it was used for another request", parameter="key"
            )
        if not is_mine:
            promise.done.wait(_MINUTE_S)
            if promise.outcome is None:
                raise DrainingError("the first request with this Idempotency-Key has failed")
            return promise.outcome
        try:
            promise.outcome = self._create(tenant, request, idempotency_key)
            return promise.outcome
        finally:
            if promise.outcome is None:
                with self._lock:
                    self._promises.pop(place, None)
            promise.done.set()

    def _forget_promises(self) -> None:
        limit = time.monotonic() - _REMEMBERED_S
        for place, promise in list(self._promises.items()):
            if promise.made_at < limit:
                del self._promises[place]

    def _create(self, tenant: str, request: NewSandbox, idempotency_key: str | None) -> LiveSandbox:
        template = self.options.template(request.template)
        if template is None:
            known = ", ".join(self.options.template_names)
            raise ImageNotFoundError(request.template, hint=f"templates of this server: {known}")
        timeout_s = self.check_timeout(request.timeout_s)
        if request.network != "blocked" and self.options.network == "blocked":
            raise UnsupportedError(
                "internet access",
                reason="the operator of this server has closed it",
                hint="the operator starts the server with --network internet",
            )
        request.check_network()
        template = Template(request.lang or template.lang, template.image)
        with self._admitted(tenant) as state:
            backend = self._backend(state, template)
            sandbox_id = secrets.token_hex(16)
            is_kept = self._ledger is not None and request.api in _KEPT_APIS
            options: SessionOptions = {
                **request.session,
                "workdir": request.workdir,
                "env": request.envs,
                "limits": self._limits(request),
                "network": request.network,
                "session_timeout": timeout_s,
                "name": self._ledger.name(sandbox_id) if self._ledger and is_kept else None,
                "on_exit": "keep" if is_kept else "destroy",
            }
            # A kept one is made by a process of its own, which looks for the backend itself.
            session = create_session(
                backend.name if is_kept else backend, template.image, None, template.lang, **options
            )
            with self._being_created(sandbox_id):
                entry = Entry(
                    sandbox_id,
                    tenant,
                    # The rest is with the session itself, secrets among it.
                    replace(request, session={}),
                    time.time(),
                    timeout_s,
                    idempotency_key,
                    request.digest,
                )
                if self._ledger is not None and is_kept:
                    self._ledger.write(entry)
                try:
                    session.open()
                except BaseException:
                    if self._ledger is not None and is_kept:
                        self._ledger.remove(sandbox_id)
                    raise
                live = self._live(sandbox_id, tenant, request, session, backend, timeout_s, is_kept)
                if self._ledger is not None and is_kept:
                    self._ledger.write(replace(entry, started_at=live.started_at))
                with self._lock:
                    if not self.is_draining:
                        state.sandboxes[sandbox_id] = self._all[sandbox_id] = live
                        return live
                self._end(live)
                raise DrainingError()

    def _live(
        self,
        sandbox_id: str,
        tenant: str,
        request: NewSandbox,
        session: BaseSession,
        backend: Backend,
        timeout_s: float,
        is_kept: bool,
    ) -> LiveSandbox:
        return LiveSandbox(
            sandbox_id,
            tenant,
            request,
            session,
            backend,
            timeout_s,
            self._token(sandbox_id, "access"),
            self._token(sandbox_id, "traffic"),
            is_kept=is_kept,
        )

    @contextlib.contextmanager
    def _being_created(self, sandbox_id: str) -> Iterator[None]:
        with self._lock:
            self._creating.add(sandbox_id)
        try:
            yield
        finally:
            with self._lock:
                self._creating.discard(sandbox_id)

    def recover(self) -> None:
        """Find the kept sandboxes of an earlier server again.

        Raises:
            ValidationError: The folder has something else than the entries of such.
        """
        if self._ledger is None:
            return
        for entry in self._ledger.entries():
            try:
                session = _attach(self._ledger.name(entry.id))
            except (SandboxNotFoundError, ContainerGoneError):
                # It has ended, or is incomplete. One that is being made is an orphan later.
                self._ledger.end(entry.id)
                continue
            backend = get_backend(session.sandbox.isolation.backend)
            live = self._live(
                entry.id, entry.tenant, entry.request, session, backend, entry.timeout_s, True
            )
            live.started_at = entry.started_at
            record = self._ledger.living().get(entry.id)
            if record is not None and record.ends_at is not None:
                live.ends_at = record.ends_at
            state = self._tenants.setdefault(entry.tenant, _Tenant())
            state.sandboxes[entry.id] = self._all[entry.id] = live
            if entry.idempotency_key is not None:
                promise = _Promise(
                    entry.digest, time.monotonic() - (time.time() - entry.started_at)
                )
                promise.outcome = live
                promise.done.set()
                self._promises[entry.tenant, entry.idempotency_key] = promise

    @contextlib.contextmanager
    def _admitted(self, tenant: str) -> Iterator[_Tenant]:
        """Hold a place among the tenant's sandboxes for a block."""
        self.sweep()
        quotas = self.options.quotas
        now = time.monotonic()
        with self._lock:
            if self.is_draining:
                raise DrainingError()
            state = self._tenants.setdefault(tenant, _Tenant())
            while state.creations and state.creations[0] < now - _MINUTE_S:
                state.creations.popleft()
            if len(state.sandboxes) + state.pending >= quotas.sandboxes:
                raise QuotaExceededError("sandboxes", quotas.sandboxes)
            if len(state.creations) >= quotas.creations_per_minute:
                wait = state.creations[0] + _MINUTE_S - now if state.creations else _MINUTE_S
                raise QuotaExceededError("creations_per_minute", quotas.creations_per_minute, wait)
            state.creations.append(now)
            state.pending += 1
        try:
            yield state
        finally:
            with self._lock:
                state.pending -= 1

    def _backend(self, state: _Tenant, template: Template) -> Backend:
        """Return the tenant's own backend, whose zygote no other tenant's code was forked from."""
        handler = LanguageHandlerFactory.create_handler(template.lang)
        chosen, _ = resolve(self.options.backend, handler.name, handler.toolchain)
        if chosen.has_containers:
            return chosen
        with self._lock:
            own = state.backends.get(chosen.name)
            if own is None:
                own = state.backends[chosen.name] = type(chosen)()
            return own

    def _limits(self, request: NewSandbox) -> Limits:
        limits = request.limits or self.options.limits
        asked = request.memory_bytes
        if asked is None:
            return limits
        if asked > limits.memory_bytes:
            raise UnsupportedError(
                f"a memory of {asked >> 20} MiB",
                reason=f"the operator of this server allows {limits.memory_bytes >> 20} MiB",
            )
        return limits.replace(memory_bytes=asked)

    def check(self) -> None:
        """Check that sandboxes can be created here.

        Raises:
            BackendUnavailableError: They cannot; the message says why.
        """
        handler = LanguageHandlerFactory.create_handler("python")
        resolve(self.options.backend, handler.name, handler.toolchain)[0].check()

    def check_limits(self) -> None:
        """Check that the operator's limits can be enforced, by a sandbox that has them.

        Engines and clusters are not asked: there, a sandbox takes seconds, or waits for room.

        Raises:
            SandboxError: They cannot; the message says why.
        """
        backend = resolve(self.options.backend, "python", None)[0]
        if not backend.has_containers:
            Sandbox.create(backend=backend, limits=self.options.limits).destroy()

    def has_language(self, lang: str) -> bool:
        """Return whether sandboxes of this server have what runs a language."""
        handler = LanguageHandlerFactory.create_handler(lang)
        try:
            resolve(self.options.backend, handler.name, handler.toolchain)
        except (BackendUnavailableError, ToolchainNotFoundError):
            return False
        return True

    def check_timeout(self, seconds: object) -> float:
        """Return the timeout of a sandbox, in seconds; None is the server's default.

        Raises:
            ValidationError: It is not a positive number, or longer than the operator allows.
        """
        longest = self.options.longest_s
        if seconds is None:
            return min(self.options.timeout_s, longest)
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not isinstance(seconds, int | float) or not (is_number and 0 < seconds <= longest):
            raise ValidationError(
                f"invalid timeout: expected more than 0 and at most {longest:g} seconds, "
                f"got {str(seconds)[:40]!r}",
                parameter="timeout",
            )
        return float(seconds)

    def get(self, tenant: str, sandbox_id: str, api: str | None = None) -> LiveSandbox:
        """Return a living sandbox of a tenant, made by an API; None for any.

        Raises:
            SandboxNotFoundError: The tenant has no such sandbox, whether another one has or not.
        """
        live = self.find(sandbox_id)
        if live.tenant != tenant or api not in (None, live.request.api):
            raise SandboxNotFoundError(sandbox_id, hint=None)
        return live

    def find(self, sandbox_id: str) -> LiveSandbox:
        """Return a living sandbox of any tenant, for callers who hold its token.

        Raises:
            SandboxNotFoundError: There is none.
        """
        with self._lock:
            live = self._all.get(sandbox_id)
        if live is None or live.has_ended:
            raise SandboxNotFoundError(sandbox_id, hint=None)
        return live

    def list(self, tenant: str | None = None, api: str | None = None) -> list[LiveSandbox]:
        """Return living sandboxes, newest first.

        Args:
            tenant: Their tenant; None for all.
            api: The API that they are for; None for all.
        """
        with self._lock:
            known = list(self._all.values())
        return [
            live
            for live in reversed(known)
            if not live.has_ended
            and tenant in (None, live.tenant)
            and api in (None, live.request.api)
        ]

    def kill(self, live: LiveSandbox) -> None:
        """End a sandbox."""
        self._drop(live)
        self._end(live)

    def _end(self, live: LiveSandbox) -> None:
        live.end()
        if self._ledger is not None and live.is_kept:
            self._ledger.remove(live.id)

    def _drop(self, live: LiveSandbox) -> None:
        with self._lock:
            self._all.pop(live.id, None)
            state = self._tenants.get(live.tenant)
            if state is not None:
                state.sandboxes.pop(live.id, None)

    def sweep(self) -> None:
        """Let go of sandboxes that have ended by themselves."""
        with self._lock:
            ended = [live for live in self._all.values() if live.has_ended]
        for live in ended:
            self._drop(live)
            with contextlib.suppress(SandboxError):
                self._end(live)

    def end_orphans(self) -> None:
        """End kept sandboxes that no client knows; an earlier server was killed making them."""
        if self._ledger is None:
            return
        # Before the others: what is made after that is no orphan.
        living = self._ledger.living()
        with self._lock:
            known = self._all.keys() | self._creating
        for sandbox_id in living.keys() - known:
            self._ledger.end(sandbox_id)

    def _token(self, sandbox_id: str, purpose: str) -> str:
        words = f"{purpose}:{sandbox_id}".encode()
        return hmac.new(self._secret, words, hashlib.sha256).hexdigest()[:40]

    # --- programs without a sandbox of the client's

    @contextlib.contextmanager
    def program_sandbox(
        self, tenant: str, lang: str, *, patience_s: float, memory_bytes: int | None = None
    ) -> Iterator[Sandbox]:
        """Yield a sandbox for one program, once it is the tenant's turn.

        Args:
            tenant: The tenant.
            lang: Language of the program.
            patience_s: Seconds to wait for the turn.
            memory_bytes: Its memory; None for the server's limit.

        Raises:
            QuotaExceededError: Too many wait already, or the turn did not come in time.
            DrainingError: The server is about to end.
        """
        with self._lock:
            state = self._tenants.setdefault(tenant, _Tenant())
        with self._turn(state, patience_s), self.run():
            backend = self._backend(state, Template(lang))
            request = NewSandbox("programs", memory_bytes=memory_bytes)
            with Sandbox.create(
                backend=backend, workdir="/home/user", limits=self._limits(request)
            ) as sandbox:
                yield sandbox

    @contextlib.contextmanager
    def _turn(self, state: _Tenant, patience_s: float) -> Iterator[None]:
        quotas = self.options.quotas
        with state.turn:
            if state.programs >= quotas.programs:
                if state.waiting >= quotas.waiting:
                    raise QuotaExceededError("waiting", quotas.waiting)
                state.waiting += 1
                try:
                    is_free = state.turn.wait_for(
                        lambda: state.programs < quotas.programs or self.is_draining, patience_s
                    )
                finally:
                    state.waiting -= 1
                if not is_free:
                    raise QuotaExceededError("programs", quotas.programs)
            if self.is_draining:
                raise DrainingError()
            state.programs += 1
        try:
            yield
        finally:
            with state.turn:
                state.programs -= 1
                state.turn.notify()

    def evaluations(self, tenant: str) -> EvaluationTable:
        """Return the evaluations of a tenant.

        Raises:
            DrainingError: The server is about to end.
        """
        with self._lock:
            if self.is_draining:
                raise DrainingError()
            return self._tenants.setdefault(tenant, _Tenant()).evaluations

    def backend(self, tenant: str, lang: str) -> Backend:
        """Return the tenant's own backend for a language."""
        with self._lock:
            state = self._tenants.setdefault(tenant, _Tenant())
        return self._backend(state, Template(lang))

    # --- end

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        """Count a run of code for a block, which the end of the server waits for."""
        with self._lock:
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1

    @property
    def active_runs(self) -> int:
        """Number of runs that are under way."""
        return self._active

    def drain(self, seconds: float, is_urgent: Callable[[], bool] = lambda: False) -> None:
        """Accept no new sandboxes, and wait until no code runs.

        Args:
            seconds: Time limit of the wait.
            is_urgent: Function that ends the wait when it returns True.
        """
        self.is_draining = True
        with self._lock:
            states = list(self._tenants.values())
        for state in states:
            with state.turn:
                state.turn.notify_all()
        limit = time.monotonic() + seconds
        while self._active and time.monotonic() < limit and not is_urgent():
            time.sleep(0.05)

    def close(self) -> None:
        """End every sandbox, but for those that are kept, and all tenants' backends."""
        self.is_draining = True
        with self._lock:
            living = list(self._all.values())
            self._all = {}
            states = list(self._tenants.values())
            self._tenants = {}
        for live in living:
            with contextlib.suppress(SandboxError):
                if live.is_kept and not live.has_ended:
                    live.leave()
                else:
                    self._end(live)
        for state in states:
            state.evaluations.cancel()
            for backend in state.backends.values():
                backend.close()
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            ledger.close()


def _attach(name: str) -> BaseSession:
    """Attach to a kept session; its daemon may not have noticed yet that a server was killed."""
    end = time.monotonic() + _ATTACH_S
    while True:
        try:
            return find_session(name)
        except SessionBusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
