"""One decision: its edges, and what each rendering makes of it is in `render/test_agreement`."""

import itertools
from dataclasses import replace

import pytest

from tests import small_records
from verifiable_dp.cli.shell import require_option
from verifiable_dp.core.units import Role
from verifiable_dp.record import passing
from verifiable_dp.record.decision import EXIT, WEAK, Decision, decision
from verifiable_dp.record.model import Record

PRIVACY = (None, "not_refuted", "refuted", "inconclusive")
REGRET = (None, "consistent", "contradicted", "vacuous", "inconclusive")
HELD = Decision("not_refuted", None, "strong", None, None, Role.USER, 1.0, (), 0, ())


@pytest.mark.parametrize(("privacy", "regret"), [*itertools.product(PRIVACY, REGRET)])
def test_the_result_and_the_status_of_all_verdicts(privacy, regret):
    found = replace(HELD, privacy=privacy, regret=regret)
    failed = privacy == "refuted" or regret == "contradicted"
    held = privacy in (None, "not_refuted") and regret in (None, "consistent")
    held = held and bool(privacy or regret)  # what audited nothing has passed nothing
    assert found.result == ("failed" if failed else "passed" if held else "undecided")
    alone = {None: EXIT.get(regret, 3)}.get(privacy, EXIT.get(privacy))
    assert found.exit_code == (1 if regret == "contradicted" else alone)
    assert found.main == (privacy or regret)


def test_the_statuses():
    passing = {verdict for verdict, status in EXIT.items() if status == 0}
    assert passing == {"not_refuted", "consistent"}
    assert {verdict for verdict, status in EXIT.items() if status == 1} == {"refuted", "contradicted"}
    assert set(EXIT.values()) == {0, 1, 3}


GROUNDS = ("detectable", "n paths", "every path", "certified")


@pytest.mark.parametrize(("found", "asked"), [*itertools.product(range(4), range(4))])
def test_what_is_not_refuted_rests_on_no_less_than_is_required(found, asked):
    one = replace(HELD, ground=GROUNDS[found])
    require = passing.REQUIRED[asked]
    assert passing.short_of(one, require) == ("" if found >= asked else passing.REQUIRED[found])


@pytest.mark.parametrize("require", passing.REQUIRED)
def test_only_what_is_not_refuted_falls_short(require):
    for privacy, regret in itertools.product(PRIVACY, REGRET):
        assert passing.short_of(replace(HELD, privacy=privacy, regret=regret, ground=None), require) == ""


def test_the_command_line_knows_all_that_can_be_required():
    assert set(require_option(lambda: None).__click_params__[0].type.choices) == {*passing.REQUIRED}


def test_the_ground_is_a_bound_within_the_claim_or_what_would_have_been_detected():
    """Where a promise is refuted there is none."""
    record = small_records.small()
    assert decision(Record.of(record)).ground == "certified"
    bare = {**record, "checks": [c for c in record["checks"] if c["kind"] != "upper_bound"]}
    assert decision(Record.of(bare)).ground == "detectable"
    assert decision(Record.of(small_records.refuted())).ground is None


@pytest.mark.parametrize(
    ("changes", "result", "colour"),
    [
        ({}, "passed", "not_refuted"),
        ({"strength": "weak"}, "undecided", "inconclusive"),
        ({"faults": 1}, "undecided", "not_refuted"),
        ({"role": Role.BASELINE}, "passed", "inconclusive"),
        ({"role": Role.PRINTED}, "passed", "not_refuted"),
        ({"privacy": "refuted", "strength": "none"}, "failed", "refuted"),
        ({"privacy": "refuted", "strength": "none", "role": Role.BASELINE}, "failed", "inconclusive"),
        ({"privacy": "inconclusive", "strength": "weak"}, "undecided", "inconclusive"),
        ({"privacy": None, "regret": "consistent", "strength": "none"}, "passed", "consistent"),
        (
            {"privacy": None, "regret": "vacuous", "strength": "none", "role": Role.BASELINE},
            "undecided",
            "vacuous",
        ),
    ],
)
def test_what_is_weak_or_a_baseline_is_not_green(changes, result, colour):
    found = replace(HELD, **changes)
    assert (found.result, found.colour) == (result, colour)


def powered(record, epsilon, missed=0):
    """The same record with another power; `missed` mutants of its own passed."""
    power = {"smallest_epsilon": epsilon, "probability": 1.0, "by": "alignment", "largest": 1.0}
    mutant = {"name": "m", "fault": "f", "breaks": "privacy", "bounding": False, "verdict": "not_refuted"}
    mutant |= {"decided_by": "", "counterexample": {}, "checks": record["checks"][:1]}
    return {**record, "power": {**power, "black_box": None}, "mutants": [mutant] * missed}


@pytest.mark.parametrize(
    ("epsilon", "strength"), [(1.0, "strong"), (WEAK, "strong"), (WEAK + 1e-9, "weak"), ("inf", "weak")]
)
def test_a_leak_of_half_as_much_again_that_passes_is_weak(epsilon, strength):
    found = decision(Record.of(powered(small_records.small(), epsilon)))
    assert (found.strength, found.ratio) == (strength, float(epsilon))
    assert found.weak == (strength == "weak")


@pytest.mark.parametrize("missed", [0, 1])
def test_a_broken_variant_of_its_own_that_passed_makes_an_audit_weak(missed):
    found = decision(Record.of(powered(small_records.small(), 1.0, missed)))
    assert (found.strength, found.faults) == ("weak" if missed else "strong", missed)
    assert found.passed == (("m", None),) * missed
    assert found.result == ("undecided" if missed else "passed")


@pytest.mark.parametrize("size", [WEAK, WEAK + 1e-9])
def test_a_fault_of_the_kill_table_counts_by_its_leak(size):
    row = {"mutant": "m", "origin": "law", "outcome": "survived", "at_least": size, "true_epsilon": None}
    row |= {"fault": "", "epsilon": 1.0, "at_most": "inf"}
    table = {"digest": "sha256:" + "0" * 64, "others": [row], "caught": {"auditor": 0, "operators": 0}}
    record = powered(small_records.small(), 1.0) | {"kill_table": table}
    assert decision(Record.of(record)).strength == ("strong" if size == WEAK else "weak")


def test_what_an_upper_bound_settles_is_not_open():
    record = small_records.small()
    assert record["epsilon_upper"]["scope"] == decision(Record.of(record)).scope == "certified"
    assert decision(Record.of(record)).open_items == ("timing", "sampler")
    bare = {**record, "checks": [c for c in record["checks"] if c["kind"] != "upper_bound"]}
    assert decision(Record.of(bare)).open_items == ("timing", "sampler", "inputs")


def test_a_refutation_needs_no_strength():
    found = decision(Record.of(small_records.refuted()))
    assert (found.privacy, found.strength, found.role, found.result) == (
        "refuted",
        "none",
        Role.USER,
        "failed",
    )
