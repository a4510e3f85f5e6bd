"""Facts about the server: backends, languages, limits; scans; keys."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from llm_sandbox.backends.registry import available_names, get_backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import VERSION, SandboxBackend
from llm_sandbox.exceptions import SandboxError, SandboxNotFoundError, UnsupportedError
from llm_sandbox.language_handlers import registry
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.security import scan
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.keys import DEFAULT_SCOPES, Key, KeyFile
from llm_sandbox.server.v1.access import Access, json_response
from llm_sandbox.server.v1.evaluation_limits import most_of
from llm_sandbox.server.v1.models import ScanRequest
from llm_sandbox.server.v1.session_options import limits_of

__all__ = [
    "BackendFacts",
    "KeyFacts",
    "LanguageFacts",
    "LimitFacts",
    "MadeKey",
    "NewKey",
    "add_routes",
]


class BackendFacts(BaseModel):
    """Backend, and whether it works here."""

    name: str
    is_used: bool = Field(description="Whether sessions of Python are made by it.")
    is_usable: bool
    reason: str = Field(description="Why it does not work here; empty if it does.")


class LanguageFacts(BaseModel):
    """Language, and whether its programs are there."""

    name: str
    backend: str | None = Field(description="Backend of its sessions; null if there is none.")
    reason: str = Field(description="Why there is none; empty if there is one.")


class LimitFacts(BaseModel):
    """Limits and quotas of a client, as `GET /v1/limits` returns them."""

    version: str
    tenant: str
    scopes: list[str] = Field(description="What the key of this request may do.")
    templates: list[str]
    network: str = Field(description="The most that a client may open.")
    limits: dict[str, Any] = Field(description="Limits of a session that names none: the most.")
    evaluation: dict[str, float | None] = Field(
        description="The most of each limit of an evaluation; null for no limit."
    )
    quotas: dict[str, int]
    sandboxes: int = Field(description="Living sandboxes of the tenant.")
    timeout_s: float = Field(description="Seconds after its last use when a session ends.")
    longest_s: float = Field(description="Longest session_timeout.")
    longest_program_s: float = Field(
        description="Longest time of a test of an evaluation, or program without a sandbox."
    )
    body_bytes: int
    file_bytes: int


class KeyFacts(BaseModel):
    """API key, without itself."""

    name: str
    tenant: str
    scopes: list[str]
    created_at: float
    expires_at: float | None
    has_expired: bool


class NewKey(BaseModel):
    """API key to make."""

    model_config = ConfigDict(extra="forbid")

    name: str
    tenant: str | None = Field(None, description="Tenant; null for one of the key's name.")
    scopes: list[str] = Field(default_factory=lambda: list(DEFAULT_SCOPES))
    ttl_s: float | None = Field(None, gt=0, description="Seconds until it expires.")


class MadeKey(BaseModel):
    """API key that was made, which is shown this once."""

    key: str


def add_routes(router: APIRouter, access: Access) -> None:
    """Add the routes of facts, scans and keys."""
    api = _Facts(access)
    add = router.add_api_route
    add("/v1/backends", api.backends, methods=["GET"], response_model=list[BackendFacts])
    add("/v1/languages", api.languages, methods=["GET"], response_model=list[LanguageFacts])
    add("/v1/limits", api.limits, methods=["GET"], response_model=LimitFacts)
    add("/v1/scan", api.scan, methods=["POST"], response_model=dict[str, Any])
    add("/v1/keys", api.keys, methods=["GET"], response_model=list[KeyFacts])
    add("/v1/keys", api.make_key, methods=["POST"], response_model=MadeKey, status_code=201)
    add("/v1/keys/{name}", api.revoke_key, methods=["DELETE"], status_code=204)


class _Facts:
    """Routes of facts, scans and keys."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def backends(self, request: Request) -> Response:
        """List the backends of this version that isolate, and which one is used."""
        self._access.tenant(request)

        def look() -> list[dict[str, Any]]:
            try:
                used = self._backend_of("python")
            except SandboxError:
                used = None
            names = [name for name in available_names() if name != SandboxBackend.LOCAL]
            return [{"name": name, "is_used": name == used, **_state(name)} for name in names]

        return json_response(await in_thread(look))

    def _backend_of(self, language: str) -> str:
        handler = LanguageHandlerFactory.create_handler(language)
        return resolve(self._access.options.backend, handler.name, handler.toolchain)[0].name

    async def languages(self, request: Request) -> Response:
        """List the languages, and whether sessions of them can be made."""
        self._access.tenant(request)

        def look(name: str) -> dict[str, Any]:
            try:
                return {"name": name, "backend": self._backend_of(name), "reason": ""}
            except SandboxError as error:
                return {"name": name, "backend": None, "reason": error.message}

        return json_response(await in_thread(lambda: [look(name) for name in registry.available()]))

    async def limits(self, request: Request) -> Response:
        """Return what a client may ask for."""
        caller = self._access.principal(request)
        tenant = caller.tenant
        options = self._access.options
        return json_response(
            {
                "version": VERSION,
                "tenant": tenant,
                "scopes": list(caller.scopes),
                "templates": options.template_names,
                "network": options.network,
                "limits": asdict(limits_of(options)),
                "evaluation": most_of(options),
                "quotas": asdict(options.quotas),
                "sandboxes": len(self._access.fleet.list(tenant)),
                "timeout_s": options.timeout_s,
                "longest_s": options.longest_s,
                "longest_program_s": options.longest_program_s,
                "body_bytes": options.body_bytes,
                "file_bytes": options.file_bytes,
            }
        )

    async def scan(self, request: Request, body: ScanRequest) -> Response:
        """Scan code without running it."""
        self._access.tenant(request)
        report = await in_thread(scan, body.code, body.language, body.policy)  # type: ignore[arg-type]
        return json_response(report.to_dict())

    # --- keys

    def _keys(self, request: Request) -> KeyFile:
        self._access.tenant(request, "admin")
        keys = self._access.guard.keys
        if keys is None:
            raise UnsupportedError(
                "keys",
                reason="this server was started without a file of keys",
                hint="llm-sandbox serve --keys FILE",
            )
        return keys

    async def keys(self, request: Request) -> Response:
        """List the API keys of all tenants, without themselves; needs the scope ``admin``."""
        keys = self._keys(request)
        return json_response([_key_facts(key) for key in await in_thread(lambda: keys.keys)])

    async def make_key(self, request: Request, body: NewKey) -> Response:
        """Make an API key; needs the scope ``admin``."""
        keys = self._keys(request)
        made = await in_thread(keys.create, body.name, body.tenant, body.scopes, body.ttl_s)
        return json_response({"key": made}, 201)

    async def revoke_key(self, request: Request, name: str) -> Response:
        """Revoke an API key; needs the scope ``admin``."""
        if not await in_thread(self._keys(request).revoke, name):
            raise SandboxNotFoundError("API key", hint=None)
        return Response(status_code=204)


def _state(name: str) -> dict[str, Any]:
    try:
        get_backend(name).check()
    except SandboxError as error:
        return {"is_usable": False, "reason": error.message}
    return {"is_usable": True, "reason": ""}


def _key_facts(key: Key) -> dict[str, Any]:
    facts = asdict(key)
    del facts["digest"]
    return {**facts, "scopes": list(key.scopes), "has_expired": key.has_expired}
