"""Single checks of an auditor's claims."""

from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.theorems import TheoremTrial


def on_trial(name, claim, algorithm, budget="mutant", seed=0):
    """A claim of the auditor `name`, on trial on an algorithm of its class."""
    auditor = registry.auditor(name)
    (stated,) = (c for c in auditor.claims if c.name == claim)
    return TheoremTrial(auditor.algorithm, stated, algorithm, budget, seed)
