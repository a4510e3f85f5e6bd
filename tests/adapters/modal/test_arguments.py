"""Invalid arguments, refused before anything is created, with Modal's classes of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Limits, NetworkRules, Sandbox, SandboxError
from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal.creation import limits_of, network_of
from llm_sandbox.exceptions import UnsupportedError, ValidationError

if TYPE_CHECKING:
    from pathlib import Path

InvalidError = modal.exception.InvalidError
MIB = 1 << 20


@pytest.mark.parametrize(
    "options",
    [
        {"workdir": "relative"},
        {"timeout": 0},
        {"timeout": 86_401},
        {"idle_timeout": -1},
        {"cpu": 0},
        {"cpu": (2, 1)},
        {"memory": 0},
        {"memory": (512, 256)},
        {"memory": (1, 2, 3)},
        {"gpu": ["any", "any"]},
        {"block_network": True, "cidr_allowlist": []},
        {"block_network": True, "outbound_domain_allowlist": ["example.org"]},
        {"block_network": True, "unencrypted_ports": [8000]},
        {"cidr_allowlist": ["not a range"]},
        {"cidr_allowlist": "10.0.0.0/8"},
        {"unencrypted_ports": [0]},
        {"unencrypted_ports": [80, 80]},
        {"region": "eu", "_experimental_scheduler_placement": modal.SchedulerPlacement("eu")},
        {"secrets": [{"A": "b"}]},
        {"env": {"1A": "b"}},
        {"tags": {"a": 1}},
        {"name": "a b"},
        {"image": "python:3.11"},
        {"volumes": {"/data": "a volume"}},
        {"volumes": {"data": None}},
        {"network_file_systems": {"/nfs": "a file system"}},
        {"mounts": ["/etc"]},
    ],
    ids=str,
)
def test_create_refuses(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidError):
        modal.Sandbox.create(**options)
    assert [] == Sandbox.list()


@pytest.mark.parametrize("words", [("sleep", 1), ("x" * 65_537,), ("x" * 65_536, "y")])
def test_words(words: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidError, match="words"):
        modal.Sandbox.create(*words)


def test_app_has_to_be_looked_up_or_run() -> None:
    app = modal.App("not-running")
    with pytest.raises(ValueError, match="not running"):
        modal.Sandbox.create(app=app)
    with app.run():
        assert app.app_id is not None
    assert app.app_id is None


def test_unknown_app() -> None:
    with pytest.raises(modal.exception.NotFoundError, match="create_if_missing"):
        modal.App.lookup("nobody-made-it")
    modal.App.lookup("somebody-made-it", create_if_missing=True)
    assert "ap-somebody-made-it" == modal.App.lookup("somebody-made-it").app_id


@pytest.mark.parametrize(
    "options",
    [
        {"cloud": "aws"},
        {"region": "eu-west"},
        {"_experimental_scheduler_placement": modal.SchedulerPlacement("eu-west")},
        {"proxy": object()},
        {"client": object()},
        {"environment_name": "dev"},
        {"custom_domain": "example.org"},
        {"inbound_cidr_allowlist": ["10.0.0.0/8"]},
        {"include_oidc_identity_token": True},
        {"runtime": "vm"},
        {"experimental_options": {"a": 1}},
        {"encrypted_ports": [8000]},
        {"h2_ports": [8000]},
        {"gpu": "H100"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_what_only_the_cloud_can_do_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        modal.Sandbox.create(**options)
    assert isinstance(caught.value, modal.exception.UnimplementedError)
    assert caught.value.reason
    assert caught.value.hint


def test_what_only_the_cloud_can_do_is_recorded(app: modal.App) -> None:
    modal.configure(strict=False)
    sandbox = modal.Sandbox.create(
        app=app, cloud="aws", region="eu", encrypted_ports=[8000], custom_domain="example.org"
    )
    assert ("encrypted_ports", "cloud=", "region=", "custom_domain=") == sandbox.ignored
    assert sandbox.tunnels()[8000].url.startswith("http://127.0.0.1:")
    with pytest.raises(modal.exception.UnimplementedError, match="certificates"):
        _ = sandbox.tunnels()[8000].tls_socket
    sandbox.terminate()


def test_encrypted_ports_are_encrypted_where_a_certificate_of_ours_will_do(app: modal.App) -> None:
    modal.configure(tls="self-signed")
    sandbox = modal.Sandbox.create(app=app, encrypted_ports=[8000], unencrypted_ports=[8001])
    tunnels = sandbox.tunnels()
    assert tunnels[8000].certificate
    assert tunnels[8000].tls_socket == (tunnels[8000].host, tunnels[8000].port)
    assert tunnels[8000].url.startswith("https://127.0.0.1:")
    with pytest.raises(modal.exception.InvalidError, match="without encryption"):
        _ = tunnels[8000].tcp_socket
    assert tunnels[8001].certificate is None
    assert () == sandbox.ignored
    sandbox.terminate()


def test_h2_ports_are_refused(app: modal.App) -> None:
    modal.configure(tls="self-signed")
    with pytest.raises(modal.exception.UnimplementedError, match="h2_ports"):
        modal.Sandbox.create(app=app, h2_ports=[8000])


@pytest.mark.filterwarnings("ignore:.*does not isolate")
def test_what_has_the_hosts_network_is_not_said_to_have_none() -> None:
    """And programs that have this machine's files begin in none of its folders."""
    modal.configure(backend="local", network="open")
    with pytest.raises(modal.exception.UnimplementedError, match="use the host's network") as no:
        modal.Sandbox.create(block_network=True)
    assert "bubblewrap" in str(no.value.hint)
    with pytest.raises(modal.exception.UnimplementedError, match="use the host's network"):
        modal.Sandbox.create(outbound_domain_allowlist=["example.com"])
    with pytest.raises(modal.exception.UnimplementedError, match="use the host's network"):
        modal.Sandbox.create(cidr_allowlist=[])
    sandbox = modal.Sandbox.create("sh", "-c", "pwd; ls -A")
    place, *files = sandbox.stdout.read().splitlines()
    assert place.endswith("/sandbox")
    assert files == []
    sandbox.terminate()


@pytest.mark.parametrize(
    ("cpu", "memory", "expected"),
    [
        (None, None, Limits()),
        (0.5, None, Limits(cpus_requested=0.5)),
        ((0.5, 2), None, Limits(cpus_requested=0.5, cpus=2)),
        (None, 256, Limits(memory_requested_bytes=256 * MIB)),
        (None, 4096, Limits(memory_requested_bytes=4096 * MIB, memory_bytes=4096 * MIB)),
        (None, (256, 512), Limits(memory_requested_bytes=256 * MIB, memory_bytes=512 * MIB)),
    ],
)
def test_requests_and_limits(cpu: Any, memory: Any, expected: Limits) -> None:
    assert expected == limits_of(cpu, memory)


def network(**given: Any) -> Any:
    usual = {"block": False, "cidrs": None, "outbound_cidrs": None, "domains": None}
    return network_of(**{**usual, "has_ports": False, **given})


def test_network() -> None:
    assert "internet" == network()
    assert "blocked" == network(block=True)
    assert NetworkRules.allow() == network(cidrs=[])
    assert NetworkRules.allow(cidrs=["10.0.0.0/8"]) == network(outbound_cidrs=["10.0.0.0/8"])
    assert NetworkRules.allow(domains=["a.org:443", "**.b.org:443", "**:443"]) == network(
        domains=["a.org", "*.b.org", "*"]
    )
    modal.configure(network="blocked")
    assert "blocked" == network()


def test_refusals_are_errors_of_both_libraries() -> None:
    with pytest.raises(ValidationError) as caught:
        modal.Sandbox.create(workdir="relative")
    assert "workdir" == caught.value.parameter
    with pytest.raises(SandboxError):
        modal.Proxy.from_name("mine")
    for refused in (modal.NetworkFileSystem.from_name, modal.CloudBucketMount):
        with pytest.raises(modal.exception.UnimplementedError):
            refused("mine")


def test_configure() -> None:
    with pytest.raises(InvalidError):
        modal.configure(strict="no")  # type: ignore[arg-type]
    with pytest.raises(modal.Error):
        modal.configure(backend="nowhere")
    before = modal.configure(backend="docker", strict=False)
    assert (None, True) == (before.backend, before.strict)
    assert "docker" == modal.configure(**vars(before)).backend


# --- secrets


def test_secret_of_a_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# a comment\nexport A=1\n\nB = 'two words' \nC=\"line\\nbreak\"\nD=bare # why\nE=a=b\n"
    )
    (tmp_path / "below").mkdir()
    secret = modal.Secret.from_dotenv(tmp_path / "below")
    expected = {"A": "1", "B": "two words", "C": "line\nbreak", "D": "bare", "E": "a=b"}
    assert expected == secret._variables()
    with pytest.raises(modal.exception.NotFoundError):
        modal.Secret.from_dotenv(tmp_path, filename=".no-such-file")


def test_line_that_is_none_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nhunter2\n")
    with pytest.raises(InvalidError, match="line 2") as caught:
        modal.Secret.from_dotenv(tmp_path)
    assert "hunter2" not in str(caught.value)


def test_secret_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_TESTS", "here")
    monkeypatch.delenv("NOT_OF_TESTS", raising=False)
    secret = modal.Secret.from_local_environ(["OF_TESTS"])
    assert {"OF_TESTS": "here"} == secret._variables()
    with pytest.raises(InvalidError, match="NOT_OF_TESTS"):
        modal.Secret.from_local_environ(["NOT_OF_TESTS"])


def test_secret_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from llm_sandbox.secrets import SecretStore

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    SecretStore().set("MY_TOKEN", "first")
    secret = modal.Secret.from_name("my-token")
    SecretStore().set("MY_TOKEN", "second")
    assert {"MY_TOKEN": "second"} == secret._variables()
    with pytest.raises(modal.exception.NotFoundError, match="OTHER"):
        modal.Secret.from_name("my-token", required_keys=["MY_TOKEN", "OTHER"])
    SecretStore().delete("MY_TOKEN")


# --- images where there are none


@pytest.mark.parametrize(
    "image",
    [
        modal.Image.debian_slim().pip_install("six"),
        modal.Image.debian_slim().apt_install("git"),
        modal.Image.debian_slim().run_commands("true"),
        modal.Image.from_registry("python:3.11-slim"),
        modal.Image.debian_slim(python_version="3.2"),
    ],
    ids=["pip", "apt", "run", "registry", "python"],
)
def test_no_images_on_bubblewrap(image: modal.Image) -> None:
    modal.configure(backend="bubblewrap")
    with pytest.raises(modal.exception.UnimplementedError) as caught:
        modal.Sandbox.create(image=image)
    assert "bubblewrap" == caught.value.backend
    assert caught.value.hint


def test_secret_of_a_build_is_refused() -> None:
    secret = modal.Secret.from_dict({"A": "b"})
    image = modal.Image.debian_slim()
    with pytest.raises(modal.exception.UnimplementedError):
        image.run_commands("true", secrets=[secret])
    with pytest.raises(modal.exception.UnimplementedError):
        image.pip_install("six", gpu="any")
    with pytest.raises(modal.exception.UnimplementedError):
        modal.Image.from_registry("python", add_python="3.12")
