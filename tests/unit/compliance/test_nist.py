"""The hazards of NIST SP 800-226: each rule both ways, as a pure function of record and declarations."""

import copy
import json
import os
import random
import re
import subprocess
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

import verifiable_dp as vdp
from tests.records import resolve
from tests.user_code import bandits
from verifiable_dp.compliance import blocks, nist
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, kinds
from verifiable_dp.record import declarations
from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import _without_login, ci, place
from verifiable_dp.record.sealing import SCHEMA_VERSION, SCHEMAS, canonical, digest, pointer, schema
from verifiable_dp.record.verify import read, verify
from verifiable_dp.render.page import render
from verifiable_dp.report import finish

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
    assert "the user's own code" in assess(9, "mechanism")["note"]
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
    assert assess(15, **linear)["status"] == "stated"
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


# Compliance blocks: they follow from a record, and nothing of a record can be edited unseen.


ROOT = Path(__file__).parents[3]
DECLARED_OF_BLOCKS = declarations.checked(
    tomllib.loads(re.sub(r"^#(?=\S)", "", declarations.STARTER, flags=re.MULTILINE))
)


@pytest.fixture(scope="module")
def reports():
    return {
        "algorithm": vdp.audit("tree-sum", budget=0.05),
        "declared": vdp.audit("tree-sum", budget=0.05, mutants=False, declarations=DECLARED_OF_BLOCKS),
        "refuted": vdp.audit(bandits.ucb1, epsilon=1.0, n_arms=2, horizon=12, budget="smoke", runs=1200),
        "mechanism": vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=1200),
        "zcdp": vdp.audit(bandits.laplace, rho=0.5, delta=1e-5, budget="smoke", runs=1200),
        "gdp": vdp.audit(bandits.laplace, mu=2.0, adjacency="zero-out", budget="smoke", runs=1200),
        "baseline": vdp.audit("ucb1", budget=0.1, mutants=False),
        "regret": vdp.check_regret("nas"),
        "sequential": vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=1200, sequential=True),
    }


KINDS = ("algorithm", "declared", "refuted", "mechanism", "zcdp", "gdp", "baseline", "regret", "sequential")


@pytest.fixture(params=KINDS)
def record(request, reports):
    return json.loads(reports[request.param].to_json())


@pytest.fixture
def arranged(record):
    """A record with its blocks."""
    return {**record, **blocks.of(record)}


def of(report):
    return {**report.record, **blocks.of(report.record)}


def saved(record, tmp_path, seal=False):
    if seal:
        record["digest"] = digest(record)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def containers(value, path=()):
    """Every place that holds something: (path of the container, key or index)."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield path, key
        if isinstance(item, dict | list):
            yield from containers(item, (*path, key))


def at(record, path):
    for part in path:
        record = record[part]
    return record


# ---------------------------------------------------------------- the blocks


def test_no_record_holds_a_block_and_every_one_holds(record, tmp_path):
    assert record["schema_version"] == SCHEMA_VERSION
    assert set(record) == set(schema()["required"])
    assert not set(record) & set(blocks.BLOCKS)
    assert verify(saved(record, tmp_path)).record == record


def test_the_blocks_of_the_example_are_there():
    """Those of the example report, but for `report_id`, whose role the digest has; and the questionnaire."""
    promised = (
        "created report_status tier summary subject guarantee deployment_model accounting privacy_claims "
        "utility_claims hazards frameworks run artifacts assurance administrative questionnaire"
    )
    assert set(promised.split()) == set(blocks.BLOCKS)


def test_the_compliance_document_fits_its_schema_and_names_its_record(record):
    document = json.loads(blocks.to_compliance(Record.of(record)))
    jsonschema.validate(document, schema("compliance-1"))
    assert document["record"] == record["digest"]
    assert {name: document[name] for name in blocks.BLOCKS} == blocks.of(record)
    for edited in ({**document, "tier": 4}, {k: v for k, v in document.items() if k != "hazards"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(edited, schema("compliance-1"))


def test_values_that_allow_no_blocks_are_refused_in_one_line(reports):
    record = copy.deepcopy(dict(reports["algorithm"].record))
    record["declarations"] = {"threat_hypotheses": [{}]}
    with pytest.raises(InputError, match="compliance blocks cannot be computed: KeyError"):
        blocks.of(record)
    del record["checks"][0]["result"]["verdict"]
    with pytest.raises(InputError, match="alignment: result: Object missing required field `verdict`"):
        blocks.of(record)


def test_numbers_of_claims_are_decimal_strings_that_read_back(reports):
    record = of(reports["algorithm"])
    guarantee = record["guarantee"]
    assert guarantee["privacy_parameters"] == {"epsilon": "1", "delta": "0"}
    assert guarantee["contribution_bounds"]["reward_range"] == ["0", "1"]
    assert [row["epsilon"] for row in guarantee["group_privacy"]] == ["1", "2", "5", "10", "100"]
    for claim, check in zip(record["privacy_claims"], record["checks"], strict=True):
        lower, upper = (claim["result"][f"epsilon_{side}_bound"] for side in ("lower", "upper"))
        assert [side and float(side) for side in (lower, upper)] == [
            check["result"].get(f"epsilon_{side}") for side in ("lower", "upper")
        ]
        assert claim["verdict"] == check["result"]["verdict"]
    sampled = [claim for claim in record["privacy_claims"] if claim["design"]["sampled"]]
    assert [claim["design"]["alpha"] for claim in sampled] == ["1e-6"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.5, "0.5"), (1e-6, "1e-6"), (1e22, "1e+22"), (3, "3"), ("inf", "inf"), (None, None)],
)
def test_decimal(value, text):
    found = blocks.decimal(value)
    assert found == (text and text.replace("+", ""))
    if isinstance(value, float):
        assert float(found) == value


def test_verdicts_of_these_records(reports):
    found = {kind: report.verdict for kind, report in reports.items()}
    assert found["refuted"] == found["baseline"] == "refuted"
    assert found["algorithm"] == found["mechanism"] == found["declared"] == "not_refuted"


def test_summary_counts_its_claims(arranged):
    summary = arranged["summary"]
    assert summary["verdict"] == arranged["verdict"]
    assert summary["claims_total"] == len(arranged["checks"])
    assert sum(summary[word] for word in ("refuted", "inconclusive", "not_refuted")) == len(
        arranged["checks"]
    )


def test_no_block_says_more_than_the_audit(record):
    text = canonical({key: value for key, value in blocks.of(record).items() if key != "subject"}).lower()
    assert "compliant" not in text
    assert not re.search(r"\bis (differentially )?private\b", text)


def test_a_baseline_and_a_regret_record_have_no_guarantee(reports):
    for kind in ("baseline", "regret"):
        assert of(reports[kind])["guarantee"] is None
    assert of(reports["regret"])["summary"]["statement"] == "Privacy was not audited."


def test_gaussian_privacy_states_its_native_parameter_and_its_adjacency(reports):
    guarantee = of(reports["gdp"])["guarantee"]
    assert (guarantee["variant_name"], guarantee["measure"]) == ("Gaussian DP", "gaussian_trade_off")
    assert guarantee["privacy_parameters"]["mu"] == "2"
    assert guarantee["neighboring_relation"] == "zero_out_one"
    (conversion,) = of(reports["gdp"])["accounting"]["conversions"]
    assert conversion["native"] == {"mu": "2"}
    assert of(reports["mechanism"])["guarantee"]["neighboring_relation"] == "replace_one"


def test_zcdp_states_its_native_parameter(reports):
    record = of(reports["zcdp"])
    assert record["guarantee"]["measure"] == "zero_concentrated_divergence"
    assert record["guarantee"]["privacy_parameters"]["rho"] == "0.5"
    (conversion,) = record["accounting"]["conversions"]
    assert conversion["native"] == {"rho": "0.5"}
    assert float(conversion["to"]["epsilon"]) == record["claim"]["epsilon"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seeded_generator_is_not_cryptographic(kind, reports):
    """Audits of our own algorithms draw from Philox by a seed; of a user's code the generator is not
    known.
    """
    noise = blocks._sampler(reports[kind].parsed)
    ours = reports[kind].record["target"]["kind"] == "algorithm"
    assert noise["cryptographic_rng"] is (False if ours else None)
    assert noise["name"] == ("verifiable_dp.core.noise.Seeded" if ours else None)


def test_what_is_not_declared_is_null(reports):
    record = of(reports["algorithm"])
    assert set(record["deployment_model"].values()) == {None}
    assert record["guarantee"]["unprotected_outputs"] is None
    assert record["administrative"] == {"authors": [], "reviewers": [], "sources": [], "notes": ""}


def test_every_pointer_points_to_something(arranged):
    assert arranged["hazards"]
    assert arranged["privacy_claims"] or arranged["utility_claims"]
    for row in arranged["hazards"]:
        for there in [*row["evidence"], *row["declared"]]:
            resolve(arranged, there)
        assert all(there.startswith("/declarations/") for there in row["declared"])
        assert not any(there.startswith("/declarations/") for there in row["evidence"])
    instances = [instance for claim in arranged["utility_claims"] for instance in claim["instances"]]
    for claim in [*arranged["privacy_claims"], *instances]:
        assert claim["verdict"] == resolve(arranged, claim["check"])["result"]["verdict"]


def test_pointers():
    assert pointer("a/b", 0, "~") == "/a~1b/0/~0"
    assert resolve({"a/b": [{"~": 7}]}, "/a~1b/0/~0") == 7
    with pytest.raises(KeyError):
        resolve({"a": {}}, "/a/b")


def test_declarations_do_not_change_what_was_measured(reports):
    bare = vdp.audit("tree-sum", budget=0.05, mutants=False).record
    assert {"checks", "claim", "verdict"} <= bare.keys()
    for key in set(bare) - {"provenance", "digest", "declarations"}:
        assert bare[key] == reports["declared"].record[key]


def test_a_report_finished_again_keeps_its_declarations(reports):
    again = finish(reports["declared"].record, started=0.0, cpu_seconds=0.0)
    assert again.record["declarations"] == DECLARED_OF_BLOCKS
    assert of(again)["hazards"] == of(reports["declared"])["hazards"]


# ---------------------------------------------------------------- schema and versions


def test_the_schemas_are_valid_and_named():
    assert len(SCHEMAS) >= 2
    for name in SCHEMAS:
        jsonschema.Draft202012Validator.check_schema(schema(name))
        assert schema(name)["$id"] == "urn:verifiable-dp:" + name.replace("-", ":")


def test_every_kind_of_check_has_its_block():
    defined = schema()["$defs"]
    *named, other = (clause["if"]["properties"]["kind"] for clause in defined["privacy_check"]["allOf"])
    ours = {kind.name for kind in kinds("privacy")}
    assert {form["const"] for form in named} == set(other["not"]["enum"]) == ours
    assert all(kind.method for kind in kinds("privacy"))
    assert all(kind.numbers for kind in kinds("regret"))


@pytest.mark.parametrize("version", ["2.0.0", "3.1.0", None, 4, ["4.0.0"], {}])
def test_an_unknown_version_is_refused(reports, tmp_path, version):
    record = {**reports["mechanism"].record, "schema_version": version}
    with pytest.raises(InputError, match=r"schema_version must be 4\.0\.0, got"):
        verify(saved(record, tmp_path, seal=True))


# ---------------------------------------------------------------- edits


def edited(record, rng):
    """The record with one field changed, removed, added, or two items swapped; and what was done."""
    found = copy.deepcopy(record)
    path, key = rng.choice(list(containers(found)))
    place = at(found, path)
    value = place[key]
    ways = ["remove", "add"] + (["swap"] if isinstance(place, list) and len(place) > 1 else [])
    ways += ["change"] * 3
    way = rng.choice(ways)
    if way == "remove":
        del place[key]
    elif way == "add" and isinstance(place, dict):
        place["added"] = 1
    elif way == "add":
        place.insert(key, copy.deepcopy(value))
    elif way == "swap":
        other = (key + 1) % len(place)
        place[key], place[other] = place[other], place[key]
    elif isinstance(value, bool):
        place[key] = not value
    elif isinstance(value, int | float):
        place[key] = value + rng.choice([1, -1, 1e-9])
    elif isinstance(value, str):
        place[key] = value + rng.choice([" ", "x", "0"])
    else:
        place[key] = None if value is not None else 0
    return found, (way, *path, key)


def refuses(check, thing, errors=InputError):
    try:
        check(thing)
    except errors:
        return True
    return False


@pytest.mark.parametrize("number", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_random_edits_are_all_refused(number, reports, tmp_path):
    rng, done = random.Random(7), 0
    kinds = [reports[kind].record for kind in ("declared", "refuted", "zcdp", "regret")]
    while done < number:
        record = kinds[done % len(kinds)]
        changed, what = edited(record, rng)
        if canonical(changed) == canonical(record):
            continue  # two equal items were swapped
        done += 1
        path = saved(changed, tmp_path)
        assert refuses(verify, path), what


def test_declarations_that_are_out_of_form_are_refused(reports, tmp_path):
    for changes in (
        {"threat_hypotheses": [{"world_0": [[0.0], [0.0, 1.0]], "world_1": [0.0]}]},
        {"actors": [{"role": " ", "trusted": True}]},
        {"unprotected_outputs": ["x" * 3000]},
    ):
        record = {**reports["declared"].record, "declarations": changes}
        with pytest.raises(InputError, match="declarations"):
            verify(saved(record, tmp_path, seal=True))


# ---------------------------------------------------------------- hostile files


def refused(tmp_path, content, match):
    path = tmp_path / "record.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=match) as error:
        verify(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a": 1, "b": 2, "a": 1}', "'a' occurs twice"),
        (b'{"a": [{"x": 1, "x": 2}]}', "'x' occurs twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1e999}', "not a finite number"),
        (b'{"a": -1' + 400 * b"0" + b"}", "too large for a float"),
        (b'{"a": ' + b"9" * 5000 + b"}", "corrupted"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"schema_version": "4.0.0"}', "required"),
        (b'"' + b"x" * 1000, "not a record"),
        (b"\x00\x01", "not a record"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(content, match, tmp_path):
    refused(tmp_path, content, match)


def test_a_file_that_is_too_large_is_refused_at_once(tmp_path):
    path = tmp_path / "record.json"
    with path.open("wb") as file:
        file.truncate((64 << 20) + 1)
    before = time.process_time()
    with pytest.raises(InputError, match="larger than 64 MiB"):
        read(path)
    assert time.process_time() - before < 2
    with pytest.raises(InputError, match="not a regular file"):
        read("/dev/zero")


def test_many_keys_with_one_that_repeats_take_no_quadratic_time(tmp_path):
    keys = ",".join(f'"k{i}":0' for i in range(200_000))
    before = time.process_time()
    refused(tmp_path, f'{{{keys},"k199999":1}}'.encode(), "occurs twice")
    assert time.process_time() - before < 5


@pytest.mark.parametrize("wrong", [None, 0, "x", [], {}, True, -1, 1e308, [[[]]]])
def test_wrong_types_are_refused_in_one_line(wrong, reports, tmp_path):
    record = reports["mechanism"].record
    assert {"checks", "claim", "verdict"} <= record.keys()
    for key in record:
        changed = {**record, key: wrong}
        if canonical(changed) == canonical(record):
            continue
        with pytest.raises(InputError, match="record") as error:
            verify(saved(changed, tmp_path))
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 600


def test_names_with_markup_are_escaped_on_the_page(reports):
    bad = "<script>alert(1)</script>"
    declared = copy.deepcopy(DECLARED_OF_BLOCKS)
    declared["unprotected_outputs"] = [bad]
    declared["actors"][0]["role"] = bad
    declared["threat_hypotheses"][0] |= {"harm": bad, "world_0": bad}
    declared["administrative"]["notes"] = bad
    declared["data_security"] = {"statement": bad, "reference": bad}
    record = json.loads(reports["declared"].to_json())
    record["target"]["parameters"]["horizon"] = 8
    record["target"]["name"] = bad
    page = render(Record.of(finish(record, started=0.0, cpu_seconds=0.0, declarations=declared).record))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6


# ---------------------------------------------------------------- the page


def test_the_page_shows_each_hazard_and_tells_declarations_from_evidence(reports):
    page = reports["declared"].to_html()
    for row in of(reports["declared"])["hazards"]:
        assert f"{row['id']}, section {row['section']}" in page
    # In words, by a line of another kind and by slanted letters: not by colour alone.
    assert page.count("<b>Declaration, not checked</b>") >= 8
    assert page.count("<b>Evidence</b>") >= 8
    assert "border-left: .2rem dotted" in page
    assert "font-style: italic" in page
    assert "epsilon 10 of the 10 rounds of one person is 10 or more" in page
    bare = reports["algorithm"].to_html()
    assert "<b>Declaration, not checked</b>" not in bare
    assert "Deployment as declared" not in bare


def test_tables_of_the_page_have_captions_and_heads(record):
    page = render(Record.of(record))
    assert page.count("<table") == page.count("<caption>")
    assert 'Hazards of NIST SP <span class="whole">800-226</span>' in page


# ---------------------------------------------------------------- provenance


def moved(record, **target):
    """The subject of a record whose target is said to be another."""
    changed = {**record, "target": {**record["target"], **target}}
    return blocks.of(changed)["subject"]


def test_the_catalogue_says_what_this_package_distributes_and_not_a_path(reports):
    record = reports["algorithm"].record
    ours = moved(record)["distribution"]
    assert ours["name"] == "verifiable-dp"
    for path in ("elsewhere/tree.py", "/opt/tree.py", ""):
        assert moved(record, source={**record["target"]["source"], "path": path})["distribution"] == ours
    # The negative controls: code of others in a folder of our name, of another name, and of a class that
    # calls itself as ours does, which no auditor knows.
    mine = reports["mechanism"].record
    inside = {**mine["target"]["source"], "path": "verifiable_dp/mine.py"}
    assert moved(mine, source=inside)["distribution"] is None
    assert moved(record, name="theirs")["distribution"] is None
    assert moved(record, paper="")["distribution"] is None


def test_addresses_lose_their_logins():
    assert _without_login("https://user:secret@host.org/a/b.git") == "https://host.org/a/b.git"
    assert _without_login("https://host.org/a@b") == "https://host.org/a@b"
    assert _without_login("git@host.org:a/b.git") == "git@host.org:a/b.git"
    assert _without_login("/srv/git/a") == _without_login("file:///srv/a") == _without_login("") == ""


def test_a_file_in_no_repository_has_no_commit(tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    for path in (str(tmp_path / "mine.py"), "", "nothing/there.py"):
        assert place(path) == {"repository": "", "commit": "", "dirty": False}


def test_a_file_of_ours_lies_beside_this_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = "verifiable_dp/registry/entries.py"
    assert place(path, ours=True) == place(str(ROOT / path))
    assert place(path)["commit"] == ""


def test_a_file_in_a_repository_has_its_commit(tmp_path, monkeypatch):
    def git(*words):
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    git("init", "-q")
    git("remote", "add", "origin", "https://user:secret@example.org/mine.git")
    assert place(str(file))["commit"] == ""  # not under version control yet
    git("add", "mine.py")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    found = {"repository": "https://example.org/mine.git", "commit": git("rev-parse", "HEAD")}
    found["place"] = "mine.py"
    assert place(str(file)) == {**found, "dirty": False}
    file.write_text("x = 2\n")
    assert place(str(file)) == {**found, "dirty": True, "differs": ["mine.py"]}


def test_continuous_integration_is_named_where_it_says_so(monkeypatch):
    for key in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(key, raising=False)
    assert ci() is None
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for key, value in {"SERVER_URL": "https://github.com", "REPOSITORY": "a/b", "RUN_ID": "7"}.items():
        monkeypatch.setenv(f"GITHUB_{key}", value)
    assert ci() == {"provider": "github-actions", "run_url": "https://github.com/a/b/actions/runs/7"}
