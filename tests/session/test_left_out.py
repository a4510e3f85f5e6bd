"""Notes of a result that count what the limits left out."""

import pytest

from llm_sandbox import Limits, create_session

LIMITS = Limits(output_bytes=1000, displays=3, display_bytes=100_000, artifact_bytes=1000)
CASES = {
    "stdout": ("print('x' * 2999)", "2,000 bytes of stdout were left out"),
    "stderr": ("import sys\nsys.stderr.write('x' * 1500);", "500 bytes of stderr were left out"),
    "displays": ("for n in range(8):\n    display(n)", "5 displays were left out"),
    "large display": (
        "from IPython.display import Markdown\ndisplay(Markdown('x' * 200_000))",
        "1 display was left out",
    ),
    "files": (
        "for n in range(2):\n    open(f'{n}.bin', 'wb').write(b'x' * 2000)",
        "2 files were listed without content",
    ),
}


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python", limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_out_is_counted(session, name):
    code, words = CASES[name]
    result = session.run(code)
    assert [words] == [words for note in result.notes if note.startswith(words)]


def test_nothing_is_said_where_nothing_is_left_out(session):
    assert () == session.run("print('x' * 999)\ndisplay(1)").notes


@pytest.mark.parametrize("count", [150, 250])
def test_observations_that_are_not_listed_are_told_of(count):
    """As many as are kept may be all; more are never listed without a word."""
    with create_session(lang="python") as session:
        result = session.run(f"import os\nfor n in range({count}): os.system(f'true {{n}}')")
    told = any("observations are listed" in note for note in result.notes)
    assert told == (count > 200)
    assert len(result.observations) == min(count, 200)
