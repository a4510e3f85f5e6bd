"""`python -m llm_sandbox` is the command line."""

from llm_sandbox.cli.app import main

if __name__ == "__main__":
    main()
