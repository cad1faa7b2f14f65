"""The unfolded algorithm decides as the definition, draw for draw; what is no comparison is refused."""

import dataclasses

import numpy as np
import pytest

from verifiable_dp import InputError
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.evidence.blackbox.machine import Machine, UnsupportedError
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise, Wrapped

RUNS = np.arange(3000)
CASES = [
    ("dp-se", {"n_arms": 2}),
    ("dp-se", {"n_arms": 3}),
    ("dp-se", {"n_arms": 5}),
    ("dp-se-doubling", {}),
    ("dp-robust-se", {}),
    ("ldp-robust-se", {}),
]


def subject(name, changes):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **changes})
    return algorithm, auditor.pairs(algorithm)


def counted(rows):
    """{path without the padding: runs}."""
    paths, counts = np.unique(rows, axis=0, return_counts=True)
    return {tuple(path[path >= 0].tolist()): int(count) for path, count in zip(paths, counts, strict=True)}


def walked(machine, seed, runs=RUNS):
    found = machine.counts(seed, (1,), runs)
    return {machine.nodes[leaf].codes: count for leaf, count in found.items()}


def played(algorithm, table, seed, runs=RUNS):
    return counted(play(algorithm, Table(table), Seeded(seed, (1,)), runs, keep=("actions",)).actions)


@pytest.mark.parametrize(("name", "changes"), CASES)
def test_it_walks_as_the_definition_plays(name, changes):
    algorithm, pairs = subject(name, changes)
    varied = 0
    for pair in pairs[:6]:
        for table in (pair.left, pair.right):
            mine = walked(Machine(algorithm, Table(table)), 3)
            assert mine == played(algorithm, table, 3)
            varied += len(mine) > 1
    assert varied  # otherwise nothing was compared


@pytest.mark.parametrize("mutant", ["half noise", "one draw for all arms", "no forgetting", "raw comparison"])
def test_mutants_walk_as_they_play(mutant):
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    broken = next(m for m in registry.auditor("dp-se").mutants if m.name == mutant).make(algorithm)
    assert len(pairs) > 3
    for pair in pairs[:3]:
        assert walked(Machine(broken, Table(pair.left)), 4) == played(broken, pair.left, 4)


def test_other_noise_gives_other_counts():
    """Negative control of the comparisons above."""
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    machine = Machine(algorithm, Table(pairs[0].left))
    assert walked(machine, 3) != walked(machine, 4)
    assert walked(Machine(AlteredNoise(algorithm, 0.9), Table(pairs[0].left)), 3) != walked(machine, 3)


def test_counts_do_not_depend_on_how_runs_are_split():
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    machine = Machine(algorithm, Table(pairs[0].left))
    parts = [machine.counts(5, (1,), part) for part in np.array_split(RUNS, 4)]
    together = {leaf: sum(part.get(leaf, 0) for part in parts) for leaf in {k for p in parts for k in p}}
    assert together == machine.counts(5, (1,), RUNS)


def test_paths_are_the_actions():
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    machine = Machine(algorithm, Table(pairs[0].left))
    found = machine.counts(3, (1,), RUNS)
    rows = np.repeat(machine.paths(found), list(found.values()), axis=0)
    assert counted(rows) == played(algorithm, pairs[0].left, 3)


class OneSided(Wrapped):
    """Decides on more than the margin: the last arm is removed at half of it."""

    def decide(self, state, query, released):
        changed = released.copy()
        changed[:, -1] *= 2
        return self.inner.decide(state, query, changed)


class Rounded(Wrapped):
    """Changes its releases after the noise is added."""

    def release(self, state, memory, query, answer, noise):
        memory, released = self.inner.release(state, memory, query, answer, noise)
        return memory, np.round(released) + 0.25


@pytest.mark.parametrize("broken", [OneSided, Rounded])
def test_what_is_no_comparison_is_refused(broken):
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    assert Machine(algorithm, Table(pairs[0].left)).child(0, 0)
    with pytest.raises(UnsupportedError):
        Machine(broken(algorithm), Table(pairs[0].left)).child(0, 0)


@pytest.mark.parametrize("name", ["dp-ucb", "dp-nas", "se", "dp-robust-elimination", "dp-linear"])
def test_algorithms_without_a_margin_are_refused(name):
    algorithm, pairs = subject(name, {})
    with pytest.raises(InputError):
        Machine(algorithm, Table(pairs[0].worlds()[0]))


def test_too_many_arms_are_refused():
    auditor = registry.auditor("dp-se")
    algorithm = auditor.algorithm(**{**auditor.instance, "n_arms": 11})
    with pytest.raises(UnsupportedError, match="n_arms must be at most 10, got 11"):
        Machine(algorithm, Table(np.zeros((algorithm.horizon, 11))))


def test_a_node_holds_what_the_definition_asks_for():
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    machine = Machine(algorithm, Table(pairs[0].left))
    root = machine.nodes[0]
    length = algorithm.plan(algorithm.start(np.zeros(1, np.int64)))[0][0]
    sums = [pairs[0].left[arm : 3 * length : 3, arm].sum() for arm in range(3)]
    np.testing.assert_allclose(root.values, sums, rtol=1e-12)
    np.testing.assert_array_equal(root.scales, np.full(3, 1 / algorithm.epsilon))
    assert root.margin == pytest.approx(algorithm.schedule[1][1, 3] * length)
    assert not root.leaf
    child = machine.nodes[machine.child(0, 0b110)]
    assert child.leaf
    assert child.codes == (0b111, 0b001)
    assert dataclasses.is_dataclass(child)
