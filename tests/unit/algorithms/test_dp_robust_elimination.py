"""Private and robust elimination: formulas, folds, histograms and costs."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp.algorithms.dp_robust_elimination import (
    CONSTANT,
    DPRobustElimination,
    deviation,
    printed_rate,
)
from verifiable_dp.algorithms.dp_robust_ucb import BLOCK, DPRobustUCB
from verifiable_dp.auditors import _contamination as contamination
from verifiable_dp.auditors.dp_robust_elimination import auditor, blocks, pairs, pulls_bound
from verifiable_dp.auditors.errata.tao import growing_loss
from verifiable_dp.core.algorithm import Histogram, Truncated, play
from verifiable_dp.core.environments import Drawn, Draws, Huber, Pulled, StudentT, Table, TwoPoint
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.tapes import Recorder
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.regret.rows import joined

FEW = {"n_arms": 2, "epsilon": 1.0, "horizon": 4096}
CENTRAL = {**FEW, "moments": "central", "radius": 7.0}
VARIANTS = [
    FEW,
    {**FEW, "epsilon": 0.3, "k": 3, "contamination": 0.1},
    {**FEW, "variant": "printed", "contamination": 0.1},
    {**FEW, "n_arms": 3},
    CENTRAL,
    {**CENTRAL, "contamination": 0.05, "k": 4},
    {**CENTRAL, "variant": "printed"},
    {**CENTRAL, "variant": "printed", "contamination": 0.1, "horizon": 65536},
]


class Asked:
    """Keeps what one run was asked."""

    def __init__(self):
        self.queries = []

    def block(self, position, query):
        self.queries.append(query)


def played(algorithm, table, seed=0):
    asked = Asked()
    outcome = play(algorithm, Table(table), Seeded(seed), np.zeros(1, np.int64), watch=asked)
    return outcome, asked.queries


def test_beta_adds_up_its_terms():
    n, m, alpha, epsilon, delta = 1000.0, 5.0, 0.02, 0.5, 0.01
    log = math.log(4 / delta)
    raw = (
        math.sqrt(2 * (1 + alpha * m**2) * log / n)
        + 2 * m * log / (3 * n)
        + 2 * m * math.log(2 / delta) / (n * epsilon)
        + m**-2
        + alpha * (m + 1)
    )
    common = {"k": 3, "epsilon": epsilon, "contamination": alpha, "failure": delta}
    assert deviation(n, m, **common) == pytest.approx(raw)
    central = (
        math.sqrt(2 * (1 + 4 + alpha * m**2) * log / n)
        + 2 * m * log / (3 * n)
        + 2 * m * math.log(2 / delta) / (n * epsilon)
        + 4 * 9 * m**-2
        + alpha * (m + 2)
    )
    assert deviation(n, m, offset=2.0, **common) == pytest.approx(central)
    rate = math.sqrt(math.log(100) / n) + (math.log(100) / 500) ** (2 / 3) + alpha ** (2 / 3)
    assert printed_rate(n, **common) == pytest.approx(CONSTANT * rate)


def test_truncation_is_the_papers():
    algorithm = DPRobustElimination(2, 0.5, 4096, k=3, contamination=0.01, failure=0.001)
    n = 2.0**5
    assert algorithm.limit[5] == pytest.approx((n * 0.5 / math.log(1000)) ** (1 / 3))
    assert algorithm.limit[-1] == pytest.approx(0.01 ** (-1 / 3))


def test_delta_covers_a_union_as_corrected_and_one_estimate_as_printed():
    assert DPRobustElimination(4, 1.0, 1024).failure == pytest.approx(1 / (1024 * 4 * 10))
    assert DPRobustElimination(4, 1.0, 1024, variant="printed").failure == pytest.approx(1 / 1024)


def test_bin_widths_of_the_corollaries():
    assert DPRobustElimination(**CENTRAL).bin_width == pytest.approx(math.sqrt(10))
    contaminated = DPRobustElimination(**CENTRAL, contamination=0.1)
    assert contaminated.bin_width == pytest.approx(math.sqrt(0.9 / 0.149))
    assert contaminated.slack == pytest.approx(0.751 / 3 - 0.1 - 0.149 / 4)
    assert DPRobustElimination(**CENTRAL).slack == pytest.approx(0.2)


def test_corrected_bins_hold_the_data_of_any_mean_and_printed_ones_do_not():
    corrected, printed = (DPRobustElimination(**CENTRAL, variant=v) for v in ("corrected", "printed"))
    r = corrected.bin_width
    assert np.allclose(np.diff(corrected.edges), r)
    assert corrected.edges[0] == pytest.approx(-7 - r)
    assert corrected.edges[-1] >= 7 + r
    assert printed.edges[0] == -7
    assert printed.edges[-1] <= 7
    # All rewards are 6.9: no printed bin counts them.
    table = np.full((4096, 2), 6.9)
    _, queries = played(corrected, table)
    centre = [q.ask.centre[0, 0] for q in queries if isinstance(q.ask, Truncated) and q.complete[0]][-1]
    assert abs(centre - 6.9) <= 2 * r
    recorder = Recorder(Seeded(0))
    play(printed, Table(table), recorder, np.zeros(1, np.int64))
    values = [row["value"] for row in recorder.tape().rows()]
    assert 0.0 in values
    assert not any(value == 1.0 for value in values)


def test_j_is_the_left_end_of_the_fullest_bin():
    algorithm = DPRobustElimination(**CENTRAL)
    shares = np.full((1, 2 * algorithm.n_bins), 0.1)
    shares[0, 3] = 0.9
    shares[0, algorithm.n_bins + 1] = 0.5
    assert algorithm.fullest(shares).tolist() == [[algorithm.edges[3], algorithm.edges[1]]]
    shares[0, : algorithm.n_bins] = np.nan  # an arm that is out
    assert algorithm.fullest(shares)[0, 1] == algorithm.edges[1]


def test_folds_take_turns_and_a_reward_enters_one():
    algorithm = DPRobustElimination(**CENTRAL)
    _, queries = played(algorithm, np.zeros((4096, 2)))
    kinds = [type(query.ask) for query in queries]
    assert kinds[:4] == [Histogram, Truncated, Histogram, Truncated]
    starts = [int(query.start[0]) for query in queries]
    ends = [int(query.start[0] + query.rounds[0]) for query in queries]
    assert starts[1:] == ends[:-1]
    assert [int(query.rounds[0]) for query in queries[:6]] == [2, 2, 4, 4, 8, 8]


def test_every_release_has_a_draw_of_its_own():
    for parameters in VARIANTS:
        algorithm = DPRobustElimination(**parameters)
        recorder = Recorder(Seeded(1))
        play(
            algorithm, Table(np.zeros((algorithm.horizon, algorithm.n_arms))), recorder, np.zeros(1, np.int64)
        )
        slots = [row["slot"] for row in recorder.tape().rows()]
        assert slots
        assert len(set(slots)) == len(slots)


def test_forced_batches_are_shared_by_the_arms_and_release_nothing():
    algorithm = DPRobustElimination(**FEW, variant="printed", contamination=0.1)
    assert algorithm.least == pytest.approx(10 * math.log(4096))
    assert algorithm.forced[:8].tolist() == [True] * 7 + [False]
    outcome, queries = played(algorithm, np.zeros((4096, 2)))
    assert not any(query.complete[0] for query in queries[:6])
    assert [query.pulls()[0].tolist() for query in queries[:3]] == [[1, 1], [2, 2], [4, 4]]
    assert np.isnan(outcome.released[0, :12]).all()
    assert not DPRobustElimination(**FEW, contamination=0.1).forced.any()


def test_an_arm_far_below_is_removed_and_outliers_do_not_help_it():
    table = np.tile([0.9, -0.9], (4096, 1))
    table[::50] = [-1e9, 1e9]
    outcome, _ = played(DPRobustElimination(**FEW, failure=0.05), table)
    assert outcome.final.active.tolist() == [[True, False]]
    # Gap 1.8: the batch with 4 beta < 1.8 is the last one that the proof allows.
    algorithm = DPRobustElimination(**FEW, failure=0.05)
    assert outcome.pulls[0, 1] <= pulls_bound(np.array([1.8]), algorithm)[0]


def test_pulls_bound_by_hand():
    algorithm = DPRobustElimination(2, 1.0, 1 << 16)
    batch = int(np.argmax(algorithm.beta[1:] < 0.25)) + 1
    assert pulls_bound(np.array([1.0]), algorithm)[0] == 2 ** (batch + 1) - 2


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_a_changed_reward_costs_at_most_epsilon(parameters):
    algorithm = DPRobustElimination(**parameters)
    worst = max(searching.examine(algorithm, pair, seed=2).cost for pair in pairs(algorithm))
    assert worst <= algorithm.epsilon * (1 + alignment.TOLERANCE)
    assert worst >= algorithm.epsilon * (1 - 1e-6)


@pytest.mark.parametrize("counting", [True, False])
def test_each_release_of_a_central_batch_costs_the_whole_epsilon(counting):
    algorithm = DPRobustElimination(**CENTRAL)
    index = 1 if counting else 0
    found = searching.examine(algorithm, pairs(algorithm)[index], seed=3)
    assert found.cost == pytest.approx(1.0, rel=1e-6)
    assert found.loss == pytest.approx(1.0, rel=1e-6)
    assert not found.divergence


@pytest.mark.parametrize(
    ("moments", "contamination"),
    [
        pytest.param("raw", 0.0, marks=pytest.mark.slow),  # by day in contract/test_auditors.py
        pytest.param("raw", 0.05, marks=pytest.mark.slow),
        pytest.param("central", 0.0, marks=pytest.mark.slow),
        ("central", 0.05),
    ],
)
@pytest.mark.slow
def test_privacy_mutants_are_caught_for_either_kind_of_moments(moments, contamination):
    algorithm = DPRobustElimination(
        2, 1.0, 4096, moments=moments, radius=7.0, contamination=contamination, failure=0.01
    )
    mutants = [mutant for mutant in auditor.mutants if mutant.breaks == "privacy"]
    assert len(mutants) == 11
    for mutant in mutants:
        broken = mutant.make(algorithm)
        costs = (searching.examine(broken, pair, seed=1).cost for pair in pairs(algorithm)[:4])
        assert any(cost > 1.05 for cost in costs), mutant.name


def test_a_run_without_removals_has_these_blocks():
    algorithm = DPRobustElimination(**CENTRAL)
    _, queries = played(algorithm, np.zeros((4096, 2)))
    whole = [q for q in queries if q.complete[0]]
    expected = [(b.start, b.rounds, b.counting) for b in blocks(algorithm)]
    seen = [(int(q.start[0]), int(q.rounds[0]), isinstance(q.ask, Histogram)) for q in whole]
    assert seen == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 1.5),
        ("k", float("nan")),
        ("contamination", -0.1),
        ("contamination", 0.133),
        ("contamination", float("nan")),
        ("contamination", None),
        ("moments", "both"),
        ("radius", 0.5),
        ("radius", float("inf")),
        ("variant", "mine"),
        ("failure", 0.0),
        ("failure", 1.0),
    ],
)
def test_a_bad_parameter_is_refused_in_one_line(name, value):
    with pytest.raises(InputError, match=name) as error:
        DPRobustElimination(**{**CENTRAL, name: value})
    assert "\n" not in str(error.value)


def test_printed_central_needs_room_for_two_bins_on_either_side():
    with pytest.raises(InputError, match="radius must be at least 2 r"):
        DPRobustElimination(**{**CENTRAL, "radius": 1.0}, variant="printed")
    assert DPRobustElimination(**{**CENTRAL, "radius": 1.0}).n_bins == 3
    assert DPRobustElimination(**FEW, contamination=0.2).central is False


# ---------------------------------------------------------------- the table beside DP Robust SE


@pytest.fixture(scope="module")
def found():
    algorithm = DPRobustElimination(**auditor.experiment)
    return contamination.tables(on_trial("dp-robust-elimination", "theorem-4.1", algorithm, "quick"))


def test_the_table_has_every_kind_share_and_family(found):
    expected = [
        (setting.inlier.name, kind, alpha)
        for setting in contamination.SETTINGS
        for alpha in (0.0, 0.01, 0.05, 0.1)
        for kind in (("none",) if alpha == 0 else (*contamination.KINDS, contamination.FAR))
    ]
    assert len(expected) == 39
    for table in found:
        rows = joined(table.statistics, table.result)
        assert [(row["instance"], row["kind"], row["contamination"]) for row in rows] == expected
        assert {(row["n_a"], row["n_b"]) for row in rows} == {(12, 12)}
        assert table.result["intervals"] == 3 * 39
        assert judged("table", table.statistics) == table.result
    assert found[0].name != found[1].name


def test_the_table_tells_what_the_formulas_do(found):
    """Regret of a run without removals, of the first epoch and of the floor, worked out apart."""
    assert [len(joined(table.statistics, table.result)) for table in found] == [39, 39]
    for table, factor in zip(found, (1.0, 0.1), strict=True):
        for row in joined(table.statistics, table.result):
            t, alpha, gap = contamination.HORIZON, row["contamination"], row["gap"]
            assert row["equal"] == pytest.approx(gap * t / 2)
            assert row["floor"] == pytest.approx(t * alpha**0.5)
            u = 50.0 if "far" in row["instance"] else 1.0
            pulls = math.ceil(u * (48 * factor) ** 2 * math.log(8 * t) + 1)
            assert row["first"] == 2 * pulls
            if not row["acts"]:  # no epoch ends: the arms are played alike
                assert row["mean_b"] == pytest.approx(gap * t / 2)
                assert row["sd_b"] == 0
            elif alpha == 0:  # one epoch tells these gaps apart
                assert row["mean_b"] == pytest.approx(gap * pulls)


def test_outliers_of_the_table_lie_just_within_a_truncation():
    algorithm = DPRobustElimination(**auditor.experiment)
    entries = [entry for entry in contamination.entries(algorithm, "proof") if entry[2] != "none"]
    assert len(entries) == 36
    for rule, rival, kind, size, environment in entries:
        assert isinstance(environment, Huber)
        assert environment.alpha == rule.contamination
        if kind == contamination.FAR:
            assert 0.8 < size / rival.search_bounds[1] < 1
            continue
        # Taken at J, within the largest mean but for a bin.
        away = max(abs(mean) for mean in environment.means) if rule.central else 0.0
        assert size + away < rule.limit[-1]
        assert size + 2 * contamination.RADIUS * rule.central > 0.8 * rule.limit[-1]


def test_far_outliers_cost_dp_robust_se_the_best_arm_and_not_this_algorithm(found):
    """On Student-t rewards outliers just within DP Robust SE's truncation turn its comparison round."""
    far = [
        row
        for row in joined(found[0].statistics, found[0].result)
        if (row["instance"], row["kind"]) == ("Student t", contamination.FAR) and row["contamination"] > 0.01
    ]
    assert len(far) == 2
    for row in far:
        assert row["lower_b"] > row["equal"]
        assert row["upper_a"] < row["lower_b"]


def test_the_resolution_is_that_of_the_last_batch_that_ends():
    for parameters in VARIANTS:
        rule = DPRobustElimination(**parameters)
        ends = [b.batch for b in blocks(rule) if not b.counting]
        finite = [4 * rule.beta[batch] for batch in ends if np.isfinite(rule.beta[batch])]
        assert contamination.resolution(rule) == (pytest.approx(min(finite)) if finite else None)


def test_rewards_that_no_release_needs_are_not_drawn():
    """One run plays as before, and its last block costs no draws."""

    class Counting(StudentT):
        drawn = 0

        def draw(self, generator, arm, count):
            Counting.drawn += count
            return super().draw(generator, arm, count)

    environment = Counting((0.8, -0.8), 3.0, 0.3)
    algorithm = DPRobustElimination(2, 1.0, 1 << 16)
    lazy = simulate(algorithm, contamination.Released(environment), runs=1, seed=3)
    drawn, Counting.drawn = Counting.drawn, 0
    whole = simulate(algorithm, environment, runs=1, seed=3)
    assert np.array_equal(lazy.regrets, whole.regrets)
    assert Counting.drawn == algorithm.horizon
    assert drawn < algorithm.horizon / 2
    assert isinstance(environment.data(0), Draws)


# The compiled loop of DP Robust UCB.


ARMS = TwoPoint((0.3, 0.0, 0.1), -1.0, 1.0)


@pytest.mark.parametrize("constants", [0.003, 0.02, 0.1, "proof"])
@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_it_plays_the_definition_draw_for_draw(constants, epsilon):
    """From a leader that stays for a thousand rounds to arms in turn."""
    algorithm = DPRobustUCB(3, epsilon, 3000, 0.9, 1.0, constants=constants)
    run, times = np.arange(3), np.array([1, 700, 3000])
    pulls, at, output = algorithm.kernel(ARMS, 9, run, times)
    rewards = Pulled(ARMS, key_of(9, (1,)), np.zeros((3, 3), np.int64))
    outcome = play(algorithm, rewards, Seeded(9, (0,)), run)
    assert np.array_equal(pulls, outcome.pulls)
    assert np.array_equal(at[:, -1], pulls)
    assert (at[:, :2].sum(axis=2) == times[:2]).all()
    assert output.shape == (3, 0)


def test_a_leader_that_stays_crosses_blocks():
    """More pulls of an arm than are drawn ahead at once."""
    algorithm = DPRobustUCB(2, 20.0, 3 * BLOCK, 1.0, 1.0, constants=0.001)
    done = simulate(algorithm, TwoPoint((0.9, -0.9), -1.0, 1.0), runs=2, points=5)
    assert (done.pulls.sum(axis=1) == 3 * BLOCK).all()
    assert done.pulls.max() > 2 * BLOCK


@dataclass(frozen=True)
class Listed(Drawn):
    """Arms that pay listed rewards (K, n) in order, also as a source of answers."""

    rewards: np.ndarray
    name: str = "listed"
    taken: dict = field(default_factory=dict)

    @property
    def means(self):
        return tuple(self.rewards.mean(axis=1))

    def draw(self, generator, arm, count):
        first = self.taken.get(arm, 0)
        self.taken[arm] = first + count
        return np.resize(self.rewards[arm], first + count)[first:]

    def answer(self, query, run):
        arm = int(query.active.argmax())
        asked = np.zeros(query.active.shape)
        asked[0, arm] = query.ask.values(self.draw(None, arm, 1), np.zeros(1, int), np.array([arm]))[0]
        return asked


@pytest.mark.parametrize(("epsilon", "v", "u"), [(50.0, 1.0, 0.02), (50.0, 1.0, 0.2), (200.0, 0.5, 0.02)])
def test_it_plays_the_definition_on_heavy_tails(epsilon, v, u):
    """Rewards of either sign, many of them beyond the truncation."""
    horizon, run = 2000, np.zeros(1, np.int64)
    rng = np.random.default_rng(1)
    rewards = rng.pareto(1.1, (2, horizon)) * rng.choice([-0.4, 1.0], (2, horizon)) * [[0.4], [0.5]]
    algorithm = DPRobustUCB(2, epsilon, horizon, v, u, constants=0.1)
    limit = algorithm.mechanism.limit(np.arange(1, horizon + 1))
    assert 20 < (np.abs(rewards[0]) > limit).sum() < horizon / 2
    pulls, _, _ = algorithm.kernel(Listed(rewards), 3, run, np.array([horizon]))
    outcome = play(algorithm, Listed(rewards), Seeded(3, (0,)), run)
    assert pulls.tolist() == outcome.pulls.tolist()
    # Negative control: other rewards, other pulls.
    other, _, _ = algorithm.kernel(Listed(rewards[::-1].copy()), 3, run, np.array([horizon]))
    assert other.tolist() != pulls.tolist()


def test_an_environment_that_cannot_draw_is_refused():
    class Nothing:
        n_arms = 3

    with pytest.raises(InputError, match="must be able to draw"):
        DPRobustUCB(3, 1.0, 30, 1.0, 1.0).kernel(Nothing(), 0, np.arange(1), np.array([30]))


def test_the_index_of_round_t_has_log_2t4():
    """Line 12 of Algorithm 1: in the first round after one pull of each of two arms t is 3."""
    rule = DPRobustUCB(2, 1.0, 50, 1.0, 1.0)
    state = rule.start(np.zeros(1, np.int64))
    state = replace(state, t=state.t + 2, pulls=state.pulls + 1)
    expected = 18 * math.sqrt(math.log(2 * 3**4) * math.log(50) ** 2.5)
    assert rule.index(state) == pytest.approx(np.full((1, 2), expected))


@pytest.mark.parametrize("log", ["natural", "binary"])
def test_the_budget_as_printed_by_the_base_of_the_logarithm(log):
    """Theorem 1 of Tao et al.: with log2 and growing limits it holds for T >= 8, with the natural log not."""
    costs = []
    for horizon in (8, 16, 100, 256):
        for v in (0.5, 1.0):
            tree = DPRobustUCB(2, 1.0, horizon, v, 1.0, variant="printed", log=log).mechanism
            costs.append(tree.cost(tree.worst()))
            divisor = math.log(horizon) if log == "natural" else math.log2(horizon)
            assert costs[-1] == pytest.approx(growing_loss(horizon, 1 / (1 + v), divisor))
    assert (max(costs) <= 1) == (log == "binary")
    assert min(costs) > 1 or log == "binary"
    right = DPRobustUCB(2, 1.0, 256, 1.0, 1.0, log=log).mechanism
    assert right.cost(right.worst()) < 1


def test_the_base_of_the_logarithm_is_that_of_the_whole_listing():
    natural, binary = (DPRobustUCB(2, 1.0, 1000, 1.0, 1.0, log=log) for log in ("natural", "binary"))
    t, pulls = np.array(7.0), np.array(4.0)
    expected = 18 * math.sqrt(math.log2(2 * 7**4) * math.log2(1000) ** 2.5 / 4)
    assert binary.bonus(t, pulls) == pytest.approx(expected)
    assert natural.bonus(t, pulls) < binary.bonus(t, pulls)
    assert binary.mechanism.limit(9) == pytest.approx(math.sqrt(9 / math.log2(1000) ** 1.5))
    with pytest.raises(InputError, match="log"):
        DPRobustUCB(2, 1.0, 1000, 1.0, 1.0, log="decimal")
