"""Interactive adversaries: ready strategies, what they remember, how they are played and written down."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests import formats
from tests.asking import audited
from verifiable_dp import api, make
from verifiable_dp.auditing import record_parts
from verifiable_dp.core import adversaries
from verifiable_dp.core.adversaries import FEATURES, KINDS, History, Strategy
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Interactive
from verifiable_dp.core.neighbours import InteractivePair, interactive, pair_of
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.tapes import Recorder, Replayer
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import checking
from verifiable_dp.evidence.alignment.replay import TOLERANCE, replay
from verifiable_dp.evidence.alignment.searching import examine
from verifiable_dp.evidence.blackbox import adversary, algorithm_runs
from verifiable_dp.evidence.blackbox.adversary import AdversarySizes
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry

UNIT = (0.0, 1.0)
ARMED = [n for n in registry.names() if {"n_arms", "actions"} & set(registry.auditor(n).instance)]
WEIGHTS = np.linspace(-2.0, 3.0, len(FEATURES))


def everything(bounds, horizon):
    return [
        adversaries.flatter(bounds, 1),
        adversaries.balance(bounds),
        adversaries.punish(bounds),
        adversaries.tease(bounds, 1.0, 0.5),
        adversaries.alternate(bounds, 3),
        adversaries.restless(bounds),
        adversaries.learnt(bounds, horizon, horizon // 3, WEIGHTS),
    ]


class Uncompiled:
    """The same strategy, asked round by round."""

    def __init__(self, strategy):
        self.strategy = strategy

    def pay(self, history):
        return self.strategy.pay(history)


def small(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **auditor.small})


# ---------------------------------------------------------------- strategies


def test_every_kind_is_tried():
    assert {s.name for s in everything(UNIT, 9)} == set(KINDS)


def test_what_strategies_pay():
    history = History(
        t=np.array([5, 5]),
        arm=np.array([0, 1]),
        pulls=np.array([[3, 2], [3, 2]]),
        paid=np.array([[3.0, 0.0], [3.0, 0.0]]),
        last=np.array([0, 0]),
        switches=np.array([2, 2]),
    )
    paid = {s.describe(): s.pay(history).tolist() for s in everything(UNIT, 9)}
    assert paid["flatter (favourite 1)"] == [0.0, 1.0]
    assert paid["balance"] == [0.0, 1.0]
    assert paid["punish"] == [0.0, 1.0]  # arm 0 has the larger mean
    # Arm 0 leads by 3 rewards, more than 1 + .5 sqrt(3): it gets none, the other one catches up.
    assert paid["tease (gap 1, growth 0.5)"] == [0.0, 1.0]
    assert paid["alternate (period 3)"] == [0.0, 1.0]
    assert paid["restless"] == [0.0, 1.0]


def test_the_learnt_policy_is_its_formula():
    weights = np.zeros(len(FEATURES))
    weights[FEATURES.index("lead of the mean")] = 0.5
    weights[FEATURES.index("arm 0 after the challenge")] = 0.25
    policy = adversaries.learnt((-1.0, 3.0), 10, 4, weights)
    history = History(
        np.array([4, 5]), np.array([0, 0]), np.array([[2, 1]] * 2), np.array([[2.0, 0.5]] * 2),
        np.array([0, 0]), np.array([0, 0]),
    )  # fmt: skip
    lead = (1.0 - 0.5) / 4
    expected = [1.0 + 2.0 * (0.5 * lead - 0.25), 1.0 + 2.0 * (0.5 * lead + 0.25)]
    assert policy.pay(history) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bribe", ()),
        ("flatter", ()),
        ("flatter", (-1,)),
        ("flatter", (0.5,)),
        ("alternate", (0,)),
        ("balance", (1,)),
        ("tease", (float("nan"), 0)),
        ("tease", (float("inf"), 0)),
        ("learnt", (8, 0, 1.0)),
        ("learnt", (0, 0, *WEIGHTS)),
    ],
)
def test_a_bad_strategy_is_refused(name, parameters):
    with pytest.raises(InputError, match=r"adversary|favourite|period|horizon") as error:
        Strategy(name, parameters)
    assert "\n" not in str(error.value)


@given(interactive(n_arms=3, horizon=30, bounds=(-2.0, 5.0)), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_ready_adversary_survives_json(pair, seed):
    again = pair_of(json.loads(json.dumps(pair.as_dict())))
    assert again.describe() == pair.describe()
    assert again.as_dict() == pair.as_dict()
    rng = np.random.default_rng(seed)
    pulls = rng.integers(0, 5, (8, 3))
    history = History(
        rng.integers(0, 30, 8), rng.integers(0, 3, 8), pulls, pulls * rng.uniform(-2, 5, (8, 3)),
        rng.integers(-1, 3, 8), rng.integers(0, 5, 8),
    )  # fmt: skip
    assert np.array_equal(again.chosen(history), pair.chosen(history))
    assert (again.low, again.high, again.challenge) == (pair.low, pair.high, pair.challenge)


def test_an_own_adversary_is_written_by_name_and_not_read_back():
    def mine(t, arm, pulls):
        return np.zeros(len(arm))

    pair = InteractivePair(mine, 3)
    assert pair.as_dict()["adversary"] == "mine"
    assert "mine" in pair.describe()
    with pytest.raises(InputError, match="mine"):
        pair_of(pair.as_dict())


@pytest.mark.parametrize(
    ("rewards", "why"),
    [(lambda n: np.full(n, 2.0), "bounds"), (lambda n: np.full(n, np.nan), "NaN"), (lambda n: 0.5, "shape")],
)
def test_what_an_own_adversary_pays_is_checked(rewards, why):
    pair = InteractivePair(lambda t, arm, pulls: rewards(len(arm)), 3)
    with pytest.raises(InputError, match=why):
        replay(make("dp-ucb", n_arms=2, epsilon=1.0, horizon=7), pair)


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize("name", ARMED)
def test_the_compiled_loop_pays_what_the_strategy_says(name):
    """Draw for draw, for every kind of block and every question that algorithms ask."""
    algorithm = small(name)
    low, high = bounds = algorithm.search_bounds
    strategies = list(everything(bounds, algorithm.horizon))
    assert len(strategies) == 7
    for strategy in strategies:
        seen = []
        for player in (strategy, Uncompiled(strategy)):
            data = Interactive(
                InteractivePair(player, algorithm.horizon // 3, low, high, bounds),
                1,
                algorithm.n_arms,
                12,
                5,
            )
            done = play(algorithm, data, Seeded(1), np.arange(5, 17))
            past = data._past
            seen.append((done.actions, done.released, past.pulls, past.paid, past.last, past.switches))
            assert np.array_equal(past.pulls, done.pulls)
        for one, other in zip(*seen, strict=True):
            assert np.array_equal(one, other, equal_nan=True)


def test_runs_with_equal_histories_are_played_once_and_paid_alike():
    """A block of an elimination: all runs share the history, so that all get the same sums."""
    algorithm = make("dp-se", n_arms=2, epsilon=1.0, horizon=720, beta=0.999)
    calls = []

    class Counted:
        def pay(self, history):
            calls.append(len(history.arm))
            return np.where(history.arm == 0, 1.0, 0.0)

    data = Interactive(InteractivePair(Counted(), 0), 0, 2, 500)
    play(algorithm, data, Seeded(0), np.arange(500))
    assert len(calls) >= 700
    assert max(calls) <= 4


def test_the_history_does_not_grow_with_the_number_of_the_run():
    sampler = AlgorithmSampler(small("dp-ucb"), "actions", 0)
    pair = InteractivePair(adversaries.balance(UNIT), 1)
    far = np.arange(10**12, 10**12 + 50)
    assert sampler.sample(pair, 0, 0, 0, far).runs == 50


def test_neither_worlds_reward_of_the_challenge_reaches_the_adversary():
    """With equal actions the adversary knows the same in both worlds."""
    algorithm = small("dp-se")
    known = []
    for world in (0, 1):
        histories = []

        class Spy:
            def __init__(self, log):
                self.log = log

            def pay(self, history):
                self.log.append((history.paid.copy(), history.pulls.copy()))
                return np.full(len(history.arm), 0.25)

        pair = InteractivePair(Spy(histories), 2)
        # The first epoch: one block, before anything is released.
        query = algorithm.query(algorithm.start(np.arange(1)))
        answer = Interactive(pair, world, 2, 1).answer(query, np.arange(1))
        known.append((histories, answer))
    for (paid, pulls), (paid_too, pulls_too) in zip(known[0][0], known[1][0], strict=True):
        assert np.array_equal(paid, paid_too)
        assert np.array_equal(pulls, pulls_too)
    assert (known[1][1] - known[0][1]).tolist() == [[1.0, 0.0]]


# ---------------------------------------------------------------- black box


@pytest.mark.parametrize(
    ("name", "observe"), [("dp-ucb", "releases"), ("dp-se", "releases"), ("dp-se", "actions")]
)
def test_what_runs_show_does_not_depend_on_batches(name, observe, monkeypatch):
    sampler = AlgorithmSampler(small(name), observe, 3)
    pair = InteractivePair(adversaries.learnt(UNIT, 7, 1, WEIGHTS), 1)
    whole = sampler.sample(pair, 1, 2, 0, np.arange(300))
    monkeypatch.setattr(algorithm_runs, "_PLAYED", 64)
    parts = sampler.sample(pair, 1, 2, 0, np.arange(300))
    for key, column in whole.discrete.items():
        assert np.array_equal(column, parts.discrete[key])
    if observe == "releases":
        assert np.array_equal(whole.likelihood, parts.likelihood)


@pytest.mark.parametrize("name", ["dp-ucb", "dp-se", "dp-robust-ucb"])
@pytest.mark.parametrize("world", [0, 1])
def test_the_likelihood_of_a_transcript_is_what_its_replay_loses(name, world):
    """The other world follows the same actions and gets the challenge's other reward, once."""
    algorithm = small(name)
    low, high = bounds = algorithm.search_bounds
    strategies = list(everything(bounds, algorithm.horizon))
    assert len(strategies) == 7
    for strategy in strategies:
        pair = InteractivePair(strategy, 1, low, high, bounds)
        sampler = AlgorithmSampler(algorithm, "releases", 4)
        seen = sampler.sample(pair, world, 0, 0, np.arange(64))
        data = [Interactive(pair, w, algorithm.n_arms, 64) for w in (world, 1 - world)]
        recorder = Recorder(Seeded(4, (0, 0, world)))
        play(algorithm, data[0], recorder, np.arange(64))
        replayer = Replayer(recorder.tape(), 64)
        play(algorithm, data[1], replayer, np.arange(64))
        loss = replayer.loss if world == 0 else -replayer.loss
        assert seen.likelihood == pytest.approx(loss, abs=2e-6)
        assert np.abs(loss).max() > 0


def test_learning_repeats_itself_and_uses_the_seed():
    sampler = AlgorithmSampler(small("dp-ucb"), "releases", 0)
    sizes = AdversarySizes(2, 6, 2, 40, 100, 200)
    one, again = (adversary.learn(sampler, sizes) for _ in range(2))
    assert one.as_dict() == again.as_dict()
    assert one.adversary.name == "learnt"
    other = adversary.learn(AlgorithmSampler(small("dp-ucb"), "releases", 1), sizes)
    assert other.as_dict() != one.as_dict()
    assert pair_of(json.loads(json.dumps(one.as_dict()))).as_dict() == one.as_dict()


@pytest.mark.slow
def test_the_game_does_not_depend_on_workers(monkeypatch):
    monkeypatch.setattr(algorithm_runs, "_PLAYED", 256)  # several shards at a small size
    sampler = AlgorithmSampler(small("dp-ucb"), "releases", 0)
    sizes = AdversarySizes(1, 4, 1, 40, 600, 600)
    alone, _ = adversary.black_box(sampler, sizes, Terms(PrivacyClaim(1.0)))
    helped, _ = adversary.black_box(sampler, sizes, Terms(PrivacyClaim(1.0), workers=2))
    assert alone.as_dict() == helped.as_dict()


def test_sizes_are_read_back():
    sizes = AdversarySizes.of(720, 1 << 22, 400_000)
    assert AdversarySizes.read(json.loads(json.dumps(sizes.as_dict()))) == sizes
    assert AdversarySizes.of(10**6, 1 << 22, 400_000).test >= 4000
    assert AdversarySizes.of(7, 1 << 28, 64_000_000).test <= 400_000


# ---------------------------------------------------------------- alignment, over the catalogue

# Of normal noise no loss is the largest, so that alignment has nothing to add up.
PURE = [n for n in ARMED if registry.auditor(n).reference_epsilon is None and not small(n).claim.curved]


@pytest.mark.parametrize("name", PURE)
def test_no_adversary_makes_a_right_algorithm_cost_more_than_it_promises(name):
    algorithm = small(name)
    local = name == "shuffled-linear"
    epsilon = algorithm.claim.epsilon
    games = adversary.pairs(algorithm, 2)
    low, high = bounds = algorithm.search_bounds
    games.append(
        InteractivePair(adversaries.learnt(bounds, algorithm.horizon, 1, WEIGHTS), 1, high, low, bounds)
    )
    check, found, leads = adversary.align(
        algorithm, games, epsilon=epsilon, small_epsilon=epsilon, visible=not local, seed=0
    )
    assert check.verdict == "not_refuted", found.worst
    assert not leads
    assert found.cost > 0.1 * epsilon
    assert check.statistics["strategies"] >= 4


@pytest.mark.parametrize("name", [n for n in ARMED if registry.auditor(n).reference_epsilon is not None])
def test_an_adversary_shows_that_a_baseline_keeps_no_secret(name):
    """Without noise the actions follow the challenge: some game leaves the recorded path."""
    algorithm = small(name)
    games = adversary.pairs(algorithm, 3)
    assert any(examine(algorithm, game, seed=0, runs=1).cost == np.inf for game in games)


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "dp-robust-se", "ldp-robust-se"])
def test_adversaries_find_halved_noise_and_its_counterexample_runs_again(name):
    auditor = registry.auditor(name)
    half = next(m for m in auditor.mutants if "half" in m.name)
    broken = half.make(small(name))
    epsilon = broken.claim.epsilon
    check, _, leads = adversary.align(
        broken, adversary.pairs(broken, 2), epsilon=epsilon, small_epsilon=epsilon, visible=True, seed=0
    )
    assert check.verdict == "refuted"
    assert leads
    instance = checking.Instance(broken, epsilon, record_parts.instance(small(name), epsilon))
    sizes = AdversarySizes.of(broken.horizon, 1000, 1000)
    played = adversary.play(instance, instance, sizes, Terms(broken.claim), visible=True)
    (worst,) = json.loads(json.dumps(played.counterexamples))
    assert worst["epsilon"] == epsilon
    assert worst["check"] == "interactive alignment"

    def again(algorithm):
        drawn = {key: worst[key] for key in ("seed", "sign", "turned")}
        done = replay(algorithm, pair_of(worst["pair"]), runs=worst["run"] + 1, **drawn)
        return float(done.cost[worst["run"]]), float(done.loss[worst["run"]])

    instance = make(name, **worst["instance"])
    assert again(half.make(instance)) == pytest.approx((worst["cost"], worst["loss"]), abs=1e-9)
    assert abs(worst["loss"]) > epsilon * (1 + TOLERANCE)
    # An instance that promises another epsilon has other noise, and so another cost.
    other = half.make(make(name, **{**worst["instance"], "epsilon": 0.75 * epsilon}))
    assert again(other)[0] != pytest.approx(worst["cost"], rel=0.01)


# ---------------------------------------------------------------- in an audit


def test_an_audit_plays_the_game_and_its_record_runs_again(tmp_path):
    report = vdp.audit(small("dp-ucb"), budget=0.05, seed=2, mutants=False)
    names = {check["name"]: check for check in report.record["checks"]}
    assert {"interactive alignment", "interactive black box"} <= set(names)
    assert names["black box"]["statistics"]["tests"] == 2  # one level for both
    assert names["interactive black box"]["statistics"]["tests"] == 2
    assert names["interactive alignment"]["statistics"]["strategies"] >= 4
    game = names["interactive black box"]["statistics"]["adversary"]
    assert pair_of(game).describe() == names["interactive black box"]["statistics"]["pair"]
    path, _ = report.save(tmp_path)
    assert verify(path, rerun=api.rerun).rerun
    formats.of_record(report.record)


@pytest.mark.slow
def test_records_from_before_the_game_run_again_without_it():
    algorithm = small("dp-ucb")
    draft = audited(algorithm, budget=0.05, seed=2, mutants=False)
    older = {name: value for name, value in draft["plan"].items() if name != "interactive"}
    again = audited(algorithm, budget=0.05, seed=2, mutants=False, pinned=older)
    assert not any("interactive" in check["name"] for check in again["checks"])
    assert again["checks"][-1]["statistics"]["tests"] == 1


def test_an_own_adversary_can_be_given_to_an_audit():
    def spoilt(t, arm, pulls):
        return np.where(arm == 0, 0.25, 1.0)

    algorithm = make("dp-ucb", n_arms=2, epsilon=1.0, horizon=8)
    pair = InteractivePair(spoilt, 0)
    right = vdp.audit(algorithm, pairs=[pair], budget=0.05, mutants=False)
    assert right.verdict == "not_refuted"
    assert "spoilt" in right.record["pairs"][0]["words"]
    broken = vdp.audit(algorithm, pairs=[pair], budget=0.05, mutants=False, epsilon=0.2)
    assert broken.verdict == "refuted"
