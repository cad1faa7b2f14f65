"""The contract of bandits of the catalogue that are told contexts, and of their auditors."""

import functools
import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp import algorithms, make
from verifiable_dp.algorithms.contextual._regression import Confident, _total
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim, gdp_mu
from verifiable_dp.core.contextual import ContextualAlgorithm, UserTable, clipped
from verifiable_dp.core.neighbours import pair_of
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.units import Protected
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.check import judged
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.theorems import CorrectOnly

NAMES = registry.contextual()
PRIVATE = [name for name in NAMES if registry.auditor(name).reference_epsilon is None]
MUTANTS = [(name, mutant) for name in NAMES for mutant in registry.auditor(name).mutants]
PROMISED = {"adac-oful": Protected.REWARD_CENTRAL}  # of all others


def instance(name, **changes):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **changes})


def small(name):
    return instance(name, **registry.auditor(name).small)


def claim_of(algorithm):
    baseline = PrivacyClaim.of_users(1.0, 0.0, model="joint", protects="context", observe="releases")
    return algorithm.claim or baseline


def table_of(algorithm, seed=0):
    rng, form = np.random.default_rng(seed), algorithm.form
    contexts = rng.standard_normal((algorithm.horizon, *form.shape))
    contexts /= np.linalg.norm(contexts, axis=-1, keepdims=True)
    return form.table(contexts, rng.random((algorithm.horizon, form.n_arms)))


def test_they_stand_apart_from_bandits_without_contexts():
    assert {"dp-lin-ucb", "lin-ucb-contextual"} <= set(NAMES)
    assert not set(NAMES) & set(registry.names())
    assert set(registry.catalogue()["name"]) == {*NAMES, *registry.names()}


def test_no_algorithm_is_without_an_auditor():
    folder = Path(algorithms.__file__).parent / "contextual"
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert files == {name.replace("-", "_") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_file_has_the_algorithms_name(name):
    file = name.replace("-", "_")
    found = importlib.import_module(f"verifiable_dp.auditors.contextual.{file}").auditor
    assert found is registry.auditor(name)
    assert found.name == name
    assert issubclass(found.algorithm, ContextualAlgorithm)
    assert registry.find(instance(name)) is found


@pytest.mark.parametrize("name", NAMES)
def test_a_run_plays_its_horizon_and_does_not_depend_on_its_batch(name):
    algorithm = small(name)
    users = UserTable(algorithm.form, table_of(algorithm))
    whole = play(algorithm, users, Seeded(3), np.arange(9))
    assert (whole.pulls.sum(axis=1) == algorithm.horizon).all()
    for part in ([0], [8], [5, 2, 7]):
        alone = play(algorithm, users, Seeded(3), np.array(part))
        assert np.array_equal(alone.actions, whole.actions[part])
        assert np.array_equal(alone.released, whole.released[part], equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_play_is_a_row_of_play_many(name):
    algorithm = small(name)
    contexts, rewards = algorithm.form.split(table_of(algorithm))
    many = algorithm.play_many(contexts, rewards, 3, np.random.default_rng(5))
    assert many.shape == (3, algorithm.horizon)
    assert ((many >= 0) & (many < algorithm.n_arms)).all()
    assert np.array_equal(algorithm.play(contexts, rewards, np.random.default_rng(5)), many[0])
    with pytest.raises(InputError, match="contexts must have as many rounds as the horizon, 8"):
        algorithm.play(contexts[1:], rewards[1:], np.random.default_rng(5))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_make_the_same_algorithm(name):
    algorithm = instance(name)
    assert make(name, **algorithm.parameters) == algorithm
    assert all(value is not None for value in algorithm.parameters.values())


BAD = [
    *(("n_arms", value) for value in (1, 2.5)),
    *(("dimension", value) for value in (0, 1.5)),
    *(("horizon", value) for value in (0, 1)),
    *((key, value) for key in ("epsilon", "norm", "ridge") for value in (0.0, -1.0, math.inf, math.nan)),
    *((key, value) for key in ("delta", "alpha") for value in (0.0, 1.0, math.nan)),
]


@pytest.mark.parametrize(
    ("name", "field", "value"), [(n, f, v) for n in NAMES for f, v in BAD if f in instance(n).parameters]
)
def test_a_bad_parameter_is_refused_in_one_line_that_names_it(name, field, value):
    with pytest.raises(InputError, match=field) as error:
        make(name, **{**instance(name).parameters, field: value})
    assert "\n" not in str(error.value)


def test_parts_are_added_in_their_order():
    parts = np.random.default_rng(0).standard_normal((30, 9, 6))
    assert np.array_equal(_total(parts), parts.sum(axis=1))
    assert not np.array_equal(_total(parts), parts[:, ::-1].sum(axis=1))


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_the_kernel_computes_the_confidence_bounds_of_the_formula(dimension):
    rng, n, size = np.random.default_rng(dimension), 50, (dimension, dimension)
    root = rng.standard_normal((n, *size))
    inverse = root @ root.swapaxes(1, 2)
    inverse[::10] *= -1  # no width there: it would be the root of a number below 0
    rule = Confident(rng.standard_normal((n, dimension)), inverse, rng.random(n), np.full(n, 0.8))
    contexts = rng.standard_normal((n, 4, dimension))

    def formula(x):
        width = np.einsum("nki,nij,nkj->nk", x, inverse, x)
        means = np.einsum("nki,ni->nk", x, rule.estimate)
        return means + rule.radius[:, None] * np.sqrt(np.maximum(width, 0.0))

    assert np.allclose(rule.indices(contexts), formula(clipped(contexts, 0.8)), rtol=1e-12, atol=1e-12)
    assert not np.allclose(rule.indices(contexts), formula(contexts), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_live_sessions_are_refused(name):
    with pytest.raises(InputError, match="takes contexts"):
        instance(name).session(seed=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [instance, small])
def test_pairs_replace_what_is_protected_of_one_user(name, size):
    """Where the context is, nobody else sees that user's action; where only the reward is, everybody does."""
    algorithm = size(name)
    pairs = registry.auditor(name).pairs(algorithm)
    assert pairs
    for pair in pairs:
        left, right = pair.worlds()
        assert ((left != right).any(axis=1)).sum() == 1
        assert (left[pair.round] != right[pair.round]).any()
        of_reward = name in PROMISED
        assert pair.joint != of_reward
        assert not of_reward or np.array_equal(left[:, algorithm.n_arms :], right[:, algorithm.n_arms :])
        assert not pair.under("central").joint
        again = pair_of(json.loads(json.dumps(pair.as_dict())))
        assert np.array_equal(again.worlds(), pair.worlds())


@functools.cache
def aligned(name):
    algorithm = instance(name)
    pairs = registry.auditor(name).pairs(algorithm)
    return normal.check(algorithm, claim_of(algorithm), pairs, 0, timed=True)[0]


@pytest.mark.parametrize("name", PRIVATE)
def test_the_worst_pair_costs_what_the_certificate_allows_and_no_more(name):
    algorithm, check = instance(name), aligned(name)
    assert algorithm.claim.protects == PROMISED.get(name, Protected.CONTEXT_JOINT)
    assert algorithm.claim.source.note  # what is not at hand is said
    assert check.verdict == "not_refuted"
    epsilon, tight = algorithm.claim.epsilon * (1 + 1e-9), registry.auditor(name).tightness * (1 - 2e-9)
    assert tight * epsilon <= float(check.statistics["max_loss"]) <= epsilon
    assert tight * epsilon <= registry.auditor(name).worst_cost(algorithm) <= epsilon
    bound = normal.certificate(algorithm, algorithm.claim, "alignment")
    assert max(tight * epsilon, float(check.statistics["max_loss"])) <= bound.epsilon * (1 + 1e-9)
    assert bound.epsilon <= epsilon
    assert bound.delta == algorithm.claim.delta
    assert bound.check(algorithm.claim).verdict == "not_refuted"
    again = json.loads(json.dumps(check.as_dict()))
    assert judged(check.kind, again["statistics"]) == again["result"]


@pytest.mark.parametrize("name", PRIVATE)
def test_the_budget_is_spent_where_nodes_close_and_ends_at_the_cost_of_the_check(name):
    """User 1 is in nodes that close at 1, 2, 4, …; of n alike nodes mu is sqrt n times that of one."""
    numbers = aligned(name).statistics
    rows, horizon = numbers["spent"], instance(name).horizon
    assert rows[-1] == [horizon, numbers["max_cost"], numbers["max_loss"]]
    costs = [cost for _, cost, _ in rows]
    assert costs == sorted(costs)
    assert all(0 < loss <= cost for _, cost, loss in rows)
    if name == "dp-lin-ucb":
        assert [row[0] for row in rows] == [2**n for n in range(len(rows))]
        mus = [gdp_mu(cost, instance(name).claim.delta) for cost in costs]
        alike = [math.sqrt(n / len(rows)) for n in range(1, len(rows) + 1)]
        assert mus == pytest.approx([mus[-1] * part for part in alike])


@pytest.mark.parametrize("name", sorted({*NAMES} - {*PRIVATE}))
def test_a_baseline_is_caught_by_its_pairs(name):
    assert aligned(name).statistics["spent"][-1][1] == "inf"  # as the replay leaves its run
    assert aligned(name).verdict == "refuted"
    assert instance(name).claim is None
    assert registry.auditor(name).worst_cost is None


@pytest.mark.parametrize("name", NAMES)
def test_mutants_are_many_and_have_distinct_names(name):
    mutants = registry.auditor(name).mutants
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert sum(m.breaks == ("privacy" if name in PRIVATE else "regret") for m in mutants) >= 6
    assert len(mutants) >= (8 if name in PRIVATE else 6)


@pytest.mark.parametrize(
    ("name", "mutant"),
    [pytest.param(n, m, id=f"{n}-{m.name}") for n, m in MUTANTS if m.breaks == "privacy"],
)
def test_a_privacy_mutant_is_refuted_and_gets_no_certificate_within_the_claim(name, mutant):
    algorithm = instance(name, horizon=16)
    broken, pairs = mutant.make(algorithm), registry.auditor(name).pairs(algorithm)
    check, _ = normal.check(broken, algorithm.claim, pairs, 0, enough=True)
    assert check.verdict == "refuted"
    bound = normal.certificate(broken, algorithm.claim, "alignment")
    assert bound is None or bound.epsilon > 1.05 * algorithm.claim.epsilon


@functools.cache
def regret_of(name):
    auditor = registry.auditor(name)
    return tuple(auditor.regret(auditor.algorithm(**auditor.experiment), "mutant", 0, 1))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == PRIVATE[0] else pytest.mark.slow) for name in NAMES]
)
def test_the_correct_algorithm_is_never_contradicted(name):
    """But for checks that mutants are spared."""
    checks, claims = (
        regret_of(name),
        {
            claim.name
            for claim in registry.auditor(name).claims
            if not all(isinstance(check, CorrectOnly) for check in claim.checks)
        },
    )
    assert {check.statistics["claim"] for check in checks} == claims
    assert {check.verdict for check in checks} == {"consistent"}
    for check in checks:
        again = json.loads(json.dumps(check.as_dict()))
        assert judged(check.kind, again["statistics"]) == again["result"]


def first_of_each_check():
    seen, found = set(), []
    for name, mutant in MUTANTS:
        if mutant.breaks == "regret":
            marks = [pytest.mark.slow] if id(mutant.caught_by) in seen else []
            seen.add(id(mutant.caught_by))
            found.append(pytest.param(name, mutant, marks=marks, id=f"{name}-{mutant.name}"))
    return found


@pytest.mark.parametrize(("name", "mutant"), first_of_each_check())
def test_a_regret_mutant_is_contradicted_by_the_check_that_it_refers_to(name, mutant):
    auditor = registry.auditor(name)
    broken = mutant.make(auditor.algorithm(**auditor.experiment))
    (check,) = auditor.regret(broken, "mutant", 0, 1, mutant.caught_by)
    assert check.verdict == "contradicted"
