"""OpenAI's Responses and Chat Completions: the session as a tool, and a bounded loop.

Needs ``pip install 'llm-sandbox[openai]'`` for `run_agent` and `CodeTool.registered_function`; the
definitions and answers are plain dictionaries.
"""

from llm_sandbox.integrations.openai.agent import run_agent
from llm_sandbox.integrations.openai.code_tool import CodeTool
from llm_sandbox.integrations.openai.transcript import Step, Transcript

__all__ = ["CodeTool", "Step", "Transcript", "run_agent"]
