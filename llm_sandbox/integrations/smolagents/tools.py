"""Transfer of an agent's tools into a sandbox, as source."""

import ast
import sys
from collections.abc import Mapping

from smolagents.tools import (  # type: ignore[import-untyped]
    Tool,
    get_tools_definition_code,
)

from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.session.session import BaseSession

__all__ = ["define", "send_tools"]

_FACTS = "_tool_facts"
_PLAIN = (str, int, float, bool, type(None))


def send_tools(session: BaseSession, tools: Mapping[str, object], timeout: float | None) -> None:
    """Define tools in a session.

    Args:
        session: Session to define them in.
        tools: Tools by name.
        timeout: Seconds for their definition.

    Raises:
        UnsupportedError: A tool would not work in the sandbox.
        SecurityViolationError: The security policy of the session refuses the source of a tool.
    """
    code = "\n\n".join(_source(name, tool) for name, tool in tools.items())
    _check_modules(session, tools, code, timeout)
    define(session, code, "the tools", timeout)
    _check_state(session, tools, timeout)


def define(session: BaseSession, code: str, what: str, timeout: float | None) -> None:
    """Run defining code in a session.

    Args:
        session: Session to define them in.
        code: Code to run.
        what: Name of the definition, for the error.
        timeout: Seconds for the run.

    Raises:
        UnsupportedError: The code failed.
    """
    result = session.run(code, timeout=timeout)
    if result.exit_code != 0:
        error = result.error
        reason = f"{error.name}: {error.value}"[:500] if error is not None else repr(result)
        raise UnsupportedError(f"sending {what}", reason=f"inside it fails: {reason}")


def _source(name: str, tool: object) -> str:
    if not isinstance(tool, Tool):
        raise UnsupportedError(
            f"sending {name!r}, a {type(tool).__name__},",
            reason="it is not a tool: its model and its keys stay out of the sandbox",
            hint="call it from your own code, and give the agent what comes of it",
        )
    try:
        # Both check the source, each for something else.
        tool.to_dict()
        code = str(get_tools_definition_code({name: tool}))
        ast.parse(code)
    except Exception as error:  # the framework raises whatever it likes
        raise UnsupportedError(
            f"the tool {name!r}",
            reason=f"its source cannot stand alone: {error}",
            hint="define it in a file, with all imports inside of its functions and no arguments",
        ) from error
    return code


def _check_modules(
    session: BaseSession, tools: Mapping[str, object], code: str, timeout: float | None
) -> None:
    names = sorted(_modules(code) - sys.stdlib_module_names)
    if not names:
        return
    look = f"{_FACTS} = [n for n in {names} if importlib.util.find_spec(n) is None]"
    define(session, f"import importlib.util\n{look}", "a look at the modules", timeout)
    missing = session.get(_FACTS)
    # trust: names that were asked for, or it is no answer.
    lacking = [name for name in names if isinstance(missing, list) and name in missing]
    if lacking:
        # Not installed by these names: a module's name may be that of somebody else's library.
        words = ", ".join(lacking)
        raise UnsupportedError(
            f"one of the tools {', '.join(tools)}",
            reason=f"it imports {words}, which the sandbox lacks",
            hint=f"config=SessionConfig(libraries=[...]) with the libraries that bring {words}",
        )


def _modules(code: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _check_state(session: BaseSession, tools: Mapping[str, object], timeout: float | None) -> None:
    """Refuse a tool whose constructor arguments or changed state would be lost in the sandbox.

    Attribute values are compared on the host and never sent, since they may be keys.
    """
    here = {name: _plain_state(tool) for name, tool in tools.items()}
    if not any(here.values()):
        return
    state = "{k: v for k, v in vars(t).items() if isinstance(v, (str, int, float, type(None)))}"
    pairs = ", ".join(f"({name!r}, {name})" for name, values in here.items() if values)
    look = f"{_FACTS} = {{n: {state} for n, t in [{pairs}]}}"
    define(session, look, "a look at the tools", timeout)
    # trust: compared with what is here, and not used.
    inside = session.get(_FACTS)
    for name, values in here.items():
        there = inside.get(name) if isinstance(inside, dict) else None
        for key, value in values.items():
            if not isinstance(there, dict) or key not in there or there[key] != value:
                raise UnsupportedError(
                    f"the tool {name!r}",
                    reason=f"it is made anew inside, where its {key!r} is not what it is here",
                    hint="write such values into the source of the tool",
                )


def _plain_state(tool: object) -> dict[str, object]:
    return {
        name: value
        for name, value in vars(tool).items()
        if name != "is_initialized" and isinstance(value, _PLAIN)
    }
