"""The provider beyond inspect's own check: configuration, limits, endings, what is refused."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pydantic
import pytest
from docker.errors import NotFound
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    override_sandbox_output_limit,
)

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.integrations.inspect import InspectSandbox, SandboxConfig
from llm_sandbox.integrations.inspect.config import read_config
from llm_sandbox.limits import Limits

pytestmark = pytest.mark.anyio
BUBBLEWRAP = SandboxConfig(backend="bubblewrap")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[SandboxEnvironment]:
    """One sandbox for what leaves nothing in it."""
    made = await InspectSandbox.sample_init("test", BUBBLEWRAP, {})
    yield made["default"]
    await InspectSandbox.sample_cleanup("test", BUBBLEWRAP, made, interrupted=False)


async def wait_until(claim: Callable[[], bool], within_s: float = 30.0) -> bool:
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            return False
        await anyio.sleep(0.05)
    return True


def runs(words: str) -> bool:
    """Whether any process of this computer has these words in its command line."""
    for process in psutil.process_iter(["cmdline"]):
        if words in " ".join(process.info["cmdline"] or []):
            return True
    return False


# --- programs


async def test_what_cannot_start_is_an_ordinary_failure(box: SandboxEnvironment) -> None:
    """No such program is 127, no such directory 126; both say what they looked for."""
    missing = await box.exec(["no-such-program"])
    assert (missing.success, missing.returncode) == (False, 127)
    assert "no-such-program" in missing.stderr
    nowhere = await box.exec(["true"], cwd="no/such/place")
    assert (nowhere.success, nowhere.returncode) == (False, 126)
    assert "/sandbox/no/such/place" in nowhere.stderr


async def test_a_timeout_keeps_what_was_written(box: SandboxEnvironment) -> None:
    """As inspect shows it to the model."""
    with pytest.raises(TimeoutError, match="after 1 seconds") as caught:
        await box.exec(["sh", "-c", "echo begun; sleep 30"], timeout=1)
    assert caught.value.truncated_output == "begun\n"  # type: ignore[attr-defined]


async def test_too_much_output_is_an_error(box: SandboxEnvironment) -> None:
    """By the limit that inspect has at that moment, in bytes; as much is no error."""
    with override_sandbox_output_limit(1000, "exec"):
        as_much = await box.exec(["sh", "-c", "head -c 1000 /dev/zero | tr '\\0' x"])
        assert as_much.stdout == "x" * 1000
        with pytest.raises(OutputLimitExceededError) as caught:
            await box.exec(["sh", "-c", "head -c 1001 /dev/zero | tr '\\0' x; touch ended"])
    assert caught.value.truncated_output == "x" * 1000
    assert await box.read_file("ended") == ""


async def test_more_than_a_sandbox_keeps_is_an_error(box: SandboxEnvironment) -> None:
    """Also where inspect would take more than was kept."""
    with (
        override_sandbox_output_limit(100 << 20, "exec"),
        pytest.raises(OutputLimitExceededError),
    ):
        await box.exec(["head", "-c", str(11 << 20), "/dev/zero"])


async def test_there_is_one_user(box: SandboxEnvironment) -> None:
    """Its name is taken, any other refused."""
    assert (await box.exec(["id", "-u"], user="sandbox")).success
    with pytest.raises(SandboxUserUnsupportedError):
        await box.exec(["id", "-u"], user="root")


async def test_a_failure_of_files_names_the_file(box: SandboxEnvironment) -> None:
    """The tools of inspect answer the model from these attributes."""
    await box.write_file("a.txt", "a")
    with pytest.raises(FileNotFoundError) as missing:
        await box.read_file("none.txt")
    assert missing.value.filename == "none.txt"
    with pytest.raises(FileNotFoundError, match="Not a directory") as within:
        await box.read_file("a.txt/b")
    assert within.value.filename == "a.txt/b"
    with pytest.raises(PermissionError) as refused:
        await box.write_file("/etc/new.txt", "")
    assert refused.value.filename == "/etc/new.txt"
    with pytest.raises(FileNotFoundError):
        await box.read_file("")


async def test_text_is_utf_8_to_the_byte(box: SandboxEnvironment) -> None:
    """Line ends stay, and what is no text is an error unless bytes were asked for."""
    await box.write_file("lines.txt", "a\r\nb\r")
    assert await box.read_file("lines.txt") == "a\r\nb\r"
    await box.write_file("latin.txt", b"caf\xe9")
    with pytest.raises(UnicodeDecodeError):
        await box.read_file("latin.txt")
    assert await box.read_file("latin.txt", text=False) == b"caf\xe9"


async def test_nobody_connects(box: SandboxEnvironment) -> None:
    """There is no way in but the provider's own."""
    with pytest.raises(NotImplementedError):
        await box.connection()


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_cancelled_command_is_killed(anyio_backend: str) -> None:
    """With what it has started, while the sandbox goes on."""
    made = await InspectSandbox.sample_init("test", BUBBLEWRAP, {})
    try:
        box, words = made["default"], f"sleep 61{time.monotonic_ns()}"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.exec, ["sh", "-c", f"{words} & {words}"])
            assert await wait_until(lambda: runs(words))
            tasks.cancel_scope.cancel()
        assert await wait_until(lambda: not runs(words))
        assert (await box.exec(["echo", "alive"])).stdout == "alive\n"
    finally:
        await InspectSandbox.sample_cleanup("test", BUBBLEWRAP, made, interrupted=True)


async def test_a_sandbox_that_has_ended_is_unavailable() -> None:
    """Whether it ends while a program runs, or has ended before."""
    config = SandboxConfig(backend="bubblewrap", timeout=1.5)
    made = await InspectSandbox.sample_init("test", config, {})
    try:
        assert (await made["default"].exec(["true"])).success
        with pytest.raises(SandboxUnavailableError):
            await made["default"].exec(["sleep", "60"])
        with pytest.raises(SandboxUnavailableError):
            await made["default"].exec(["true"])
        with pytest.raises(SandboxUnavailableError):
            await made["default"].read_file("a.txt")
    finally:
        await InspectSandbox.sample_cleanup("test", config, made, interrupted=False)


# --- sandboxes of a sample


async def test_what_cannot_be_made_fails_at_the_start() -> None:
    """Before the first sample, in words of ours."""
    with pytest.raises(UnsupportedError, match="image"):
        await InspectSandbox.task_init("test", SandboxConfig(backend="bubblewrap", image="x"))
    await InspectSandbox.task_init("test", BUBBLEWRAP)


def containers_with(workdir: str) -> list[str]:
    """The containers that were made with a working directory that nobody else has."""
    backend: Any = get_backend("docker")
    api, found = backend.engine.client.api, []
    for one in api.containers(all=True):
        # Those of others come and go.
        with contextlib.suppress(NotFound):
            if workdir in str(api.inspect_container(one["Id"])):
                found.append(one["Id"])
    return found


@pytest.mark.engine("docker", image="python")
async def test_sandboxes_in_an_engine_end(capfd: pytest.CaptureFixture[str]) -> None:
    """None stays of a sample that cannot be made whole, and `cleanup` ends the one it is told."""
    place = f"/home/inspect-{time.monotonic_ns()}"
    docker = SandboxConfig(backend="docker", workdir=place)
    impossible = SandboxConfig(backend="bubblewrap", image="x")
    with pytest.raises(UnsupportedError):
        await InspectSandbox.sample_init(
            "test", docker.model_copy(update={"sandboxes": {"other": impossible}}), {}
        )
    assert await wait_until(lambda: not containers_with(place))

    made = await InspectSandbox.sample_init("test", docker, {})
    try:
        (container,) = containers_with(place)
        assert (await made["default"].exec(["pwd"])).stdout == f"{place}\n"
        await InspectSandbox.cli_cleanup(container[:12])
        assert f"ended docker sandbox {container[:12]}" in capfd.readouterr().out
        with pytest.raises(SandboxUnavailableError):
            await made["default"].exec(["true"])
        with pytest.raises(ValueError, match="failed"):
            await InspectSandbox.cli_cleanup("no-such-sandbox")
    finally:
        await InspectSandbox.sample_cleanup("test", docker, made, interrupted=False)
    assert await wait_until(lambda: not containers_with(place))


# --- configuration


@pytest.mark.parametrize(
    ("network", "said"), [("blocked", "OSError\n"), ("internet", "ConnectionResetError\n")]
)
async def test_a_sandbox_has_the_network_that_was_asked_for(network: Any, said: str) -> None:
    """Without one there is no way; a gate takes a connection, and ends one that is not allowed."""
    config = SandboxConfig(backend="bubblewrap", network=network)
    made = await InspectSandbox.sample_init("test", config, {})
    code = (
        "import socket\n"
        "try: socket.create_connection(('169.254.169.254', 80), 30).recv(1)\n"
        "except OSError as error: print(type(error).__name__)\n"
    )
    try:
        done = await made["default"].exec(["python3", "-c", code])
    finally:
        await InspectSandbox.sample_cleanup("test", config, made, interrupted=False)
    assert done.stdout == said, done.stderr


def test_a_configuration_survives_the_log() -> None:
    """Through plain data, as inspect writes and reads it."""
    config = SandboxConfig(
        backend="docker",
        env={"A": "b"},
        limits={"memory_bytes": "512m", "cpus": 1.5},  # type: ignore[arg-type]
        sandboxes={"other": SandboxConfig(network="open", timeout=5)},
    )
    assert config.limits == Limits(memory_bytes=512 << 20, cpus=1.5)
    spec = SandboxEnvironmentSpec("llm_sandbox", config)
    read = SandboxEnvironmentSpec.model_validate_json(spec.model_dump_json())
    assert read.config == config
    assert hash(read) == hash(spec)
    assert hash(spec) != hash(SandboxEnvironmentSpec("llm_sandbox", BUBBLEWRAP))
    assert list(config.by_name()) == ["default", "other"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"colour": "red"}, "colour"),
        ({"limits": {"colour": 1}}, "invalid limit .colour."),
        ({"limits": {"memory_bytes": "much"}}, "memory_bytes must be a size"),
        ({"limits": {"output_bytes": 5}}, "INSPECT_SANDBOX_MAX_EXEC_OUTPUT_SIZE"),
        ({"network": "half"}, "'blocked', 'internet' or 'open'"),
        ({"timeout": 0}, "greater than 0"),
        ({"workdir": "/usr/lib"}, "workdir cannot be below /usr"),
        ({"sandboxes": {"default": {}}}, "cannot be called 'default'"),
        ({"sandboxes": {"a": {"sandboxes": {"b": {}}}}}, "sandboxes.a cannot have sandboxes"),
    ],
)
def test_a_configuration_is_checked(fields: dict[str, Any], words: str) -> None:
    """What it cannot honour it refuses, and says why."""
    with pytest.raises(pydantic.ValidationError, match=words):
        SandboxConfig(**fields)


def test_a_configuration_comes_from_a_file(tmp_path: Path) -> None:
    """Of TOML; what is wrong with one is said with its name."""
    path = tmp_path / "some.toml"
    path.write_text('backend = "docker"\n[limits]\nmemory_bytes = "1g"\n[sandboxes.db]\n')
    config = read_config(str(path))
    assert (config.backend, config.limits.memory_bytes) == ("docker", 1 << 30)
    assert list(config.by_name()) == ["default", "db"]
    for text, words in [
        ("backend = ", "is not TOML"),
        ("[limits]\nx = 1", "limits: .*invalid limit .x"),
    ]:
        path.write_text(text)
        with pytest.raises(ValidationError, match=words) as caught:
            read_config(str(path))
        assert str(path) in str(caught.value)
    with pytest.raises(ValidationError, match="cannot be read"):
        read_config(str(tmp_path / "none.toml"))
    with pytest.raises(ValidationError, match="cannot be configured by a SandboxEnvironmentSpec"):
        read_config(SandboxEnvironmentSpec("docker"))
