"""The parent chooses events and counts their hits: results stay the same, and made-up counts are refused."""

import json
import random
import sys

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")


def laplace(data, size, rng):
    return data + rng.laplace(0, 1, size)


def leaks(data, size, rng):
    return data + rng.laplace(0, 0.25, size)


def one(data, rng):
    return data + rng.laplace(0, 1)


def vector(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, (size, 1))


def text(data, size, rng):
    return np.where(rng.random(size) < np.exp(1) / (1 + np.exp(1)), str(data > 0.5), str(data <= 0.5))


def gaussian(data, size, rng):
    return data + rng.normal(0, 3.0, (size, 2))


def global_noise(data, size, rng):
    return data + np.random.laplace(0, 1, size)  # noqa: NPY002


def shared(data, size, rng):
    """Every other draw takes the noise of the one before it."""
    return data + np.repeat(rng.laplace(0, 1, (size + 1) // 2), 2)[:size]


def play(rewards, rng):
    half, n_arms = len(rewards) // 2, rewards.shape[1]
    arms = np.arange(len(rewards)) % n_arms
    sums = np.array([rewards[arm:half:n_arms, arm].sum() for arm in range(n_arms)])
    arms[half:] = np.argmax(sums + rng.laplace(0, 1, n_arms))
    return arms


def plays_leak(rewards, rng):
    arms = play(rewards, rng)
    arms[-1] = int(rewards[0, 0] > 0.5)
    return arms


def play_many(rewards, n_runs, rng):
    return np.array([play(rewards, rng) for _ in range(n_runs)])


def old_random(rewards, rng):
    arms = [t % 2 for t in range(len(rewards))]
    total = float(rewards[0, 0]) + random.gauss(0, 4.0)
    return [*arms[:-1], int(total > 0.5)]


def contextual(contexts, rewards, rng):
    return [int(rng.random() < 0.5) for _ in contexts]


EXEC = f"{sys.executable} tests/user_code/exec_targets/"
BANDIT = {"n_arms": 2, "horizon": 12}
FORMS = {
    "release": (laplace, {}),
    "release that leaks": (leaks, {}),
    "one draw a call": (one, {}),
    "vectors": (vector, {"pairs": [(np.zeros(3), np.array([0.0, 1.0, 0.0]))]}),
    "text": (text, {}),
    "delta": (gaussian, {"delta": 1e-2}),
    "curve": (gaussian, {"delta": 1e-2, "curve": True}),
    "rho": (gaussian, {"epsilon": None, "rho": 0.5}),
    "sequential": (laplace, {"sequential": True}),
    "sequential leak": (leaks, {"sequential": True}),
    "adjacency": (vector, {"adjacency": "add-remove"}),
    "noise of the process": (global_noise, {}),
    "draws that depend on each other": (shared, {}),
    "play": (play, BANDIT),
    "play that leaks": (plays_leak, BANDIT),
    "play_many": (play_many, BANDIT),
    "noise of the standard library": (old_random, BANDIT),
    "contexts": (contextual, {**BANDIT, "contexts": 2}),
    "group": (play, {**BANDIT, "group": 2}),
}


def audited(target, given, **more):
    asked = {"epsilon": 1.0, "runs": 1000, **given, **more}
    return vdp.audit(target, **asked).record


def bare(record):
    return json.dumps({**record, "provenance": None, "digest": None}, sort_keys=True)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", FORMS)
def test_counts_are_those_of_an_audit_in_one_process(name, seed):
    target, given = FORMS[name]
    here, there = (audited(target, given, seed=seed, in_process=apart) for apart in (True, False))
    assert bare(here) == bare(there)
    assert there["provenance"]["counted"]["asked_again"] > 0
    assert "counted" not in here["provenance"]
    assert any(check["kind"] in ("black_box", "sequential") for check in there["checks"])
