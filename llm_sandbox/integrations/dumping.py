"""Serialisation of results by pydantic, for frameworks that keep them in messages."""

from llm_sandbox.data import ExecutionResult

__all__ = ["let_pydantic_dump_results"]


def let_pydantic_dump_results() -> None:
    """Register `ExecutionResult.to_dict` as pydantic's serialiser of results in untyped fields.

    Without it, pydantic serialises a value in a field of type `Any` field by field, and fails at
    the first that is not plain data, so that the message could not be stored. Idempotent.
    """
    from pydantic_core import SchemaSerializer, core_schema

    as_dict = core_schema.plain_serializer_function_ser_schema(ExecutionResult.to_dict)
    serializer = SchemaSerializer(core_schema.any_schema(serialization=as_dict))
    # Where pydantic looks for it, as in its own classes; the class itself must not need pydantic.
    ExecutionResult.__pydantic_serializer__ = serializer  # type: ignore[attr-defined]
