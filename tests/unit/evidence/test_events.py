"""The choice of events: known worst events are found, and nothing is promised where nothing differs."""

import dataclasses
import math
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from tests.user_code import spread as trees
from verifiable_dp.evidence.blackbox import learning
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.events import (
    Event,
    EventSetting,
    Observation,
    action_columns,
    action_summaries,
    choose,
    join,
    prefix_ends,
)
from verifiable_dp.evidence.blackbox.scores import Codes, Feature, ScoreColumn
from verifiable_dp.evidence.exact import limits

N = 40_000


def laplace_pair(rng, shift=1.0):
    left, right = rng.laplace(0, 1, N), rng.laplace(shift, 1, N)
    return Observation(N, {}, {"output 1": left}), Observation(N, {}, {"output 1": right})


def test_the_tail_of_laplace_is_found():
    event = choose(*laplace_pair(np.random.default_rng(0)), EventSetting(N))
    p, q = event.shares
    assert math.log(p / q) == pytest.approx(1.0, abs=0.05)
    assert 0.9 < event.promise < 1.0  # three standard errors below the estimate


def test_a_discrete_response_is_found():
    rng = np.random.default_rng(1)
    p = math.exp(2) / (1 + math.exp(2))
    left = Observation(N, {"all rounds": (rng.random(N) < p).astype(np.int64)})
    right = Observation(N, {"all rounds": (rng.random(N) < 1 - p).astype(np.int64)})
    event = choose(left, right, EventSetting(N))
    assert math.log(event.shares[0] / event.shares[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_equal_worlds_promise_little(seed):
    rng = np.random.default_rng(seed)
    event = choose(*laplace_pair(rng, shift=0.0), EventSetting(N))
    assert event.promise < 0.1


def test_two_outputs_are_worth_more_than_one():
    rng = np.random.default_rng(2)
    left = Observation(N, {}, {f"output {i}": rng.laplace(0, 1, N) for i in (1, 2)})
    right = Observation(N, {}, {f"output {i}": rng.laplace(1, 1, N) for i in (1, 2)})
    assert choose(left, right, EventSetting(N)).promise > 1.5


def test_a_known_likelihood_is_used():
    rng = np.random.default_rng(3)
    left, right = rng.laplace(0, 1, N), rng.laplace(1, 1, N)
    seen = [Observation(N, {}, {}, np.abs(x - 1) - np.abs(x)) for x in (left, right)]
    event = choose(*seen, EventSetting(N))
    assert event.describe().startswith("log-likelihood")
    assert math.log(event.shares[0] / event.shares[1]) == pytest.approx(1.0, abs=0.05)
    # Broken variant: the threshold and the promise in each other's place.
    assert max(event.hits(one) / N for one in seen) == pytest.approx(max(event.shares))
    assert event.promise <= 1.0 + 1e-9


@pytest.mark.parametrize("cut", [-3.0, -0.0, 0.0, 2.5])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_event_of_a_number_is_said_as_a_plain_inequality(cut, sign):
    seen = Observation(7, {}, {"pulls of arm 0": np.array([-9.0, -3.0, -2.5, 0.0, 2.5, 3.0, np.nan])})
    event = Event(ScoreColumn(Feature("value", ("pulls of arm 0",)), sign), cut, True, 1.0, (0.5, 0.1))
    name, relation, limit = re.fullmatch(r"(.*) ([<>]=) (.*)", event.describe()).groups()
    assert name == "pulls of arm 0"
    assert limit == f"{float(limit):g}" != "-0"
    column = seen.numeric[name]
    inside = column <= float(limit) if relation == "<=" else column >= float(limit)
    assert event.hits(seen) == int(inside.sum())
    assert (relation == "<=") == (sign < 0)


def test_a_score_that_speaks_for_the_other_world_is_low_in_the_event():
    score = Codes("actions", np.array([0, 1]), np.array([-1.5, 1.5]))
    seen = Observation(3, {"actions": np.array([0, 1, 1])}, {})
    event = Event(score, 1.0, False, 1.0, (0.5, 0.1))
    assert event.describe() == "log ratio of actions (2 values) >= 1"
    assert event.hits(seen) == 2
    mirrored = dataclasses.replace(event, flipped=True)
    assert mirrored.describe() == "log ratio of actions (2 values) <= -1"
    assert mirrored.hits(seen) == 1


def test_hits_of_parts_add_up():
    left, right = laplace_pair(np.random.default_rng(4))
    event = choose(left, right, EventSetting(N))
    parts = [left.rows(0, 1000), left.rows(1000, N)]
    assert event.hits(left) == sum(event.hits(part) for part in parts)
    assert event.hits(join(parts)) == event.hits(left)


def test_not_a_number_is_an_outcome_like_others():
    """NaN in one world only tells the two apart."""
    rng = np.random.default_rng(5)
    left = rng.laplace(0, 1, N)
    right = np.where(rng.random(N) < 0.2, np.nan, rng.laplace(0, 1, N))
    seen = [Observation(N, {}, {"output 1": x}) for x in (left, right)]
    assert choose(*seen, EventSetting(N)).promise > 4


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
    columns = action_columns(actions)
    assert "all rounds" in columns
    for name, codes in columns.items():
        end = rounds if name == "all rounds" else int(name.split()[-1])
        prefixes = [tuple(row) for row in actions[:, :end]]
        for i in range(50):
            same = [j for j in range(50) if prefixes[j] == prefixes[i]]
            assert np.flatnonzero(codes == codes[i]).tolist() == same


# ---------------------------------------------------------------- rows that stand for many runs


def counted(shares, runs, seed, name="all blocks"):
    counts = np.random.default_rng(seed).multinomial(runs, shares)
    return Observation(runs, {name: np.arange(len(shares))}, weight=counts)


def spread(seen):
    """The same runs, a row each."""
    column = np.repeat(seen.discrete["all blocks"], seen.weight)
    return Observation(seen.runs, {"all blocks": np.random.default_rng(0).permutation(column)})


def test_a_weight_is_as_good_as_rows():
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    short = counted(shares, 20_000, 0), counted(shares[::-1], 20_000, 1)
    long = [spread(seen) for seen in short]
    event = choose(*short, EventSetting(N))
    assert [event.hits(seen) for seen in short] == [event.hits(seen) for seen in long]
    codes = [learning.learn_codes("all blocks", *pair) for pair in (short, long)]
    np.testing.assert_array_equal(codes[0].ratios, codes[1].ratios)
    assert choose(*long, EventSetting(N)).promise == pytest.approx(event.promise, abs=0.05)


def test_halves_are_disjoint_and_independent():
    """The halves' counts add up, and their difference is that of fair coins: z below 6 for each row."""
    seen = counted(np.full(50, 0.02), 10**6, 2)
    left, right = seen.halves()
    assert left.runs + right.runs == seen.runs
    both = [
        dict(zip(o.discrete["all blocks"].tolist(), o.weight.tolist(), strict=True)) for o in (left, right)
    ]
    for row, total in enumerate(seen.weight.tolist()):
        assert both[0][row] + both[1][row] == total
    z = np.array([(both[0][r] - both[1][r]) / math.sqrt(seen.weight[r]) for r in range(50)])
    assert np.abs(z).max() < 6
    assert np.abs(z).max() > 1  # split in two exactly, it would be near 0


def test_equal_rows_are_joined():
    parts = [counted(np.array([0.2, 0.8]), 1000, seed) for seed in range(3)]
    joined = join(parts)
    assert joined.runs == 3000
    assert joined.size == 2
    assert joined.weight.tolist() == sum(part.weight for part in parts).tolist()


def test_rows_of_a_weighted_observation():
    seen = Observation(10, {"all blocks": np.arange(3)}, weight=np.array([4, 1, 5]))
    part = seen.rows(3, 6)
    assert part.runs == 3
    assert part.weight.tolist() == [1, 1, 1]
    assert seen.rows(5, 10).discrete["all blocks"].tolist() == [2]


# ---------------------------------------------------------------- how near to the best event


def tied(seed=5):
    """200 atoms whose log ratios are -1, 0 or 1."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(200, 0.5))
    q = p * np.exp(-rng.choice([-1.0, 0.0, 1.0], 200))
    return p, q / q.sum()


def rare():
    """One output in 5000, all but impossible in the other world, among common ones that tell little."""
    p, q = np.array([2e-4, 0.4, 0.2, 0.3998]), np.array([2e-4 * math.exp(-5), 0.33, 0.22, 0.0])
    q[3] = 1 - q[:3].sum()
    return p, q


def many(seed=5):
    """A thousand outputs with falling probabilities."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, 1001) ** 1.5
    q = p * np.exp(-rng.uniform(-1, 1, 1000))
    return p / p.sum(), q / q.sum()


def efficiency(law, runs, select, seed):
    """Bound of the chosen event over that of the best one, both at their true probabilities."""
    p, q = law
    event = choose(counted(p, select, seed), counted(q, select, seed + 1000), EventSetting(runs))
    atoms = Observation(len(p), {"all blocks": np.arange(len(p))})
    inside = np.array([event.hits(atoms.rows(i, i + 1)) == 1 for i in range(len(p))])
    one, other = (q, p) if event.flipped else (p, q)
    bound = limits.median_bound(float(one[inside].sum()), float(other[inside].sum()), runs, 0.05, 0.0)
    return bound / limits.best_event(np.log(p), np.log(q), runs).bound


@pytest.mark.parametrize(
    ("law", "select", "least"),
    [(tied(), 400_000, 0.99), (rare(), 400_000, 0.97), (many(), 1_000_000, 0.95)],
    ids=["tied", "rare", "many"],
)
def test_the_chosen_event_is_nearly_the_best(law, select, least):
    found = [efficiency(law, 1_000_000, select, seed) for seed in range(4)]
    assert np.mean(found) >= least
    assert max(found) <= 1 + 1e-6


def test_plain_ratios_would_do_worse(monkeypatch):
    """Negative control: sorted by their plain ratios, rare values come first by chance."""

    def plain(a, b, n_a, n_b):
        return np.log(np.asarray(a) + 0.5) - np.log(np.asarray(b) + 0.5)

    shrunk = np.mean([efficiency(many(), 10**6, 100_000, seed) for seed in range(4)])
    monkeypatch.setattr(learning, "log_ratios", plain)
    assert np.mean([efficiency(many(), 10**6, 100_000, seed) for seed in range(4)]) < shrunk - 0.02


def test_rare_values_are_shrunk_and_frequent_ones_are_not():
    rng = np.random.default_rng(7)
    counts = rng.poisson(2.0, (2, 2000))
    ratios = learning.log_ratios(
        np.append(counts[0], 3_000_000), np.append(counts[1], 1_000_000), 10**7, 10**7
    )
    assert np.abs(ratios[:-1]).max() < 0.7  # plain ratios reach 2.4
    assert ratios[-1] == pytest.approx(math.log(3), abs=1e-3)


def test_a_support_that_differs_is_found():
    """The noisy maximum with exponential noise: values below 2 are possible in world 0 only."""
    rng = np.random.default_rng(8)
    seen = [
        Observation(200_000, {}, {"output 1": (base + rng.exponential(2.0, (200_000, 5))).max(axis=1)})
        for base in (1.0, 2.0)
    ]
    event = choose(*seen, EventSetting(10**6))
    assert event.shares[1] == 0
    assert (1 - math.exp(-0.5)) ** 5 * 0.8 < event.shares[0] < 0.02
    assert event.promise > 5


def test_atoms_among_numbers_are_told_apart():
    """A clipped output: what lies on the edge differs, what lies inside does not."""
    rng = np.random.default_rng(9)
    left, right = rng.uniform(0, 1, N), rng.uniform(0, 1, N)
    left[: N // 10] = 0.5
    left = rng.permutation(left)
    event = choose(*(Observation(N, {}, {"output 1": x}) for x in (left, right)), EventSetting(N))
    assert event.promise > 3
    assert event.shares[0] == pytest.approx(0.1, abs=0.03)


def test_a_small_level_asks_for_a_more_frequent_event():
    p = np.array([0.004, 0.2, 0.796])
    q = np.array([0.0004, 0.05, 0.9496])
    seen = counted(p, 100_000, 0), counted(q, 100_000, 1)
    loose, strict = (choose(*seen, EventSetting(3000, level=level)) for level in (0.05, 1e-9))
    assert strict.shares[0] > loose.shares[0] or strict.shares[0] > 0.1
    assert strict.promise < loose.promise


# ---------------------------------------------------------------- scores


def knotted(seed, sign, runs=60_000):
    """Two standard normal numbers whose correlation is `sign` times .8: neither alone tells anything."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(runs)
    y = sign * 0.8 * x + 0.6 * rng.standard_normal(runs)
    return Observation(runs, {}, {"number a": x, "number b": y})


def test_trees_see_what_single_columns_do_not():
    seen = knotted(0, 1), knotted(1, -1)
    event = choose(*seen, EventSetting(60_000))
    assert event.describe().startswith("boosted trees")
    assert event.promise > 2
    apart = learning.learn_bins(*seen, columns=learning.features(seen[0]))
    assert np.std(apart(seen[0])) < 0.1  # negative control: the sum over columns is blind to it


def test_logistic_regression_finds_a_direction():
    rng = np.random.default_rng(10)
    seen = [
        Observation(N, {}, {f"number {i}": rng.standard_normal(N) + shift for i in range(6)})
        for shift in (0.2, -0.2)
    ]
    score = learning.learn_logistic(*seen, columns=learning.features(seen[0]))
    # The true log ratio is .4 times the sum: correlation with it, on fresh runs of world 0.
    fresh = Observation(N, {}, {f"number {i}": rng.standard_normal(N) + 0.2 for i in range(6)})
    truth = 0.4 * sum(fresh.numeric.values())
    assert np.corrcoef(score(fresh), truth)[0, 1] > 0.99


def test_tables_are_the_trees():
    """What is kept of the boosted trees is their function, on every pair of bins that occurs."""
    seen = knotted(2, 1, 5000), knotted(3, -1, 5000)
    columns = learning.features(seen[0])
    kept = learning.learn_boosted(*seen, columns=columns)
    x = np.hstack([kept.bins(o) for o in seen]).T
    model = learning._grown(x, *seen)
    with ThreadpoolController().limit(limits=1):  # threads that it leaves keep this process from being forked
        scores = model.decision_function(x.astype(float))
    np.testing.assert_allclose(np.concatenate([kept(o) for o in seen]), scores, atol=1e-6)


def test_the_first_trees_have_one_thread_too(monkeypatch):
    """What brings a pool of threads is imported before pools are looked up, as it else spins on all cores."""
    monkeypatch.delitem(sys.modules, "sklearn.ensemble", raising=False)
    limited = []

    def pools(modules):
        limited.append("sklearn.ensemble" in sys.modules)
        return ThreadpoolController()

    monkeypatch.setattr(learning, "_pools", pools)
    seen = knotted(2, 1, 500), knotted(3, -1, 500)
    assert learning.learn_boosted(*seen, columns=learning.features(seen[0])) is not None
    assert limited == [True]


_THREADS = """
import hashlib, pickle, sys
import numpy as np
from verifiable_dp.evidence.blackbox import learning
from verifiable_dp.evidence.blackbox.events import Observation, Setting
rng = np.random.default_rng(0)
seen = [Observation(20000, {}, {f"output {i}": rng.laplace(s, 1, 20000) for i in range(4)}) for s in (0, 1)]
score = learning.learn_boosted(*seen, columns=learning.features(seen[0])[:4])
print(hashlib.sha256(pickle.dumps((score.single, score.joint, score.pairs, score.edges))).hexdigest())
"""


@pytest.mark.slow
def test_trees_do_not_depend_on_the_number_of_threads():
    digests = set()
    for threads in ("1", "2", "4"):
        env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        run = [sys.executable, "-c", _THREADS]
        digests.add(subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout)
    assert len(digests) == 1


def test_scores_are_small_and_survive_pickling():
    rng = np.random.default_rng(11)
    seen = [
        Observation(
            20_000,
            action_columns(rng.integers(0, 2 + w, (20_000, 6)), "output"),
            {f"output {i}": rng.laplace(w, 1, 20_000) for i in range(3)},
        )
        for w in (0, 1)
    ]
    scores = [score for score in (recipe(*seen) for recipe in learning.recipes(*seen)) if score is not None]
    assert {type(score).__name__ for score in scores} == {
        "Codes",
        "Departure",
        "Binned",
        "Boosted",
        "LogisticScore",
    }
    for score in scores:
        text = pickle.dumps(score)
        assert len(text) < 2_000_000
        np.testing.assert_array_equal(pickle.loads(text)(seen[0]), score(seen[0]))
        event = Event(score, 0.1, False, 0.0, (0.0, 0.0))
        parts = [seen[0].rows(0, 7000), seen[0].rows(7000, 20_000)]
        assert event.hits(seen[0]) == sum(event.hits(part) for part in parts)
    assert all(score.describe() for score in scores)


def test_the_first_departure_is_seen_where_whole_paths_are_all_different():
    """Long random paths: no two are alike; only whether round 40 leaves the common beginning tells."""
    rng = np.random.default_rng(12)

    def paths(share):
        actions = np.zeros((N // 4, 200), np.int8)
        actions[:, 48:] = rng.integers(0, 3, (N // 4, 152))
        actions[:, 39] = rng.random(N // 4) < share
        return Observation(N // 4, action_columns(actions))

    seen = paths(0.6), paths(0.2)
    score = learning.learn_departure(*seen)
    event = Event(score, 0.5, False, 0.0, (0.0, 0.0))
    assert event.hits(seen[0]) / seen[0].runs == pytest.approx(0.6, abs=0.05)
    assert event.hits(seen[1]) / seen[1].runs == pytest.approx(0.2, abs=0.05)
    assert choose(*seen, EventSetting(N)).promise > 0.8


def test_summaries_of_arms():
    actions = np.array([[0, 1, 1, 2], [2, 2, 2, -1]], np.int8)
    discrete, numeric = action_summaries(actions, 3)
    assert discrete["last arm"].tolist() == [2, 2]
    assert numeric["pulls of arm 1"].tolist() == [2, 0]
    assert numeric["last round of arm 1"].tolist() == [3, 0]
    assert numeric["switches"].tolist() == [2, 0]


def test_summaries_of_sets():
    codes = np.array([[7, 7, 3], [7, 4, -1]])
    discrete, numeric = action_summaries(codes, 3, sets=True)
    assert numeric == {}
    assert discrete["last set"].tolist() == [3, 4]
    assert discrete["last block of arm 2"].tolist() == [2, 2]
    assert discrete["last block of arm 0"].tolist() == [3, 1]


def test_a_column_is_described_by_its_name():
    event = choose(*laplace_pair(np.random.default_rng(13)), EventSetting(N))
    assert isinstance(event.score, ScoreColumn) or event.score.describe().startswith("log ratio")
    assert "output 1" in event.describe()


def duels(play, seed, runs, horizon=64):
    """Runs of a bandit whose first reward is low, and high."""
    found, rng = [], np.random.default_rng(seed)
    for first in (0.0, 1.0):
        rewards = np.full((horizon, 2), 0.5)
        rewards[0] = first
        actions = play(rewards, runs, rng)
        codes, numbers = action_summaries(actions, 2)
        found.append(Observation(runs, {**action_columns(actions), **codes}, numbers, actions=actions))
    return found


SPREAD = EventSetting(8000, level=1e-6, boosted=False)


def p_value(event, play, seed):
    hits = [event.hits(seen) for seen in duels(play, seed, 8000)]
    return exact.ratio_p_value(*(hits[::-1] if event.flipped else hits), trees.EPSILON)


def test_what_spreads_over_all_rounds_adds_up_in_a_regression_on_them():
    left, right = duels(trees.new_nodes, 0, 1600)
    event = choose(left, right, SPREAD)
    assert "the arms of 64 rounds" in event.describe()
    assert event.promise > 1
    assert p_value(event, trees.new_nodes, 1) < 1e-12
    # Without the actions of single rounds nothing that is learnt shows it.
    alone = [dataclasses.replace(seen, actions=None) for seen in (left, right)]
    assert choose(*alone, SPREAD).promise < 0.7
    assert p_value(choose(*alone, SPREAD), trees.new_nodes, 1) > 0.5


def test_the_right_tree_is_not_accused_by_the_regression_on_rounds():
    left, right = duels(trees.right_tree, 0, 1600)
    learnt = learning.learn_rounds(*(seen.halves()[0] for seen in (left, right)))
    event = SPREAD.best(learnt, left.halves()[1], right.halves()[1])
    assert event.promise < 0.5
    assert p_value(event, trees.right_tree, 1) > 0.01


def test_rounds_that_share_a_slope_and_arms_that_are_always_played():
    rng = np.random.default_rng(3)
    left, right = (
        Observation(400, actions=(rng.random((400, 300)) < share).astype(np.int8)) for share in (0.6, 0.4)
    )
    score = learning.learn_rounds(left, right)
    assert score.slopes.shape == (300, 2)
    assert len(np.unique(score.slopes[:, 1])) <= 128
    assert score(left).mean() > score(right).mean() + 5
    same = Observation(9, actions=np.ones((9, 4), np.int8))
    assert learning.learn_rounds(same, same) is None


def test_an_arm_that_was_not_learnt_about_scores_nothing():
    """Some hundred runs may never play an arm that later ones do, and a round without an arm is -1."""
    rng = np.random.default_rng(4)
    seen = [Observation(200, actions=rng.integers(0, 2, (200, 5)).astype(np.int8)) for _ in range(2)]
    score = learning.learn_rounds(*seen)
    base = np.zeros((1, 5), np.int8)
    for odd in (2, 7, -1):
        there = base.copy()
        there[0, 3] = odd
        found = score(Observation(1, actions=there)) - score(Observation(1, actions=base))
        assert found == pytest.approx(-score.slopes[3, 0])


# ---------------------------------------------------------------- runs that play the reward that differs


ROUNDS, CHANGE = 12, (4, 1, 2)


def weighed(rng, n, world):
    """Arm 1 is played in one round of five; if it was in round 5 of world 1, the last rounds show it."""
    actions = (rng.random((n, ROUNDS)) < 0.2).astype(np.int8)
    last = rng.random(n) < 0.5
    met = actions[:, 4] == 1
    if world:
        last[met] = rng.random(int(met.sum())) < 0.95
    actions[:, 8:] = last[:, None]
    return actions


def of_actions(actions, change=CHANGE):
    codes, numbers = action_summaries(actions, 2)
    return Observation(
        len(actions), {**action_columns(actions), **codes}, numbers, actions=actions, change=change
    )


def both_worlds(seed, n, change=CHANGE):
    rng = np.random.default_rng(seed)
    return [of_actions(weighed(rng, n, world), change) for world in (0, 1)]


def test_runs_that_play_the_reward_that_differs_are_scored_by_themselves():
    """An event of a tenth of the runs, ten times as frequent; all runs together hide most of it."""
    setting = EventSetting(20_000, 0.0, 1e-6, boosted=False)
    event = choose(*both_worlds(0, 1500), setting)
    left, right = both_worlds(1, 20_000)
    assert math.log(event.hits(left) / event.hits(right)) > 1.9
    assert event.describe().count("of runs that play the reward that differs") == 1
    # The broken variant does not know the change; another round's does not help it either.
    for other in (None, (6, 1, 2)):
        assert choose(*both_worlds(0, 1500, other), setting).promise < event.promise - 0.3


def test_the_others_score_nothing_and_parts_join():
    seen = both_worlds(2, 600)
    score = learning.learn_met(*seen, recipe=learning.learn_rounds)
    whole = score(seen[0])
    assert (whole[~seen[0].met] == 0).all()
    assert (whole[seen[0].met] != 0).any()
    parts = join([seen[0].rows(0, 250), seen[0].rows(250, 600)])
    assert parts.change == CHANGE
    assert np.array_equal(score(parts), whole)
    assert seen[0].since.runs == seen[0].met.sum()
    few = [one.rows(0, 20) for one in seen]
    assert learning.learn_met(*few, recipe=learning.learn_rounds) is None


def p_values(tested):
    """Of twenty learnt events of worlds that are alike, on the runs that `tested` names."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        coins = [of_actions(rng.integers(0, 2, (400, 60)).astype(np.int8)) for _ in range(4)]
        learnt, fresh = coins[:2], coins[2:]
        score = learning.learn_met(*learnt, recipe=learning.learn_rounds)
        event = EventSetting(400, caution=0.0, directions=(False,)).best(score, *learnt)
        counts = [event.hits(one) for one in (learnt if tested == "learnt" else fresh)]
        found.append(exact.ratio_p_value(*counts, 0.0))
    return sorted(found)


def test_a_score_of_met_runs_keeps_the_level_on_fresh_runs():
    """The broken variant tests a score on the runs that it was learnt on, and accuses worlds that are alike.

    Of twenty p-values the least is below 1e-5 once in five thousand such tests; the seeds are fixed.
    """
    assert p_values("fresh")[0] > 1e-5
    assert p_values("learnt")[9] < 1e-3
