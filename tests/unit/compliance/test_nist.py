"""The hazards of NIST SP 800-226: each rule both ways, as a pure function of record and declarations."""

import copy
import json
from types import SimpleNamespace

import pytest

import verifiable_dp as vdp
from tests.records import resolve
from tests.user_code import bandits
from verifiable_dp.compliance import blocks, nist
from verifiable_dp.evidence.check import Check

SECTIONS = (
    "2.2 2.3 2.4 2.4 2.5 2.5 2.5 2.6 3 3.3.1 3.3.2 3.3.3 3.4.1 3.4.1 3.5 3.6 3.6 3.7 4.1 4.2 4.3 4.4 4.4 4.5"
)
TRUSTED = {"role": "curator", "trusted": True}
READER = {"role": "reader", "trusted": False}


@pytest.fixture(scope="module")
def cores():
    found = {
        "algorithm": vdp.audit("dp-se", n_arms=2, horizon=400, budget=0.2, mutants=False),
        "mechanism": vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=800),
        "regret": vdp.check_regret("nas"),
    }
    return {kind: json.loads(report.to_json()) for kind, report in found.items()}


class Assessor:
    """Rows of a core after changes to it: ``claim__epsilon=2.0`` sets ``record["claim"]["epsilon"]``."""

    def __init__(self, cores):
        self.cores = cores

    def __call__(self, number, kind="algorithm", declared=None, **changes):
        core = copy.deepcopy(self.cores[kind])
        for path, value in changes.items():
            *parents, last = path.split("__")
            place = core
            for parent in parents:
                place = place[int(parent) if isinstance(place, list) else parent]
            place[last] = value
        core["declarations"] = declared
        found = blocks.of(core)
        row = found["hazards"][number - 1]
        assert row["id"] == f"NIST-H{number:02}"
        for place in [*row["evidence"], *row["declared"]]:
            resolve({**core, **found}, place)
        return row


@pytest.fixture(scope="module")
def assess(cores):
    return Assessor(cores)


def without(core_checks, *kinds):
    return [check for check in core_checks if check["kind"] not in kinds]


def test_there_are_twenty_four_with_the_sections_of_the_draft():
    assert " ".join(hazard.section.split()[0] for hazard in nist.HAZARDS) == SECTIONS
    assert [hazard.id for hazard in nist.HAZARDS] == [f"NIST-H{i:02}" for i in range(1, 25)]
    assert len({hazard.title for hazard in nist.HAZARDS}) == 24
    assert nist.DOCUMENT == "NIST SP 800-226 (initial public draft, December 2023)"


@pytest.mark.slow
def test_the_algorithm_of_these_tests_is_not_refuted(cores):
    assert cores["algorithm"]["verdict"] == cores["mechanism"]["verdict"] == "not_refuted"


def test_without_declarations_nothing_is_declared(cores):
    assert cores
    for core in cores.values():
        rows = blocks.of(core)["hazards"]
        assert rows
        for row in rows:
            assert row["status"] in nist.STATUSES
            assert row["status"] != "declared"
            assert not row["declared"]
            assert row["note"]


@pytest.mark.parametrize(
    ("epsilon", "status"),
    [
        (0.5, "stated"),
        (1.0, "stated"),
        (1.01, "open"),
        (10.0, "open"),
    ],
)
def test_h01_large_epsilon(assess, epsilon, status):
    row = assess(1, claim__epsilon=epsilon)
    assert row["status"] == status
    assert ("10 or more" in row["note"]) == (epsilon >= 10)
    for verdict in ("refuted", "inconclusive"):
        assert assess(1, claim__epsilon=epsilon, verdict=verdict)["status"] == "open"


def test_flags_of_epsilon_and_delta(cores):
    def levels(rounds=None, **claim):
        core = copy.deepcopy(cores["algorithm"])
        core["claim"] |= claim
        core["declarations"] = {"contribution": {"max_rounds_per_user": rounds}} if rounds else None
        return [(row["level"], row["about"]) for row in blocks.of(core)["guarantee"]["guidance"]]

    assert levels(epsilon=1.0) == []
    assert levels(epsilon=1.5) == [("warn", "epsilon")]
    assert levels(epsilon=9.99) == [("warn", "epsilon")]
    assert levels(epsilon=10.0) == [("flag", "epsilon")]
    assert levels(epsilon=1.0, rounds=10) == [("flag", "epsilon")]
    assert levels(epsilon=1.0, rounds=1) == []
    # n = 400 rounds: 1 / n^2 = 6.25e-6.
    assert levels(epsilon=1.0, delta=6e-6) == []
    assert levels(epsilon=1.0, delta=7e-6) == [("warn", "delta")]
    assert levels(epsilon=1.0, delta=2e-5) == [("flag", "delta"), ("warn", "delta")]


def test_h02_delta(assess):
    assert assess(2)["status"] == "stated"
    assert assess(2, verdict="refuted")["status"] == "open"
    assert assess(2, claim__delta=6e-6)["status"] == "stated"
    assert "1/n^2" in assess(2, claim__delta=7e-6)["note"]
    assert assess(2, claim__delta=7e-6)["status"] == "open"
    assert "above 1e-05" in assess(2, claim__delta=2e-5)["note"]
    # The size of a mechanism's data is not known.
    assert assess(2, "mechanism", claim__delta=1e-9)["status"] == "open"
    assert assess(2, claim__rho=0.01, claim__delta=1e-5)["status"] == "stated"


def worlds(left, right):
    return {"threat_hypotheses": [{"world_0": left, "world_1": right}]}


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        ("clicked", "did not click", "declared"),
        ([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], "declared"),
        ([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]], "hole"),
        ([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0]], "hole"),
        ([[0.0, 1.0]], [[0.0, 2.0]], "hole"),
        ([[0.0, 1.0]], [[0.0, 1.0]], "hole"),
    ],
)
def test_h03_unit_and_harm(assess, left, right, status):
    assert assess(3)["status"] == "open"
    row = assess(3, declared=worlds(left, right))
    assert row["status"] == status
    assert row["declared"] == ["/declarations/threat_hypotheses/0"]


def test_h03_names_the_worlds_that_are_not_neighbours(assess):
    """Which, and why; control: a pair that is neighbouring is not named."""
    fine = {"harm": "one click is seen", "world_0": [0.0, 1.0], "world_1": [0.0, 0.0]}
    apart = {"harm": "a | year of <b>", "world_0": [0.0, 1.0], "world_1": [1.0, 0.0]}
    note = assess(3, declared={"threat_hypotheses": [fine, apart]})["note"]
    assert note.startswith("1 of 2 pairs of worlds are not neighbouring: a | year of <b> (rounds 1, 2 differ")
    assert "one click" not in note
    del apart["harm"]
    assert "pair 2 (rounds" in assess(3, declared={"threat_hypotheses": [fine, apart]})["note"]


def test_h04_event_level(assess):
    assert assess(4)["status"] == "open"
    row = assess(4, declared={"contribution": {"max_rounds_per_user": 7}})
    assert row["status"] == "declared"
    assert "epsilon 7" in row["note"]
    user = {"kind": "user", "size": 5}
    assert assess(4, claim__relation=user)["status"] == "stated"
    assert assess(4, claim__relation=user, verdict="refuted")["status"] == "open"
    group = {"kind": "group", "size": 5}
    for rounds, status in ((5, "declared"), (6, "hole")):
        declared = {"contribution": {"max_rounds_per_user": rounds}}
        assert assess(4, claim__relation=group, declared=declared)["status"] == status


@pytest.mark.parametrize("number", [5, 6])
def test_h05_and_h06_comparisons(assess, number):
    assert assess(number)["status"] == "stated"
    assert assess(number, "regret")["status"] == "not_applicable"


def test_h07_conversions(assess):
    assert assess(7)["status"] == "not_applicable"
    assert assess(7, claim__rho=0.01, claim__delta=5e-6)["status"] == "computed"
    assert assess(7, claim__rho=0.01, claim__delta=1e-3)["status"] == "open"
    grouped = {"claim__relation": {"kind": "group", "size": 2}, "plan__event_epsilon": 0.5}
    assert assess(7, **grouped)["status"] == "computed"


@pytest.mark.parametrize(
    ("number", "declared"),
    [
        (8, {"unprotected_outputs": [{"what": "logs", "readers": "trusted"}]}),
        (8, {"unprotected_outputs": []}),
        (11, {"accounting": {"post_processing": "rounded to tens"}}),
        (22, {"data_security": {"statement": "encrypted", "encrypted": True}}),
        (23, {"access_control": {"readers": "named people"}}),
        (24, {"data_minimisation": {"statement": "one day", "kept_days": 1}}),
    ],
)
def test_hazards_that_only_a_declaration_answers(assess, number, declared):
    for kind in ("algorithm", "mechanism", "regret"):
        assert assess(number, kind)["status"] == "open"
        row = assess(number, kind, declared=declared)
        assert row["status"] == "declared"
        assert row["declared"]
        assert not row["evidence"]


DECLARED = {
    **worlds("clicked", "did not click"),
    "contribution": {"max_rounds_per_user": 7},
    "unprotected_outputs": [],
    "accounting": {"post_processing": "rounded to tens"},
    "actors": [TRUSTED, READER],
    "data_security": {"encrypted": True},
    "access_control": {"readers": "nobody"},
    "data_minimisation": {"kept_days": 1},
}


@pytest.mark.parametrize("kind", ["algorithm", "mechanism"])
def test_a_declaration_closes_what_is_said_to_be_declarable_and_nothing_else(assess, kind):
    """Control: with nothing declared all of them are open, and those of the other kind stay open."""
    for number, hazard in enumerate(nist.HAZARDS, 1):
        before, after = (assess(number, kind, declared=said)["status"] for said in (None, DECLARED))
        assert (before == "open", after) == (True, "declared") if hazard.declarable else before == after
    assert sum(hazard.declarable for hazard in nist.HAZARDS) == 8


def test_h09_custom_code(assess):
    assert "OpenDP" in assess(9)["note"]
    assert "code of the user's own" in assess(9, "mechanism")["note"]
    assert "refuted" in assess(9, "mechanism", verdict="refuted")["note"]


def test_h10_systemic_bias(assess):
    for kind in ("algorithm", "mechanism"):
        row = assess(10, kind)
        assert (row["status"], row["action"]) == ("open", nist.HAZARDS[9].action)
    assert assess(10)["note"] == "the test data have no groups of people; assess this at deployment"


def test_h12_statistical_bias_is_not_claimed_from_regret(assess):
    assert assess(12)["status"] == "open"
    row = assess(12, "regret")
    assert row["status"] == "open"
    assert row["evidence"] == ["/utility_claims"]


def test_h13_contribution(assess, cores):
    row = assess(13)
    assert row["status"] == "tested"
    assert "[0, 1]" in row["note"]
    assert assess(13, verdict="refuted")["status"] == "open"
    sampled = without(cores["algorithm"]["checks"], "alignment", "exact")
    row = assess(13, checks=sampled)
    assert row["status"] == "open"
    assert "sampled" in row["note"]
    assert assess(13, target__bounds=None)["status"] == "open"
    assert assess(13, "mechanism")["status"] == "open"


def test_h13_names_a_fault_of_truncation_that_passed(cores):
    """Control: a fault of another kind that passed leaves the row as it is."""
    table = {"digest": "sha256:" + "0" * 64, "caught": {"auditor": 0, "operators": 0}}
    passed = {"fault": "", "epsilon": 1.0, "true_epsilon": None, "at_least": 1.0, "at_most": "inf"}
    rows = [
        blocks.of(cores["algorithm"] | {"kill_table": table | {"others": [passed | row]}})["hazards"][12]
        for row in (
            {"mutant": "last reward not truncated", "outcome": "survived", "origin": "truncation"},
            {"mutant": "clipped noise x3", "outcome": "survived", "origin": "law"},
        )
    ]
    assert [row["status"] for row in rows] == ["open", "tested"]
    assert "last reward not truncated" in rows[0]["note"]


def test_truncation_is_known_where_the_algorithm_truncates(assess):
    plain = {"horizon": 8, "n_arms": 2}
    for number in (11, 12):
        rows = [assess(number, target__parameters=p) for p in (plain, {**plain, "u": 1.0, "v": 1.0})]
        assert ["truncat" in row["note"] for row in rows] == [False, True]


def test_every_open_row_names_an_action_and_no_other_does(cores):
    for core in cores.values():
        for row in blocks.of(core)["hazards"]:
            assert bool(row["action"]) == (row["status"] in nist.UNSETTLED)
    assert len({hazard.action for hazard in nist.HAZARDS}) == 24


def test_h14_bins(assess):
    row = assess(14)
    assert row["status"] == "stated"
    assert row["evidence"] == ["/subject/parameters/n_arms"]
    assert assess(14, target__parameters={"horizon": 8})["status"] == "not_applicable"
    assert assess(14, "mechanism")["status"] == "open"


def test_h15_learned_models(assess):
    assert assess(15)["status"] == "not_applicable"
    linear = {"target__parameters": {"actions": [[1.0, 0.0], [0.0, 1.0]], "horizon": 60}}
    assert assess(15, **linear)["status"] == "tested"
    assert assess(15, **linear, verdict="inconclusive")["status"] == "open"
    assert assess(15, "mechanism")["status"] == "open"


@pytest.mark.parametrize("number", [16, 17])
def test_h16_and_h17_synthetic_data(assess, number):
    assert assess(number)["status"] == "not_applicable"
    assert assess(number, "mechanism")["status"] == "open"


def test_h18_unstructured_data(assess):
    for kind in ("algorithm", "mechanism", "regret"):
        assert assess(18, kind)["status"] == "not_applicable"


def test_h19_interactive(assess, cores):
    played = [c for c in cores["algorithm"]["checks"] if not c["name"].startswith("interactive")]
    assert len(played) < len(cores["algorithm"]["checks"])
    assert assess(19)["status"] == "tested"
    assert assess(19, verdict="inconclusive")["status"] == "open"
    assert assess(19, checks=played)["status"] == "open"
    assert assess(19, "mechanism")["status"] == "not_applicable"


def test_h20_trust(assess):
    assert assess(20)["status"] == "open"
    assert assess(20, declared={"actors": []})["status"] == "open"
    assert assess(20, declared={"actors": [TRUSTED, READER]})["status"] == "open"
    said = {"access_control": {"readers": "named people"}}
    assert assess(20, declared={"actors": [TRUSTED, READER], **said})["status"] == "declared"
    assert "no actor is trusted" in assess(20, declared={"actors": [READER]})["note"]
    local = {"actors": [READER], **said}
    assert assess(20, declared=local, claim__trust_model="local")["status"] == "declared"
    other = {"actors": [TRUSTED], "deployment": {"model": "local"}}
    assert assess(20, declared=other)["status"] == "hole"


def test_h21_implementation(assess, cores):
    assert assess(21)["status"] == "open"
    assert assess(21, "mechanism")["status"] == "open"
    sampled = next(check for check in cores["mechanism"]["checks"] if check["kind"] == "black_box")
    counts = {**sampled["statistics"], "observe": "releases"}
    counts["control"] = {name: counts[name] for name in ("k1", "n1", "k0", "n0")}
    tested = Check.of("last bits", "numerics", counts).as_dict()
    row = assess(21, "mechanism", checks=[*cores["mechanism"]["checks"], tested])
    assert row["status"] == "open"
    assert "timing was not" in row["note"]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7, 13, 19])
def test_without_a_claim_its_rows_are_not_applicable(assess, number):
    row = assess(number, "regret")
    assert (row["status"], row["note"]) == (
        "not_applicable",
        "the target itself makes no privacy claim",
    )


def carded(rows, declared):
    """A record whose card says of the declared worlds whether they are neighbours."""
    guarantee = None if rows is None else {"threat_hypotheses": rows}
    declarations = {} if declared is None else {"threat_hypotheses": declared}
    return SimpleNamespace(blocks={"guarantee": guarantee}, declared=declarations)


NEAR, FAR = {"neighbours": True, "reason": ""}, {"neighbours": False, "reason": "two rewards differ"}


@pytest.mark.parametrize(
    ("rows", "declared", "apart"),
    [
        (None, None, []),
        ([], [], []),
        ([NEAR], [{"harm": "theft"}], []),
        ([FAR], [{"harm": "theft"}], ["theft (two rewards differ)"]),
        ([NEAR, FAR], [{"harm": "theft"}, {}], ["pair 2 (two rewards differ)"]),
        ([{"neighbours": None, "reason": "unknown"}], [{}], []),
    ],
)
def test_declared_worlds_that_are_no_neighbours(rows, declared, apart):
    assert nist.apart_worlds(carded(rows, declared)) == apart
