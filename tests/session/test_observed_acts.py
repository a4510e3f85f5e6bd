"""Observed actions of a run in a real sandbox, by code that no scanner can read."""

import base64

import pytest

from llm_sandbox import create_session
from tests.session.observing import seen


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _a_new_interpreter(request):
    if "session" in request.fixturenames:
        request.getfixturevalue("session").restart()


ACTS = [
    ("import subprocess; subprocess.run(['echo', 'a b'])", "process.run", "echo a b"),
    ("import os; os.system('echo 1')", "process.run", "echo 1"),
    ("import os; os.popen('echo 2').read()", "process.run", "/bin/sh -c echo 2"),
    ("import os; os.posix_spawn('/bin/true', ['true', 'x'], {})", "process.run", "true x"),
    ("import pty; pty.spawn(['true'])", "process.run", "true"),
    ("!echo from a shell escape", "process.run", "echo from a shell escape"),
    ("x = !echo 3", "process.run", "/bin/sh -c echo 3"),
    (
        "import webbrowser as w; w.GenericBrowser('true').open('http://a.test/')",
        "process.run",
        "http://a.test/",
    ),
    ("import os\nif os.fork() == 0: os._exit(0)", "process.fork", ""),
    (
        "import multiprocessing as m; p = m.get_context('fork').Process(); p.start(); p.join()",
        "process.fork",
        "",
    ),
    ("import os; os.kill(999999, 0)", "process.signal", "signal 0 to 999999"),
    ("import os; os.killpg(999999, 0)", "process.signal", "signal 0 to 999999"),
    ("import socket; socket.create_connection(('127.0.0.1', 9))", "network.socket", "127.0.0.1:9"),
    ("import socket; socket.socket().bind(('127.0.0.1', 0))", "network.socket", "127.0.0.1:0"),
    (
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))",
        "network.socket",
        "127.0.0.1:9",
    ),
    (
        "import socket; socket.socket(type=2).sendmsg([b''], [], 0, ('127.0.0.1', 9))",
        "network.socket",
        "127.0.0.1:9",
    ),
    ("import socket; socket.gethostbyname('a.test')", "network.socket", "a.test"),
    (
        "import asyncio; await asyncio.open_connection('127.0.0.1', 9)",
        "network.socket",
        "127.0.0.1:9",
    ),
    (
        "import socket; socket.socket().connect(('169.254.169.254', 80))",
        "network.metadata",
        "169.254.169.254:80",
    ),
    (
        "import urllib.request as u; u.urlopen('http://127.0.0.1:9/x')",
        "network.web",
        "http://127.0.0.1:9/x",
    ),
    ("import http.client as h; h.HTTPConnection('127.0.0.1', 9).connect()", "network.web", None),
    ("import smtplib; smtplib.SMTP('127.0.0.1', 9)", "network.transfer", "127.0.0.1:9"),
    ("import ftplib; ftplib.FTP('127.0.0.1')", "network.transfer", "127.0.0.1:21"),
    ("import ctypes; ctypes.CDLL('libc.so.6')", "native", "libc.so.6"),
    ("import ctypes; ctypes.CDLL(None).getpid()", "native", "getpid"),
    ("import ctypes; ctypes.c_int.from_address(id(1))", "native", ""),
    ("import pickle, os; pickle.loads(b'cposix\\nsystem\\n.')", "deserialise", "posix.system"),
    (
        "import pandas as p, datetime as d; p.to_pickle(d.date.today(), 'd'); p.read_pickle('d')",
        "deserialise",
        "datetime.date",
    ),
    ("import gc; gc.get_objects()", "introspection", ""),
    ("open('/tmp/observed', 'w').close()", "file.write", "/tmp/observed"),
    ("open('../tmp/observed', 'a').close()", "file.write", "/tmp/observed"),
    ("import io; io.FileIO('/tmp/observed', 'w').close()", "file.write", "/tmp/observed"),
    (
        "import os; os.open(b'/tmp/observed', os.O_CREAT | os.O_WRONLY)",
        "file.write",
        "/tmp/observed",
    ),
    (
        "import os; os.chdir('/tmp'); open('observed', 'w').close()",
        "file.write",
        "/tmp/observed",
    ),
    (
        "import os; os.symlink('/tmp', 'link'); open('link/observed', 'w').close()",
        "file.write",
        "/tmp/observed",
    ),
    (
        "import os; os.system('ln -s /tmp other'); open('other/observed', 'w').close()",
        "file.write",
        "/tmp/observed",
    ),
    (
        "import pathlib; pathlib.Path('/tmp/observed').write_text('x')",
        "file.write",
        "/tmp/observed",
    ),
    ("import numpy as np; np.save('/tmp/observed.npy', [1])", "file.write", "/tmp/observed.npy"),
    (
        "import os; open('a', 'w').close(); os.rename('a', '/tmp/renamed')",
        "file.write",
        "/tmp/renamed",
    ),
    ("import sqlite3; sqlite3.connect('file:/tmp/db', uri=True)", "file.write", "/tmp/db"),
    ("import os; os.remove('/tmp/nothing')", "file.delete", "/tmp/nothing"),
    ("import shutil; shutil.rmtree('/tmp/nothing')", "file.delete", "/tmp/nothing"),
    (
        "import os; d = os.open('/tmp', 0); os.unlink('nothing', dir_fd=d)",
        "file.delete",
        "/tmp/nothing",
    ),
    ("import os; os.chmod('/tmp', 0o700)", "file.permission", "/tmp"),
    ("open('/etc/shadow')", "file.sensitive", "/etc/shadow"),
    ("open('//etc/../etc/shadow')", "file.sensitive", "/etc/shadow"),
    ("import os; os.chdir('/etc'); open('shadow')", "file.sensitive", "/etc/shadow"),
    ("open('/proc/self/environ')", "file.sensitive", "/proc/self/environ"),
    (
        "import os; open(os.path.expanduser('~/.ssh/id_rsa'))",
        "file.sensitive",
        "/sandbox/.ssh/id_rsa",
    ),
]


def hidden(code):
    """Code that reads other code from a file, tries it, and says nothing of what it does."""
    return (
        "import base64\n"
        f"open('text', 'w').write({base64.b64encode(code.encode()).decode()!r})\n"
        "try:\n"
        "    cell = base64.b64decode(open('text').read()).decode()\n"
        "    result = get_ipython().run_cell(cell, silent=True)\n"
        "except Exception: pass"
    )


@pytest.mark.parametrize(("code", "capability", "subject"), ACTS)
def test_an_act_is_observed_however_it_is_hidden(session, code, capability, subject):
    result = session.run(hidden(code))

    found = [o for o in result.observations if o.capability == capability]
    assert found, result
    assert subject is None or subject in {o.subject for o in found}


def test_a_module_that_the_code_wrote_is_the_codes_own(session):
    session.sandbox.files.write_text(
        "evil.py", "import ctypes, os\nctypes.CDLL(None)\nos.system('true')"
    )
    result = session.run("import evil")

    assert {("ctypes.dlopen", ""), ("os.system", "true")} <= seen(result)


def test_a_call_without_a_frame_of_the_code_is_the_codes_own(session):
    result = session.run(
        "import threading, ctypes\n"
        "thread = threading.Thread(target=ctypes.CDLL, args=('libm.so.6',))\n"
        "thread.start(); thread.join()"
    )

    assert ("ctypes.dlopen", "libm.so.6") in seen(result, "native")


# --- what is nothing

NOTHING = [
    "print(1)",
    "1 / 0",
    "if :",
    "import sys; sys.exit(3)",
    "[1, 2]",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('a')\nplt.show()",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.savefig('a.pdf'); plt.savefig('a.png')",
    "import plotly.express as px\npx.scatter(x=[1], y=[2])",
    "import altair as a, pandas as pd\na.Chart(pd.DataFrame({'a': [1]})).mark_bar().encode(x='a')",
    "from bokeh.plotting import figure, show\np = figure(); p.line([1], [2]); show(p)",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]}); df.to_csv('a.csv'); pd.read_csv('a.csv')",
    "import numpy as np\nnp.save('a.npy', np.zeros(3)); np.load('a.npy')",
    "import ctypes, subprocess, socket, pickle, multiprocessing, asyncio, http.server",
    "import asyncio\nasyncio.run(asyncio.sleep(0))",
    "import asyncio\nawait asyncio.sleep(0)",
    "open('a', 'w').write('x'); print(open('a').read()); open('./b', 'w').close()",
    "open('/sandbox/c', 'w').close(); open('/dev/null', 'w').close(); open('/proc/self/stat')",
    "import os; os.mkdir('d'); os.chmod('d', 0o700); os.rename('d', 'e'); os.rmdir('e')",
    "import os, shutil; os.makedirs('f/g'); open('f/g/h', 'w').close(); shutil.rmtree('f')",
    "import os; os.makedirs('i'); os.chdir('i'); open('k', 'w').close(); os.remove('k')",
    "import os; os.symlink('a', 'l'); open('l', 'w').close()",
    "import sqlite3; sqlite3.connect(':memory:'); sqlite3.connect('m.db')",
    "import tempfile; tempfile.gettempdir()",
    "import pickle; pickle.loads(pickle.dumps({'a': [1]}))",
    "eval('1 + 1'); exec('x = 1'); compile('x', 'f', 'exec')",
    "import threading\nt = threading.Thread(target=print); t.start(); t.join()",
    "import warnings; warnings.warn('x')",
    "%timeit -n 1 -r 1 1 + 1",
]


@pytest.mark.parametrize("code", NOTHING)
def test_ordinary_code_is_not_observed(session, code):
    assert session.run(code).observations == ()


def test_input_is_not_observed(session):
    assert session.run("print(input())", stdin="a\n").observations == ()


def test_what_the_kernel_does_for_the_host_is_not_observed(session):
    session.run(
        "import os\nclass Loud:\n"
        "    def __repr__(self): os.system('true'); return 'loud'\n"
        "thing = Loud()"
    )
    session.variables()

    assert session.run("1").observations == ()
    assert ("os.system", "true") in seen(session.run("thing"))


def test_an_installed_library_is_not_observed_at_its_native_work(session, tmp_path):
    # What stands where libraries are installed does what user code is told for.
    library = session.run("import numpy; print(numpy.__path__[0])").stdout.strip()
    code = (
        "import ctypes\nsource = 'import ctypes; ctypes.CDLL(None)'\n"
        "exec(compile(source, {file!r}, 'exec'))"
    )

    assert session.run(code.format(file=f"{library}/native.py")).observations == ()
    assert seen(session.run(code.format(file="/sandbox/native.py")), "native")
