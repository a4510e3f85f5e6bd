"""The kernel of a session is the named environment's Python."""

import pytest

from llm_sandbox.exceptions import KernelNotReadyError


def test_the_kernel_is_the_environments_python(open_session):
    with open_session("science") as session:
        result = session.run("import place, sys; print(place.VERSION, place.PREFIX, sys.prefix)")
        assert "2.0 /opt/conda/envs/science /opt/conda/envs/science\n" == result.stdout
        result = session.run("import os; print(os.environ['ACTIVATED_DATA'])")
        assert "/opt/conda/envs/science/share/activated\n" == result.stdout
        result = session.run("import subprocess; print(subprocess.check_output('greet'))")
        assert "greet 2.0" in result.stdout


def test_a_figure_comes_back(open_session):
    with open_session("science") as session:
        result = session.run("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()")
        assert 1 == len(result.plots), result.stderr


def test_a_failing_cell_is_told_as_one(open_session):
    with open_session("science") as session:
        assert 1 == session.run("1 / 0").exit_code
        assert 3 == session.execute_command("sh -c 'exit 3'").exit_code


def test_an_environment_without_python_says_what_to_install(open_session):
    """The default environment of the official image has none."""
    with pytest.raises(KernelNotReadyError) as caught, open_session() as session:
        session.run("print(1)")
    assert "'base' has no Python" in caught.value.message
    assert "micromamba install -n base python ipykernel" in caught.value.hint


def test_an_environment_without_ipykernel_says_what_to_install(open_session):
    with pytest.raises(KernelNotReadyError) as caught, open_session("plain") as session:
        session.run("print(1)")
    assert "'plain'" in caught.value.message
    assert "micromamba install -n plain python ipykernel" in caught.value.hint
