"""A value is shown by nothing: no representation, copy, pickle or error of ours."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import pprint
import string
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox import Secret, UnsupportedError, ValidationError
from llm_sandbox.secrets import plan_secrets
from llm_sandbox.secrets.plan import make_placeholder
from llm_sandbox.session.config import SessionConfig

VALUE = "sk-proj-Zq81vNw40LbXc72RtYd95"


@dataclasses.dataclass
class Holder:
    """What somebody may keep a secret in."""

    secret: Secret


def test_nothing_shows_the_value() -> None:
    """Every way in which Python shows an object; `reveal` is the control."""
    secret = Secret("TOKEN", VALUE, "placeholder", ["api.test"])
    holder = Holder(secret)
    plan = plan_secrets([secret])
    shown = [repr(secret), str(secret), f"{secret} {secret!r} {secret!a}", str([secret])]
    shown += [repr(dataclasses.asdict(holder)), pprint.pformat([holder]), repr(vars(holder))]
    shown += [repr(plan), repr(plan.bindings), repr(copy.deepcopy(holder)), repr(copy.copy(secret))]
    shown += [repr(SessionConfig(secrets={"TOKEN": VALUE})), repr(hash(secret))]
    assert all(VALUE not in text for text in shown)
    assert not hasattr(secret, "__dict__")
    assert secret.reveal() == VALUE
    assert secret == Secret("TOKEN", VALUE, "placeholder", ["api.test"])
    assert secret != Secret("TOKEN", VALUE + "1", "placeholder", ["api.test"])


def test_nothing_takes_the_value_along() -> None:
    """It is neither pickled nor written as JSON; what is raised does not hold it."""
    secret = Secret("TOKEN", VALUE)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(UnsupportedError, match="pickling"):
            pickle.dumps(Holder(secret), protocol)
    with pytest.raises(TypeError) as caught:
        json.dumps({"secret": secret})
    assert VALUE not in str(caught.value)
    with pytest.raises(AttributeError):
        secret._value = "other"
    with pytest.raises(AttributeError):
        del secret._value
    with pytest.raises(TypeError):
        format(secret, ">10")


@pytest.mark.parametrize(
    "options",
    [
        {"value": f"{VALUE}\0"},
        {"value": f"{VALUE}\ud800"},
        {"value": f"{VALUE}{'x' * 70_000}"},
        {"value": f"{VALUE} b", "delivery": "placeholder", "hosts": ["a.test"]},
        {"value": f"{VALUE}\r\nX: y", "delivery": "placeholder", "hosts": ["a.test"]},
        {"value": f"{VALUE}é", "delivery": "placeholder", "hosts": ["a.test"]},
        {"value": "short", "delivery": "placeholder", "hosts": ["a.test"]},
        {"value": VALUE, "delivery": "placeholder"},
        {"value": VALUE, "hosts": ["a.test"]},
        {"value": VALUE, "path": "/dev/shm/a"},
        {"value": VALUE, "delivery": "file", "path": "/sandbox/a"},
        {"value": VALUE, "delivery": "file", "path": "/dev/shm/../a"},
        {"value": VALUE, "delivery": "file", "query": ["a"]},
        {"value": VALUE, "delivery": "proxy"},
        {"name": VALUE, "value": VALUE},
        {"name": "1A", "value": VALUE},
        {"name": "A=B", "value": VALUE},
        {"name": "Ä", "value": VALUE},
        {"value": 5},
        {"value": ""},
        *(
            {"value": VALUE, "delivery": "placeholder", "hosts": [host]}
            for host in (
                *(
                    "**",
                    "*.test",
                    "https://a.test",
                    "10.0.0.1",
                    "a.test:0",
                    "a.test/../b",
                    "",
                    "a b",
                ),
                *("a.test/x?y", "a*.test", "a.test//b"),
            )
        ),
    ],
)
def test_what_is_no_secret_is_refused(options: dict[str, Any]) -> None:
    """With an error that names the parameter, and does not hold the value."""
    with pytest.raises(ValidationError) as caught:
        Secret(**{"name": "TOKEN", **options})
    assert caught.value.parameter is not None
    told = "".join(traceback.format_exception(caught.value)) + json.dumps(caught.value.to_dict())
    # The tests' own line is in a traceback, which holds no values.
    assert VALUE not in told


def test_hosts_have_one_spelling() -> None:
    """The port is TLS's own unless given, and all paths are meant."""
    secret = Secret(
        "A", VALUE, "placeholder", ["API.test", "*.b.test:8443", "c.test/v1/", "api.test."]
    )
    assert secret.hosts == ("api.test:443/", "*.b.test:8443/", "c.test:443/v1/")


def test_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this process; one that is missing is said to be, with what to type."""
    monkeypatch.setenv("TOKEN", VALUE)
    assert Secret.from_env("TOKEN", "file").reveal() == VALUE
    monkeypatch.delenv("TOKEN")
    with pytest.raises(ValidationError, match="no variable TOKEN") as caught:
        Secret.from_env("TOKEN")
    assert "export TOKEN" in str(caught.value.hint)


@given(st.text(string.ascii_letters + string.digits + "-_.~+/=", min_size=8, max_size=200))
def test_placeholders_look_alike_and_say_nothing(value: str) -> None:
    """Two are never the same, and none is the value."""
    one, two = make_placeholder(value), make_placeholder(value)
    assert len({one, two, value}) == 3
    assert one.isascii()
    assert one.isprintable()
    if not one.startswith("PLACEHOLDER"):
        assert len(one) == len(value)


def test_placeholders_keep_the_kind_of_a_key() -> None:
    """Clients that look at how a key begins, or at its length, take it."""
    for value, kept in ((VALUE, "sk-proj-"), ("ghp_" + "aB3" * 12, "ghp_")):
        made = make_placeholder(value)
        assert made.startswith(kept)
        assert len(made) == len(value)
        assert made.removeprefix(kept) != value.removeprefix(kept)
    assert make_placeholder("hunter2hunter2").startswith("PLACEHOLDER")
