"""The contract of auditors: each catches its mutants and clears the correct algorithm."""

import functools
import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from verifiable_dp import algorithms
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.evidence.judge.laws import epsilon_of_mu
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.auditor import Auditor
from verifiable_dp.registry.errata import chosen, registered
from verifiable_dp.registry.theorems import CorrectOnly

ROOT = Path(__file__).parents[2]
NAMES = registry.names()
MUTANTS = [(name, mutant.name) for name in NAMES for mutant in registry.auditor(name).mutants]
BREAKS_PRIVACY = [
    (name, mutant.name)
    for name in NAMES
    for mutant in registry.auditor(name).mutants
    if mutant.breaks == "privacy"
]
BREAKS_REGRET = [pair for pair in MUTANTS if pair not in BREAKS_PRIVACY]


def mutant_of(name, mutant):
    return next(m for m in registry.auditor(name).mutants if m.name == mutant)


def first_of_each_check():
    """Regret mutants, of which all but the first that a check catches are slow."""
    seen = set()
    for name, mutant in BREAKS_REGRET:
        check = name, id(mutant_of(name, mutant).caught_by)
        yield pytest.param(name, mutant, marks=pytest.mark.slow if check in seen else [])
        seen.add(check)


PRINTED = [name for name in NAMES if registry.auditor(name).printed]


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_listing_names_errata_of_the_kind_that_its_audit_finds(name):
    """One on privacy if and only if the listing is refuted; all of the paper of the algorithm."""
    auditor = registry.auditor(name)
    found = chosen(auditor.printed.errata) if auditor.printed.errata else []
    assert found
    assert {row.source.paper for row in found} == {auditor.paper}
    assert ("privacy" in {row.kind for row in found}) == (auditor.printed.expected == "refuted")


def instance(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**auditor.instance)


def promised(name):
    claim = instance(name).claim
    return claim.epsilon if claim else registry.auditor(name).reference_epsilon


def largest_cost(name):
    """What alignment is held against: epsilon, or that of one report where reports are shuffled."""
    auditor, algorithm = registry.auditor(name), instance(name)
    if auditor.exact is None:
        return promised(name)
    return exact_shuffle.local_epsilon(auditor.exact(algorithm, algorithm.claim))


def found(algorithm, pairs):
    claim = algorithm.claim
    if claim is not None and claim.curved:
        mu = max(normal.examine(algorithm, pair, seed=1, delta=claim.delta).mu for pair in pairs)
        return SimpleNamespace(cost=epsilon_of_mu(mu, claim.delta))
    result = searching.examine(algorithm, pairs[0], seed=1)
    for pair in pairs[1:]:
        result = result.merge(searching.examine(algorithm, pair, seed=1))
    return result


@functools.cache
def cost_of(name):
    algorithm = instance(name)
    return found(algorithm, registry.auditor(name).pairs(algorithm)).cost


@functools.cache
def regret_of(name):
    auditor = registry.auditor(name)
    return tuple(auditor.regret(auditor.algorithm(**auditor.experiment), "mutant", 0, 1))


def committed(name, mutant):
    """Verdicts of the committed record on a regret mutant, by the name of the check."""
    record = json.loads((ROOT / "reports" / name / "record.json").read_text())
    (row,) = (m for m in record["mutants"] if (m["name"], m["breaks"]) == (mutant, "regret"))
    return {check["name"]: check["result"]["verdict"] for check in row["checks"]}


def test_no_algorithm_is_without_an_auditor():
    folder = Path(algorithms.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} - {"papers"}
    assert files == {name.replace("-", "_") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_file_has_the_algorithms_name(name):
    file = name.replace("-", "_")
    auditor = importlib.import_module(f"verifiable_dp.auditors.{file}").auditor
    algorithm = importlib.import_module(f"verifiable_dp.algorithms.{file}")
    assert isinstance(auditor, Auditor)
    assert auditor is registry.auditor(name)
    assert auditor.algorithm.__module__ == algorithm.__name__
    assert auditor.name == name


@pytest.mark.parametrize("name", NAMES)
def test_at_least_six_mutants_with_distinct_names(name):
    mutants = registry.auditor(name).mutants
    assert len(mutants) >= 6
    assert len({m.name for m in mutants}) == len(mutants)
    assert all(m.fault for m in mutants)


@pytest.mark.parametrize("name", NAMES)
def test_a_private_algorithm_has_six_mutants_of_privacy_and_a_baseline_six_of_regret(name):
    breaks = "privacy" if instance(name).claim else "regret"
    assert sum(m.breaks == breaks for m in registry.auditor(name).mutants) >= 6
    assert (instance(name).claim is None) == (registry.auditor(name).reference_epsilon is not None)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_has_a_source_and_a_distinct_name(name):
    claims = registry.auditor(name).claims
    assert claims
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.source.paper
        assert claim.source.statement
        assert claim.formula
    promise = instance(name).claim
    assert promise is None or promise.source


@pytest.mark.parametrize("name", [name for name in NAMES if instance(name).claim])
def test_the_correct_algorithm_costs_at_most_epsilon(name):
    cost, epsilon = cost_of(name), largest_cost(name)
    assert cost <= epsilon * (1 + alignment.TOLERANCE)
    stated = registry.auditor(name).tightness
    assert stated == 1.0 or stated < 1 - 1e-6
    assert cost == pytest.approx(epsilon * stated, rel=1e-6), (
        "the costliest pair does not spend what the auditor states: the neighbours are not worst cases"
    )


@pytest.mark.parametrize("name", [name for name in NAMES if instance(name).claim])
def test_no_transcript_costs_more_than_the_closed_form(name):
    algorithm, auditor = instance(name), registry.auditor(name)
    most = auditor.worst_cost(algorithm)
    cost = cost_of(name)
    assert cost <= most * (1 + alignment.TOLERANCE)
    assert most <= largest_cost(name) * (1 + alignment.TOLERANCE)
    if auditor.tightness == 1.0:
        assert cost == pytest.approx(most, rel=1e-9)


# A single report is not what is claimed of shuffled ones. What the dear ones cost is asked of errata, too.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("dp-robust") else [])
        for name in NAMES
        if registry.auditor(name).printed and not registry.auditor(name).exact
    ],
)
def test_the_closed_form_says_what_the_printed_listing_costs(name):
    auditor = registry.auditor(name)
    printed = auditor.algorithm(**auditor.printed_instance)
    most = auditor.worst_cost(printed)
    assert (most > printed.claim.epsilon * (1 + 1e-6)) == (auditor.printed.expected == "refuted")
    assert found(printed, auditor.pairs(printed)).cost <= most * (1 + alignment.TOLERANCE)


@pytest.mark.parametrize("name", [name for name in NAMES if not instance(name).claim])
def test_a_baseline_states_no_cost(name):
    assert registry.auditor(name).worst_cost is None


@pytest.mark.parametrize("name", [name for name in NAMES if not instance(name).claim])
def test_a_baseline_is_caught_by_its_pairs(name):
    algorithm = instance(name)
    result = found(algorithm, registry.auditor(name).pairs(algorithm))
    assert result.cost > promised(name)


# By day those that break an algorithm as no earlier one is broken; `make report` runs them all.
FIRST = {mutant: name for name, mutant in reversed(BREAKS_PRIVACY)}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        pytest.param(name, mutant, marks=[] if FIRST[mutant] == name else pytest.mark.slow)
        for name, mutant in BREAKS_PRIVACY
    ],
)
def test_a_privacy_mutant_costs_more_than_epsilon(name, mutant):
    broken = mutant_of(name, mutant).make(instance(name))
    auditor = registry.auditor(name)
    if auditor.exact is not None:
        assert any(c.verdict == "refuted" for c in auditor.exact(broken, instance(name).claim))
        return
    # An audit aligns the four strongest pairs; one is enough.
    pairs = auditor.pairs(instance(name))[:4]
    assert any(found(broken, [pair]).cost > promised(name) * 1.05 for pair in pairs)


@pytest.mark.parametrize("name", [name for name in NAMES if registry.auditor(name).exact])
def test_exact_bounds_clear_the_correct_algorithm_and_can_be_judged_again(name):
    algorithm = instance(name)
    checks = registry.auditor(name).exact(algorithm, algorithm.claim)
    assert len({c.name for c in checks}) == len(checks) > 1
    for check in checks:
        assert check.verdict == "not_refuted"
        again = json.loads(json.dumps(check.as_dict()))
        assert judged(check.kind, again["statistics"]) == again["result"]


@pytest.mark.parametrize("name", NAMES)
def test_pairs_fit_the_instance_and_the_small_instance(name):
    auditor, tried = registry.auditor(name), []
    for parameters in (auditor.instance, {**instance(name).parameters, **auditor.small}):
        algorithm = auditor.algorithm(**parameters)
        pairs = auditor.pairs(algorithm)
        tried.append(len(pairs))
        for pair in pairs:
            left, right = pair.worlds()
            assert left.shape == right.shape == (algorithm.horizon, algorithm.n_arms)
            assert (left != right).sum() == 1
            assert min(left.min(), right.min()) >= algorithm.bounds[0]
            assert max(left.max(), right.max()) <= algorithm.bounds[1]
    assert len(tried) == 2
    assert all(tried)


@pytest.mark.parametrize("name", NAMES)
def test_the_correct_algorithm_is_never_contradicted(name):
    checks = regret_of(name)
    assert checks
    assert {c.verdict for c in checks} <= {"consistent", "vacuous", "inconclusive"}
    assert "consistent" in {c.verdict for c in checks}


@pytest.mark.parametrize("name", NAMES)
def test_checks_are_named_after_claims_and_can_be_judged_again(name):
    claims = {claim.name for claim in registry.auditor(name).claims}
    checks = regret_of(name)
    assert len({c.name for c in checks}) == len(checks)
    for check in checks:
        assert check.statistics["claim"] in claims
        assert check.name.startswith(check.statistics["claim"])
        assert check.verdict in ("consistent", "contradicted", "vacuous", "inconclusive")
        again = json.loads(json.dumps(check.as_dict()))
        assert judged(check.kind, again["statistics"]) == again["result"]


@pytest.mark.parametrize("name", NAMES)
def test_an_unchecked_claim_says_so(name):
    covered = {check.statistics["claim"] for check in regret_of(name)}  # as on mutants
    refuted = {claim for row in registered() for claim in row.claims}
    claims = registry.auditor(name).claims
    assert claims
    for claim in claims:
        stated = "not checked" in claim.source.note or f"{name}/{claim.name}" in refuted
        correct_only = bool(claim.checks) and all(isinstance(one, CorrectOnly) for one in claim.checks)
        assert claim.name in covered or stated or correct_only


def test_errata_contradict_claims_of_the_catalogue_that_name_them():
    """A link to a claim that does not exist, or whose note does not name the erratum, is a dead one."""
    linked = {claim: row for row in registered() for claim in row.claims}
    assert "ldp-robust-se/theorem-7-printed" in linked
    for link, row in linked.items():
        name, claim = link.split("/")
        (found,) = (c for c in registry.auditor(name).claims if c.name == claim)
        assert f"erratum {row.name}" in found.source.note
        assert row.find is not None


def regret_of_mutant(name, mutant, seed=0, whole=False):
    """Verdicts on the mutant of the check that it refers to, by name; of all checks if `whole`."""
    auditor, found = registry.auditor(name), mutant_of(name, mutant)
    broken = found.make(auditor.algorithm(**auditor.experiment))
    checks = auditor.regret(broken, "mutant", seed, 1, None if whole else found.caught_by)
    return {check.name: check.verdict for check in checks}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("dp-se", "epsilon/K per arm"),
        ("dp-se", "half threshold"),
        ("se", "half threshold"),
        pytest.param("ucb1", "doubled bonus", marks=pytest.mark.slow),
    ],
)
def test_a_slightly_worse_algorithm_is_caught_by_the_check_made_for_it(name, mutant):
    """At another seed; the correct algorithm passes the same checks (test_regret_nulls)."""
    assert "contradicted" in regret_of_mutant(name, mutant, seed=3).values()


@pytest.mark.parametrize(("name", "mutant"), list(first_of_each_check()))
def test_a_regret_mutant_is_contradicted_by_the_check_that_it_refers_to(name, mutant):
    """As in the committed record. No other check is made; `test_every_check_on_every_regret_mutant` does."""
    verdicts = regret_of_mutant(name, mutant)
    assert "contradicted" in verdicts.values()
    assert verdicts.items() <= committed(name, mutant).items()
    # Negative control: the algorithm itself is not contradicted there.
    right = {check.name: check.verdict for check in regret_of(name) if check.name in verdicts}
    assert right.keys() == verdicts.keys()
    assert set(right.values()) <= {"consistent", "vacuous", "inconclusive"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mutant"), BREAKS_REGRET)
def test_every_check_on_every_regret_mutant(name, mutant):
    """The whole matrix comes out as in the committed record."""
    assert regret_of_mutant(name, mutant, whole=True) == committed(name, mutant)
