"""Variables of a session, in a real sandbox: what there is, in, out, and tables as files."""

import io

import numpy as np
import pandas as pd
import pytest

from llm_sandbox import create_session
from llm_sandbox.exceptions import (
    KernelError,
    ProtocolError,
    TableGoneError,
    ValidationError,
    ValueNotTransferableError,
    ValueTooLargeError,
    VariableNotFoundError,
)
from llm_sandbox.session.variables import Variable, Variables


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python") as opened:
        yield opened


@pytest.fixture(scope="module")
def variables(session):
    return Variables(session._call)


def test_what_the_code_named_is_listed(session):
    session.restart()
    session.run("import numpy as np\nimport pandas as pd, os\nfrom math import pi as _hidden")
    session.run("text = 'ab'\ndef f(): pass\nclass C: pass\nthing = C()\n")
    session.run(
        "table = pd.DataFrame({'a': [1, 2]})\narray = np.zeros((2, 3))\n1 + 1\nmany = [text] * 99"
    )
    found = {variable.name: variable for variable in session.variables()}
    assert ["text", "thing", "table", "array", "many"] == list(found)
    assert Variable("text", "str", "value", (2,), found["text"].size, "'ab'") == found["text"]
    assert ("__main__.C", None, "<__main__.C object>") == (
        found["thing"].type,
        found["thing"].shape,
        found["thing"].preview,
    )
    assert ("pandas.DataFrame", (2, 1)) == (found["table"].type, found["table"].shape)
    assert ("numpy.ndarray", (2, 3), 48) == (
        found["array"].type,
        found["array"].shape,
        found["array"].size,
    )
    assert "2 rows x 1 columns: a" == found["table"].preview
    assert all(len(variable.preview) <= 200 for variable in found.values())


def test_all_names_are_listed_when_they_are_asked_for(session, variables):
    session.restart()
    session.run("import os\ndef f(): pass\nclass C: pass\n_x = 1\nlen = len\n2")
    found = {variable.name: variable.kind for variable in variables.variables(all=True)}
    assert {
        "os": "module",
        "f": "function",
        "C": "class",
        "_x": "value",
        "len": "function",
    } == found


def test_classes_that_do_harm_when_they_are_looked_at_are_not_looked_at(session):
    session.restart()
    session.run("""
class Harm:
    def __getattribute__(self, name): raise SystemExit
    __repr__ = __str__ = __len__ = __sizeof__ = __getattribute__
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit
class Odd(metaclass=Meta): pass
harm, odd, nested = Harm(), Odd(), [Harm()]
huge = {n: [n] * 10 for n in range(10**5)}
number = 10 ** 100_000
""")
    found = {variable.name: variable.preview for variable in session.variables()}
    assert "<__main__.Harm object>" == found["harm"]
    assert "[<__main__.Harm object>]" == found["nested"]
    assert found["huge"].startswith("{0: [0, 0, 0")
    assert "<int of 332193 bits>" == found["number"]
    assert "odd" in found


def test_values_go_in_and_come_out(session):
    value = {"a": [1, None, 2.5], "f": pd.DataFrame({"x": [1, 2]}), "n": np.arange(3)}
    session.set("value", value)
    result = session.run(
        "value['f']['x'] += 1\nvalue['a'].append((b'x', {1}))\nprint(type(value['n']))"
    )
    assert "<class 'numpy.ndarray'>\n" == result.stdout
    found = session.get("value")
    assert [1, None, 2.5, (b"x", {1})] == found["a"]
    assert [2, 3] == found["f"]["x"].tolist()
    assert [1, None, 2.5] == value["a"], "what was put in is a copy"


def test_a_large_array_goes_both_ways(session):
    array = np.arange(2_000_000)
    session.set("array", array)
    assert "1999999000000\n" == session.run("print(array.sum())").stdout
    assert np.array_equal(array, session.get("array"))


def test_what_cannot_come_out_is_named(session):
    session.run(
        "class C: pass\nbad = {'a': [0, C()]}\nimport numpy\nlarge = numpy.zeros(20_000_000)"
    )
    with pytest.raises(ValueNotTransferableError, match=r"__main__\.C") as caught:
        session.get("bad")
    assert "bad['a'][1]" == caught.value.path
    with pytest.raises(ValueTooLargeError, match="'large' takes more than"):
        session.get("large")
    with pytest.raises(VariableNotFoundError, match="'nothing'"):
        session.get("nothing")
    assert "still here\n" == session.run("print('still here')").stdout


@pytest.mark.parametrize("name", ["", "a b", "1a", "class", "a.b", None, "a;b"])
def test_a_name_is_an_identifier(session, name):
    with pytest.raises(ValidationError):
        session.get(name)
    with pytest.raises(ValidationError):
        session.set(name, 1)


def test_a_name_is_read_as_python_reads_it(session):
    session.run("ﬁve = 5")
    assert 5 == session.get("five") == session.get("ﬁve")


def test_a_table_is_fetched_whole(session):
    code = "import pandas as pd\ntable = pd.DataFrame({'a': range(1000), ('b', 1): 'x,y'})"
    (table,) = session.run(code + "\ntable.index.name = None\ntable").tables
    frame = pd.read_csv(io.BytesIO(session.fetch_table(table)))
    assert ["a", "b / 1"] == list(frame.columns)
    assert (1000, 2) == frame.shape
    parquet = session.fetch_table(session.history[-1].result.artifacts[0], "parquet")
    pd.testing.assert_frame_equal(frame, pd.read_parquet(io.BytesIO(parquet)))


def test_a_table_is_fetched_in_pieces(session, variables, monkeypatch):
    code = "import pandas as pd, shim.exports\nshim.exports.PIECE = 1000\n"
    (table,) = session.run(code + "table = pd.DataFrame({'a': range(1000)})\ntable").tables
    pieces = list(variables.iter_table(table))
    assert "a\n" + "".join(f"{n}\n" for n in range(1000)) == b"".join(pieces).decode()
    assert 4 == len(pieces)
    session.restart()


def test_a_table_over_its_limit_is_refused(session, variables):
    (table,) = session.run("import pandas as pd\nt = pd.DataFrame({'a': range(1000)})\nt").tables
    with pytest.raises(ValueTooLargeError, match="1,000 bytes as csv"):
        variables.fetch_table(table, max_bytes=1000)
    with pytest.raises(ValueTooLargeError):
        variables.fetch_table(table, "parquet", max_bytes=100)


def test_a_table_that_cannot_be_written_says_so(session):
    code = "import pandas as pd\nt = pd.DataFrame({'a': [1, 'x', object()]})\nt"
    (table,) = session.run(code).tables
    with pytest.raises(ValueNotTransferableError, match="cannot be written as parquet"):
        session.fetch_table(table, "parquet")


def test_a_table_that_is_gone_says_so(session):
    (table,) = session.run("import pandas as pd\ndisplay(pd.DataFrame({'a': [1]}))").tables
    session.run("import gc; gc.collect()")
    with pytest.raises(TableGoneError, match="released"):
        session.fetch_table(table)
    session.restart()
    with pytest.raises(VariableNotFoundError):
        session.fetch_table(table)


def test_what_is_no_table_is_refused(session, variables):
    for wrong in (None, "table-1", session.run("1").artifacts):
        with pytest.raises(ValidationError):
            session.fetch_table(wrong)
    (table,) = session.run("import pandas as pd\nt = pd.DataFrame({'a': [1]})\nt").tables
    with pytest.raises(ValidationError):
        session.fetch_table(table, "xlsx")


LIES = [
    ({}, []),
    ({"variables": 3}, []),
    ({"error": {"name": "X", "value": "\x1b[31m"}}, []),
    ({"error": 3}, []),
    ({"failure": 3}, []),
    ({"failure": {"kind": ["x"], "message": 3, "limit": "y", "path": 4}}, []),
    ({"failure": {"kind": "missing", "library": "\x1b]0;x\x07"}}, []),
    ({"export": 1, "size": -1}, [memoryview(b"x")]),
    ({"export": 1, "size": 2**80}, [memoryview(b"x")]),
    ({"export": 1, "size": 100}, [memoryview(b"")]),
    ({"export": 1, "size": 1}, [memoryview(b"abc")]),
    ({"size": True}, []),
]


@pytest.mark.parametrize("answer", LIES, ids=lambda answer: str(answer)[:40])
def test_an_answer_that_lies_is_a_typed_error(answer):
    """Whatever the inside answers, no caller gets anything but errors of this library."""
    liar = Variables(lambda service, arguments, buffers=(): answer)
    table = type("T", (), {"handle": "h"})()
    expected = (KernelError, ProtocolError, ValueNotTransferableError)
    for ask in (lambda: liar.get("a"), lambda: liar.fetch_table(table)):
        with pytest.raises(expected) as caught:
            ask()
        assert "\x1b" not in str(caught.value)


def test_a_list_that_lies_is_cut():
    hostile = {
        "name": "\x1b[2Ja",
        "type": 3,
        "kind": "x",
        "shape": [-1],
        "size": 2.5,
        "preview": [],
    }
    entries = [hostile, None, {"shape": [1] * 1000, "preview": "x" * 10**6}] * 1000
    liar = Variables(lambda service, arguments, buffers=(): ({"variables": entries}, []))
    found = liar.variables()
    assert 1000 == len(found)
    assert Variable("a", "", "value", None, None, "") == found[0]
    assert len(found[2].preview) <= 300
