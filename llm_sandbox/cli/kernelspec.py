"""`llm-sandbox kernelspec`: sandboxes as kernels of Jupyter."""

from typing import Annotated

import typer

from llm_sandbox.cli.endings import exit_codes

__all__ = ["install", "kernelspec"]

kernelspec = typer.Typer(
    name="kernelspec",
    help="Have notebooks run in sandboxes: JupyterLab, nbclient, papermill and nbconvert.",
    no_args_is_help=True,
)


@kernelspec.callback()
def _group() -> None:
    """Keeps `install` a word of its own."""


@kernelspec.command(epilog="Then: jupyter lab, or papermill --kernel NAME, or nbconvert.")
def install(
    name: Annotated[
        str, typer.Argument(help="Name of the kernel.", metavar="[NAME]")
    ] = "llm-sandbox",
    display_name: Annotated[
        str, typer.Option("--display-name", help="What people see.", metavar="TEXT")
    ] = "Python (sandbox)",
    backend: Annotated[
        str | None,
        typer.Option("--backend", "-b", help="Where sandboxes are made.", metavar="NAME"),
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="Image of a container backend.", metavar="NAME")
    ] = None,
    lib: Annotated[
        list[str] | None,
        typer.Option("--lib", help="Library to install at each start.", metavar="NAME"),
    ] = None,
    open_network: Annotated[
        bool, typer.Option("--open-network", help="Share the network of this machine.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Memory, such as 2g.", metavar="SIZE")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Refuse cells that it blocks.", metavar="PRESET|FILE"),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            help="Pattern of files beside the notebook to copy in, such as 'data/*.csv'.",
            metavar="GLOB",
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option("--prefix", help="Environment to install into.", metavar="DIR"),
    ] = None,
) -> None:
    """Install a kernelspec for the user, or into an environment."""
    with exit_codes():
        from llm_sandbox.integrations.extras import require

        require("jupyter_client", "jupyter")
        from llm_sandbox.integrations.jupyter.kernelspec import install_kernelspec

        placed = install_kernelspec(
            name,
            display_name=display_name,
            backend=backend,
            image=image,
            libraries=lib or (),
            network="open" if open_network else "blocked",
            memory=memory,
            policy=policy,
            files=files or (),
            prefix=prefix,
        )
    print(placed)
