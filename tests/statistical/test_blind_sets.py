"""Programs that were written blind get no worse verdict than was recorded, right or leaking.

By day 24 of them at the budget smoke, held against `blind_smoke.csv`, which `python -m tests.blind_sets`
makes anew. By night a seeded tenth of each set at quick, held against the results of its first audit
(`benchmarks/blind/measured.csv`) and those in `blind_quick.csv`, which were made later and replace them:
where a bound turned out to know too little, a verdict may have got worse on purpose, and a row says so.

Negative controls: without upper bounds, or with samples that reject nothing, verdicts are worse than
recorded; a leak that is recorded as right, and verdicts of every other kind that are worse, are noticed.
"""

import pytest

from benchmarks import blind
from tests.blind_sets import (
    BY_DAY,
    QUICK,
    SMOKE,
    audited,
    audits,
    complaints,
    drawn,
    recorded,
    rows_of,
    table,
    verdict,
)
from verifiable_dp.auditing.bandits import PlayCase
from verifiable_dp.auditing.mechanisms import ReleaseCase
from verifiable_dp.evidence.blackbox import test as black_box
from verifiable_dp.targets import child

KNOWN = recorded(SMOKE)


def held(known, results):
    lines, wrong = table(known, results)
    assert not wrong, "\n".join(["set/program, truth, verdict recorded -> now, what is wrong", *lines])


@pytest.mark.parametrize("name", BY_DAY, ids="/".join)
def test_no_verdict_of_the_day_is_worse_than_recorded(name, tmp_path):
    held(KNOWN, audits(rows_of([name]), tmp_path, "smoke"))


@pytest.mark.slow
@pytest.mark.parametrize("name", blind.digests())
def test_no_verdict_of_a_tenth_of_all_programs_is_worse_than_recorded(name, tmp_path):
    held(recorded(blind.MEASURED, QUICK), audits(drawn(name), tmp_path, "quick"))


def test_the_day_has_right_programs_and_leaks_of_many_sets_and_their_records():
    assert [*KNOWN] == [*BY_DAY]
    truths = [row["truth"] for row in rows_of(BY_DAY)]
    assert truths == [result["truth"] for result in KNOWN.values()]
    assert truths.count("right") == truths.count("leak") == 12
    assert len({name for name, _ in BY_DAY}) >= 8
    found = [(result["truth"], verdict(result)) for result in KNOWN.values()]
    assert ("right", "refuted") not in found
    assert ("leak", "not_refuted") not in found
    assert found.count(("right", "not_refuted")) >= 11
    assert found.count(("leak", "refuted")) >= 11


def test_the_night_draws_a_tenth_of_every_set_and_the_same_again():
    sizes = {name: len(drawn(name)) for name in blind.digests()}
    assert 0.08 * len(blind.rows()) <= sum(sizes.values()) <= 0.13 * len(blind.rows())
    for name in sizes:
        assert drawn(name) == drawn(name, 0.1, 0)
        assert {row["truth"] for row in drawn(name)} == {row["truth"] for row in blind.rows(name)}
    assert drawn("blind15", seed=1) != drawn("blind15")


def result(truth, status, answer="", **other):
    return {"set": "blind", "file": "a.py", "truth": truth, "exit_status": status, "answer": answer} | other


BOUNDED = "not_refuted  epsilon in [0.5, 1] on 63 paths"
LEAD = "inconclusive (lead)  epsilon in [0.5, 1] on 63 paths"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (result("right", "0"), result("right", "0"), []),
        (result("right", "3"), result("right", "0"), []),
        (result("right", "1"), result("right", "1"), []),
        (result("right", "0"), result("right", "1"), ["right program refuted"]),
        (result("right", "2"), result("right", "1"), ["right program refuted"]),
        (result("right", "0"), result("right", "3"), ["worse than recorded: not_refuted"]),
        (result("right", "0"), result("right", "2"), ["worse than recorded: not_refuted"]),
        (result("right", "3"), result("right", "2"), ["worse than recorded: inconclusive"]),
        (result("right", "0"), result("right", "70"), ["internal error", "worse than recorded: not_refuted"]),
        (result("right", "70"), result("right", "70"), ["internal error"]),
        (result("right", "0", BOUNDED), result("right", "0", BOUNDED), []),
        (result("right", "0", BOUNDED), result("right", "0"), ["upper bound within the claim lost"]),
        (result("right", "0", "epsilon in [0, 2] on 9 paths"), result("right", "0"), []),
        (result("leak", "1"), result("leak", "1"), []),
        (result("leak", "3"), result("leak", "1"), []),
        (result("leak", "0"), result("leak", "0"), []),
        (result("leak", "1"), result("leak", "0"), ["leak acquitted"]),
        (result("leak", "70"), result("leak", "0"), ["leak acquitted"]),
        (result("leak", "1"), result("leak", "3"), ["worse than recorded: refuted"]),
        (result("leak", "3"), result("leak", "2"), ["worse than recorded: inconclusive"]),
        (result("leak", "3"), result("leak", "3", LEAD), ["upper bound of a leak within its claim"]),
        (result("leak", "0"), result("leak", "0", BOUNDED), ["upper bound of a leak within its claim"]),
        (result("right", "0"), result("leak", "0"), ["recorded as right, and the index says leak"]),
        (
            result("right", "0"),
            result("leak", "1"),
            ["recorded as right, and the index says leak"],
        ),
    ],
)
def test_what_is_wrong_with_a_result_is_said(old, new, said):
    assert complaints(old, new, 1.0) == said


def test_a_leak_that_is_recorded_as_right_is_noticed(tmp_path):
    name = ("blind2", "leak/l01_shared_noise.py")
    doctored = {name: KNOWN[name] | {"truth": "right", "exit_status": "0"}}
    with pytest.raises(AssertionError, match=r"l01_shared_noise\.py .*recorded as right") as error:
        held(doctored, audits(rows_of([name]), tmp_path, "smoke"))
    assert "not_refuted   -> refuted" in str(error.value)
    # Also where the index calls it right.
    (row,) = rows_of([name])
    found = audited(row | {"truth": "right"}, blind.unpack(row["set"], tmp_path / "again"), "smoke")
    assert complaints(doctored[name], found, 1.0) == ["right program refuted"]


@pytest.fixture
def here(monkeypatch):
    """Audits in this process, which has what is replaced; a child may be a new Python, which has not."""
    monkeypatch.setattr(child, "call", lambda task, progress, most: task(progress))


@pytest.mark.usefixtures("here")
def test_upper_bounds_that_are_lost_are_noticed(tmp_path, monkeypatch):
    for case in (PlayCase, ReleaseCase):
        monkeypatch.setattr(case, "boundable", property(lambda _: False))
    with pytest.raises(AssertionError, match=r"worse than recorded|bound within the claim lost"):
        held(KNOWN, audits(rows_of([("blind5", "right/r19_median_cut.py")]), tmp_path, "smoke"))


@pytest.mark.usefixtures("here")
def test_samples_that_reject_nothing_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(black_box.exact, "ratio_p_value", lambda *_: 1.0)
    with pytest.raises(AssertionError, match=r"leak acquitted|worse than recorded: refuted"):
        held(KNOWN, audits(rows_of([("blind8", "leaks/l36_bisect_median.py")]), tmp_path, "smoke"))
