"""Edges of what a gate of CI lets pass: origin and age of records, a baseline, broken variants."""

import ast
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from verifiable_dp.campaign import baseline, origin
from verifiable_dp.campaign.baseline import Baseline, Known
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import kills
from verifiable_dp.record.model import Record

N = SimpleNamespace


def refused(call, said):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == said


# ---------------------------------------------------------------- origin


@pytest.mark.parametrize(
    ("today", "holds"), [("2026-04-30", True), ("2026-05-01", True), ("2026-05-02", False)]
)
def test_a_record_holds_to_the_end_of_its_last_day(today, holds):
    record = N(declared={"expires": "2026-05-01"})
    form = {"%Y-%m-%d": today}
    with mock.patch.object(origin.time, "strftime", lambda named, instant: form.get(named, "")):
        origin.refuse_expired(N(declared={}))
        if holds:
            origin.refuse_expired(record)
        else:
            said = "expires: the record was valid until 2026-05-01; audit again"
            refused(lambda: origin.refuse_expired(record), said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(({"commit": commit}, "") for commit in ("", "0" * 40, "f" * 64)),
        *(
            (
                {"commit": commit},
                f"commit must be a full hash (git rev-parse HEAD), got {commit!r}; "
                "anybody can make another commit with the same first digits",
            )
            for commit in ("0123abc", "f" * 39, "f" * 41, "f" * 63, "f" * 65, "F" * 40, "g" * 40)
        ),
        *(({"max_age": age}, "") for age in ("", "30d", "12h", "90m", "0d")),
        *(
            ({"max_age": age}, f"max_age must be a time such as 30d, 12h or 90m, got {age!r}")
            for age in ("30", "d", "1.5h", "30s", "-1d", "1d1h")
        ),
        ({"source": Path(__file__).parent}, ""),
        ({"source": Path("/no/such folder")}, "source: '/no/such folder' is not a folder"),
    ],
)
def test_what_can_be_expected_of_a_record(given, said):
    if said:
        refused(lambda: RecordOrigin(**given), said)
    else:
        RecordOrigin(**given)


MADE = "2026-05-01T00:00:00Z"


@pytest.mark.parametrize(("most", "seconds"), [("90m", 5400), ("2h", 7200), ("3d", 259_200), ("0d", 0)])
def test_how_old_a_record_may_be(most, seconds):
    """From when it was asked for, or else begun; a clock may be five minutes ahead of another one."""
    wanted, began = RecordOrigin(max_age=most), origin.requests.seconds(MADE)
    for asked, started in ((None, MADE), (N(made=MADE), "2020-01-01T00:00:00Z")):
        record = N(provenance=N(started=started))
        for age, fresh in ((0, 1), (seconds, 1), (seconds + 1, 0), (-300, 1), (-301, 0)):
            with mock.patch.object(origin.time, "time", return_value=began + age):
                if fresh:
                    wanted._fresh(record, asked)
                else:
                    said = f"max_age: the record was requested at {MADE}, more than {most} ago"
                    refused(lambda: wanted._fresh(record, asked), said)  # noqa: B023


def committed(commit="0" * 40, dirty=False, differs=()):
    """The provenance of a target has these; that of the framework has not."""
    target = N(commit=commit, dirty=dirty, differs=differs, place=None, twin=None)
    facts = N(commit="9" * 10, dirty=True, target=target)
    return N(provenance=facts, target=N(name="a.py:play", source=N(path="a.py")))


def test_the_commit_of_a_record():
    wanted = RecordOrigin(commit="0" * 40)
    wanted._committed(committed())
    for other, named in (("1123abc", "1123abc"), ("", "an unknown commit")):
        said = f"commit: the record is from {named}; check out {'0' * 40}, and audit again"
        refused(lambda: wanted._committed(committed(other)), said)  # noqa: B023
    said = (
        f"commit: the record is from {'0' * 40} with uncommitted changes (a, b, c); commit the files that "
        "run and the files that they read, check out all others (and submodules), install packages from "
        "folders again, and audit again"
    )
    refused(lambda: wanted._committed(committed(dirty=True, differs=("a", "b", "c", "d"))), said)
    without = said.replace(" (a, b, c)", "")
    refused(lambda: wanted._committed(committed(dirty=True, differs=None)), without)


# ---------------------------------------------------------------- baselines


def known(name, target="t", text="x = 1"):
    return Known(target, name, "a.py", "f", text)


A, B = known("VDP101"), known("VDP102")


def found(**by_name):
    """What is found of each target, in place of what its record says."""
    return mock.patch.object(baseline, "_of", lambda name, report, folder: list(by_name[name]))


def undecided(code=3, regret=None):
    return N(decision=N(exit_code=code, regret=regret, privacy="inconclusive", short=""))


@pytest.mark.parametrize(
    ("listed", "there", "new"),
    [
        ((), (), []),
        ((A,), (A,), []),
        ((A,), (A, A), [A]),  # once more than it is known
        ((A, A), (A,), []),
        ((A,), (B, A), [B]),
        ((), (B, A), [A, B]),
        ((A,), (A._replace(text="x = 2"),), [A._replace(text="x = 2")]),
    ],
)
def test_what_is_new_beside_a_baseline(listed, there, new):
    with found(t=there):
        assert Baseline(Path("b"), listed).new("t", None) == new


@pytest.mark.parametrize(
    ("report", "listed", "there", "excused"),
    [
        (undecided(), (A,), (A,), True),
        (undecided(regret="consistent"), (A,), (A,), True),
        (undecided(regret="contradicted"), (A,), (A,), False),
        (undecided(regret="inconclusive"), (A,), (A,), False),
        (undecided(1), (A,), (A,), False),
        (undecided(0), (A,), (A,), False),
        (undecided(), (A,), (A, B), False),
        (undecided(), (A,), (), False),  # nothing that is known explains it
    ],
)
def test_what_a_baseline_excuses(report, listed, there, excused):
    with found(t=there):
        assert Baseline(Path("b"), listed).excuses("t", report) is excused


def test_what_is_gone_and_what_is_written():
    """Of targets that were audited; those that were not keep what is known of them."""
    other, lost = known("VDP101", "other"), known("VDP103")
    unnamed = B._replace(text="")  # it could never be known again
    with tempfile.TemporaryDirectory() as name, found(t=(B, A, unnamed)):
        place = Path(name, "b.json")
        made = Baseline(place, (other, lost, A))
        assert made.gone([("t", None)]) == [lost]
        assert made.write([("t", None)]) == 3
        assert place.read_text("utf-8").startswith('{\n "version": 4,\n "findings": [\n  {\n   "target"')
        assert json.loads(place.read_text("utf-8")) == {
            "version": 4,
            "findings": [one._asdict() for one in sorted((other, A, B))],
        }


FINDING = {"target": "t", "code": "", "file": "a.py", "function": "f", "text": "x"}


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ({"version": 4, "findings": []}, 0),
        ({"version": 4, "findings": [FINDING, FINDING]}, 2),
        ({"version": 5, "findings": []}, None),
        ({"version": 4}, None),
        ({"version": 4, "findings": [], "more": 1}, None),
        ([], None),
        ({"version": 4, "findings": [{**FINDING, "text": ""}]}, None),
        ({"version": 4, "findings": [FINDING, {**FINDING, "file": 3}]}, None),
        ({"version": 4, "findings": [FINDING, {**FINDING, "code": "an error"}]}, None),
        ({"version": 4, "findings": [{"target": "t"}]}, None),
        ({"version": 4, "findings": 3}, None),
        ("{", None),
    ],
)
def test_which_files_are_baselines(content, read):
    content = json.loads(json.dumps(content).replace('"code": ""', f'"code": "{baseline._EXCUSED[0]}"'))
    with tempfile.TemporaryDirectory() as name:
        place = Path(name, "b.json")
        assert Baseline.at(place) == Baseline(place)
        place.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        if read is None:
            said = (
                f"baseline: {str(place)!r} is not a baseline; remove it, and write a new one with "
                "--write-baseline"
            )
            refused(lambda: Baseline.at(place), said)
        else:
            assert len(Baseline.at(place).known) == read


@pytest.mark.parametrize(
    ("version", "lacks"),
    [
        (1, "names no lines"),
        (2, "does not record the other files that code reads"),
        (3, "does not record what was asked"),
    ],
)
def test_an_older_baseline_is_to_be_written_again(version, lacks):
    with tempfile.TemporaryDirectory() as name:
        place = Path(name, "b.json")
        place.write_text(f'{{"version": {version}, "findings": []}}', "utf-8")
        said = f"has version {version}, which {lacks}, so new findings could go unnoticed"
        with pytest.raises(InputError, match=said):
            Baseline.at(place)


CODE = """\
import math as m, os.path

LIMIT = m.pi

@known
class Play:
    size = 1

    def step(self):
        return helper(LIMIT)

def helper(x):
    return x

for unused in (): other = 1
"""
TREE = ast.parse(CODE)


@pytest.mark.parametrize(
    ("line", "around"),
    [
        (1, []),
        (4, []),
        (5, ["Play"]),  # its decorator
        (7, ["Play"]),
        (9, ["Play", "step"]),
        (10, ["Play", "step"]),
        (11, []),
        (12, ["helper"]),
        (13, ["helper"]),
        (14, []),
    ],
)
def test_what_a_line_is_in(line, around):
    assert [node.name for node in baseline._around(TREE, line)] == around


def test_what_a_class_needs_of_its_module():
    """What defines a name that it uses, what that needs, and what an import does."""
    module = TREE.body
    assert [baseline._defined(one) for one in module] == [
        {"m", "os"},
        {"LIMIT"},
        {"Play"},
        {"helper"},
        {"unused", "other"},
    ]
    assert baseline._needed(TREE, module[2]) == module
    assert baseline._needed(TREE, module[3]) == module[3:]


# ---------------------------------------------------------------- broken variants

RECORD = json.loads((Path(__file__).parents[3] / "reports" / "tree-sum" / "record.json").read_text("utf-8"))


def row(name, outcome="survived", origin="law"):
    numbers = {"epsilon": 1.0, "at_most": "inf", "at_least": 2.0, "true_epsilon": None}
    return {**numbers, "fault": "f", "mutant": name, "origin": origin, "outcome": outcome}


def variants(own, *rows, caught=None):
    """A record whose own audit caught these variants or not, and what the kill table says beside."""
    mutants = [
        {**RECORD["mutants"][0], "name": f"m{i}", "breaks": "privacy", "verdict": verdict}
        for i, verdict in enumerate(own)
    ]
    table = {"digest": f"sha256:{'0' * 64}", "others": list(rows)}
    table["caught"] = dict(zip(("auditor", "operators"), caught or (0, 0), strict=True))
    return Record.of({**RECORD, "mutants": mutants, "kill_table": table if caught else None})


HIT, MISS = "refuted", "not_refuted"
SAYS = (
    "Each of these versions of the algorithm has one planted fault, in its privacy. "
    "The audit must catch those that break the promise. This audit caught "
)
SUITE = "The catalogue's suite overlaps with these. Of its"
UNDECIDED = f"Undecided: u ({kills.UNDECIDED})."


@pytest.mark.parametrize(
    ("record", "counted", "missed", "told"),
    [
        (variants([]), "", [], ""),
        (variants([HIT, HIT]), "2 of 2", [], "all 2 of its broken variants. None was missed."),
        (variants([HIT, MISS]), "1 of 2", ["m1"], "1 of its 2 broken variants. Missed: m1."),
        (
            variants([HIT], caught=(2, 3)),
            "4 of 4",
            [],
            f"its only broken variant. {SUITE} 5 broken variants: 5 caught, 0 missed. None was missed.",
        ),
        (
            variants([], row("s"), row("a", origin="auditor"), caught=(2, 3)),
            "5 of 7",
            ["s", "a"],
            f"0 of its 0 broken variants. {SUITE} 7 broken variants: 5 caught, 2 missed. Missed: s; a.",
        ),
        (
            variants([MISS], row("s"), row("t"), row("a", origin="auditor"), caught=(0, 3)),
            "3 of 6",
            ["m0", "s", "t", "a"],
            f"0 of its 1 broken variants. {SUITE} 6 broken variants: 3 caught, 3 missed. "
            "Missed: m0; s; t; a.",
        ),
        (
            variants([HIT], row("w", "within_the_claim"), row("u", "undecided"), caught=(0, 0)),
            "1 of 1",
            [],
            f"its only broken variant. {SUITE} 2 broken variants: 1 within the claim, 1 undecided, 0 "
            f"missed. {UNDECIDED}",
        ),
    ],
)
def test_broken_variants_that_were_caught_and_missed(record, counted, missed, told):
    assert (kills.counted(record), kills.missed(record)) == (counted, missed)
    if told:
        assert kills.tried(record) == SAYS + told


def test_variants_whose_fault_is_in_how_a_contribution_is_bounded():
    record = variants([MISS, HIT], row("s"), row("t", origin="truncation"), caught=(0, 0))
    assert kills.missed_of_bounding(record) == ["t"]
    assert kills.undecided(variants([], row("u", "undecided"), row("s"), caught=(0, 0))) == ["u"]
    assert kills.undecided(variants([])) == kills.survived(variants([])) == []


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"algorithm": "dp-se"}, False),
        ({"epsilon": 2.0}, False),
        ({"delta": 0.1}, False),
        ({"observe": "actions"}, False),
    ],
)
def test_the_kill_table_counts_for_its_algorithm_and_its_promise(change, kept):
    record = Record.of(RECORD)
    claim = record.claim
    mine = {"algorithm": "tree-sum", "epsilon": claim.epsilon, "delta": claim.delta, "observe": claim.observe}
    rows = [
        {**row("a", "killed", "auditor"), **mine},
        {**row("b", "killed"), **mine},
        {**row("c", "killed"), **mine},
        {**row("d"), **mine},
        {**row("e", "killed", "auditor"), **mine, "algorithm": "another"},
    ]
    found = kills.of_table({"digest": "d", "mutants": [{**one, **change} for one in rows]}, record)
    if kept:
        table = {"digest": "d", "mutants": rows}
        for kind, of, printed in (
            ("bandit", claim, False),
            ("algorithm", None, False),
            ("algorithm", claim, True),
        ):
            other = N(target=N(kind=kind, name="tree-sum"), claim=of)
            with mock.patch.object(kills.words, "is_printed", return_value=printed):
                assert kills.of_table(table, other) is None
        assert (found.caught.auditor, found.caught.operators) == (1, 2)
        assert ([one.mutant for one in found.others], found.digest) == (["d"], "d")
    else:
        assert found is None
