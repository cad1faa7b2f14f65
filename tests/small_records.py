"""Records that a test makes itself, in a second: they hold whatever the form of records is."""

import functools
import json

import verifiable_dp as vdp


def release(data, size, rng):
    """Half the noise that epsilon 1 needs."""
    return data + rng.laplace(0, 0.5, size)


@functools.cache
def _small(epsilon):
    return vdp.audit("tree-sum", epsilon=epsilon, budget=0.02, mutants=False).to_json()


def small(epsilon=1.0):
    """Of an algorithm of the catalogue, not refuted."""
    return json.loads(_small(epsilon))


@functools.cache
def _refuted():
    return vdp.audit(release, epsilon=1.0, budget="smoke", in_process=True).to_json()


def refuted():
    """Of a user's mechanism, with a counterexample."""
    return json.loads(_refuted())
