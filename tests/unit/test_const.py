"""The closed vocabularies."""

import json

import pytest

from llm_sandbox.const import RunStatus, SandboxBackend, StateOutcome, SupportedLanguage

ENUMS = [SandboxBackend, SupportedLanguage, RunStatus, StateOutcome]


@pytest.mark.parametrize("member", [member for enum in ENUMS for member in enum])
def test_member_is_found_in_any_case_and_prints_as_its_value(member):
    cls = type(member)
    assert cls(member.value.upper()) is member
    assert cls(f" {member.name.title()} ") is member
    assert f"{member}" == str(member) == member.value == member.name.lower()
    assert json.loads(json.dumps(member)) == member.value


def test_the_reference_backends_and_languages_are_there():
    assert {"docker", "kubernetes", "podman", "micromamba"} <= set(SandboxBackend)
    assert {"python", "java", "javascript", "cpp", "go", "ruby", "r"} <= set(SupportedLanguage)


@pytest.mark.parametrize("value", ["", "dockerr", "DOCKER\0", 3, None, float("nan")])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="SandboxBackend"):
        SandboxBackend(value)
