"""Engines: where the samples of a run are evaluated, beside this process.

`evaluate(..., engine=...)` takes the name of one or an `Engine`. The driver sends batches of
samples as JSON to workers that passed their self-test, and gives the samples of a worker that is
lost to others.

May import what `evaluation` may. Start reading at `base`.
"""

from llm_sandbox.evaluation.engines.base import Engine, EngineName
from llm_sandbox.evaluation.engines.batch_worker import BatchWorker
from llm_sandbox.evaluation.engines.dask import DaskEngine
from llm_sandbox.evaluation.engines.distributed_evaluator import DistributedEvaluator
from llm_sandbox.evaluation.engines.distribution import distribute
from llm_sandbox.evaluation.engines.http import HttpEngine
from llm_sandbox.evaluation.engines.local import LocalEngine
from llm_sandbox.evaluation.engines.ray import RayEngine
from llm_sandbox.evaluation.engines.tested_workers import TestedWorkers

__all__ = [
    "BatchWorker",
    "DaskEngine",
    "DistributedEvaluator",
    "Engine",
    "EngineName",
    "HttpEngine",
    "LocalEngine",
    "RayEngine",
    "TestedWorkers",
    "distribute",
]
