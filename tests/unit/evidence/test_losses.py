"""Scores from the losses of traced runs: they tell spread leaks, and only those."""

import numpy as np
import pytest
from scipy.stats import rankdata

from tests.asking import audited
from tests.user_code import spread
from verifiable_dp import api
from verifiable_dp.auditing import bandits
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.events import EventSetting, Observation, choose
from verifiable_dp.evidence.tracing import losses
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.report import finish

ROUNDS, RUNS, FRESH = 24, 12, 4000
SEED = 1  # of an audit that chooses the score
BOUNDS = (0.0, 1.0)
BITS = np.arange(ROUNDS)


def new_nodes(rewards, rng):
    return spread.duel(rewards, 1, rng, 3.0, fresh=True)[0]


def reuses_noise(rewards, rng):
    """One draw hides two sums that move apart."""
    noise = rng.laplace(0, 3.0)
    once, twice = rewards[0, 0] + noise, 2 * rewards[0, 0] + noise
    return [int(once > 0), int(twice > 0)] * (ROUNDS // 2)


def new_noise(rewards, rng):
    """The lead so far with fresh noise in every round."""
    lead, arms = 0.0, []
    for row in rewards:
        arms.append(int(lead + rng.laplace(0, 1.0) < 0))
        lead += row[0] if arms[-1] == 0 else -row[1]
    return arms


@pytest.fixture(scope="module")
def pair():
    return TablePair(np.where(np.indices((ROUNDS, 2))[0] == 0, 0.0, 0.5), 0, 0, 1.0, BOUNDS)


def subject(play):
    return TracedBandit(play, 2, ROUNDS, BOUNDS, frozenset([spread.__file__, __file__]))


def learnt(pair, play=new_nodes, seed=0, runs=RUNS):
    return losses.learn_losses(subject(play), pair, runs, seed)


@pytest.fixture(scope="module")
def score(pair):
    return learnt(pair)


def worlds(pair, seed, runs=FRESH, play=spread.new_nodes):
    rng = np.random.default_rng(seed)
    actions = [play(table, runs, rng) for table in pair.worlds()]
    return [Observation(runs, actions=one, change=(0, 0, 2)) for one in actions]


def told(score, pair, seed=1):
    """Chance that a run of world 0 scores higher than one of world 1."""
    left, right = (score(seen) for seen in worlds(pair, seed))
    ranks = rankdata(np.concatenate([left, right]))[: len(left)]
    return (ranks.mean() - (len(left) + 1) / 2) / len(right)


def test_losses_of_a_few_runs_tell_the_worlds_apart(pair, score):
    # One standard error of it is .006.
    found = told(score, pair)
    assert found > 0.55
    single = [abs(told(lambda seen, t=t: (seen.actions[:, t] == 0) * 1.0, pair) - 0.5) for t in range(ROUNDS)]
    assert found - 0.5 > max(single)


def test_shuffled_losses_do_not(pair, score, monkeypatch):
    plain, rng = losses._means, np.random.default_rng(0)
    monkeypatch.setattr(losses, "_means", lambda a, b, *rest: plain(a, rng.permuted(b, axis=0), *rest))
    assert told(learnt(pair), pair) < told(score, pair) - 0.03


def test_the_same_seed_gives_the_same_score(pair):
    one, again, other = (learnt(pair, seed=seed, runs=3).score.slopes for seed in (0, 0, 1000))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_all_that_a_run_gives_away_is_shared_out_among_the_rounds(pair):
    traced = subject(new_nodes).trace(pair, 3)
    each = losses.by_round(traced, ROUNDS)
    assert each.sum() == pytest.approx(traced.loss.total)
    # Before the reward is read nothing is given away, and afterwards it is asked about in every round.
    assert each[0] == 0
    assert np.count_nonzero(each) > ROUNDS // 2


def test_without_a_finite_loss_nothing_is_learnt(pair):
    assert learnt(pair, reuses_noise) is None


def test_it_is_chosen_where_it_promises_most(pair, score):
    left, right = worlds(pair, 2, 600)
    offered = choose(left, right, EventSetting(4000, boosted=False, offered=score))
    assert offered.promise >= choose(left, right, EventSetting(4000, boosted=False)).promise
    assert offered == EventSetting(4000).best(score, left, right)
    assert "losses of 24 traced runs on the arms of 24 rounds" in offered.describe()


def test_the_right_tree_is_not_accused(pair):
    score = learnt(pair, lambda rewards, rng: spread.right_tree(rewards, 1, rng)[0])
    event = EventSetting(4000).best(score, *worlds(pair, 3, 600, spread.right_tree))
    hits = [event.hits(seen) for seen in worlds(pair, 4, 4000, spread.right_tree)]
    assert exact.ratio_p_value(*(hits[::-1] if event.flipped else hits), spread.EPSILON) > 0.01


def test_an_audit_uses_it_where_tracing_leads_and_a_rerun_repeats_its_counts(monkeypatch):
    monkeypatch.setattr(bandits, "_DEARER", 3)  # so that a small audit can pay for it
    shape = {"n_arms": 2, "horizon": 8, "runs": 2000, "seed": SEED}
    name = f"{__name__}:new_noise"
    record = finish(audited(new_noise, name=name, epsilon=1.0, **shape), started=0.0, cpu_seconds=0.0).record
    boxes = [check["statistics"] for check in record["checks"] if check["kind"] == "black_box"]
    assert any("traced runs on the arms of 8 rounds" in box["event"] for box in boxes)
    assert api.rerun(record, in_process=True)["checks"] == record["checks"]
