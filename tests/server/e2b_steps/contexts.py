"""Steps of E2B's Python SDK: contexts."""

import asyncio

import pytest
from e2b import (
    NotFoundException,
    SandboxException,
)

from tests.server.steps import Steps, World, code, do

STEPS = Steps()
step = STEPS


@step
async def create_a_context(w: World) -> None:
    context = w.held["context"] = await do(w.box.create_code_context())
    assert ("python", "/home/user") == (context.language, context.cwd)


@step
async def context_has_variables_of_its_own(w: World) -> None:
    context = w.held["context"]
    await code(w, "own = 1", context=context)
    assert "NameError" == (await code(w, "own")).error.name
    assert "1" == (await code(w, "own", context=context)).text


@step
async def context_shares_the_files(w: World) -> None:
    text = "open('data.csv').read().count('\\n')"
    assert "3" == (await code(w, text, context=w.held["context"])).text


@step
async def context_in_a_directory(w: World) -> None:
    context = await do(w.box.create_code_context(cwd="/home/user/many"))
    assert "/home/user/many" == context.cwd
    assert "/home/user/many" == (await code(w, "import os; os.getcwd()", context=context)).text
    await do(w.box.remove_code_context(context))


@step
async def context_in_a_missing_directory(w: World) -> None:
    with pytest.raises((NotFoundException, SandboxException)):
        await do(w.box.create_code_context(cwd="/no/such"))


@step
async def context_in_javascript(w: World) -> None:
    context = await do(w.box.create_code_context(language="javascript", cwd="/tmp"))
    result = await code(w, "console.log(process.cwd())", context=context)
    assert "/tmp\n" == "".join(result.logs.stdout)
    await do(w.box.remove_code_context(context))


@STEPS.asynchronous
async def contexts_run_side_by_side(w: World) -> None:
    text = (
        "open('here', 'w').write('1')\nimport time\n"
        "while not os.path.exists('there'): time.sleep(0.05)"
    )
    waiting = asyncio.ensure_future(
        w.box.run_code("import os\n" + text, context=w.held["context"], timeout=30)
    )
    result = await w.box.run_code(
        "import os, time\nwhile not os.path.exists('here'): time.sleep(0.05)\n"
        "open('there', 'w').close(); 'both'",
        timeout=30,
    )
    assert "both" == result.text
    assert (await waiting).error is None


@step
async def list_of_contexts(w: World) -> None:
    found = await do(w.box.list_code_contexts())
    assert w.held["context"].id in [context.id for context in found]
    assert {"python", "bash", "javascript"} <= {context.language for context in found}


@step
async def restart_a_context(w: World) -> None:
    context = w.held["context"]
    await do(w.box.restart_code_context(context))
    assert "NameError" == (await code(w, "own", context=context)).error.name


@step
async def remove_a_context(w: World) -> None:
    context = w.held.pop("context")
    await do(w.box.remove_code_context(context))
    with pytest.raises(NotFoundException):
        await code(w, "1", context=context)


@step
async def remove_an_unknown_context(w: World) -> None:
    with pytest.raises(NotFoundException):
        await do(w.box.remove_code_context("nothing"))
