"""The search for the worst tables: its gradient; it beats the given pairs, and chance does not beat it."""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp import InputError
from verifiable_dp.core.environments import Table
from verifiable_dp.evidence.blackbox.machine import Machine, UnsupportedError
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.evidence.exact import limits, race, worst
from verifiable_dp.registry import entries as registry

RUNS = 300_000_000


def subject(name, changes):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **changes})
    return algorithm, auditor.pairs(algorithm)


def bound(algorithm, pair, runs=RUNS):
    return exact.law(algorithm, pair).best_event(runs).bound


@pytest.mark.parametrize("n_arms", [2, 3, 5])
def test_gradient_of_the_bound_agrees_with_central_differences(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    decision = worst.decisions(algorithm)[0]
    values = decision.high.min() - np.linspace(3, decision.margin - 5, n_arms)[::-1]
    here, there = decision.laws(values)
    best = limits.best_event(here[0], there[0], RUNS)
    _, gradient = worst.bound_at(decision, values, best.atoms, best.flipped, RUNS)
    for arm in range(n_arms):
        step = np.zeros(n_arms)
        step[arm] = 1e-4
        up, down = (
            worst.bound_at(decision, values + h, best.atoms, best.flipped, RUNS)[0] for h in (step, -step)
        )
        assert gradient[arm] == pytest.approx((up - down) / 2e-4, abs=1e-6)
    assert np.abs(gradient).max() > 1e-4  # otherwise nothing was compared


@pytest.mark.parametrize("n_arms", [2, 3])
def test_a_decision_builds_tables_with_the_sums_it_was_asked_for(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    decision = worst.decisions(algorithm)[0]
    values = np.linspace(40.25, 123.5, n_arms)
    pair = decision.pair(values)
    assert (pair.left != pair.right).sum() == 1
    for world, table in enumerate(pair.worlds()):
        node = Machine(algorithm, Table(table)).nodes[0]
        expected = values + world * decision.change * (np.arange(n_arms) == 0)
        np.testing.assert_allclose(node.values, expected, rtol=1e-12)
        assert node.margin == decision.margin


def test_later_comparisons_of_fewer_arms_are_reached():
    algorithm, _ = subject("dp-se", {"n_arms": 5, "horizon": 20_000})
    sizes = [len(decision.arms) for decision in worst.decisions(algorithm)]
    assert sizes[0] == 5
    assert sizes[-2:] == [3, 2]
    for decision in worst.decisions(algorithm):
        low, high = (np.array(side) for side in zip(*decision.box, strict=True))
        pair = decision.pair(high - np.arange(len(high)))
        known = exact.law(algorithm, pair)
        reached = [path for path in known.paths if (1 << len(decision.arms)) - 1 in path]
        assert reached
        assert known.epsilon > 0.5  # so the changed entry lies in the block that decides
        assert (low < high).all()


@pytest.mark.parametrize(
    ("name", "changes", "at_least"),
    [
        pytest.param("dp-se", {"n_arms": 2}, 0.9047, marks=pytest.mark.slow),
        ("dp-se", {"n_arms": 3}, 0.9958),
        pytest.param("dp-se", {"n_arms": 5}, 0.998, marks=pytest.mark.slow),
        ("dp-se-doubling", {}, 0.9047),
        ("dp-robust-se", {}, 0.9047),
    ],
)
def test_it_improves_on_the_given_pairs(name, changes, at_least):
    algorithm, given = subject(name, changes)
    found = worst.search(algorithm, algorithm.claim, RUNS)
    best = max(item.value for item in found if item.objective == "bound")
    assert best >= at_least * algorithm.claim.epsilon
    assert best > max(bound(algorithm, pair) for pair in given) + 1e-3
    for item in found:
        known = exact.law(algorithm, item.pair)
        again = known.best_event(RUNS).bound if item.objective == "bound" else known.epsilon_at(worst.FLOOR)
        assert again == item.value
    ratio = max(item.value for item in found if item.objective == "ratio")
    assert ratio >= max(exact.law(algorithm, pair).epsilon_at(worst.FLOOR) for pair in given) - 1e-9


@pytest.mark.parametrize("n_arms", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_random_sums_do_not_beat_it(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    runs = 10**6
    best = max(
        item.value for item in worst.search(algorithm, algorithm.claim, runs) if item.objective == "bound"
    )
    decision = worst.decisions(algorithm)[0]
    generator = np.random.Generator(np.random.Philox(3))
    highest = 0.0
    for _ in range(200):
        # Sums of which some lie about a margin below others: where anything is decided.
        level = generator.integers(0, 3, n_arms) * decision.margin
        values = 300 - level + generator.uniform(-2, 20, n_arms)
        laws = [
            race.survivors(values + decision.change * world * (np.arange(n_arms) == 0), np.ones(n_arms), m)[0]
            for world, m in ((0, decision.margin), (1, decision.margin))
        ]
        highest = max(highest, limits.best_event(*laws, runs).bound)
    assert best - 0.1 < highest <= best + 1e-4


@pytest.mark.parametrize(("more", "kept"), [(-1e-9, 0), (1e-9, 0), (1e-3, 1)])
def test_of_equally_good_climbs_the_first_is_kept(more, kept):
    """Which of two alike ends higher by a rounding would differ from machine to machine."""
    starts = [np.array([2.0, 1.0]), np.array([1.0, 2.0])]
    climbing = SimpleNamespace(laws=lambda values: ((values, None), (values, None)))

    def choose(here, there):
        return 0.5 + more * (here[0] < here[1]), np.ones(2, bool), False

    value, sums = worst._search(climbing, starts, choose, lambda values, event, flipped: values)
    assert value == choose(starts[kept], None)[0]
    np.testing.assert_array_equal(sums, starts[kept])


def test_it_always_finds_the_same():
    algorithm, _ = subject("dp-se", {"n_arms": 3})
    first, second = (worst.worst_pairs(algorithm, algorithm.claim, 10**6) for _ in range(2))
    assert len(first) == len(second) == 2
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.left, two.left)
        assert (one.round, one.arm, one.value) == (two.round, two.arm, two.value)
    assert bound(algorithm, first[0], 10**6) > bound(algorithm, first[1], 10**6)  # the strongest first


@pytest.mark.parametrize("name", ["dp-ucb", "ldp-robust-se", "dp-nas", "dp-linear", "dp-robust-elimination"])
def test_algorithms_of_another_form_are_refused(name):
    algorithm, _ = subject(name, {})
    with pytest.raises(UnsupportedError):
        worst.worst_pairs(algorithm, algorithm.claim, 1000)


def test_runs_must_be_a_positive_number():
    algorithm, _ = subject("dp-se", {})
    with pytest.raises(InputError, match="runs"):
        worst.search(algorithm, algorithm.claim, 0)
