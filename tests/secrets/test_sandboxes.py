"""Secrets in sandboxes of each backend: what programs get, and where the values are not."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, Secret, UnsupportedError, ValidationError, create_session
from llm_sandbox.exceptions import CommandFailedError
from llm_sandbox.host.distribution import install_command
from llm_sandbox.network import NetworkRules
from tests.network.conftest import backend, gated, usable
from tests.secrets.conftest import NAME, VALUE, Site, bound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


__all__ = ["backend", "gated"]

FILE_VALUE = "file-8vNw40LbXc72RtYd95Zq81"
ENV_VALUE = "env-w40LbXc72RtYd95Zq81vN"
URLLIB = """
import os, sys, urllib.request
token = "Bearer " + os.environ["TOKEN"]
asked = urllib.request.Request(sys.argv[1], headers={"Authorization": token})
print(urllib.request.urlopen(asked, timeout=30).read().decode())
"""
LOOK = r"""
found=0
sleep 60 &
for one in /proc/[0-9]*; do
  for name in environ cmdline; do
    if tr '\0' '\n' < $one/$name 2>/dev/null | grep -q "$(printf %s "$1" | cut -c2-)"; then
      [ "$one" = "/proc/$$" ] || found=$((found+1))
    fi
  done
done
kill $!
echo $found
"""


def rules(site: Site) -> NetworkRules:
    """What allows the site by its name."""
    return NetworkRules.allow(hosts={NAME: "127.0.0.1"}, ports=[site.port])


@pytest.fixture
def sandbox(gated: str, site: Site, caplog: pytest.LogCaptureFixture) -> Iterator[Sandbox]:
    """A sandbox with a secret of each kind."""
    caplog.set_level(logging.DEBUG)
    secrets = [
        bound(f"{NAME}:{site.port}"),
        Secret("PASSWORD", FILE_VALUE, "file"),
        Secret("PLAIN", ENV_VALUE),
    ]
    with Sandbox.create(backend=gated, network=rules(site), secrets=secrets) as sandbox:
        yield sandbox


def test_programs_use_what_they_cannot_read(
    sandbox: Sandbox, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """Clients as they are find the certificates by the variables, and the host gets the value;
    inside there is a placeholder in its place, and the file is in no environment.
    """
    url = f"https://{NAME}:{site.port}/"
    done = sandbox.exec("python3", "-c", URLLIB, url).collect(timeout=60)
    assert done.exit_code == 0, done.stderr
    assert site.seen[0]["fields"]["Authorization"] == f"Bearer {VALUE}"
    assert VALUE not in done.stdout
    for client in ("curl", "node"):
        if sandbox.exec("sh", "-c", f"command -v {client}").collect().exit_code == 0:
            shell = f'curl -sS -H "Authorization: Bearer $TOKEN" {url}'
            fetch = (
                f"fetch('{url}', {{headers: {{Authorization: 'Bearer ' + process.env.TOKEN}}}})"
                ".then(r => r.text()).then(console.log)"
            )
            words = ("sh", "-c", shell) if client == "curl" else ("node", "-e", fetch)
            done = sandbox.exec(*words).collect(timeout=60)
            assert done.exit_code == 0, done.stderr
            assert site.seen[-1]["fields"]["Authorization"] == f"Bearer {VALUE}"
    inside = sandbox.exec("env").collect().stdout
    assert ENV_VALUE in inside
    assert VALUE not in inside
    assert FILE_VALUE not in inside
    shown = sandbox.exec("sh", "-c", 'stat -c "%a %u" $PASSWORD_FILE; cat $PASSWORD_FILE').collect()
    assert shown.stdout == f"400 65532\n{FILE_VALUE}"
    for value, is_found in ((VALUE, False), (FILE_VALUE, False), (ENV_VALUE, True)):
        # Without its first character, so that what looks is not what is found.
        looked = sandbox.exec("sh", "-c", LOOK, "sh", f"x{value[1:]}").collect().stdout
        assert (int(looked) > 0) == is_found, value
    assert all(value not in caplog.text for value in (VALUE, FILE_VALUE, ENV_VALUE))
    assert all(value not in repr(sandbox) for value in (VALUE, FILE_VALUE, ENV_VALUE))
    with pytest.raises(CommandFailedError) as caught:
        sandbox.check(
            "sh", "-c", "echo $PLAIN $MORE; cat $PASSWORD_FILE; exit 3", secrets={"MORE": VALUE}
        )
    told = str(caught.value) + json.dumps(caught.value.to_dict())
    assert all(value not in told for value in (VALUE, FILE_VALUE, ENV_VALUE))


def test_a_program_gets_secrets_of_its_own(sandbox: Sandbox) -> None:
    """Over those of the sandbox, for one run; two have files of the same name."""
    for number in ("1", "2"):
        more = [Secret("PLAIN", f"other-{number}"), Secret("KEY", f"key-{number}", "file")]
        done = sandbox.exec("sh", "-c", "echo $PLAIN; cat $KEY_FILE", secrets=more).collect()
        assert done.stdout == f"other-{number}\nkey-{number}"
    given = sandbox.exec("sh", "-c", "echo $A$B", secrets={"A": "a", "B": "b"}, env={"B": "c"})
    assert given.collect().stdout == "ac\n"
    assert sandbox.exec("sh", "-c", "echo $PLAIN").collect().stdout == f"{ENV_VALUE}\n"
    with pytest.raises(UnsupportedError, match="placeholder"):
        sandbox.exec("true", secrets=[bound(NAME)])


def test_archives_hold_no_file_of_a_secret(sandbox: Sandbox) -> None:
    """Not the working directory's; the negative control is a copy that a program made there. The
    directory where they lie is not saved.
    """
    with pytest.raises(ValidationError, match="memory"):
        sandbox.snapshot(kind="directory", path="/sandbox/../dev/shm/secrets")
    assert FILE_VALUE.encode() not in sandbox.files.archive()
    sandbox.exec("sh", "-c", "cat $PASSWORD_FILE > copy").collect()
    with tarfile.open(fileobj=io.BytesIO(sandbox.files.archive())) as archive:
        assert any(name.endswith("copy") for name in archive.getnames())


@pytest.mark.engine("docker", image="python")
def test_an_engine_knows_no_value(site: Site) -> None:
    """Neither its description of the container, its logs, this machine's process list, nor an
    image that is made of it.
    """
    import docker

    usable("docker")
    if os.geteuid() != 0:
        pytest.skip("only root can enter the network of a container")
    secrets = [
        bound(f"{NAME}:{site.port}"),
        Secret("PASSWORD", FILE_VALUE, "file"),
        Secret("PLAIN", ENV_VALUE),
    ]
    values = (VALUE, FILE_VALUE, ENV_VALUE)
    client = docker.from_env()
    image = None
    try:
        with Sandbox.create(backend="docker", network=rules(site), secrets=secrets) as sandbox:
            running = sandbox.exec("sleep", "60")
            container = client.containers.get(sandbox.id)
            listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True)
            # What programs write is in no log of the engine's.
            assert container.attrs["HostConfig"]["LogConfig"]["Type"] == "none"
            for text in (json.dumps(container.attrs), listed.stdout):
                assert not [value for value in values if value in text]
            running.kill()
            image = sandbox.snapshot()
        with Sandbox.create(backend="docker", image=image) as restored:
            look = "env; cat /dev/shm/secrets/*; cat /sandbox/* /tmp/*"
            found = restored.exec("sh", "-c", look).collect().stdout
            assert "PATH=" in found
            assert not [value for value in values if value in found]
        saved = json.dumps(client.images.get(image.ref).attrs)
        assert not [value for value in values if value in saved]
    finally:
        if image is not None:
            image.delete()
        client.close()


def test_a_kept_sandbox_has_them_and_its_record_has_not(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who attaches finds the same; nothing of it is on the disk."""
    usable("bubblewrap")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    secrets = [bound(f"{NAME}:{site.port}"), Secret("PASSWORD", FILE_VALUE, "file")]
    url = f"https://{NAME}:{site.port}/"
    network = rules(site)
    made = Sandbox.create(backend="bubblewrap", name="held", network=network, secrets=secrets)
    with made as sandbox:
        attached = Sandbox.attach(sandbox.id)
        done = attached.exec("python3", "-c", URLLIB, url).collect(timeout=60)
        assert done.exit_code == 0, done.stderr
        assert site.seen[0]["fields"]["Authorization"] == f"Bearer {VALUE}"
        assert attached.exec("sh", "-c", "cat $PASSWORD_FILE").collect().stdout == FILE_VALUE
        kept = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert kept
        for path in kept:
            data = path.read_bytes()
            assert VALUE.encode() not in data
            assert FILE_VALUE.encode() not in data
        attached.detach()


def test_an_interpreter_has_them(site: Site) -> None:
    """A session's code, too; what it tried in vain is in its result."""
    usable("bubblewrap")
    secrets = [bound(f"{NAME}:{site.port}"), Secret("PASSWORD", FILE_VALUE, "file")]
    with create_session(backend="bubblewrap", network=rules(site), secrets=secrets) as session:
        code = (
            "import os, urllib.request as u\n"
            "print(open(os.environ['PASSWORD_FILE']).read())\n"
            "fields = {'X-Key': os.environ['TOKEN']}\n"
            f"r = u.Request('https://{NAME}:{site.port}/', headers=fields)\n"
            "print(u.urlopen(r).status)\n"
            f"u.urlopen('http://{NAME}:{site.port}/')\n"
        )
        result = session.run(code)
        assert result.stdout == f"{FILE_VALUE}\n200\n"
        assert site.seen[0]["fields"]["X-Key"] == VALUE
        assert [event.reason for event in result.network] == ["secret_in_clear"]


def test_what_cannot_be_delivered_is_refused() -> None:
    """Before anything is made, and with what to write."""
    usable("bubblewrap")
    for network in ("blocked", "open"):
        with pytest.raises(ValidationError, match="gate") as caught:
            Sandbox.create(backend="bubblewrap", network=network, secrets=[bound(NAME)])  # type: ignore[arg-type]
        assert "NetworkRules.allow(domains=['api.test'])" in str(caught.value.hint)
    for secret in (bound(NAME), Secret("A", "value", "file")):
        with pytest.raises(UnsupportedError, match="secret"):
            Sandbox.create(backend="local", network="internet", secrets=[secret])
    for given in ([Secret("A", "1"), Secret("A", "2")], ["A"], "A=1", {"A-B": "1"}, {"A": 1}):
        with pytest.raises(ValidationError) as refused:
            Sandbox.create(backend="bubblewrap", secrets=given)  # type: ignore[arg-type]
        assert refused.value.parameter == "secrets"


def test_without_the_signing_library_the_extra_is_named() -> None:
    """A plain install says what to install; secrets that need nothing of it work."""
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from llm_sandbox import Sandbox, Secret\n"
        "try: Sandbox.create(backend='bubblewrap', network='internet', secrets=[Secret("
        "'A', 'value-of-it', 'placeholder', ['a.test'])])\n"
        "except Exception as error: print(type(error).__name__, error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"MissingDependencyError {install_command('egress')}\n", done.stderr
