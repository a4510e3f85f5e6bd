"""Values that programs in a sandbox use and nothing else shows: one secret, what a sandbox gets of
several, and the store of this machine's user.
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
