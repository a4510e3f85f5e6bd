"""Data sets of tasks, and samples of models, in local files.

Each format has a module, which says its fields and what becomes of them. The format of this library
is `own_format`.

May import what `evaluation` may. Start reading at `dataset`.
"""

from llm_sandbox.evaluation.datasets.dataset import Dataset, load_dataset
from llm_sandbox.evaluation.datasets.formats import DatasetFormat
from llm_sandbox.evaluation.datasets.oracles import (
    AnyValue,
    CaselessOutput,
    Oracle,
    OtherValues,
    PolynomialRoot,
    SameItems,
    WrappedValue,
)
from llm_sandbox.evaluation.datasets.own_format import (
    sample_from_json,
    sample_to_json,
    task_from_json,
    task_to_json,
    test_from_json,
    test_to_json,
)
from llm_sandbox.evaluation.datasets.problems import OnError, Problem
from llm_sandbox.evaluation.datasets.references import (
    EXPECTED_FROM_REFERENCE,
    fill_expected,
    reference_calls,
    reference_key,
)
from llm_sandbox.evaluation.datasets.samples import Samples, load_samples

__all__ = [
    "EXPECTED_FROM_REFERENCE",
    "AnyValue",
    "CaselessOutput",
    "Dataset",
    "DatasetFormat",
    "OnError",
    "Oracle",
    "OtherValues",
    "PolynomialRoot",
    "Problem",
    "SameItems",
    "Samples",
    "WrappedValue",
    "fill_expected",
    "load_dataset",
    "load_samples",
    "reference_calls",
    "reference_key",
    "sample_from_json",
    "sample_to_json",
    "task_from_json",
    "task_to_json",
    "test_from_json",
    "test_to_json",
]
