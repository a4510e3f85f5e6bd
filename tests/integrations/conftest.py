"""Fixtures of the integrations' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_sandbox.integrations.jupyter import install_kernelspec


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of Jupyter's own for these tests, with the kernel ``sandboxed``."""
    folder = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_DATA_DIR", str(folder / "data"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        patch.setenv("JUPYTER_CONFIG_DIR", str(folder / "config"))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        install_kernelspec("sandboxed", backend="bubblewrap", files=["*.csv", "data/*"])
        yield folder
