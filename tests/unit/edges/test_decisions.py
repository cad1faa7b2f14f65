"""The whole tables of what passes, what a record decides, and with which status commands end."""

import ast
import functools
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.file import Done
from verifiable_dp.cli import records, shell
from verifiable_dp.core.units import Role
from verifiable_dp.record import decision as decisions
from verifiable_dp.record.decision import Decision, decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.passing import exit_status, passes
from verifiable_dp.report import Report

PRIVACY = ("not_refuted", "refuted", "inconclusive")
REGRET = ("consistent", "contradicted", "vacuous", "inconclusive")
HELD = Decision("not_refuted", None, "strong", None, None, Role.USER, 1.0, (), 0, ())

# ---------------------------------------------------------------- what passes


@pytest.mark.parametrize(("verdict", "expected"), [*itertools.product((*PRIVACY, *REGRET, None), repeat=2)])
def test_a_test_passes_where_its_verdict_is_the_expected_one(verdict, expected):
    """With nothing expected everything passes but a contradiction."""
    assert passes(verdict, expected) == (
        verdict != "contradicted" if expected is None else verdict == expected
    )


# ---------------------------------------------------------------- statuses

ONE_AUDIT = [  # role, privacy, regret, broken variants missed, expected of a listing, status
    ("user", "not_refuted", None, 0, None, 0),
    ("user", "refuted", None, 0, None, 1),
    ("user", "inconclusive", None, 0, None, 3),
    ("user", "not_refuted", None, 1, None, 1),
    ("user", "inconclusive", None, 2, None, 1),
    ("user", "not_refuted", "contradicted", 0, None, 1),
    ("user", "inconclusive", "contradicted", 0, None, 1),
    ("user", "not_refuted", "consistent", 0, None, 0),
    ("user", "not_refuted", "inconclusive", 0, None, 3),
    ("user", "not_refuted", "vacuous", 0, None, 3),
    ("user", "refuted", "inconclusive", 0, None, 1),
    ("user", None, "consistent", 0, None, 0),
    ("user", None, "contradicted", 0, None, 1),
    ("user", None, "vacuous", 0, None, 3),
    ("user", None, "inconclusive", 0, None, 3),
    ("user", None, None, 0, None, 3),
    ("promise", "not_refuted", None, 0, None, 0),
    ("promise", "refuted", None, 0, None, 1),
    ("promise", "inconclusive", None, 0, None, 3),
    ("promise", "not_refuted", None, 1, None, 1),
    # A baseline promises no privacy; its theorems and its broken variants count.
    ("baseline", "refuted", None, 0, None, 0),
    ("baseline", "inconclusive", None, 0, None, 0),
    ("baseline", "refuted", "consistent", 0, None, 0),
    ("baseline", "not_refuted", "inconclusive", 0, None, 3),
    ("baseline", None, "inconclusive", 0, None, 3),
    ("baseline", "refuted", "contradicted", 0, None, 1),
    ("baseline", "refuted", None, 1, None, 1),
    # A listing as printed must come out as its auditor expects, whatever else it has.
    ("printed", "refuted", None, 0, "refuted", 0),
    ("printed", "refuted", "contradicted", 3, "refuted", 0),
    ("printed", "not_refuted", None, 0, "refuted", 1),
    ("printed", "inconclusive", None, 0, "refuted", 1),
    ("printed", "not_refuted", None, 0, "not_refuted", 0),
    ("printed", "refuted", None, 0, "not_refuted", 1),
    ("printed", "refuted", None, 0, None, 1),  # no auditor expects anything of it
    ("printed", None, "contradicted", 0, None, 1),
    ("printed", None, None, 0, "refuted", 1),  # its privacy was not looked at
]


def decided(role, privacy, regret, faults):
    return replace(HELD, role=Role(role), privacy=privacy, regret=regret, faults=faults)


@pytest.mark.parametrize(("role", "privacy", "regret", "faults", "expected", "status"), ONE_AUDIT)
def test_the_status_of_one_audit(role, privacy, regret, faults, expected, status):
    assert exit_status([(decided(role, privacy, regret, faults), expected)]) == status


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_the_status_of_many_audits_is_the_worst(count):
    """1 is worse than 3, and 3 than 0, in any order."""
    rows = [(decided("user", verdict, None, 0), None) for verdict in PRIVACY]
    statuses = dict(zip(PRIVACY, (0, 1, 3), strict=True))
    for some in itertools.product(rows, repeat=count):
        found = [statuses[row[0].privacy] for row in some]
        assert exit_status(some) == (1 if 1 in found else 3 if 3 in found else 0)


def report(role, privacy, regret=None, faults=0, name="x"):
    return SimpleNamespace(decision=decided(role, privacy, regret, faults), name=name)


PRINTED_AS_EXPECTED = "dp-linear"  # its auditor expects the listing as printed to be refuted


@pytest.mark.parametrize(
    ("reports", "status"),
    [
        ([], 0),
        ([report("user", "not_refuted"), report("user", "inconclusive")], 3),
        ([report("user", "inconclusive"), report("user", "refuted")], 1),
        ([report("user", "not_refuted", faults=1)], 1),  # a broken variant was missed
        ([report("printed", "refuted", name=PRINTED_AS_EXPECTED)], 0),
        ([report("printed", "not_refuted", name=PRINTED_AS_EXPECTED)], 1),
        ([report("printed", "refuted", name="dp-se")], 1),  # has no listing that differs
        ([report("user", "not_refuted", name="no such algorithm")], 0),  # no auditor is asked for
    ],
)
def test_the_status_of_reports(reports, status):
    assert campaign.exit_status(reports) == status
    names = {str(number): one for number, one in enumerate(reports)}
    assert Done(names, {}, Path("index.html")).exit_status == status
    assert Done(names, {"other": "it has no arms"}, Path("index.html")).exit_status == 2


def test_a_report_is_not_a_condition():
    """`assert vdp.audit(...)` would pass whatever it found."""
    with pytest.raises(TypeError, match="compare its verdict"):
        assert Report(record())


# ---------------------------------------------------------------- one decision


@pytest.mark.parametrize(("privacy", "regret"), [*itertools.product((None, *PRIVACY), (None, *REGRET))])
@pytest.mark.parametrize("role", [Role.USER, Role.BASELINE])
@pytest.mark.parametrize("strength", ["strong", "weak"])
@pytest.mark.parametrize("faults", [0, 1])
def test_what_follows_from_the_verdicts(privacy, regret, role, strength, faults):
    found = replace(HELD, privacy=privacy, regret=regret, role=role, strength=strength, faults=faults)
    weak = privacy == "not_refuted" and strength == "weak"
    assert (found.main, found.weak) == (privacy or regret, weak)
    open_colour = weak or (role is Role.BASELINE and privacy is not None)
    open_colour |= privacy == "not_refuted" and regret in ("vacuous", "inconclusive")
    shown = "inconclusive" if open_colour else privacy or regret or ""
    against = regret == "contradicted" and privacy != "refuted"
    assert found.colour == ("contradicted" if against else shown)
    held = (privacy, regret) != (None, None)
    held &= privacy in (None, "not_refuted") and regret in (None, "consistent")
    failed = privacy == "refuted" or regret == "contradicted"
    held &= not weak and not faults
    assert found.result == ("failed" if failed else "passed" if held else "undecided")


@functools.cache
def _committed():
    path = Path(__file__).parents[3] / "reports" / "tree-sum" / "record.json"
    return path.read_text("utf-8")


def record(**changes):
    """The committed record of a tree sum, epsilon 1: not refuted, every mutant caught, `changes` made."""
    return json.loads(_committed()) | changes


def power(epsilon):
    return {**record()["power"], "smallest_epsilon": epsilon}


def of_event(epsilon):
    variant = {"of": "algorithm", "parameter": "noise", "stated": "event"}
    return {**power(epsilon), "by": "black_box", "variant": variant}


def constant():
    """The checks, where no run hit the event that was tested."""
    return [
        {**one, "statistics": one["statistics"] | ({"k0": 0, "k1": 0} if "k0" in one["statistics"] else {})}
        for one in record()["checks"]
    ]


def missed(breaks):
    verdict = {"privacy": "not_refuted", "regret": "not_contradicted"}[breaks]
    return {**record()["mutants"][0], "name": "m", "breaks": breaks, "verdict": verdict}


def survivor(at_least, true=None, outcome="survived", name="s"):
    row = {"fault": "f", "epsilon": 1.0, "at_most": "inf", "at_least": at_least, "true_epsilon": true}
    return {**row, "mutant": name, "origin": "law", "outcome": outcome}


def table(*rows):
    digest = f"sha256:{'0' * 64}"
    return {"kill_table": {"others": list(rows), "caught": {"auditor": 0, "operators": 0}, "digest": digest}}


@pytest.mark.parametrize(
    ("changes", "strength", "ratio", "passed"),
    [
        ({}, "strong", 1.000000001, ()),
        ({"power": power(1.5)}, "strong", 1.5, ()),
        ({"power": power(1.5 + 1e-9)}, "weak", 1.5 + 1e-9, ()),
        ({"power": power(0.9)}, "strong", 0.9, ()),
        ({"power": power("inf")}, "weak", math.inf, ()),
        ({"power": None, "detectable": 1.25}, "strong", 1.25, ()),
        ({"power": None, "detectable": 1.75}, "weak", 1.75, ()),
        ({"power": None, "detectable": None}, "weak", math.inf, ()),
        # Replays catch any excess on their own runs; beyond these an upper bound or samples speak.
        ({"epsilon_upper": None}, "weak", 1.75, ()),
        ({"epsilon_upper": None, "power": {**power(1.25), "by": "black_box"}}, "strong", 1.25, ()),
        (
            {"epsilon_upper": None, "power": {**power(1.0), "black_box": None}, "detectable": 1.3},
            "strong",
            1.3,
            (),
        ),
        ({"power": of_event(1.2)}, "weak", math.inf, ()),  # what its variants cost is not known
        ({"power": None, "detectable": 1.25, "checks": constant()}, "weak", math.inf, ()),
        ({"verdict": "inconclusive"}, "strong", 1.000000001, ()),
        ({"verdict": "inconclusive", "power": power(2.0)}, "weak", 2.0, ()),
        # The question does not arise of what is refuted, or was not audited.
        ({"verdict": "refuted", "power": power(2.0)}, "none", math.inf, ()),
        ({"checks": [], "power": power(2.0)}, "none", math.inf, ()),
        ({"verdict": "refuted", "mutants": [missed("privacy")]}, "none", math.inf, ()),
        # A broken variant of the audit's own, where it breaks privacy.
        ({"mutants": [missed("privacy")]}, "weak", 1.000000001, (("m", None),)),
        ({"mutants": [missed("regret")]}, "strong", 1.000000001, ()),
        # Those of the kill table, by their leak: more than 1.5 times the claim.
        (table(survivor(1.5)), "strong", 1.000000001, ()),
        (table(survivor(1.5 + 1e-9)), "weak", 1.5 + 1e-9, (("s", 1.5 + 1e-9),)),
        (table(survivor(1.0, 2.0)), "weak", 2.0, (("s", 2.0),)),
        (table(survivor(2.0, 1.0)), "strong", 1.000000001, ()),
        (table(survivor(2.0), survivor(5.0, name="t")), "weak", 5.0, (("s", 2.0), ("t", 5.0))),
        (table(survivor(9.0, outcome="undecided")), "strong", 1.000000001, ()),
        (table(survivor("inf")), "weak", math.inf, (("s", math.inf),)),
    ],
)
def test_the_strength_of_an_audit(changes, strength, ratio, passed):
    found = decision(Record.of(record(**changes)))
    assert (found.strength, found.ratio, found.passed) == (strength, ratio, passed)


@pytest.mark.parametrize(
    ("epsilon", "least", "ratio"), [(0.5, 1.0, 2.0), (2.0, 1.0, 0.5), (1.0, "inf", math.inf), (1.0, 1.0, 1.0)]
)
def test_the_smallest_leak_that_is_caught_in_units_of_the_claim(epsilon, least, ratio):
    claim = {**record()["claim"], "epsilon": epsilon}
    assert decisions.caught(Record.of(record(claim=claim, power=power(least)))) == ratio
    assert decisions.caught(Record.of(record(claim=claim, power=None, detectable=least))) == ratio


def test_a_leak_in_units_of_the_claim():
    """Epsilon 0.5: a leak of .75 is within one and a half times the claim."""
    claim = {**record()["claim"], "epsilon": 0.5}
    small = decision(Record.of(record(claim=claim, power=power(0.5), **table(survivor(0.75)))))
    large = decision(Record.of(record(claim=claim, power=power(0.5), **table(survivor(0.8)))))
    assert (small.strength, small.ratio) == ("strong", 1.0)
    assert (large.strength, large.ratio) == ("weak", 1.6)


@pytest.mark.parametrize("mutants", [[], [missed("privacy")], [missed("privacy"), missed("regret")]])
def test_faults_are_the_broken_variants_that_the_audit_missed(mutants):
    caught = [{**missed("privacy"), "verdict": "refuted"}]
    assert decision(Record.of(record(mutants=mutants + caught))).faults == len(mutants)


@pytest.mark.parametrize(
    ("changes", "name", "wanted"),
    [
        ({}, "privacy", "not_refuted"),
        ({"checks": []}, "privacy", None),
        ({}, "regret", "consistent"),
        ({"regret": None}, "regret", None),
        ({}, "scope", "certified"),
        ({"epsilon_upper": None}, "scope", None),
        ({"verdict": "inconclusive", "reason": "weak"}, "reason", "weak"),
        ({"checks": [], "reason": "weak"}, "reason", None),
        ({}, "role", Role.PROMISE),
        ({}, "ground", "certified"),
        ({"epsilon_upper": None}, "ground", "detectable"),
        ({"verdict": "inconclusive"}, "ground", None),
        ({"verdict": "refuted"}, "ground", None),
        ({"checks": []}, "ground", None),
    ],
)
def test_what_a_decision_takes_from_the_record(changes, name, wanted):
    assert getattr(decision(Record.of(record(**changes))), name) == wanted


OPEN_ITEMS = [
    {"id": "inputs", "settled_by": "upper_bound", "values": {}},
    {"id": "timing", "settled_by": None, "values": {}},
]


@pytest.mark.parametrize("bounded", [True, False])
def test_an_upper_bound_settles_what_it_covers_only_where_it_is_within_the_claim(bounded):
    whole = record(not_covered=OPEN_ITEMS)
    kept = [check for check in whole["checks"] if bounded or check["kind"] != "upper_bound"]
    assert decision(Record.of({**whole, "checks": kept})).open_items == (
        ("timing",) if bounded else ("inputs", "timing")
    )
    assert decision(Record.of({**whole, "checks": []})).open_items == ("inputs", "timing")


def test_the_statuses_of_verdicts():
    statuses = {verdict: replace(HELD, privacy=verdict).exit_code for verdict in PRIVACY}
    assert statuses == {"not_refuted": 0, "refuted": 1, "inconclusive": 3}
    alone = {verdict: replace(HELD, privacy=None, regret=verdict).exit_code for verdict in REGRET}
    assert alone == {"consistent": 0, "contradicted": 1, "vacuous": 3, "inconclusive": 3}
    assert replace(HELD, privacy="inconclusive", regret="contradicted").exit_code == 1
    assert replace(HELD, privacy=None).exit_code == 3


# ---------------------------------------------------------------- statuses of commands

CLI = Path(shell.__file__).parent
SHELL = (CLI / "shell.py").read_text("utf-8")
N = SimpleNamespace
YES, NO = N(right=True), N(right=False)
FINE, BAD = {"outcome": "confirmed"}, {"outcome": "not_confirmed"}
FILES = [((), (), 0), (("a",), (), 2), ((), ("a",), 2), (("a",), ("b",), 2)]  # broken, wrong
SHORT = [(0, False, 0), (0, True, 3), (1, False, 1), (1, True, 1), (3, False, 3), (3, True, 3), (2, True, 2)]
# Each expression that a command hands to `sys.exit`, with what it finds there and the status.
EXITS = {
    ("cli.audit", "audit"): [
        (
            {
                "report": N(decision=N(exit_code=code)),
                "short": less,
            },
            end,
        )
        for code, less, end in SHORT
    ],
    ("cli.audit", "regret"): [({"report": N(decision=N(exit_code=code))}, code) for code in (0, 1, 3)],
    ("cli.audit", "selftest"): [
        ({"outcomes": some}, end) for some, end in (((), 0), ((YES,), 0), ((YES, NO), 1), ((NO,), 1))
    ],
    ("cli.catalogue", "report"): [({"campaign": campaign, "reports": [report("user", "refuted")]}, 1)],
    ("cli.catalogue", "reproduce"): [({"surprises": some}, end) for some, end in (((), 0), (("a",), 1))],
    ("cli.catalogue", "errata"): [
        ({"whole": {"errata": some}}, end)
        for some, end in (((), 0), ((FINE,), 0), ((FINE, BAD), 1), ((BAD, FINE), 1))
    ],
    ("cli.catalogue", "_told_lost"): [({}, 3)],
    ("cli.catalogue", "mutants"): [
        ({"whole": {"summary": {"clear_missed": n}}}, min(n, 1)) for n in (0, 1, 2)
    ],
    ("cli.demo", "demo"): [
        (
            {"verdicts": dict(zip(("right", "leaking"), two, strict=True))},
            int(two != ("not_refuted", "refuted")),
        )
        for two in itertools.product(PRIVACY, repeat=2)
    ],
    ("cli.inspect", "inspect_"): [({"found": N(add=some)}, end) for some, end in (((), 0), (("a",), 2))],
    ("cli.judge", "judge"): [({"judged": N(exit_status=code)}, code) for code in range(4)],
    ("cli.listed", "conclude"): [
        ({"done": N(exit_status=code), "short": [False, less]}, end) for code, less, end in SHORT
    ],
    ("cli.records", "_verify_folder"): [({"found": N(broken=b), "wrong": w}, end) for b, w, end in FILES],
    ("cli.records", "portfolio"): [({"found": N(broken=b), "wrong": w}, end) for b, w, end in FILES],
    ("cli.records", "site"): [({"found": N(portfolio=N(broken=b), broken=w)}, end) for b, w, end in FILES],
    ("cli.shell", "_Group.parse_args"): [({}, 2)],
    ("cli.shell", "_Group.main"): [({}, 141)],
}
# What others compute, or tables of them hold.
ELSEWHERE = {
    "_told_lost(gone, against)",
    "DIFF_EXIT[found.outcome]",
    "super().main(*args, **kwargs)",
    "status",
}


def exits():
    """The file of each status in the command line, its module and function, and the expression."""
    for path in sorted(CLI.glob("*.py")):
        for scope, node in _calls(ast.parse(path.read_text("utf-8"))):
            yield path, (f"cli.{path.stem}", scope), node


def _calls(tree, scope=""):
    for node in ast.iter_child_nodes(tree):
        inner = (
            f"{scope}.{node.name}".lstrip(".") if isinstance(node, ast.ClassDef | ast.FunctionDef) else scope
        )
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.exit", "SystemExit", "ctx.exit"):
            yield scope, node.args[0]
        if isinstance(node, ast.Return) and scope == "_told_lost":
            yield scope, node.value
        yield from _calls(node, inner)


def test_every_command_ends_with_the_status_of_its_table():
    left = dict(EXITS)
    for path, where, node in exits():
        if ast.unparse(node) in ELSEWHERE:
            continue
        code = compile(ast.Expression(node), str(path), "eval")  # at its line, as `tests.line_tests` sees it
        for names, status in left.pop(where):
            assert eval(code, dict(names)) == status, (where, names)
    assert left == {}


def test_failures_and_differences_have_statuses_of_their_own():
    """1 and 3 are verdicts: what cannot be used ends with 2, and an interrupt as shells say it."""
    calls = [node for node in ast.walk(ast.parse(SHELL)) if isinstance(node, ast.Call)]
    said = [ast.unparse(node.args[1]) for node in calls if ast.unparse(node.func) == "_fail"]
    assert sorted(said) == ["130", "2", "2", "2", "2"]
    with pytest.raises(SystemExit) as ended:
        shell._fail("x", 2)
    assert ended.value.code == 2
    assert records.DIFF_EXIT == {"same": 0, "better": 0, "worse": 1, "differs": 1, "not_comparable": 3}
