"""Programs run inside the named environment, and are themselves: nothing stands in between."""

import signal

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import BackendError, LaunchError, ValidationError


@pytest.fixture(scope="module")
def science(backend_for):
    with Sandbox.create(backend=backend_for("science")) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def base(backend_for):
    with Sandbox.create(backend=backend_for()) as sandbox:
        yield sandbox


def _output(sandbox, *argv):
    result = sandbox.exec(*argv).collect()
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_the_default_environment_is_base(base):
    assert "greet 1.0 for base in /opt/conda\n" == _output(base, "greet")
    assert "/opt/conda\n" == _output(base, "printenv", "CONDA_PREFIX")


def test_programs_are_those_of_the_named_environment(science):
    assert "greet 2.0 for science in /opt/conda/envs/science\n" == _output(science, "greet")


def test_an_environment_may_be_named_by_its_path(backend_for):
    with Sandbox.create(backend=backend_for("/opt/conda/envs/science")) as sandbox:
        assert "greet 2.0 for science in /opt/conda/envs/science\n" == _output(sandbox, "greet")


def test_activation_scripts_have_run(science, base):
    data = _output(science, "printenv", "ACTIVATED_DATA")
    assert "/opt/conda/envs/science/share/activated\n" == data
    assert "one\ntwo=2\n" == _output(science, "printenv", "ACTIVATED_LINES")
    assert base.exec("printenv", "ACTIVATED_DATA").collect().exit_code == 1


def test_an_activation_script_that_prints_changes_nothing(backend_for):
    with Sandbox.create(backend=backend_for("loud")) as sandbox:
        assert "/opt/conda/envs/loud\n" == _output(sandbox, "printenv", "CONDA_PREFIX")
        assert "/sandbox\n" == _output(sandbox, "printenv", "HOME")
        assert sandbox.exec("printenv", "A").collect().exit_code == 1


def test_variables_of_a_session_come_on_top(backend_for):
    backend = backend_for("science")
    with Sandbox.create(backend=backend, env={"ACTIVATED_DATA": "mine"}) as sandbox:
        assert "mine\n" == _output(sandbox, "printenv", "ACTIVATED_DATA")


@pytest.mark.parametrize("code", [0, 1, 7, 126, 127, 255])
def test_exit_codes_are_the_programs_own(science, code):
    assert code == science.exec("sh", "-c", f"exit {code}").collect().exit_code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_signals_are_told_as_signals(science, number):
    result = science.exec("sh", "-c", f"kill -{int(number)} $$").collect()
    assert 128 + number == result.exit_code
    assert number == result.signal


def test_micromamba_run_itself_would_tell_another_number(science):
    """The control of the test above: what a prefix of `micromamba run` makes of SIGKILL."""
    prefix = ("micromamba", "run", "-n", "science")
    result = science.exec(*prefix, "sh", "-c", "kill -9 $$").collect()
    assert (9 + 255) % 256 == result.exit_code
    assert result.signal is None


def test_standard_input_is_the_programs_own(science):
    assert "a\0b\n" == science.exec("cat", stdin="a\0b\n").collect().stdout


def test_output_of_one_stream_stays_in_it(science):
    result = science.exec("sh", "-c", "echo out; echo err >&2").collect()
    assert ("out\n", "err\n") == (result.stdout, result.stderr)


def test_a_program_that_is_not_there_is_a_launch_error(science):
    with pytest.raises(LaunchError):
        science.exec("no-such-program").collect()


def test_programs_of_another_environment_are_not_found(base):
    with pytest.raises(LaunchError):
        base.exec("python").collect()


def test_an_unknown_environment_names_those_there_are(backend_for):
    with pytest.raises(ValidationError) as caught:
        Sandbox.create(backend=backend_for("sience"))
    assert "environment" == caught.value.parameter
    for name in ("'sience'", "base", "loud", "plain", "science"):
        assert name in caught.value.message


def test_an_image_without_micromamba_says_so(backend_for, base_image):
    with pytest.raises(BackendError) as caught:
        Sandbox.create(backend=backend_for("base", image=base_image))
    assert "no micromamba" in caught.value.message
    assert "mambaorg/micromamba" in caught.value.hint
