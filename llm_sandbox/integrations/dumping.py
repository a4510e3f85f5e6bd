"""How pydantic writes a result that a framework keeps in one of its messages."""

from llm_sandbox.data import ExecutionResult

__all__ = ["let_pydantic_dump_results"]


def let_pydantic_dump_results() -> None:
    """Have pydantic write results as `ExecutionResult.to_dict` where it knows no type.

    A field of type `Any`, as frameworks have for what belongs to a message, is else written field
    by field, which ends at the first that is no plain data: the message, and the conversation that
    holds it, could not be stored. Doing it again changes nothing.
    """
    from pydantic_core import SchemaSerializer, core_schema

    as_dict = core_schema.plain_serializer_function_ser_schema(ExecutionResult.to_dict)
    serializer = SchemaSerializer(core_schema.any_schema(serialization=as_dict))
    # Where pydantic looks for it, as in its own classes; the class itself must not need pydantic.
    ExecutionResult.__pydantic_serializer__ = serializer  # type: ignore[attr-defined]
