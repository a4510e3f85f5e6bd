"""Files that a run leaves behind to do harm when they are collected: nothing of the host is read or
written, the result comes in time, and what is there is named.

Each attack has a control beside it, which shows that it would work on who reads naively.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COLLECTED_S = 12.0
"""Longer than a collection may take, whatever is in the way."""


def phase(result: Any) -> float:
    return float(result.usage.phases["collect"])


def inside(session: Any, code: str, timeout: float = 20) -> Any:
    """What a program of its own prints as JSON: the naive reader of each control."""
    result = session.sandbox.exec("python3", "-c", code, timeout=timeout).collect()
    assert result.exit_code == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def untouched(guarded: Callable[[], dict[str, str]]) -> Iterator[None]:
    """Files of the host are the same after every attack."""
    before = guarded()
    yield
    assert guarded() == before


def test_a_sparse_giant_is_named(session: Any) -> None:
    """A PNG of 1 TiB is listed as one, without content, in no time."""
    result = session.run(
        "f = open('giant.png', 'wb'); f.write(b'\\x89PNG\\r\\n\\x1a\\n'); f.truncate(1 << 37)"
    )
    # One file may not be so large; without that, only the file system has a limit.
    assert result.error is not None
    with create_session("bubblewrap", limits=Limits(file_size_bytes=2**62)) as free:
        result = free.run(
            "f = open('giant.png', 'wb'); f.write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(20)); "
            "f.truncate(1 << 40); f.close()"
        )
        assert result.error is None, result.stderr
        item = result.artifact("giant.png")
        assert (item.mime, item.size, item.content) == ("image/png", 1 << 40, None)
        assert "stored" in item.note
        assert phase(result) < 3
        said = inside(free, "import os; print(os.stat('giant.png').st_size)")
        assert said == 1 << 40, "a reader that believes the size would read a TiB"


def test_links_to_the_host_are_named(session: Any, tmp_path: Path) -> None:
    """Links to files and folders, of the sandbox and of the host, come as links."""
    secret = tmp_path / "secret.txt"
    secret.write_text("canary")
    targets = {"users": "/etc/passwd", "etc": "/etc", "host": str(secret), "up": "..", "own": "own"}
    lines = "\n".join(f"os.symlink({t!r}, {n!r})" for n, t in targets.items())
    result = session.run(f"import os\n{lines}\nopen('good.txt', 'w').write('good')")
    links = {item.paths[0]: item for item in result.files if item.type == "link"}
    assert {name: item.summary for name, item in links.items()} == {
        name: f"-> {target}" for name, target in targets.items()
    }
    assert all(item.content is None for item in links.values())
    assert [item.paths for item in result.files if item.content is not None] == [("good.txt",)]
    said = inside(session, "import json; print(json.dumps(open('users').read()))")
    assert "root" in said, "a reader that follows links reads another file"
    assert "canary" not in result.to_json()


SWAP = """
import os, threading
os.makedirs('d', exist_ok=True)
text = open('/etc/passwd').read()
def swap():
    n = 0
    while True:
        n += 1
        for name in ('f', 'd/f'):
            open(f'new{n}', 'w').write('mine' * 10)
            os.rename(f'new{n}', name)
            os.symlink('/etc/passwd', f'new{n}')
            os.rename(f'new{n}', name)
        os.rename('d', 'aside'); os.symlink('/etc', 'd')
        os.remove('d'); os.rename('aside', 'd')
threading.Thread(target=swap, daemon=True).start()
"""

NAIVE = """
import json, time
seen, until = set(), time.monotonic() + 10
while time.monotonic() < until and len(seen) < 2:
    try: seen.add('root' in open('f').read())
    except OSError: pass
print(json.dumps(sorted(seen)))
"""


def test_links_that_are_swapped_in_are_not_followed(session: Any) -> None:
    """While a thread swaps files and folders with links, no content is that of another file."""
    session.run(SWAP)
    kept, noted = 0, 0
    for number in range(40):
        result = session.run(f"open('own{number}', 'w').write('{number}')")
        assert result.artifact(f"own{number}").read_text() == str(number)
        for item in result.files:
            if item.content is not None and item.paths[0].endswith("f"):
                assert set(item.read_text()) <= set("mine"), item
                kept += 1
            noted += item.content is None
    assert noted
    assert inside(session, NAIVE) == [False, True], "a reader that follows links is fooled"


def test_a_hundred_thousand_files_take_bounded_time(tmp_path: Path) -> None:
    """The result comes within seconds, lists a part, and counts or admits the rest."""
    with create_session("bubblewrap", limits=Limits(inodes=200_000)) as session:
        result = session.run(
            "import os\nos.mkdir('many')\n"
            "for n in range(100_000): os.close(os.open(f'many/{n}', os.O_CREAT))\n"
            "open('top.txt', 'w').write('top')",
            timeout=100,
        )
        assert result.error is None
        assert phase(result) < COLLECTED_S
        assert result.artifact("top.txt").read_text() == "top"
        assert len(result.files) <= 1_000
        assert any("more files were created" in note for note in result.notes)
        assert any("than were looked at" in note for note in result.notes)
        said = inside(session, "import os; print(len(os.listdir('many')))", 60)
        assert said == 100_000
        later = session.run("open('later.txt', 'w').write('x')")
        assert [item.paths for item in later.files] == [("later.txt",)]
        assert phase(later) < COLLECTED_S


def test_pipes_sockets_and_terminals_are_never_opened(session: Any) -> None:
    """What would block or answer is named by its kind."""
    result = session.run(
        "import os, socket\n"
        "os.mkfifo('pipe.png')\n"
        "socket.socket(socket.AF_UNIX).bind('socket.csv')\n"
        "os.symlink('/dev/zero', 'zero')\n"
        "try: os.mknod('device', 0o60666, os.makedev(7, 0)); print('made')\n"
        "except PermissionError: print('refused')\n"
    )
    kinds = {item.paths[0]: item.mime for item in result.files}
    assert kinds.pop("device", None) == ("inode/x-device" if "made" in result.stdout else None)
    assert kinds == {
        "pipe.png": "inode/fifo",
        "socket.csv": "inode/socket",
        "zero": "inode/symlink",
    }
    assert phase(result) < 2
    stuck = session.sandbox.exec("cat", "pipe.png", timeout=1).collect()
    assert stuck.timed_out, "a reader that opens the pipe waits for ever"


NAMES = r"""
names = [b'new\nline', b'esc\x1b[2Jape', b'\xff\xfe', b'\xe2\x80\xaegnp.exe', b'x' * 255, b'-rf',
         b'a..b', b'...', b'..png', b' ', b'$(id)', b'`id`', b'"quotes\'', b'*', b'~',
         b'\xed\xa0\x80', b'..\\..\\x', b'%2e%2e%2fx', b'C:']
"""


def test_odd_names_come_as_they_are(session: Any, tmp_path: Path) -> None:
    """Every name that a file system can hold is listed, is JSON, and is no path of the host."""
    result = session.run(f"{NAMES}\nfor name in names: open(name, 'wb').write(name)")
    assert result.error is None
    found = {os.fsencode(item.paths[0]) for item in result.files}
    assert found == set(eval(NAMES.partition("=")[2]))
    for item in result.files:
        assert item.bytes() == os.fsencode(item.paths[0])
        assert "\x1b" not in item.describe()
        assert "\n" not in item.describe()
        item.save(tmp_path / "saved")
    assert [path.name.partition(".")[0] for path in tmp_path.iterdir()] == ["saved"] * len(
        list(tmp_path.iterdir())
    )
    back = type(result).from_json(result.to_json())
    assert {item.paths for item in back.files} == {item.paths for item in result.files}


def test_deep_folders_end_somewhere(session: Any) -> None:
    """A thousand folders in each other are one entry, and what lies beside them comes."""
    result = session.run(
        "import os\nopen('top.txt', 'w').write('x')\n"
        "for n in range(1000): os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').write('x')\n"
        "os.chdir('/sandbox')"
    )
    assert [item.mime for item in result.files] == ["text/plain", "inode/directory"]
    assert phase(result) < 3
    deep = session.sandbox.sh("find . -type d | wc -l").collect()
    assert int(deep.stdout) > 1000, "a reader that goes on goes deep"


def test_a_hard_link_is_a_file_of_the_sandbox(session: Any, tmp_path: Path) -> None:
    """A second name of a file inside has its content; a file of the system gets none."""
    result = session.run(
        "import os\nopen('a', 'w').write('x'); os.link('a', 'b')\nerrors = []\n"
        "for path in ('/etc/passwd', '/usr/bin/env'):\n"
        "    try: os.link(path, 'stolen')\n"
        "    except OSError as error: errors.append(error)\n"
        "len(errors)"
    )
    assert result.value == "2"
    assert [item.paths for item in result.files] == [("a", "b")]


def test_unreadable_things_are_named(session: Any) -> None:
    """Files and folders without any permission are listed with a note; the others come."""
    result = session.run(
        "import os\nos.mkdir('sealed')\n"
        "for n in ('sealed/in', 'file', 'open'): open(n, 'w').write('x')\n"
        "os.chmod('sealed', 0); os.chmod('file', 0)"
    )
    facts = {item.paths[0]: (item.content is not None, item.note) for item in result.files}
    assert facts["open"] == (True, "")
    assert facts["file"] == (False, "the sandbox's user may not read it")
    assert facts["sealed"][0] is False
    assert "unreadable" in facts["sealed"][1]


def test_a_file_that_grows_does_not_hold_the_result_up(session: Any) -> None:
    """Files that are written to without end come with a part, or not at all, within the limits."""
    session.run(
        "import threading\n"
        "def grow():\n"
        "    file = open('growing.log', 'wb', buffering=0)\n"
        "    while True:\n"
        "        for _ in range(1500): file.write(b'x' * 65536)\n"
        "        file.seek(0); file.truncate()\n"
        "threading.Thread(target=grow, daemon=True).start()"
    )
    seen = set()
    for _ in range(15):
        result = session.run("import time; time.sleep(0.02)")
        assert phase(result) < COLLECTED_S
        for item in result.files:
            size = 0 if item.content is None else item.content.size
            assert size <= 32 << 20
            seen.add((item.content is None, bool(item.note)))
    assert (True, True) in seen or (False, True) in seen


def test_killing_it_again_and_again_ends_as_well(session: Any) -> None:
    """While a thread kills every process it sees, each result comes, with files or a note."""
    session.run(
        "import os, signal, threading\n"
        "def kill():\n"
        "    while True:\n"
        "        for entry in os.listdir('/proc'):\n"
        "            if entry.isdigit() and int(entry) not in (1, os.getpid()):\n"
        "                try: os.kill(int(entry), signal.SIGKILL)\n"
        "                except OSError: pass\n"
        "threading.Thread(target=kill, daemon=True).start()"
    )
    for number in range(5):
        result = session.run(f"open('f{number}', 'w').write('x'); print('ran')")
        assert result.stdout == "ran\n"
        assert result.files or result.notes
        assert phase(result) < COLLECTED_S


def test_a_full_machine_still_says_what_it_can(attempt: Callable[..., Any]) -> None:
    """With every process and file taken, the result comes with what was written."""
    limits = Limits(processes=20, inodes=500, artifacts=500)
    with create_session("bubblewrap", limits=limits) as session:
        result = attempt(
            session,
            "import os, time\nopen('first.txt', 'w').write('x')\n"
            "try:\n    for n in range(1000): open(f'f{n}', 'w').close()\nexcept OSError: pass\n"
            "while True:\n    try:\n        if os.fork() == 0: time.sleep(60)\n"
            "    except OSError: time.sleep(0.01)\n",
            timeout=1.0,
        )
        assert result.timed_out
        assert result.artifact("first.txt").read_text() == "x"


def test_the_working_directory_itself_is_sealed(session: Any) -> None:
    """Without the right to read it, a note says so, and the next run is as ever."""
    result = session.run("import os; open('f', 'w').write('x'); os.chmod('/sandbox', 0)")
    assert result.error is None
    assert result.files == ()
    assert any("could not be listed" in note for note in result.notes)
    result = session.run("import os; os.chmod('/sandbox', 0o755); open('g', 'w').write('x')")
    assert result.error is None
