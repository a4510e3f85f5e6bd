"""Entry point of `python -m llm_sandbox`: the command line."""

from llm_sandbox.cli.entry import main

if __name__ == "__main__":
    main()
