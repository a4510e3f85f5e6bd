"""`llm-sandbox kernelspec`: sandboxes as kernels of Jupyter."""

from typing import Annotated

from llm_sandbox.cli.exit_codes import exit_codes
from llm_sandbox.cli.grammar import Argument, Command, Group, Option
from llm_sandbox.cli.options import Network, NetworkOption

__all__ = ["KERNELSPEC", "install"]


def install(
    name: Annotated[
        str | None,
        Argument(
            help="Name of the kernel; without it, llm-sandbox, or llm-sandbox-LANG.",
            metavar="[NAME]",
        ),
    ] = None,
    lang: Annotated[
        str,
        Option(
            "--lang",
            "-l",
            help="Language of the cells: python, javascript, typescript, r, ruby, bash or java.",
            metavar="NAME",
        ),
    ] = "python",
    display_name: Annotated[
        str | None, Option("--display-name", help="What people see.", metavar="TEXT")
    ] = None,
    backend: Annotated[
        str | None,
        Option("--backend", "-b", help="Where sandboxes are made.", metavar="NAME"),
    ] = None,
    image: Annotated[
        str | None, Option("--image", help="Image of a container backend.", metavar="NAME")
    ] = None,
    lib: Annotated[
        list[str] | None,
        Option("--lib", help="Library to install at each start.", metavar="NAME"),
    ] = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Annotated[
        str | None, Option("--memory", help="Memory, such as 2g.", metavar="SIZE")
    ] = None,
    policy: Annotated[
        str | None,
        Option("--policy", help="Refuse cells that it blocks.", metavar="PRESET|FILE"),
    ] = None,
    env: Annotated[
        list[str] | None,
        Option(
            "--env",
            "-e",
            help="Environment variable of the cells; may be repeated.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        Option(
            "--file",
            help="Pattern of files beside the notebook to copy in, such as 'data/*.csv'.",
            metavar="GLOB",
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        Option("--prefix", help="Environment to install into.", metavar="DIR"),
    ] = None,
) -> None:
    """Install a kernelspec for the user, or into an environment.

    Compiled languages (C++, Go) keep nothing from cell to cell, and can be no kernels.
    """
    with exit_codes():
        from llm_sandbox.integrations.extras import require

        require("jupyter_client", "jupyter")
        from llm_sandbox.cli.options import MachineOptions
        from llm_sandbox.integrations.jupyter.kernelspec import install_kernelspec

        placed = install_kernelspec(
            name,
            lang=lang,
            display_name=display_name,
            backend=backend,
            image=image,
            libraries=lib or (),
            network=network.value,
            memory=memory,
            policy=policy,
            env=MachineOptions(env=env).variables(),
            files=files or (),
            prefix=prefix,
        )
    print(placed)


KERNELSPEC = Group(
    "kernelspec",
    "Have notebooks run in sandboxes: JupyterLab, nbclient, papermill and nbconvert.",
    {
        "install": Command(
            install,
            "install",
            epilog="Then: jupyter lab, or papermill --kernel NAME, or nbconvert.",
        ),
    },
)
