"""Output of worker and child processes, complete."""

import pytest

from llm_sandbox import create_session

pytestmark = pytest.mark.slow

LINES = {f"w {number}" for number in range(40)}
MODULE = "open('work.py', 'w').write('def work(i): print(\"w\", i)\\n')\nimport work\n"


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python", backend="bubblewrap") as opened:
        opened.run(MODULE)
        yield opened


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pools_workers(session, method):
    for _ in range(3):
        result = session.run(
            f"import multiprocessing\ncontext = multiprocessing.get_context({method!r})\n"
            "with context.Pool(8) as pool: pool.map(work.work, range(40), chunksize=1)"
        )

        assert sorted(LINES) == sorted(result.stdout.splitlines()), result.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_that_are_joined(session, method):
    result = session.run(
        f"import multiprocessing\ncontext = multiprocessing.get_context({method!r})\n"
        "many = [context.Process(target=work.work, args=[i]) for i in range(40)]\n"
        "for each in many: each.start()\n"
        "for each in many: each.join()"
    )

    assert sorted(LINES) == sorted(result.stdout.splitlines()), result.stderr


def test_an_executor(session):
    result = session.run(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "with ProcessPoolExecutor(4) as pool: _ = list(pool.map(work.work, range(40)))"
    )

    assert sorted(LINES) == sorted(result.stdout.splitlines()), result.stderr


def test_forks_that_end_without_flushing(session):
    result = session.run(
        "import os\n"
        "for i in range(40):\n"
        "    if os.fork() == 0:\n"
        "        work.work(i)\n"
        "        os._exit(0)\n"
        "for i in range(40): _ = os.wait()"
    )

    assert sorted(LINES) == sorted(result.stdout.splitlines()), result.stderr


def test_a_fork_does_not_repeat_what_was_printed_before(session):
    result = session.run(
        "import os\nprint('once', end=' ')\n"
        "if os.fork() == 0:\n    print('child'); os._exit(0)\n"
        "_ = os.wait()"
    )

    assert sorted(result.stdout.split()) == ["child", "once"]


def test_a_log_handler_made_before_the_fork_writes_in_the_child(session):
    result = session.run(
        "import logging, os, sys\n"
        "logger = logging.Logger('own'); logger.addHandler(logging.StreamHandler(sys.stderr))\n"
        "if os.fork() == 0:\n    logger.error('child'); os._exit(0)\n"
        "_ = os.wait()"
    )

    assert "child\n" == result.stderr


def test_programs(session):
    result = session.run(
        "import subprocess, sys\n"
        "for i in range(5): _ = subprocess.run([sys.executable, '-c', f'print(\"w\", {i})'])"
    )

    assert "".join(f"w {number}\n" for number in range(5)) == result.stdout
