"""Smoke test of a finished image, run like the code of a session."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import new_labels
from llm_sandbox.backends.containers.images.host_programs import Tail
from llm_sandbox.exceptions import BackendError

if TYPE_CHECKING:
    from docker.models.containers import Container

__all__ = ["SMOKE_TEST", "run_smoke_test"]

SMOKE_TEST = "/usr/local/bin/smoke-test"
"""Path of the test in every image."""

_WITHIN_S = 180

# Checks of every image, whatever its language.
_COMMON = """
fail() { echo "$1"; exit 1; }
[ "$(id -u)" = 65532 ] || fail "uid $(id -u) instead of 65532"
[ "$PWD" = /sandbox ] || fail "the working directory is $PWD"
[ -w /sandbox ] || fail 'the working directory is not writable'
for place in /etc /opt /usr/bin /usr/local/bin; do
    [ ! -w $place ] || fail "$place is writable"
done
[ -s /etc/ssl/certs/ca-certificates.crt ] || fail 'no certificates'
raised=$(find / -xdev -type f -perm /6000 2>/dev/null | head -n 1)
[ -z "$raised" ] || fail "$raised is setuid or setgid"
exec "$0"
"""


def run_smoke_test(engine: Engine, image: str, name: str) -> str:
    """Run an image's smoke test, and return its output.

    It runs after the checks of every image, as uid 65532 without network and capabilities; only
    the working directory and /tmp are writable. The container is removed in any case.

    Args:
        engine: The engine.
        image: The image's id.
        name: Name of the image for the error.

    Raises:
        BackendError: It failed, or took more than 180 s; the message has its last 20 lines.
    """
    with engine.errors("smoke test", name), _container(engine, image) as container:
        container.start()
        status = _wait(container)
        output = bytes(container.logs()).decode("utf-8", "replace")
    if status == "status 0":
        return output
    tail = Tail()
    tail.add(output)
    raise BackendError(
        f"image {name!r} does not hold what it promises: its smoke test: {status}\n{tail}",
        op="build",
        backend=engine.name,
        hint="the image was not kept; what it is made of is in llm_sandbox/images",
    )


def _wait(container: "Container") -> str:
    import requests

    try:
        return f"status {container.wait(timeout=_WITHIN_S)['StatusCode']}"
    except requests.RequestException as error:
        # docker-py raises the error of a broken connection for a timeout.
        if "timed out" not in str(error).lower():
            raise
        return f"no end after {_WITHIN_S} s"


@contextlib.contextmanager
def _container(engine: Engine, image: str) -> Iterator["Container"]:
    made: Any = engine.client.containers.create(
        image,
        ["sh", "-c", _COMMON, SMOKE_TEST],
        user="65532:65532",
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        pids_limit=256,
        mem_limit="2g",
        # Compiled programs run from there, which engines forbid by default.
        tmpfs={"/tmp": "exec,mode=1777", "/sandbox": "exec,uid=65532,gid=65532,mode=0700"},  # noqa: S108
        # As in a session.
        environment={"MPLCONFIGDIR": "/tmp/.matplotlib", "XDG_CACHE_HOME": "/tmp/.cache"},  # noqa: S108
        labels=new_labels(),
    )
    try:
        yield made
    finally:
        made.remove(force=True)
