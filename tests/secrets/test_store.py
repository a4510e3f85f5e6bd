"""The store of this machine's user, and its commands."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from llm_sandbox import Secret, SecurityError, ValidationError
from llm_sandbox.secrets import SecretStore, store_file
from tests.commands import invoke

VALUE = "sk-live-Zq81vNw40LbXc72RtYd95"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's store is."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Path(store_file())


def run(*words: str, given: str | None = None) -> tuple[int, str]:
    """Exit code and output of a command."""
    return invoke("secret", *words, given=given)


def test_commands_keep_show_and_forget(file: Path) -> None:
    """The value comes from standard input, and is shown by nothing."""
    assert run("list") == (0, "")
    code, said = run("set", "TOKEN", given=f"{VALUE}\n")
    assert (code, VALUE in said) == (0, False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert Secret.from_store("TOKEN").reveal() == VALUE
    run("set", "OTHER", given="other-value")
    code, said = run("list")
    assert [line.split("\t")[0] for line in said.splitlines()] == ["OTHER", "TOKEN"]
    assert VALUE not in said
    assert run("delete", "OTHER")[0] == 0
    assert run("delete", "OTHER")[0] == 125
    assert [one.name for one in SecretStore().list()] == ["TOKEN"]
    assert run("set", "NOT-A-NAME", given=VALUE)[0] == 2
    assert run("set", "TOKEN", given="")[0] == 2
    assert run("set", "TOKEN", VALUE)[0] == 2
    assert Secret.from_store("TOKEN").reveal() == VALUE
    assert sorted(path.name for path in file.parent.iterdir()) == ["secrets.json", "secrets.lock"]


def test_what_is_missing_is_named_with_what_to_type(file: Path) -> None:
    """The command that keeps it."""
    with pytest.raises(ValidationError, match=str(file)) as caught:
        Secret.from_store("TOKEN")
    assert caught.value.hint == "llm-sandbox secret set TOKEN"


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_may_read_is_refused(file: Path, which: str) -> None:
    """Until it is put right as the error says."""
    SecretStore().set("TOKEN", VALUE)
    place = file if which == "file" else file.parent
    place.chmod(0o640 if which == "file" else 0o750)
    for act in (lambda: Secret.from_store("TOKEN"), lambda: SecretStore().set("A", "b")):
        with pytest.raises(SecurityError) as caught:
            act()
        assert VALUE not in str(caught.value)
    subprocess.run(str(caught.value.hint).split(), check=True)
    assert Secret.from_store("TOKEN").reveal() == VALUE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_what_belongs_to_another_is_refused(file: Path) -> None:
    """Though its mode is right."""
    SecretStore().set("TOKEN", VALUE)
    os.chown(file, 65533, 65533)
    with pytest.raises(SecurityError, match="user 65533"):
        Secret.from_store("TOKEN")
    os.chown(file, 0, 0)
    os.chown(file.parent, 65533, 65533)
    with pytest.raises(SecurityError, match="user 65533"):
        Secret.from_store("TOKEN")


def test_links_are_not_followed(file: Path, tmp_path: Path) -> None:
    """Neither the file's nor the folder's."""
    SecretStore().set("TOKEN", VALUE)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    with pytest.raises(SecurityError):
        Secret.from_store("TOKEN")
    file.unlink()
    elsewhere.rename(file)
    moved = file.parent.rename(tmp_path / "moved")
    file.parent.symlink_to(moved)
    with pytest.raises(ValidationError, match="cannot be used"):
        Secret.from_store("TOKEN")


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"format": 1}', '{"format": 9, "secrets": {}}']
)
def test_another_file_is_not_overwritten(file: Path, content: str) -> None:
    """What is no store of this version stays as it is."""
    SecretStore().set("TOKEN", VALUE)
    file.write_text(content)
    with pytest.raises(ValidationError, match="format"):
        SecretStore().set("TOKEN", VALUE)
    assert file.read_text() == content


def test_several_processes_lose_nothing(file: Path) -> None:
    """Each change is made to what the others have written."""
    code = (
        "import sys; from llm_sandbox.secrets import SecretStore\n"
        "for n in range(20): SecretStore().set(f'{sys.argv[1]}{n}', 'value')\n"
    )
    words = [sys.executable, "-c", code]
    started = [subprocess.Popen([*words, name]) for name in ("A", "B", "C")]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert len(SecretStore().list()) == 60
    assert len(json.loads(file.read_text())["secrets"]) == 60
