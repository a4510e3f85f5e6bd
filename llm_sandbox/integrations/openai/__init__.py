"""OpenAI's Responses and Chat Completions APIs: a session as a tool, and a bounded agent loop.

Needs the extra ``openai`` for `run_agent`, `run_agent_async` and `registered_function`; the
definitions and answers are plain dictionaries.
"""

from llm_sandbox.integrations.openai.agent import run_agent, run_agent_async
from llm_sandbox.integrations.openai.code_tool import AsyncCodeTool, CodeTool
from llm_sandbox.integrations.openai.loop import Bounds
from llm_sandbox.integrations.openai.transcript import Step, Transcript

__all__ = [
    "AsyncCodeTool",
    "Bounds",
    "CodeTool",
    "Step",
    "Transcript",
    "run_agent",
    "run_agent_async",
]
