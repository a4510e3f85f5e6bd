"""Frameworks that are not installed: each says what installs it."""

import subprocess
import sys

import pytest

from llm_sandbox.host.distribution import install_command

EXTRAS = {
    "agent_framework": ("agent-framework", "agent_framework"),
    "agno": ("agno", "agno"),
    "autogen": ("autogen", "autogen_core"),
    "claude_agent_sdk": ("claude-agent-sdk", "claude_agent_sdk"),
    "crewai": ("crewai", "crewai"),
    "deepagents": ("deepagents", "deepagents"),
    "dspy": ("dspy", "dspy"),
    "google_adk": ("google-adk", "google.adk"),
    "llama_index": ("llama-index", "llama_index"),
}


@pytest.mark.parametrize("name", EXTRAS)
def test_a_missing_package_names_what_to_install(name: str) -> None:
    """And what the integrations share needs none."""
    extra, package = EXTRAS[name]
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "import llm_sandbox.integrations.calls, llm_sandbox.integrations.commands\n"
        "import llm_sandbox.integrations.host_tools\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        f"try: import llm_sandbox.integrations.{name}\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert install_command(extra) in done.stdout, done.stderr
