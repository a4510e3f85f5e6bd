"""Conformance suite of languages.

Subclass `LanguageSuite` in a test module, give it a `backend_name` and, for a language from
elsewhere, its samples (see `language_samples`)::

    class TestPerl(LanguageSuite):
        backend_name = "bubblewrap"
        samples_place = Path(__file__).with_name("perl.toml")
"""

from llm_sandbox.testing.language_failure_suite import LanguageFailureSuite
from llm_sandbox.testing.language_output_suite import LanguageOutputSuite
from llm_sandbox.testing.language_state_suite import LanguageStateSuite
from llm_sandbox.testing.language_stopping_suite import LanguageStoppingSuite

__all__ = ["LanguageSuite"]


class LanguageSuite(
    LanguageOutputSuite, LanguageStateSuite, LanguageFailureSuite, LanguageStoppingSuite
):
    """All behaviours of a language. One session serves all tests that leave it usable.

    Unsupported behaviours are declared in the samples, and skipped with that reason; so are all
    tests of a language whose programs are not installed.
    """
