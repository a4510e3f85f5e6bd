"""The error tree: messages, facts, pickles and JSON."""

import errno
import json
import pickle

import pytest

from llm_sandbox import exceptions as e
from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.host.distribution import install_command
from llm_sandbox.security import SecurityIssueSeverity, SecurityPattern

PATTERN = SecurityPattern(pattern="x", description="d", severity=SecurityIssueSeverity.HIGH)
PARTIAL = ExecutionResult(124, "", "before", timed_out=True)
SAMPLES = [
    e.SandboxError(
        "m", op="run", backend="docker", retryable=True, hint="h", context={"n": 1, "l": [2]}
    ),
    e.ConfigurationError("m"),
    e.MissingDependencyError("m", extra="podman"),
    e.UnsupportedBackendError("chroot", known=["docker", "podman"]),
    e.LanguageNotSupportedError("cobol", known=["python"]),
    e.LanguageNotSupportPlotError("bash"),
    e.LibraryInstallationNotSupportedError("java"),
    e.ValidationError("m", parameter="timeout"),
    e.CommandEmptyError(),
    e.UnsupportedError("network='host'", "bubblewrap", "it has no bridge"),
    e.SecurityError("m"),
    e.SecurityViolationError(),
    e.ContainerError("m"),
    e.ImageNotFoundError("a/b:c"),
    e.ImagePullError("a/b:c", "denied"),
    e.ContainerGoneError("m"),
    e.NotOpenSessionError(),
    e.SessionClosedError(),
    e.SessionExpiredError(1.5),
    e.SessionBusyError("m"),
    e.PoolExhaustedError(4, 1.5, busy=3, waiting=2),
    e.PoolCreationError(e.BackendError("m"), 2),
    e.PoolClosedError(),
    e.NameInUseError("n", "default"),
    e.SandboxNotFoundError("'n'"),
    e.ProcessNotFoundError("1f"),
    e.LaunchError("m", kind="not_found"),
    e.BackendError("m", backend="docker"),
    e.BackendUnavailableError("m"),
    e.IsolationUnavailableError("m", hint="sysctl"),
    e.ToolchainNotFoundError("ruby", ["ruby"], "in PATH", hint="apt-get install ruby"),
    e.FileError("m", path="/a"),
    e.PathError("m", path="../a"),
    e.SandboxFileNotFoundError("m", path="/a"),
    e.SandboxFileExistsError("m", path="/a"),
    e.SandboxIsADirectoryError("m", path="/a"),
    e.SandboxNotADirectoryError("m", path="/a"),
    e.SandboxPermissionError("m", path="/a"),
    e.NoSpaceError("m", path="/a"),
    e.ResourceError("m", limit=3),
    e.OutputLimitError("m", limit=3),
    e.ArtifactLimitError("m", limit=3),
    e.ArtifactNotFoundError("m"),
    e.OutOfMemoryError("m", limit=3),
    e.VariableNotFoundError("m", name="x"),
    e.TableGoneError("m"),
    e.ValueNotTransferableError("m", path="value[3]", type_name="io.BytesIO"),
    e.ValueTooLargeError("m", limit=3),
    e.SandboxTimeoutError("m", 1.5, PARTIAL),
    e.KernelError("m"),
    e.KernelDiedError("m"),
    e.KernelNotReadyError("m"),
    e.ProtocolError("m"),
    e.LibraryInstallationError("m", packages=["a", "b"], output="pip says \ud800 \0"),
    e.CommandFailedError("apt-get update", 100, "out"),
    e.TransportError("m"),
]


def family(cls):
    return {cls}.union(*(family(sub) for sub in cls.__subclasses__()))


def public_classes():
    return {c for c in family(e.SandboxError) if c.__module__.startswith("llm_sandbox.exceptions.")}


def same(first, second):
    return (type(first), str(first), first.args, vars(first)) == (
        type(second),
        str(second),
        second.args,
        vars(second),
    )


def test_every_public_class_is_exported_and_has_a_sample():
    named = {c for c in public_classes() if not c.__name__.startswith("_")}
    assert named == {type(sample) for sample in SAMPLES}
    assert {c.__name__ for c in named} <= set(e.__all__)


def test_every_class_has_a_code_of_its_own():
    codes = [sample.code for sample in SAMPLES]
    assert len(codes) == len(set(codes))
    assert set(codes) == set(e.ErrorCode)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_survives_pickle_and_json(error):
    assert same(pickle.loads(pickle.dumps(error)), error)
    data = json.loads(json.dumps(error.to_dict(), allow_nan=False))
    assert same(e.SandboxError.from_dict({**data, "later": 1}), error)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_is_drawn_in_the_module_docstring(error):
    assert type(error).__name__ in e.__doc__


def test_a_hint_stands_on_a_line_of_its_own():
    error = e.MissingDependencyError("podman is not installed", extra="podman")
    assert str(error) == f"podman is not installed\n{install_command('podman')}"
    assert str(e.SandboxError("plain")) == "plain"


@pytest.mark.parametrize(
    ("cls", "twin", "number"),
    [
        (e.SandboxFileNotFoundError, FileNotFoundError, errno.ENOENT),
        (e.SandboxFileExistsError, FileExistsError, errno.EEXIST),
        (e.SandboxIsADirectoryError, IsADirectoryError, errno.EISDIR),
        (e.SandboxNotADirectoryError, NotADirectoryError, errno.ENOTDIR),
        (e.SandboxPermissionError, PermissionError, errno.EACCES),
        (e.NoSpaceError, OSError, errno.ENOSPC),
    ],
)
def test_file_errors_are_caught_as_pythons_own(cls, twin, number):
    with pytest.raises(twin) as caught:
        raise cls("m", path="/a", hint="h")
    assert caught.value.errno == number
    assert pickle.loads(pickle.dumps(caught.value)).errno == number
    assert str(caught.value) == "m\nh"


@pytest.mark.parametrize(
    ("cls", "twin"),
    [
        (e.SandboxTimeoutError, TimeoutError),
        (e.ValidationError, ValueError),
        (e.PathError, ValueError),
        (e.UnsupportedError, NotImplementedError),
        (e.SessionClosedError, e.NotOpenSessionError),
        (e.SessionExpiredError, e.NotOpenSessionError),
        (e.SessionExpiredError, e.SandboxTimeoutError),
        (e.IsolationUnavailableError, e.BackendError),
    ],
)
def test_errors_are_caught_as_what_they_also_are(cls, twin):
    assert issubclass(cls, twin)


@pytest.mark.parametrize("result", [None, PARTIAL, ProcessResult(124, "", "o", ("sleep", "9"))])
def test_a_timeout_keeps_its_partial_result_through_json(result):
    data = json.loads(json.dumps(e.SandboxTimeoutError("m", 2.0, result).to_dict()))
    back = e.SandboxError.from_dict(data)
    assert (back.timeout_duration, back.result) == (2.0, result)


def test_violations_survive_pickle_as_patterns_and_json_as_mappings():
    error = e.SecurityViolationError(violations=[PATTERN])
    assert pickle.loads(pickle.dumps(error)).violations == (PATTERN,)
    data = json.loads(json.dumps(error.to_dict()))
    back = e.SandboxError.from_dict(data)
    assert back.violations == (PATTERN.model_dump(),)
    assert {"pattern": "x", "description": "d", "severity": 3}.items() <= back.violations[0].items()


def test_an_unknown_class_becomes_its_nearest_known_ancestor():
    class VendorError(e.BackendUnavailableError):
        pass

    data = VendorError("m").to_dict()
    data["type"] = data["lineage"][0] = "FromAnotherProcess"
    data["code"] = "a_later_code"
    back = e.SandboxError.from_dict(data)
    assert type(back) is e.BackendUnavailableError
    assert back.code == e.ErrorCode.BACKEND_UNAVAILABLE


def test_a_namesake_elsewhere_does_not_take_the_place_of_one_here():
    """An adapter's class may have the name of one of ours."""
    other = type("SandboxTimeoutError", (e.SandboxTimeoutError,), {"__module__": "vendor.errors"})
    data = e.SandboxTimeoutError("m", 1.0).to_dict()
    assert e.SandboxTimeoutError is type(e.SandboxError.from_dict(data))
    assert other is type(other.from_dict(data))


@pytest.mark.parametrize("data", [{}, {"type": "SandboxError"}, {"type": "int", "message": "m"}])
def test_data_that_is_no_error_is_refused(data):
    with pytest.raises(e.ValidationError):
        e.SandboxError.from_dict(data)
    with pytest.raises(e.ValidationError):
        e.KernelError.from_dict(e.TransportError("m").to_dict())


def test_a_command_failure_names_only_the_program():
    error = e.CommandFailedError("git clone https://token@host/x", 128)
    assert "token" not in str(error)
    assert "git" in str(error)


def test_only_passing_troubles_are_retryable():
    assert e.TransportError("m").retryable
    assert not e.TransportError("m", retryable=False).retryable
    assert not e.SandboxError("m").retryable
