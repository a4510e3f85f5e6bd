"""Code that would install libraries itself is told how they come, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import create_session
from llm_sandbox.guest.installers import refuse_installation
from llm_sandbox.packages.distribution_names import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.session.session import BaseSession


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as session:
        yield session


@pytest.mark.parametrize(
    "code",
    [
        "%pip install tabulate",
        "!pip install tabulate",
        "!python3 -m pip install -q tabulate && echo done",
        "said = !pip3 install tabulate",
        "%conda install tabulate",
        "!pip install --target . tabulate",
        "!pip install ./mine.whl tabulate",
        "!pip install -r ./requirements.txt",
        "!pip install https://example.com/mine-1-py3-none-any.whl",
    ],
)
def test_a_line_says_how(session: BaseSession, code: str) -> None:
    result = session.run(code)
    assert result.exit_code == 1
    assert result.error is not None
    assert "installed from inside" in result.error.value
    assert "\n" not in result.error.value
    assert any("libraries=" in note for note in result.notes)


def test_what_installs_nothing_is_left_alone(session: BaseSession) -> None:
    assert "pip" in session.run("%pip --version").stdout
    assert session.run("!echo pip install x").stdout.strip() == "pip install x"
    assert session.run("said = !echo one\nprint(said)").stdout.strip() == "['one']"
    assert session.run("n = 3\n!echo {n}").stdout.strip() == "3"


@pytest.mark.parametrize(
    "line",
    [
        *("pip list", "grep 'pip install' notes", "pipx install x", "pip install --help"),
        *("pip install .", "pip install -e ./mine", "pip install 'mine-1-py3-none-any.whl'"),
        *("pip install --no-index --find-links wheels mine", "pip install -t lib mine.whl"),
    ],
)
def test_other_lines_pass(line: str) -> None:
    refuse_installation(line)


def test_files_are_installed(session: BaseSession) -> None:
    """A wheel that is there needs no network."""
    made = session.run(
        "import zipfile\n"
        "with zipfile.ZipFile('mine-1-py3-none-any.whl', 'w') as wheel:\n"
        "    wheel.writestr('mine.py', 'answer = 42')\n"
        "    info = 'mine-1.dist-info'\n"
        "    words = 'Metadata-Version: 2.1\\nName: mine\\nVersion: 1'\n"
        "    wheel.writestr(f'{info}/METADATA', words)\n"
        "    tag = 'Root-Is-Purelib: true\\nTag: py3-none-any'\n"
        "    wheel.writestr(f'{info}/WHEEL', f'Wheel-Version: 1.0\\nGenerator: test\\n{tag}')\n"
        "    wheel.writestr(f'{info}/RECORD', '')\n"
    )
    assert made.error is None
    session.run("!pip install --target . mine-1-py3-none-any.whl")
    assert session.run("import mine; mine.answer").value == "42"


def test_a_module_of_another_name(session: BaseSession) -> None:
    notes = session.run("import cv2").notes
    assert any("opencv-python-headless" in note for note in notes)
    assert not any("is called" in note for note in session.run("import no_such_module").notes)
    assert "sklearn comes with scikit-learn" in str(suggest(["pandas", "sklearn"]))
    assert suggest(["pandas"]) is None
