"""MBPP: a function that is described, and assertions about it.

Fields: ``task_id``, ``text`` or ``prompt`` (the sanitized part), ``code``, ``test_list``,
``test_setup_code`` or ``test_imports``, ``challenge_test_list``; and ``test``, a program with the
further inputs of EvalPlus, in its edition of the data set.

The groups of tests are ``base``, ``challenge`` and ``plus``. Those of ``base``, on which published
results rest, are customarily shown to models, and so are not hidden.
"""

import ast
import warnings

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.kinds import AssertTest
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["read_mbpp"]


def read_mbpp(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, or there is no test.
    """
    imports = "\n".join(record.texts("test_imports"))
    # The code of this field may use classes of the candidate, as a setup of the test could not.
    opening = record.text("test_setup_code", "")
    shown = record.texts("test_list")

    def tests(group: str, sources: list[str]) -> list[AssertTest]:
        return [
            AssertTest(
                f"{opening}\n{source}" if opening.strip() else source,
                setup=imports,
                name=f"{group}/{index}",
                group=group,
                hidden=group != "base",
            )
            for index, source in enumerate(sources)
        ]

    plus = record.text("test", "")
    found = tests("base", shown) + tests("challenge", record.texts("challenge_test_list"))
    found += tests("plus", [plus] if plus.strip() else [])
    if not found:
        raise ValidationError("invalid test_list: expected at least one test, got none")
    code = record.text("code")
    return Task(
        id=record.label("task_id"),
        tests=tuple(found),
        prompt=record.text("text" if "text" in record else "prompt"),
        entry_point=_entry_point(code, shown),
        reference=code,
    )


def _entry_point(code: str, tests: list[str]) -> str | None:
    """Return the only function of the solution that all tests call; None without one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            defined = {node.name for node in ast.parse(code).body if isinstance(node, _FUNCTIONS)}
            for test in tests:
                defined &= {n.id for n in ast.walk(ast.parse(test)) if isinstance(n, ast.Name)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return defined.pop() if len(defined) == 1 else None


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
