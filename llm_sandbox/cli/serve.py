"""`llm-sandbox serve` and `llm-sandbox key`: sandboxes over HTTP, and who may use them."""

import sys
from datetime import UTC, datetime
from typing import Annotated

from llm_sandbox.cli.exit_codes import exit_codes, not_found, usage_error
from llm_sandbox.cli.grammar import Argument, Command, Group, Option
from llm_sandbox.cli.resource_options import ResourceOptions

__all__ = ["KEY", "SERVE", "create", "need", "revoke", "serve", "show"]

_DEFAULT_PORT = 8000
_NEEDS = ("fastapi", "prometheus_client", "python_multipart", "starlette", "uvicorn", "websockets")


def serve(
    resources: ResourceOptions,
    host: Annotated[
        str,
        Option(
            "--host",
            help="Address to listen on; one that other computers reach needs --keys.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, Option("--port", help="Port to listen on; 0 for a free one.", metavar="N")
    ] = _DEFAULT_PORT,
    keys: Annotated[
        str | None,
        Option(
            "--keys",
            help="File of API keys, made by `key create`; without it, every program of this "
            "computer may call.",
            metavar="FILE",
        ),
    ] = None,
    backend: Annotated[
        str | None, Option("--backend", "-b", help="Where sandboxes are made.", metavar="NAME")
    ] = None,
    template: Annotated[
        list[str] | None,
        Option(
            "--template",
            help="Further template of clients: a language, and an image of a container backend; "
            "may be repeated.",
            metavar="NAME=LANG[:IMAGE]",
        ),
    ] = None,
    network: Annotated[
        str,
        Option(
            "--network",
            help="The most that clients may open: blocked, or internet.",
            metavar="NAME",
        ),
    ] = "blocked",
    domain: Annotated[
        str | None,
        Option(
            "--domain",
            help="Name of this server behind a proxy, below which PORT-ID leads to a sandbox.",
            metavar="NAME",
        ),
    ] = None,
    sandboxes: Annotated[
        int, Option("--sandboxes", help="Most living sandboxes of a tenant.", metavar="N")
    ] = 20,
    programs: Annotated[
        int,
        Option("--programs", help="Most programs that a tenant runs at once.", metavar="N"),
    ] = 8,
    longest: Annotated[
        float,
        Option("--longest", help="Longest life of a sandbox in seconds.", metavar="S"),
    ] = 86_400.0,
    longest_program: Annotated[
        float,
        Option(
            "--longest-program",
            help="Longest time of one test of an evaluation, or program of SandboxFusion or "
            "Piston, in seconds.",
            metavar="S",
        ),
    ] = 3600.0,
    drain: Annotated[
        float,
        Option("--drain", help="Seconds that running code gets at the end.", metavar="S"),
    ] = 10.0,
    keep: Annotated[
        str | None,
        Option(
            "--keep",
            help="Folder for sandboxes that outlive the server; the next one with the same folder "
            "finds them again.",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Serve sandboxes over HTTP to clients of E2B, Jupyter, SandboxFusion, Piston and OpenAI.

    SIGTERM ends it in order; a second one at once. Requests are logged as JSON, without any code.
    """
    with exit_codes():
        need()
        from llm_sandbox.server.keys import KeyFile
        from llm_sandbox.server.options import Quotas, ServerOptions
        from llm_sandbox.server.service import serve as run

        if network not in ("blocked", "internet"):
            usage_error(f"--network is blocked or internet, not {network!r}")
        options = ServerOptions(
            backend=backend,
            limits=resources.limits({"artifacts": 0, "output_bytes": 64 << 20}),
            network="internet" if network == "internet" else "blocked",
            templates=dict(_template(text) for text in template or ()),
            longest_s=longest,
            longest_program_s=longest_program,
            domain=domain,
            quotas=Quotas(sandboxes=sandboxes, programs=programs),
            drain_s=drain,
            keep=keep,
        )

        def say(chosen: int) -> None:
            shown = f"[{host}]" if ":" in host else host
            print(f"serving at http://{shown}:{chosen}", file=sys.stderr, flush=True)

        try:
            run(
                options,
                host=host,
                port=port,
                keys=None if keys is None else KeyFile(keys),
                on_ready=say,
            )
        except OSError as error:
            usage_error(f"cannot listen on {host}:{port}: {error.strerror or error}")


def need() -> None:
    """Check that what the server needs is installed.

    Raises:
        MissingDependencyError: A package is not.
    """
    from llm_sandbox.integrations.extras import require

    for module in _NEEDS:
        require(module, "server")


def _template(text: str):  # type: ignore[no-untyped-def]
    from llm_sandbox.server.options import Template

    name, equals, rest = text.partition("=")
    if not equals or not name or not rest:
        usage_error(f"--template is NAME=LANG or NAME=LANG:IMAGE, not {text!r}")
    lang, _, image = rest.partition(":")
    return name, Template(lang, image or None)


_Keys = Annotated[str, Option("--keys", help="File of API keys.", metavar="FILE")]


def create(
    name: Annotated[str, Argument(help="Name of the key, for people.", metavar="NAME")],
    keys: _Keys,
    tenant: Annotated[
        str | None,
        Option(
            "--tenant",
            help="Tenant whose sandboxes it opens; without it, one of the key's name.",
            metavar="NAME",
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        Option(
            "--scope",
            help="What it may do: view, run, metrics, admin; without it, run and metrics.",
            metavar="NAME",
        ),
    ] = None,
    days: Annotated[
        float | None,
        Option("--days", help="Days until it expires; without it, never.", metavar="N"),
    ] = None,
) -> None:
    """Make an API key, and print it once."""
    with exit_codes():
        from llm_sandbox.server.keys import DEFAULT_SCOPES, KeyFile

        ttl_s = None if days is None else days * 86_400
        print(KeyFile(keys).create(name, tenant, scope or DEFAULT_SCOPES, ttl_s))


def show(keys: _Keys) -> None:
    """List the API keys of a file, which has none of them in clear."""
    with exit_codes():
        from llm_sandbox.server.keys import KeyFile

        for key in KeyFile(keys).keys:
            until = "never" if key.expires_at is None else _day(key.expires_at)
            state = "expired" if key.has_expired else f"expires {until}"
            print(f"{key.name}\t{key.tenant}\t{','.join(key.scopes)}\t{state}")


def revoke(
    name: Annotated[str, Argument(help="Name of the key.", metavar="NAME")], keys: _Keys
) -> None:
    """Revoke an API key; running servers refuse it from their next request on."""
    with exit_codes():
        from llm_sandbox.server.keys import KeyFile

        if not KeyFile(keys).revoke(name):
            not_found(f"there is no key {name!r}", "llm-sandbox key list --keys FILE")


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


SERVE = Command(serve)
KEY = Group(
    "key",
    "API keys of `llm-sandbox serve`.",
    {"create": Command(create), "list": Command(show), "revoke": Command(revoke)},
)
