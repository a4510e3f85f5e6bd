"""smolagents with a model whose answers are written down: its `CodeAgent`, our executor."""

import datetime
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import PIL.Image
import pytest
from smolagents import CodeAgent, Tool, tool
from smolagents.memory import ActionStep
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.utils import AgentExecutionError

from llm_sandbox import create_session
from llm_sandbox.exceptions import (
    SecurityViolationError,
    UnsupportedError,
    ValidationError,
    ValueNotTransferableError,
)
from llm_sandbox.host.distribution import install_command
from llm_sandbox.integrations.smolagents import SandboxExecutor
from llm_sandbox.limits import Limits
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

PLOT = "import matplotlib.pyplot as plt\nplt.plot(data)\nplt.show()\nprint('drawn', double(21))"
FIGURE = (
    "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nfinal_answer(fig)"
)

PICTURES = """
import io
from IPython.display import display
from PIL import Image

file = io.BytesIO()
Image.effect_noise((64, 64), 99).save(file, "PNG")
data = bytearray(file.getvalue())
"""
SHOW = "import IPython.display\ndisplay(IPython.display.Image(bytes(data)))"


class Written(Model):  # type: ignore[misc]
    """A model that writes these pieces of code, one after another."""

    def __init__(self, *codes: str) -> None:
        super().__init__(model_id="written")
        self._codes = list(codes)
        self.seen: list[list[ChatMessage]] = []

    def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
        self.seen.append(messages)
        text = f"Thought: so be it.\n<code>\n{self._codes[len(self.seen) - 1]}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: The number.
    """
    return 2 * number


class Scale(Tool):  # type: ignore[misc]
    """A tool with a setting."""

    name = "scale"
    description = "Scales a number."
    inputs = {"number": {"type": "integer", "description": "The number."}}  # noqa: RUF012
    output_type = "integer"

    def __init__(self, factor: int = 3) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, number: int) -> int:
        """Scale it."""
        return number * self.factor


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


@pytest.fixture
def executor(session: BaseSession) -> SandboxExecutor:
    """One that knows a final answer."""
    made = SandboxExecutor(session)
    agent_with(Written(), made)
    return made


def agent_with(model: Model, executor: SandboxExecutor, *tools: Tool) -> CodeAgent:
    agent = CodeAgent(
        tools=list(tools),
        model=model,
        executor=executor,
        step_callbacks=[executor.observe],
        additional_authorized_imports=["*"],
        verbosity_level=-1,
    )
    executor.send_tools(agent.tools)
    return agent


def steps_of(agent: CodeAgent) -> list[ActionStep]:
    return [step for step in agent.memory.steps if isinstance(step, ActionStep)]


def test_an_agent_draws_with_variables_and_tools() -> None:
    """Errors are told, figures are seen, the answer is data; its own session ends with it."""
    model = Written(
        "print('before')\nprint(1 / 0)", PLOT, "final_answer({'grows': [data[0], 9.5]})"
    )
    executor = SandboxExecutor(backend="bubblewrap")
    with agent_with(model, executor, double, Scale()) as agent:
        answer = agent.run("How does it grow?", additional_args={"data": [1, 4, 9]})
        session = executor.session
        assert session.is_open
    assert answer == {"grows": [1, 9.5]}
    failed, drawn, last = steps_of(agent)
    assert "ZeroDivisionError" in str(failed.error)
    assert "before" in str(failed.error)
    assert "drawn 42\n" in drawn.observations
    assert "line chart, 3 points" in drawn.observations
    assert last.error is None
    assert "Traceback" not in last.observations
    shown = [part for message in model.seen[2] for part in message.content if "image" in part]
    assert [type(part["image"]) for part in shown] == [PIL.Image.Image]
    picture = shown[0]["image"]
    assert min(picture.size) > 100
    assert len(picture.getcolors(1 << 24)) > 10
    assert not session.is_open


def test_final_answers_come_as_data(executor: SandboxExecutor) -> None:
    """Tables, arrays and pictures as what they are; whatever else as its text, never unpickled."""
    code = "import pandas as pd\nfinal_answer(pd.DataFrame({'a': [1, 2]}))"
    done = executor(code)
    assert done.is_final_answer
    assert pd.DataFrame({"a": [1, 2]}).equals(done.output)
    done = executor("import numpy as np\nfinal_answer((np.arange(3), {4}, None))")
    assert np.array_equal(done.output[0], np.arange(3))
    assert done.output[1:] == ({4}, None)
    figure = executor(FIGURE)
    assert (type(figure.output), figure.output.size) == (PIL.Image.Image, (640, 480))
    red = executor("from PIL import Image\nfinal_answer(Image.new('RGB', (3, 2), 'red'))")
    assert red.output.getpixel((2, 1)) == (255, 0, 0, 255)
    trap = "class Trap:\n    def __reduce__(self):\n        return (print, ('pwned',))\n"
    other = executor(
        f"{trap}    def __repr__(self):\n        return 'a trap'\nfinal_answer(Trap())"
    )
    assert (other.output, other.is_final_answer) == ("a trap", True)


def test_variables_come_as_what_they_are(executor: SandboxExecutor) -> None:
    """What the framework's own executors send, and tables; nothing that needs more than data."""
    given = {
        "table": pd.DataFrame({"a": [1, 2]}),
        "picture": PIL.Image.new("RGB", (3, 2), "red"),
        "day": datetime.date(2020, 1, 2),
    }
    executor.send_variables(given)
    done = executor("(int(table.a.sum()), picture.size, picture.getpixel((0, 0)), day.year)")
    assert done.output == "(3, (3, 2), (255, 0, 0), 2020)"
    with pytest.raises(ValueNotTransferableError, match="value"):
        executor.send_variables({"handle": object()})


def test_a_step_that_fails_is_the_frameworks_error(session: BaseSession) -> None:
    """Times that are up and refusals, too; the session goes on."""
    executor = SandboxExecutor(session, timeout=2)
    with pytest.raises(AgentExecutionError, match="time limit"):
        executor("while True: pass")
    assert executor("print('still here')").logs == "still here\n"
    policy = get_security_policy("production")
    config = SessionConfig(security_policy=policy)
    with SandboxExecutor(config=config, backend="bubblewrap") as guarded:
        agent_with(Written(), guarded, double)
        with pytest.raises(AgentExecutionError, match=r"os\.system"):
            guarded("import os\nos.system('id')")
        assert guarded("final_answer(double(4))").output == 8


def test_after_a_crash_tools_and_variables_are_there_again() -> None:
    """The interpreter is gone with everything in it; the agent is told, and goes on."""
    config = SessionConfig(limits=Limits(memory_bytes=512 << 20))
    with SandboxExecutor(config=config, backend="bubblewrap") as executor:
        agent_with(Written(), executor, double)
        executor.send_variables({"data": [20]})
        executor("mine = 1")
        with pytest.raises(AgentExecutionError, match="variables: "):
            executor("import os\nos.kill(os.getpid(), 9)")
        assert executor("final_answer(double(data[0] + 1))").output == 42
        with pytest.raises(AgentExecutionError, match="NameError"):
            executor("mine")


def test_tools_that_cannot_go_inside_are_refused(session: BaseSession) -> None:
    """Rather than to do something else there than here."""
    secret = 7

    @tool
    def closed(number: int) -> int:
        """Use what is outside of it.

        Args:
            number: A number.
        """
        return number + secret

    @tool
    def foreign(number: int) -> int:
        """Use a library that is not inside.

        Args:
            number: A number.
        """
        import no_such_library_at_all

        return no_such_library_at_all.f(number)

    executor = SandboxExecutor(session)
    for refused, words in (
        (closed, "secret"),
        (Scale(5), "'factor' is not what it is here"),
        (foreign, "no_such_library_at_all, which the sandbox lacks"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            executor.send_tools({refused.name: refused})
    helper = CodeAgent(tools=[], model=Written(), name="helper", description="Helps.")
    with pytest.raises(UnsupportedError, match="'helper'"):
        executor.send_tools({"helper": helper})
    executor.send_tools({"scale": Scale(), "double": double})
    assert executor("scale(double(2))").output == "12"


def test_a_policy_judges_tools() -> None:
    """What the model may not write, a tool may not bring."""

    @tool
    def shell(command: str) -> str:
        """Run a command.

        Args:
            command: The command.
        """
        import os

        return str(os.system(command))

    config = SessionConfig(security_policy=get_security_policy("production"))
    with (
        SandboxExecutor(config=config, backend="bubblewrap") as executor,
        pytest.raises(SecurityViolationError),
    ):
        executor.send_tools({"shell": shell})


def test_pictures_that_are_none_are_left_out(executor: SandboxExecutor) -> None:
    """A picture whose pixels are broken, and more pictures than are shown."""
    executor(f"{PICTURES}\ndata[400:500] = bytes(100)\n{SHOW}")
    made = executor.session.history[-1].result.artifacts
    assert [artifact.mime for artifact in made] == ["image/png"]
    assert executor.images == []
    executor(f"{PICTURES}\n{SHOW}")
    assert [image.size for image in executor.images] == [(64, 64)]
    drawn = "display(Image.new('RGB', (900 + n, 9), (n, 0, 0)))"
    executor(f"for n in range(7):\n    {drawn}")
    assert [image.getpixel((5, 5))[0] for image in executor.images] == [2, 3, 4, 5, 6]
    assert {image.size[0] for image in executor.images} == {768}


def test_long_output_is_cut(session: BaseSession) -> None:
    """By the framework's own rule, with its remark."""
    executor = SandboxExecutor(session, max_print_outputs_length=1000)
    logs = executor("print('x' * 100_000)").logs
    assert "truncated" in logs
    assert 1000 <= len(logs) < 1200


def test_mistakes_are_named(session: BaseSession) -> None:
    """Other languages, sessions that forget, and two sessions at once."""
    with pytest.raises(ValidationError, match="a Python session"):
        SandboxExecutor(config=SessionConfig(lang="bash"))
    with pytest.raises(ValidationError, match="keeps variables"):
        SandboxExecutor(config=SessionConfig(persistent=False))
    with pytest.raises(ValidationError, match="has its settings"):
        SandboxExecutor(session, backend="bubblewrap")


def test_a_missing_package_names_what_to_install() -> None:
    """And what the integrations share needs none."""
    program = (
        "import sys; sys.modules['smolagents'] = None\n"
        "import llm_sandbox.integrations.calls, llm_sandbox.integrations.pixels\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        "try: import llm_sandbox.integrations.smolagents\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert install_command("smolagents") in done.stdout, done.stderr
