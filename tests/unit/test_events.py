"""The choice of events: known worst events are found, and nothing is promised where nothing differs."""

import math

import numpy as np
import pytest

from verifiable_dp.evidence.events import Observation, action_columns, choose, join, prefix_ends

N = 40_000


def laplace_pair(rng, shift=1.0):
    left, right = rng.laplace(0, 1, N), rng.laplace(shift, 1, N)
    return Observation(N, {}, {"output 1": left}), Observation(N, {}, {"output 1": right})


def test_the_tail_of_laplace_is_found():
    event = choose(*laplace_pair(np.random.default_rng(0)), test_runs=N)
    p, q = event.shares
    assert math.log(p / q) == pytest.approx(1.0, abs=0.05)
    assert event.promise > 0.95


def test_a_discrete_response_is_found():
    rng = np.random.default_rng(1)
    p = math.exp(2) / (1 + math.exp(2))
    left = Observation(N, {"all rounds": (rng.random(N) < p).astype(np.int64)})
    right = Observation(N, {"all rounds": (rng.random(N) < 1 - p).astype(np.int64)})
    event = choose(left, right, test_runs=N)
    assert math.log(event.shares[0] / event.shares[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_equal_worlds_promise_little(seed):
    rng = np.random.default_rng(seed)
    event = choose(*laplace_pair(rng, shift=0.0), test_runs=N)
    assert event.promise < 0.1


def test_two_outputs_are_worth_more_than_one():
    rng = np.random.default_rng(2)
    left = Observation(N, {}, {f"output {i}": rng.laplace(0, 1, N) for i in (1, 2)})
    right = Observation(N, {}, {f"output {i}": rng.laplace(1, 1, N) for i in (1, 2)})
    assert choose(left, right, test_runs=N).promise > 1.5


def test_a_known_likelihood_is_used():
    rng = np.random.default_rng(3)
    left, right = rng.laplace(0, 1, N), rng.laplace(1, 1, N)
    seen = [Observation(N, {}, {}, np.abs(x - 1) - np.abs(x)) for x in (left, right)]
    event = choose(*seen, test_runs=N)
    assert event.describe().startswith(("log-likelihood", "-log-likelihood"))
    assert math.log(event.shares[0] / event.shares[1]) == pytest.approx(1.0, abs=0.05)


def test_hits_of_parts_add_up():
    left, right = laplace_pair(np.random.default_rng(4))
    event = choose(left, right, test_runs=N)
    parts = [left.rows(0, 1000), left.rows(1000, N)]
    assert event.hits(left) == sum(event.hits(part) for part in parts)
    assert event.hits(join(parts)) == event.hits(left)


def test_not_a_number_is_an_outcome_like_others():
    """NaN in one world only tells the two apart."""
    rng = np.random.default_rng(5)
    left = rng.laplace(0, 1, N)
    right = np.where(rng.random(N) < 0.2, np.nan, rng.laplace(0, 1, N))
    seen = [Observation(N, {}, {"output 1": x}) for x in (left, right)]
    assert choose(*seen, test_runs=N).promise > 4


@pytest.mark.parametrize("rounds", [1, 5, 16, 17, 100, 1000])
def test_prefixes_end_at_the_end(rounds):
    ends = prefix_ends(rounds)
    assert ends[-1] == rounds
    assert (np.diff(ends) > 0).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
@pytest.mark.parametrize("rounds", [3, 64, 65, 500])
def test_codes_are_equal_where_prefixes_are(dtype, rounds):
    rng = np.random.default_rng(6)
    actions = rng.integers(0, 3, (50, rounds)).astype(dtype)
    actions[25:] = actions[:25]
    actions[30, -1] = (actions[30, -1] + 1) % 3
    for name, codes in action_columns(actions).items():
        end = rounds if name == "all rounds" else int(name.split()[-1])
        prefixes = [tuple(row) for row in actions[:, :end]]
        for i in range(50):
            same = [j for j in range(50) if prefixes[j] == prefixes[i]]
            assert np.flatnonzero(codes == codes[i]).tolist() == same
