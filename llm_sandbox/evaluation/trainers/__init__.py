"""Rewards in the forms that trainers call.

Each module is for one trainer, and imports nothing of it. A failure of the sandbox is None where
the trainer knows that, and an error or a mark where it does not: never a zero of its own accord.

May import what `evaluation` may. Start reading at `rewards`, of the package above.
"""

from llm_sandbox.evaluation.trainers.open_r1 import OpenR1Provider
from llm_sandbox.evaluation.trainers.trl import trl_reward
from llm_sandbox.evaluation.trainers.verifiers import VerifiersGrader, verifiers_reward
from llm_sandbox.evaluation.trainers.verl import VerlScore, compute_score, compute_scores

__all__ = [
    "OpenR1Provider",
    "VerifiersGrader",
    "VerlScore",
    "compute_score",
    "compute_scores",
    "trl_reward",
    "verifiers_reward",
]
