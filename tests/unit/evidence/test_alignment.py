"""Alignment by itself: what it must notice, on algorithms of ten lines, and which cost is too much."""

import importlib
import math
import random
import sys
from dataclasses import dataclass
from typing import ClassVar

import hypothesis
import numpy as np
import pytest

from verifiable_dp.core import tosses
from verifiable_dp.core.algorithm import Algorithm, Query, State, play
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.neighbours import GroupPair, TablePair, groups, interactive, streams, tables
from verifiable_dp.core.noise import Draw, Seeded
from verifiable_dp.core.tapes import Divergence, Recorder, Replayer
from verifiable_dp.evidence.alignment import checking, searching
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment.checking import Instance, Search
from verifiable_dp.evidence.alignment.twin import Twin
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.exact import law as exact


@dataclass(frozen=True)
class Led(State):
    """Public state: the arm that leads, -1 before the release."""

    leader: np.ndarray


@dataclass(frozen=True)
class Once(Algorithm):
    """Pulls both arms, releases both rewards with Lap(1), plays the larger one once: 1-DP."""

    n_arms: int = 2
    horizon: int = 3
    name: ClassVar[str] = "once"
    seen: ClassVar[dict] = {}

    @property
    def claim(self):
        return PrivacyClaim(1.0, observe="releases")

    def start(self, run):
        return Led(run, np.zeros(len(run), np.int64), np.full(len(run), -1))

    def query(self, state):
        first = state.t == 0
        active = first[:, None] | (np.arange(2) == state.leader[:, None])
        rounds = np.where(first, 2, np.where(state.t < 3, 1, 0))
        return Query(state.t, rounds, active, first)

    def noisy(self, answer, noise, run, where):
        slot = np.broadcast_to(np.arange(2), answer.shape)
        return Laplace(1.0, 1.0).release(answer, noise, run, slot, where)

    def release(self, state, memory, query, answer, noise):
        return memory, self.noisy(answer, noise, state.run, query.active & query.complete[:, None])

    def decide(self, state, query, released):
        best = np.where(released[:, 0] >= released[:, 1], 0, 1)
        return Led(state.run, state.t + query.rounds, np.where(query.complete, best, state.leader))


class ActsOnRaw(Once):
    """Keeps the raw rewards beside its public state and acts on them."""

    def release(self, state, memory, query, answer, noise):
        if query.complete.all():
            self.seen["raw"] = answer
        return super().release(state, memory, query, answer, noise)

    def decide(self, state, query, released):
        return super().decide(state, query, self.seen["raw"])


class PublishesRaw(Once):
    """Publishes the raw rewards beside the noisy ones; its actions follow from the latter."""

    def release(self, state, memory, query, answer, noise):
        memory, released = super().release(state, memory, query, answer, noise)
        return memory, np.hstack([released, np.where(query.complete[:, None], answer, np.nan)])


class SharesDraws(Once):
    """Draws noise for the first run of a batch and gives it to all."""

    def release(self, state, memory, query, answer, noise):
        where = query.active & query.complete[:, None]
        one = self.noisy(answer[:1], noise, state.run[:1], where[:1])
        return memory, np.where(where, answer + (one - answer[:1]), np.nan)


class Remembers(Once):
    """The scale of its noise follows from the first reward."""

    def noisy(self, answer, noise, run, where):
        slot = np.broadcast_to(np.arange(2), answer.shape)
        return noise(Draw(answer, 1 + np.broadcast_to(answer[:, :1], answer.shape), run, slot, where))


PAIR = TablePair(np.array([[0.0, 0.5], [0.0, 0.5], [0.0, 0.0]]), 0, 0, 1.0)


@pytest.mark.parametrize("turned", [False, True])
def test_a_right_algorithm_costs_what_its_reward_moves(turned):
    done = alignment.replay(Once(), PAIR, seed=1, runs=8, turned=turned)
    assert not done.diverged
    assert done.cost == pytest.approx(1.0)
    assert (abs(done.loss) <= 1 + 1e-12).all()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (ActsOnRaw, Divergence.ACTIONS),
        (PublishesRaw, Divergence.PUBLISHED),
        (Remembers, Divergence.SCALE),
    ],
)
def test_what_goes_past_the_releases_is_found(broken, why, turned):
    """Negative control: `Once`, from which each differs in one method, is never found."""
    done = alignment.replay(broken(), PAIR, seed=1, runs=3, turned=turned)
    assert done.diverged == dict.fromkeys(range(3), why)
    assert np.isposinf(done.cost).all()
    assert np.isposinf(done.loss).all()


def test_runs_that_share_their_draws_are_found():
    done = alignment.replay(SharesDraws(), PAIR, seed=1, runs=3)
    assert done.diverged == {1: Divergence.UNDRAWN, 2: Divergence.UNDRAWN}
    check, _ = checking.check(
        Instance(SharesDraws(), 1.0), Instance(Once(), 1.0), [PAIR], Search(0, 0), visible=False
    )
    assert check.verdict == "refuted"


def test_both_directions_and_both_signs_are_examined(monkeypatch):
    """Of one-sided noise the worst direction pays its whole change; each direction is another transcript."""
    asked = []
    real = alignment.replay

    def replay(*args, seed, sign, runs, turned):
        asked.append((sign, turned))
        return real(*args, seed=seed, sign=sign, runs=runs, turned=turned)

    monkeypatch.setattr(searching, "replay", replay)
    searching.examine(Once(), PAIR, seed=0)
    assert sorted(asked) == sorted((sign, turned) for sign in (-1, 0, 1) for turned in (False, True))


def test_the_losses_of_one_sided_noise_are_the_whole_change():
    for sign, loss in ((1, 1.0), (-1, -1.0)):
        done = alignment.replay(Once(), PAIR, seed=0, sign=sign)
        # Recorded at 0, forced at 1: noise that lies above 1 is likelier there, noise below 0 here.
        assert done.loss[0] == pytest.approx(-loss)


def test_the_events_of_a_group_pay_each():
    """Two rewards in two sums: twice the cost of one, whether or not noise is hidden."""
    table = np.zeros((3, 2))
    both = GroupPair(table, ((0, 0, 1.0), (1, 1, 1.0)))
    assert alignment.replay(Once(), both, seed=0).cost == pytest.approx(2.0)


def test_costs_of_a_chain_add_up():
    """Where the whole change cannot be followed at once, the costs of its single events are added up."""
    pair = GroupPair(np.zeros((3, 2)), ((0, 0, 1.0), (1, 1, 0.5)))
    whole = alignment.replay(Once(), pair, seed=0, runs=2)
    lost = np.full(2, np.inf)
    lost = alignment.Replay(lost, lost, {0: "lost", 1: "lost"}, whole.tape, lost)
    done = alignment._chained(Once(), pair.steps(), lost, seed=0, sign=0, turned=False)
    assert done.cost == pytest.approx(1.5)
    assert not done.square.any()  # which is of normal noise
    assert not done.diverged


def test_a_reused_draw_and_a_missing_one_leave_the_path():
    run, slot, where = np.zeros(1, np.int64), np.zeros((1, 1), np.int64), np.ones((1, 1), bool)
    scale = np.ones((1, 1))

    def tape(values):
        recorder = Recorder(Seeded(0))
        for value in values:
            recorder(Draw(np.array([[value]]), scale, run, slot, where))
        return recorder.tape()

    replayer = Replayer(tape([0.0, 0.0]), 1)
    replayer(Draw(np.array([[0.5]]), scale, run, slot, where))
    replayer.finish()
    assert replayer.diverged == {0: Divergence.RELEASED_FEWER}
    replayer = Replayer(tape([0.0, 0.0]), 1)
    for value in (0.5, 0.25):
        replayer(Draw(np.array([[value]]), scale, run, slot, where))
    assert replayer.diverged == {0: Divergence.REUSED_NOISE}


class BareReports(Once):
    """Its reports have no noise."""

    def noisy(self, answer, noise, run, where):
        slot = np.broadcast_to(np.arange(2), answer.shape)
        return noise(Draw(answer, np.zeros(answer.shape), run, slot, where, count=np.ones_like(slot)))


@pytest.mark.parametrize(("other", "loss"), [(PAIR.left, 0.0), (PAIR.right, math.inf)])
def test_reports_without_noise_weigh_nothing_or_everything(other, loss):
    """And not a NaN, which no event can be chosen on."""
    twin = Twin(BareReports(), Table(other), 3)
    play(twin, Table(PAIR.left), Seeded(0), np.arange(3))
    assert twin.known
    assert twin.loss.tolist() == [loss] * 3


# ---------------------------------------------------------------- where a cost is too much


def numbers(visible, cost, loss, epsilon=1.0):
    return {
        "epsilon": epsilon,
        "visible": visible,
        "examined": 1,
        "max_cost": cost,
        "max_loss": loss,
        "divergence": "",
    }


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize(
    ("excess", "visible", "verdict"),
    [
        (1e-12, True, "not_refuted"),
        (1e-12, False, "not_refuted"),
        (1e-6, True, "refuted"),
        (1e-6, False, "inconclusive"),
        (1e-4, True, "refuted"),
        (-1e-6, True, "not_refuted"),
    ],
)
def test_a_millionth_above_the_claim_is_too_much_and_rounding_is_not(epsilon, excess, visible, verdict):
    most = epsilon * (1 + excess)
    assert judged("alignment", numbers(visible, most, most, epsilon))["verdict"] == verdict


@pytest.mark.parametrize(("excess", "verdict"), [(1e-12, "not_refuted"), (1e-6, "refuted")])
def test_exact_laws_have_the_same_limit(excess, verdict):
    pair = {"epsilon": 1 + excess, "delta": 0.0, "delta_upper": 0.0, "remainder": 0.0}
    pair |= {"pair_number": 0, "path": "", "direction": ""}
    assert exact._judge({"epsilon": 1.0, "delta": 0.0, "pairs": [pair]})["verdict"] == verdict


@pytest.mark.parametrize(
    "loss", [1.0, 1 + 2**-52, 1 + 6e-15, 1 + 1e-10, 1 + 1e-6, 16.999999999999996, math.inf]
)
def test_a_bound_from_computed_losses_is_rounded_down(loss):
    """Below the loss by what rounding adds, no more; above the claim exactly where the verdict is."""
    pair = {"epsilon": loss, "delta": 0.0, "delta_upper": 0.0, "remainder": 0.0}
    pair |= {"pair_number": 0, "path": "", "direction": ""}
    for found in (
        judged("alignment", numbers(True, loss, loss)),
        exact._judge({"epsilon": 1.0, "delta": 0.0, "pairs": [pair]}),
    ):
        bound = float(found["epsilon_lower"])
        assert bound < loss or loss == math.inf
        assert bound == pytest.approx(loss, rel=2e-10)
        assert (bound > 1) == (found["verdict"] == "refuted")


class Short(Once):
    """A hundred-thousandth too little noise."""

    def noisy(self, answer, noise, run, where):
        slot = np.broadcast_to(np.arange(2), answer.shape)
        return noise(Draw(answer, np.full(answer.shape, 1 / (1 + 1e-5)), run, slot, where))


def test_the_search_finds_a_hundred_thousandth_too_little_noise():
    """And stops at an example that shows it; of the right noise it finds none."""
    found = searching.falsify(Short(), 1.0, seed=0, examples=40, visible=True)
    assert found.loss == pytest.approx(1 + 1e-5)
    assert abs(found.worst["loss"]) > 1
    assert found.examined < 40
    right = searching.falsify(Once(), 1.0, seed=0, examples=40, visible=True)
    assert right.loss <= 1 + 1e-12
    assert right.examined >= 40
    for broken, verdict in ((Once, "not_refuted"), (Short, "refuted")):
        instance = Instance(broken(), 1.0)
        check, _ = checking.check(instance, instance, [PAIR], Search(0, 0), visible=True)
        assert check.verdict == verdict
        assert not math.isinf(float(check.statistics["max_cost"]))


def _searched(strategy, examples=300):
    """What hypothesis shows of a strategy to a search."""
    seen = []
    with searching.leaving_nothing(), pytest.raises(hypothesis.errors.NoSuchExample):
        hypothesis.find(
            strategy,
            lambda drawn: bool(seen.append(drawn)),
            settings=searching.searching(examples),
            random=random.Random(0),
        )
    return seen


def _places(count):
    """Where our own pairs of inputs differ, in every view that is searched."""
    every = [
        tables(n_arms=2, horizon=count),
        streams(horizon=count),
        groups(n_arms=2, horizon=count, size=2),
        interactive(n_arms=2, horizon=count),
    ]
    return [pair.as_dict() for strategy in every for pair in _searched(strategy, 30)]


def test_a_search_does_not_depend_on_what_is_loaded(monkeypatch, tmp_path):
    """hypothesis reads constants out of loaded modules, so that the same seed found other pairs elsewhere."""
    plain = hypothesis.strategies.integers(10**12, 2 * 10**12)  # none of its own constants lies there
    before, drawn = _places(300), _searched(plain)
    monkeypatch.syspath_prepend(tmp_path)
    for name, numbers in (("full", [10**12 + i**3 for i in range(1000)]), ("of_numbers", range(101, 300))):
        (tmp_path / f"{name}.py").write_text(f"NUMBERS = {[*numbers]}")
        importlib.import_module(name)
    assert _places(300) == before
    assert _searched(plain) != drawn  # control: it would
    del sys.modules["full"], sys.modules["of_numbers"]


def test_nothing_of_hypothesis_is_changed_by_a_search():
    """Its tests of users run in the same process."""
    from hypothesis.internal.conjecture import data

    provider = getattr(data, "HypothesisProvider", None)
    names = dict(vars(provider)) if provider else {}

    class Watching(Once):
        def start(self, run):
            assert not provider or dict(vars(provider)) == names
            return super().start(run)

    assert searching.falsify(Watching(), 1.0, seed=0, examples=30).examined >= 30


def test_every_search_begins_at_corners():
    """The first two and the last two rounds and powers of two, of both kinds of inputs, with either sign."""
    pairs = list(searching._corners(Once(2, 21)))
    assert {pair.round for pair in pairs if isinstance(pair, TablePair)} == {0, 1, 2, 4, 8, 16, 19, 20}
    assert len(pairs) == 16
    assert searching.falsify(Once(2, 21), 1.0, seed=0, examples=1).examined == 33
    grouped = list(searching._corners(Once(2, 21), 3))
    assert {pair.size for pair in grouped} == {3}
    assert max(when for pair in grouped for when, _, _ in pair.changes) == 20
    assert set(_searched(tosses.below(5))) == set(range(5))
