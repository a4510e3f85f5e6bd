"""Secrets: values that only programs in a sandbox can use, their delivery, and the store of this
user.
"""

from llm_sandbox.secrets.plan import Binding, SecretFile, SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Delivery, Secret
from llm_sandbox.secrets.store import SecretStore, StoredSecret, store_file

__all__ = [
    "Binding",
    "Delivery",
    "Secret",
    "SecretFile",
    "SecretPlan",
    "SecretStore",
    "StoredSecret",
    "plan_secrets",
    "store_file",
]
