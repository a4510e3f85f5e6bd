"""Policies from files: what they mean, and how mistakes in them are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.findings import Capability
from llm_sandbox.security.models import SecurityIssueSeverity, SecurityPolicy
from llm_sandbox.security.policy_file import load_policy
from llm_sandbox.security.presets import get_security_policy

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
preset = "production"
name = "team"
severity_threshold = "High"
enforcement = "advise"
on_parse_error = "block"
refusal = "result"
allow = ["os.remove", "environment"]

[capabilities]
"network.web" = "high"
"file.delete" = "safe"

[[patterns]]
pattern = "xmrig"
description = "mines"
severity = "high"
target = "strings"
ignore_case = true

[[restricted_modules]]
name = "os"
description = "the system"
severity = "low"
"""


def written(tmp_path: Path, text: str, name: str = "p.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_full(tmp_path: Path) -> None:
    """A preset's grades are changed one by one, its lists are added to, the rest is replaced."""
    policy = load_policy(written(tmp_path, FULL))
    base = get_security_policy("production")
    assert ("team", SecurityIssueSeverity.HIGH) == (policy.name, policy.severity_threshold)
    assert ("advise", "block", "result") == (
        policy.enforcement,
        policy.on_parse_error,
        policy.refusal,
    )
    assert ["os.remove", "environment"] == policy.allow[-2:]
    changed = {
        Capability.NETWORK_WEB: SecurityIssueSeverity.HIGH,
        Capability.FILE_DELETE: SecurityIssueSeverity.SAFE,
    }
    assert base.capabilities | changed == policy.capabilities
    assert base.capabilities != policy.capabilities
    assert policy.patterns is not None
    assert policy.restricted_modules is not None
    pattern, module = policy.patterns[-1], policy.restricted_modules[-1]
    assert ("xmrig", "strings", True) == (pattern.pattern, pattern.target, pattern.ignore_case)
    assert ("os", SecurityIssueSeverity.LOW) == (module.name, module.severity)
    assert get_security_policy("production") == base


def test_small(tmp_path: Path) -> None:
    """What is not named has its default; the file's own name is the policy's."""
    assert SecurityPolicy(name="team rules") == load_policy(
        written(tmp_path, "", "team rules.TOML")
    )
    strict = load_policy(str(written(tmp_path, 'preset = "strict"')))
    assert "p" == strict.name
    assert get_security_policy("strict").capabilities == strict.capabilities


def test_json(tmp_path: Path) -> None:
    """JSON says the same, with or without a byte order mark, also as a policy writes itself."""
    policy = load_policy(written(tmp_path, FULL))
    path = written(tmp_path, policy.model_dump_json(), "q.json")
    assert policy == load_policy(path)
    short = {"severity_threshold": "low", "capabilities": {"mining": "high"}}
    path = written(tmp_path, "\ufeff" + json.dumps(short), "r.json")
    assert {Capability.MINING: SecurityIssueSeverity.HIGH} == load_policy(path).capabilities


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('preset = "produktion"', "preset cannot be 'produktion'; known: minimal, ", "production"),
        ("preset = 3", "preset cannot be 3; known: minimal, ", None),
        ('severity = "low"', "no key severity; known: preset, name, severity_thr", "severity_thre"),
        ('severity_threshold = "hgih"', "'hgih'; known: safe, low, medium, high", "high"),
        ("severity_threshold = true", "severity_threshold cannot be True; known: safe", None),
        ("severity_threshold = 4", "severity_threshold cannot be 4; known: safe", None),
        ('enforcement = "of"', "enforcement: Input should be 'enforce', 'advise' or 'off'", None),
        ('on_parse_error = "x"', "on_parse_error: Input should be 'warn' or 'block'", None),
        ("name = 3", "name: Input should be a valid string", None),
        ('allow = "os"', "allow: must be a list of names", None),
        ("allow = [3]", "allow.0: Input should be a valid string", None),
        ("capabilities = []", "capabilities: must be a table", None),
        (
            '[capabilities]\n"proces.run" = "low"',
            "no key capabilities.proces.run; known",
            "process",
        ),
        ('[capabilities]\nmining = "bad"', "capabilities.mining cannot be 'bad'; known: s", None),
        ('patterns = "x"', "patterns: must be a list of tables", None),
        ("patterns = [3]", "patterns[1]: must be a table", None),
        ("[[patterns]]\npatern = 1", "no key patterns[1].patern; known: pattern, d", "pattern"),
        ('[[patterns]]\npattern = "x"', "patterns[1].description: Field required", None),
        (
            '[[patterns]]\npattern = "("\ndescription = ""\nseverity = "low"',
            "patterns[1].pattern: ",
            None,
        ),
        (
            '[[patterns]]\npattern = "x"\ndescription = ""\nseverity = "grave"',
            "patterns[1].severity cannot be 'grave'; known: safe, low",
            None,
        ),
        ('[[restricted_modules]]\nname = ""', "restricted_modules[1].", None),
        ("a = ", "is not TOML: ", None),
        ("a = 1\na = 2", "is not TOML: ", None),
    ],
)
def test_mistakes(tmp_path: Path, text: str, says: str, hint: str | None) -> None:
    """A mistake names the file, the key and what is known."""
    path = written(tmp_path, text)
    with pytest.raises(ValidationError) as caught:
        load_policy(path)
    assert caught.value.message.startswith(f"the policy file {path}: ")
    assert says in caught.value.message
    assert (hint or "") in (caught.value.hint or "")
    assert "policy" == caught.value.parameter


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("p.yaml", b"", "ends neither in .toml nor in .json"),
        ("p.json", b"[]", "must hold an object"),
        ("p.json", b"{", "is not JSON: "),
        ("p.json", b"[" * 100_000, "is not JSON: "),
        ("p.toml", b"\xff", "is not TOML: "),
        ("p.toml", None, "cannot be read: No such file"),
    ],
)
def test_no_policy(tmp_path: Path, name: str, data: bytes | None, says: str) -> None:
    """A file that is none, or is not there, is said to be so."""
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ValidationError) as caught:
        load_policy(path)
    assert says in caught.value.message
    assert str(path) in caught.value.message
