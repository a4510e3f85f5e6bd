"""The names that programs import, and that each is the thing that works here."""

import importlib

import pytest

import llm_sandbox
from llm_sandbox import exceptions
from llm_sandbox.exceptions import (
    InvalidRegexPatternError,
    LanguageNotSupportedError,
    PackageManagerError,
    SandboxError,
    SessionNotOpenError,
    ValidationError,
)
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.security import SecurityIssueSeverity, SecurityPattern, validate_package_name

PATHS = {
    "const": "DefaultImage SandboxBackend SupportedLanguage",
    "core.config": "SessionConfig",
    "core.session_base": "BaseSession",
    "data": "ConsoleOutput ExecutionResult FileType PlotOutput StreamCallback",
    "docker": "SandboxDockerSession",
    "interactive": "InteractiveSandboxSession InteractiveSettings KernelType",
    "language_handlers": "AbstractLanguageHandler LanguageConfig LanguageHandlerFactory",
    "language_handlers.base": "AbstractLanguageHandler PlotDetectionConfig PlotLibrary",
    "language_handlers.factory": "LanguageHandlerFactory",
    "micromamba": "MicromambaSession",
    "podman": "SandboxPodmanSession",
    "pool": "ContainerPoolManager PooledContainer PoolConfig ExhaustionStrategy ContainerState",
    "pool.config": "PoolConfig ExhaustionStrategy",
    "pool.exceptions": "PoolExhaustedError PoolClosedError PoolHealthCheckError",
    "pool.session": "PooledSandboxSession ArtifactPooledSandboxSession",
    "security": "RestrictedModule SecurityPolicy validate_package_name",
    "security.package_validators": "validate_package_name",
    "security.policy": "RestrictedModule SecurityIssueSeverity SecurityPattern SecurityPolicy",
    "session": "ArtifactSandboxSession InteractiveSandboxSession SandboxSession create_session",
}
TOP = """
ArtifactSandboxSession BackendCapabilities BackendDefinition ConsoleOutput ContainerError
DefaultImage ExecutionResult FileType InteractiveSandboxSession KernelType PlotOutput ResourceError
SandboxBackend SandboxError SandboxSession SecurityError SecurityIssueSeverity SecurityPattern
SecurityPolicy SessionConfig StreamCallback SupportedLanguage ValidationError create_session
get_backend list_backends register_backend
"""
ERRORS = """
SandboxError ContainerError SecurityError ResourceError ValidationError ExtraArgumentsError
LanguageNotSupportedError ImageNotFoundError NotOpenSessionError
LibraryInstallationNotSupportedError CommandEmptyError CommandFailedError
PackageManagerError ImagePullError UnsupportedBackendError
MissingDependencyError LanguageNotSupportPlotError InvalidRegexPatternError
LanguageHandlerNotInitializedError SecurityViolationError SandboxTimeoutError
"""
HANDLERS = {
    "cpp": "CppHandler",
    "go": "GoHandler",
    "java": "JavaHandler",
    "javascript": "JavaScriptHandler",
    "python": "PythonHandler",
    "r": "RHandler",
    "ruby": "RubyHandler",
}


@pytest.mark.parametrize("path", PATHS)
def test_paths(path: str) -> None:
    module = importlib.import_module(f"llm_sandbox.{path}")
    for name in PATHS[path].split():
        there = getattr(module, name)
        same = getattr(llm_sandbox, name, there)
        assert there is same


def test_the_top() -> None:
    assert [] == [name for name in TOP.split() if not hasattr(llm_sandbox, name)]
    assert set(TOP.split()) <= set(llm_sandbox.__all__)


@pytest.mark.parametrize("name", ["LocalSandboxConfig", "SeccompPolicy", "WindowsMxcConfig"])
def test_what_is_not_here_says_what_is(name: str) -> None:
    with pytest.raises(ImportError, match=f"no {name}; instead, "):
        getattr(llm_sandbox, name)
    assert name not in dir(llm_sandbox)


@pytest.mark.parametrize("lang", HANDLERS)
def test_handlers(lang: str) -> None:
    module = importlib.import_module(f"llm_sandbox.language_handlers.{lang}_handler")
    handler = LanguageHandlerFactory.create_handler(lang)
    assert type(handler) is getattr(module, HANDLERS[lang])


def test_errors() -> None:
    assert [] == [name for name in ERRORS.split() if not hasattr(exceptions, name)]


def test_errors_of_other_names_are_raised() -> None:
    """Each catches what is raised where the reference raises it."""
    with pytest.raises(InvalidRegexPatternError):
        SecurityPattern(pattern="(", description="", severity=SecurityIssueSeverity.LOW)
    with pytest.raises(PackageManagerError):
        LanguageHandlerFactory.create_handler("bash").get_library_installation_command("x")
    with pytest.raises(SessionNotOpenError):
        llm_sandbox.create_session("bubblewrap").run("1")
    with pytest.raises(exceptions.LanguageHandlerNotInitializedError):
        llm_sandbox.create_session(lang="cobol")
    with pytest.raises(exceptions.ExtraArgumentsError):
        llm_sandbox.create_session("bubblewrap", env={}, env_vars={})


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("python", "numpy>=2,<3", "numpy; rm -rf /"),
        ("javascript", "@scope/name@1.2.3", "left-pad && id"),
        ("go", "github.com/a/b@v1.0.0", "$(id)"),
        ("ruby", "rake", "rake\nid"),
        ("r", "ggplot2", "'); system('id"),
        ("cpp", "libfmt-dev", "-o Debug::x=1"),
    ],
)
def test_names_of_libraries(language: str, good: str, bad: str) -> None:
    assert validate_package_name(good, language)
    for name in (bad, "", None):
        with pytest.raises(ValidationError):
            validate_package_name(name, language)  # type: ignore[arg-type]


def test_names_of_libraries_of_no_language() -> None:
    with pytest.raises(LanguageNotSupportedError):
        validate_package_name("numpy", "cobol")
    assert issubclass(LanguageNotSupportedError, SandboxError)


@pytest.mark.parametrize("errors", ["strict", "replace", "ignore", "surrogateescape"])
def test_how_bytes_are_decoded_is_refused_or_so(errors: str) -> None:
    with pytest.raises(llm_sandbox.UnsupportedError, match="encoding_errors"):
        llm_sandbox.create_session("bubblewrap", encoding_errors=errors)
    with llm_sandbox.create_session("bubblewrap", encoding_errors="backslashreplace") as session:
        result = session.run(r"import sys; sys.stdout.buffer.write(b'\xff\n')")
        assert "\\xff\n" == result.stdout
