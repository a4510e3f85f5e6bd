"""Control groups are removed while others remove theirs."""

import contextlib
import threading
from pathlib import Path

import pytest

from llm_sandbox.backends.hardening.cleanup import remove_group

ROUNDS, MEMBERS = 20, 30


def test_a_group_goes_though_its_members_are_being_removed(tmp_path: Path) -> None:
    """What somebody else has just removed is no reason to leave the rest."""
    for number in range(ROUNDS):
        group = tmp_path / str(number)
        members = [group / f"machine{one}" for one in range(MEMBERS)]
        for member in members:
            member.mkdir(parents=True)

        def remove(members: list[Path] = members) -> None:
            for member in members:
                with contextlib.suppress(OSError):
                    member.rmdir()

        other = threading.Thread(target=remove)
        other.start()
        assert remove_group(str(group), wait_s=5)
        other.join()
        assert not group.exists()


@pytest.mark.parametrize("wait_s", [0, 0.05])
def test_a_group_that_is_in_use_stays(tmp_path: Path, wait_s: float) -> None:
    """A file stands for the processes that the kernel would not let go."""
    (tmp_path / "group" / "machine").mkdir(parents=True)
    (tmp_path / "group" / "machine" / "process").touch()
    assert not remove_group(str(tmp_path / "group"), wait_s)
    assert (tmp_path / "group").exists()


def test_a_group_that_is_not_there_is_removed(tmp_path: Path) -> None:
    assert remove_group(str(tmp_path / "none"), wait_s=0)
