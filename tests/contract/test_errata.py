"""The contract of errata: each fails as printed, holds as corrected, and is told by its numbers alone."""

import dataclasses
import json
from importlib import metadata

import numpy as np
import pytest

from tests.committed import committed, differing
from verifiable_dp.core import plugins
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.statement import statement
from verifiable_dp.record.sealing import digest
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import errata
from verifiable_dp.registry.errata import (
    REGISTERS,
    Erratum,
    Fault,
    Findings,
    Quotation,
    examine,
    outcome,
    read,
)
from verifiable_dp.registry.mutants import chained
from verifiable_dp.registry.wrapped import with_parameters
from verifiable_dp.render import errata as document
from verifiable_dp.render.page import render_errata

ERRATA = errata.registered()
NAMES = [row.name for row in ERRATA]
COMMITTED = committed("errata.json")["errata"]
TWO_VARIANTS = [
    name
    for name in registry.names()
    if "variant" in {field.name for field in dataclasses.fields(registry.auditor(name).algorithm)}
]
SOURCE = Source("a paper", "Theorem 1")
QUOTES = (Quotation("Theorem 1", r"Theorem 1. For any $\epsilon$ it holds."),)


def made_up(find=None, kind="proof", register="false", quotes=QUOTES, claims=()):
    return Erratum("made-up", SOURCE, register, quotes, "printed", "right", kind, find, claims)


def row_of(find, kind="proof", register="false"):
    return examine(made_up(find, kind, register))


def holds(value=0.0):
    return statement("value", value, "at most", 1)


# Searches over many horizons; `reports/errata.json` holds what they find, and is judged again.
DEAR = {"central-sensitivity", "five-times-per-arm", "local-noise", "tree-mechanism"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in DEAR else name for name in NAMES]
)
def test_an_erratum_is_confirmed_by_its_checks_or_shown_by_the_text(name):
    [erratum] = errata.chosen([name])
    row = examine(erratum)
    assert row["outcome"] == ("by_reading" if erratum.kind == "text" else "confirmed")
    for check in row["checks_of_printed"] + row["checks_of_right"]:
        again = json.loads(json.dumps(check))
        assert judged(check["kind"], again["statistics"]) == again["result"]
    assert erratum.source.paper
    assert erratum.source.statement
    assert erratum.kind == "text" or row["counterexample"]
    (kept,) = [one for one in COMMITTED if one["name"] == name]
    assert [*differing(json.loads(json.dumps(row)), kept, frozenset())] == []


def test_every_discrepancy_that_the_papers_are_known_for_has_a_row():
    assert {
        "tree-mechanism",
        "tree-budget",
        "local-precision",
        "local-error",
        "local-mean",
        "local-rate",
        "moment-exponent",
        "ucb-constant",
        "central-sensitivity",
        "local-sensitivity",
        "shuffle-domain",
        "shuffle-sensitivity",
        "laplace-tail",
        "laplace-tail-far",
        "laplace-mean",
        "local-optimal",
        "all-for-any",
        "divergence-line",
        "overrun",
        "sample-bound-corner",
        "fact-2.1",
    } <= set(NAMES)


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([holds(2)], [holds()], "confirmed"),
        ([holds()], [holds()], "not_confirmed"),  # what is printed holds: nothing to correct
        ([holds(2)], [holds(2)], "not_confirmed"),  # what is called right fails as well
        ([holds(2), holds()], [holds()], "not_confirmed"),
        ([], [holds()], "not_confirmed"),
        ([holds(2)], [], "not_confirmed"),
    ],
)
def test_the_outcome_follows_from_the_checks(printed, corrected, expected):
    assert row_of(lambda seed: Findings(printed, corrected))["outcome"] == expected
    assert row_of(lambda seed: Findings(printed, corrected), register="reading")["outcome"] == expected


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([holds()], [holds()], "confirmed"),
        ([holds(2)], [holds()], "not_confirmed"),  # what is only loose does not fail
        ([holds()], [holds(2)], "not_confirmed"),
        ([], [holds()], "not_confirmed"),
    ],
)
def test_what_is_loose_holds(printed, corrected, expected):
    row = row_of(lambda seed: Findings(printed, corrected), register="loose")
    assert row["outcome"] == expected
    assert row["quotes"] == [dataclasses.asdict(QUOTES[0])]


def test_no_row_is_accused_that_holds_or_depends_on_a_reading():
    """What re-reading the papers took out of the statements that are false."""
    register = {row.name: row.register for row in ERRATA}
    assert set(register.values()) == set(REGISTERS)
    assert {name for name, kept in register.items() if kept == "loose"} == {
        "local-dimension",
        "shuffle-rate",
    }
    for name in ("good-event", "tree-budget", "large-epsilon", "moment-exponent", "maximum", "local-noise"):
        assert register[name] == "reading", name
    assert "missing-union" not in register  # K log2 T failures cost K log2 T max Delta: the terms absorb it


FAULTS = [row for row in ERRATA if isinstance(row.find, Fault)]
LONG = {"tree-mechanism", "central-sensitivity"}  # a minute each


def test_what_is_on_privacy_runs_the_mechanism_with_one_fault():
    assert [row.name for row in FAULTS] == [row.name for row in ERRATA if row.kind == "privacy"]
    assert len(FAULTS) >= 7
    find = FAULTS[0].find
    with pytest.raises(InputError, match="must be a Fault for made-up if and only if its kind is privacy"):
        made_up(lambda seed: Findings([], []), "privacy")
    with pytest.raises(InputError, match="must be a Fault for made-up if and only if its kind is privacy"):
        made_up(find, "proof")


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row.name, marks=pytest.mark.slow if row.name in LONG else []) for row in FAULTS],
)
def test_without_its_fault_nothing_is_refuted(row):
    """So it is the algorithm that is run, and this fault alone that convicts it."""
    found = row.find.show(0, row.find.right, row.find.right)
    assert found.printed
    assert {check.verdict for check in found.printed} <= {"not_refuted", "consistent"}


def test_evidence_of_another_mechanism_would_be_noticed():
    """The control: randomised response in place of the algorithm's reports convicts it without a fault."""
    [row] = errata.chosen(["shuffle-domain"])
    local = shuffle.formula_inverse(3.0, 1000, 1e-6)

    def show(seed, faulty, right):
        delta = shuffle.response_delta(1000, local, 3.0)
        return Findings([statement("delta", delta, "at most", 1e-6)], [])

    without = dataclasses.replace(row.find, show=show)
    [check] = without.show(0, row.find.right, row.find.right).printed
    assert check.verdict == "contradicted"


def test_an_erratum_needs_evidence_unless_the_text_alone_shows_it():
    with pytest.raises(InputError, match="find"):
        made_up()
    with pytest.raises(InputError, match="find"):
        made_up(lambda seed: Findings([], []), "text")
    with pytest.raises(InputError, match="kind"):
        made_up(kind="typo")
    with pytest.raises(InputError, match="register"):
        made_up(kind="text", register="wrong")
    with pytest.raises(InputError, match="quotes"):
        made_up(kind="text", quotes=())
    with pytest.raises(InputError, match="claims"):
        made_up(kind="text", register="loose", claims=("dp-se/lemma-4.2",))
    with pytest.raises(InputError, match="quotation"):
        Quotation("Theorem 1", "an open $formula")
    with pytest.raises(InputError, match="quotation"):
        Quotation("", "no place")
    assert outcome("text", "reading", [], []) == "by_reading"
    with pytest.raises(InputError, match="no-such"):
        errata.chosen(["no-such"])


ROW = """
[[erratum]]
name = "made-up"
statement = "Lemma 1"
register = "reading"
kind = "text"
printed = ["So it", "stands."]
right = "It does not."
[[erratum.quotes]]
place = "Lemma 1"
text = "So"
"""


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("", "", None),
        ('name = "made-up"', 'name = "made-up"\nfor = 1', "unexpected keyword argument 'for'"),
        ('right = "It does not."\n', "", "missing 1 required positional argument: 'right'"),
        ('kind = "text"', 'kind = "proof"', "find must be given for made-up"),
        ('text = "So"', 'text = "$So"', "with every formula closed by"),
        ('name = "made-up"', 'name = "other"', None),
        ("[[erratum]]", "[[erratum]", "is not TOML"),
    ],
)
def test_a_file_about_a_paper_is_read_or_refused_in_one_line(old, new, match, tmp_path):
    path = tmp_path / "theirs.toml"
    path.write_text(ROW.replace(old, new) if old else ROW, "utf-8")
    if not match:
        (row,) = read(path, "Theirs", {})
        assert (row.printed, row.source.statement, row.quotes[0].place) == (
            "So it stands.",
            "Lemma 1",
            "Lemma 1",
        )
        match, evidence = "no erratum for the evidence", {"made-up so": None}
    else:
        evidence = {}
    with pytest.raises(InputError, match=match) as error:
        read(path, "Theirs", evidence)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bad", [[object()], None, [ERRATA[0], ERRATA[0]]])
def test_what_another_package_registers_is_looked_at(monkeypatch, bad):
    class Point:
        name, value, group, module, dist = "theirs", "theirs:ROWS", errata.GROUP, "theirs", None

        def load(self):
            return bad

    monkeypatch.setattr(plugins, "_points", lambda group: {"theirs": [Point()]})
    monkeypatch.setenv(plugins.ALLOWED, "theirs")
    with pytest.raises(InputError, match="theirs:ROWS"):
        errata.registered()
    assert metadata.entry_points(group=errata.GROUP)


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("value", "relation", "limit", "tolerance", "verdict"),
    [
        (1, "at most", 1, 0, "consistent"),
        (1.1, "at most", 1, 0, "contradicted"),
        (1.1, "at most", 1, 0.2, "consistent"),
        (1, "at least", 1, 0, "consistent"),
        (0.9, "at least", 1, 0, "contradicted"),
        (1, "equal to", 1, 0, "consistent"),
        (1.1, "equal to", 1, 0.05, "contradicted"),
        (float("inf"), "at most", 1, 0, "contradicted"),
    ],
)
def test_statements(value, relation, limit, tolerance, verdict):
    assert statement("s", value, relation, limit, tolerance=tolerance).verdict == verdict


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({"relation": "below"}, "relation"),
        ({"value": float("nan")}, "value"),
        ({"limit": float("nan")}, "limit"),
        ({"tolerance": -1.0}, "tolerance"),
    ],
)
def test_bad_statements_are_refused(about, name):
    with pytest.raises(InputError, match=name):
        statement("s", **{"value": 1.0, "relation": "at most", "limit": 1.0, **about})


# ---------------------------------------------------------------- the data file


@pytest.fixture
def saved(tmp_path):
    rows = [row_of(lambda seed: Findings([holds(2)], [holds()], {"value": 2}))]
    path, page = document.save(document.document(rows, seed=0, started=0.0, cpu_seconds=0.0), tmp_path)
    return path, page


def test_long_names_stand_apart_from_the_outcome():
    row = {"name": "n" * 40, "register": "false", "outcome": "confirmed"}
    row |= {"checks_of_printed": [], "checks_of_right": []}
    assert document.line(row).split()[:3] == ["n" * 40, "false", "confirmed"]


def test_the_data_file_holds_and_its_page_is_its_rendering(saved):
    path, page = saved
    whole = document.verify_errata(path)
    assert page.read_text("utf-8") == render_errata(whole)
    assert "made-up" in page.read_text("utf-8")
    assert r"For any $\epsilon$ it holds." in page.read_text("utf-8")
    assert "False as printed" in page.read_text("utf-8")


@pytest.mark.parametrize(
    "edit",
    [
        lambda row: row.update(outcome="not_confirmed"),
        lambda row: row.update(register="loose"),
        lambda row: row["checks_of_printed"][0]["statistics"].update(value=0.5),
        lambda row: row["checks_of_right"][0]["result"].update(verdict="contradicted"),
        lambda row: row["checks_of_printed"].clear(),
        lambda row: row.pop("kind"),
    ],
)
@pytest.mark.parametrize("signed", [False, True])
def test_an_edited_data_file_is_refused(saved, edit, signed):
    path, _ = saved
    whole = json.loads(path.read_text("utf-8"))
    edit(whole["errata"][0])
    if signed:  # whoever edits can compute the digest too
        whole["digest"] = digest(whole)
    path.write_text(json.dumps(whole), "utf-8")
    with pytest.raises(InputError, match="errata"):
        document.verify_errata(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda whole: whole.pop("errata"),
        lambda whole: whole.update(errata=None),
        lambda whole: whole.update(errata=["row"]),
        lambda whole: whole["errata"][0].update(checks_of_right=[1]),
        lambda whole: whole["errata"][0]["checks_of_right"][0].update(statistics=[]),
        lambda whole: whole["errata"][0]["checks_of_right"][0].update(kind={}),
        lambda whole: whole["errata"][0].update(counterexample={"pair": {"words": "x"}, "cost": 1}),
    ],
)
def test_a_malformed_data_file_is_one_line(saved, edit):
    path, _ = saved
    whole = json.loads(path.read_text("utf-8"))
    edit(whole)
    path.write_text(json.dumps(whole | {"digest": digest(whole)}), "utf-8")
    with pytest.raises(InputError, match="errata: the JSON does not fit the schema: "):
        document.verify_errata(path)


def test_a_row_that_stands_twice_is_refused_before_anything_is_judged(saved):
    path, _ = saved
    whole = json.loads(path.read_text("utf-8"))
    whole["errata"] += [whole["errata"][0]] * 300
    path.write_text(json.dumps(whole | {"digest": digest(whole)}), "utf-8")
    with pytest.raises(InputError, match="must occur once, got 301 rows of it"):
        document.verify_errata(path)


def test_a_page_draws_no_more_than_so_many_counterexamples(monkeypatch):
    whole = committed("errata.json")
    many = {**whole, "errata": whole["errata"] * 3}
    drawn = render_errata(many).count('class="desk"')
    assert drawn > 3
    monkeypatch.setattr("verifiable_dp.render.page._PLACED", 3)
    assert render_errata(many).count('class="desk"') == 3


# ---------------------------------------------------------------- listings as printed


def test_what_is_known_of_printed_listings_is_stated_where_there_are_two_variants():
    stated = [name for name in registry.names() if registry.auditor(name).printed]
    assert stated == TWO_VARIANTS
    with pytest.raises(InputError, match="one variant"):
        _ = registry.auditor("dp-se").printed_instance


def drawn(algorithm, leader, blocks=6):
    """Values and scales that an algorithm asks noise for in the first blocks of another one, the leader."""
    found = []

    def noise(draw):
        found.append((draw.value[draw.where], draw.scale[draw.where]))
        return Seeded(1)(draw)

    run = np.zeros(1, np.int64)
    rewards = np.random.default_rng(0).uniform(*leader.search_bounds, (leader.horizon, leader.n_arms))
    state, memory, own = leader.start(run), leader.private(run), algorithm.private(run)
    for _ in range(blocks):
        query = leader.query(state)
        answer = Table(rewards).answer(query, run)
        own, _ = algorithm.release(state, own, query, answer, noise)
        memory, released = leader.release(state, memory, query, answer, Seeded(1))
        state = leader.decide(state, query, released)
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


@pytest.mark.parametrize("name", TWO_VARIANTS)
def test_a_printed_listing_is_the_right_one_with_the_faults_of_its_errata(name):
    """Draw by draw; each of them is refuted alone by its erratum. One that is not refuted has none."""
    auditor = registry.auditor(name)
    printed = auditor.algorithm(**auditor.printed_instance)
    right = with_parameters(printed, variant="corrected")
    listed = [row.find for row in FAULTS if row.find.listed]
    faults = [fault for fault in listed if type(fault.right) is auditor.algorithm]
    assert bool(faults) == (auditor.printed.expected == "refuted")
    if not faults:
        return
    whole = chained(*(fault.make for fault in faults))(right)
    for mine, listed in zip(drawn(whole, printed), drawn(printed, printed), strict=True):
        np.testing.assert_allclose(mine, listed, rtol=1e-12)
    for left_out in range(len(faults)):  # the control: with one fault fewer it is another mechanism
        fewer = chained(*(f.make for i, f in enumerate(faults) if i != left_out))(right)
        assert not np.allclose(drawn(fewer, printed)[1], drawn(printed, printed)[1])


@pytest.mark.parametrize("name", [n for n in TWO_VARIANTS if n != "shuffled-linear"])
def test_a_printed_listing_costs_more_than_epsilon_where_it_is_to_be_refuted(name):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**auditor.printed_instance)
    cost = max(
        searching.examine(algorithm, pair, seed=0).cost
        for pair in auditor.pairs(algorithm)[: 2 if name == "adaptive-tree" else 4]
    )
    epsilon = algorithm.claim.epsilon
    assert (cost > 1.1 * epsilon) == (auditor.printed.expected == "refuted")
    assert cost <= epsilon * (1 + alignment.TOLERANCE) or auditor.printed.expected == "refuted"
