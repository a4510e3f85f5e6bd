"""One definition of a session's options: the typed dictionary has what `create_session` takes."""

import inspect
from typing import Any, get_type_hints

import pytest

from llm_sandbox import aio, create_session
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.create import SessionOptions
from tests.parity.test_factories import NAMES


def test_the_typed_dictionary_has_the_keywords_of_create_session() -> None:
    types = get_type_hints(create_session, localns=NAMES)
    found = inspect.signature(create_session).parameters.values()
    keywords = {one.name: types[one.name] for one in found if one.kind is one.KEYWORD_ONLY}
    assert keywords == get_type_hints(SessionOptions, localns=NAMES)


@pytest.mark.parametrize("factory", [aio.create_session, ArtifactSandboxSession])
def test_an_unknown_option_is_refused_with_what_was_meant(factory: Any) -> None:
    with pytest.raises(TypeError, match=r"'librarys'"):
        factory(librarys=["numpy"])
    with pytest.raises(TypeError, match=r"Did you mean 'libraries'"):
        ArtifactSandboxSession(librarys=["numpy"])  # type: ignore[call-arg]
