"""Records: schema, digest, verdicts that follow from their numbers; pages and other renderings of them."""

import copy
import itertools
import json
import os
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import msgspec
import numpy as np
import pytest
from scipy import stats

import verifiable_dp as vdp
from tests import formats, small_records
from tests.small_records import refuted, small
from tests.user_code import bandits
from verifiable_dp.cli.shell import require_option
from verifiable_dp.core.files import write_text
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import kinds
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.evidence.regret.table import table
from verifiable_dp.record import passing
from verifiable_dp.record import verify as verification
from verifiable_dp.record.decision import EXIT, WEAK, Decision, decision
from verifiable_dp.record.differences import first_difference
from verifiable_dp.record.forms import _snake, record_schema
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import canonical, digest, plain, schema, text
from verifiable_dp.record.verify import verify
from verifiable_dp.render.page import render, render_index
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report, finish

KINDS = ("algorithm", "baseline", "play", "release", "regret", "table", "refuted algorithm")


def with_table(report):
    """The same regret record with a table: one row for either algorithm, and one for neither."""
    rng = np.random.default_rng(0)
    common = {"kind": "point", "size": 9.0, "gap": 1.6, "equal": 800.0, "resolution": 1.0, "first": 500}
    levels = {"a, far lower": (100.0, 400.0), "b, far lower": (400.0, 100.0), "alike": (300.0, 300.0)}
    rows = [
        table_row(a + rng.random(12), b + rng.random(12), instance=name, contamination=0.01, **common)
        for name, (a, b) in levels.items()
    ]
    rows.append(table_row(np.full(12, 30.0), np.full(9, 40.0), instance="clean", contamination=0.0, **common))
    found = table(
        "theorem beside another",
        rows,
        claim="theorem",
        caption="Made up.",
        algorithms=("first", "second"),
        horizon=1000,
        order=2.0,
    )
    regret = report.record["regret"]
    draft = {**report.record, "regret": {**regret, "checks": [*regret["checks"], found.as_dict()]}}
    return finish(draft, started=0.0, cpu_seconds=0.0)


def make(kind):
    if kind == "algorithm":
        return vdp.audit("tree-sum", budget=0.05)
    if kind == "baseline":
        return vdp.audit("nas", budget=0.05)
    if kind == "play":
        return vdp.audit(bandits.ucb1, epsilon=1.0, n_arms=2, horizon=30, budget="smoke")
    if kind == "release":
        return vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=1200)
    if kind == "regret":
        return vdp.check_regret("nas")
    if kind == "table":
        return with_table(vdp.check_regret("nas"))
    return vdp.audit(vdp.make("tree-sum", epsilon=1.0, horizon=64, budget="log"), budget=0.05, mutants=False)


@pytest.fixture(scope="module")
def reports():
    return {kind: make(kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def report(request, reports):
    return reports[request.param]


def leaves(value, path=()):
    """Paths of all scalars of a JSON value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    else:
        yield path, value


def put(record, path, value):
    changed = copy.deepcopy(record)
    place = changed
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return changed


def other(value):
    """A value of the same type that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value * 1.5 + 0.25
    return "x" if value is None else value + "x"


def saved(record, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_verdicts(reports):
    found = {kind: (r.verdict, r.regret_verdict) for kind, r in reports.items()}
    assert found["algorithm"] == ("not_refuted", None)
    assert found["baseline"] == ("refuted", None)
    assert found["play"] == ("refuted", None)
    assert found["release"] == ("not_refuted", None)
    assert found["regret"] == ("inconclusive", "consistent")
    assert found["table"] == ("inconclusive", "consistent")
    assert found["refuted algorithm"] == ("refuted", None)


def test_a_record_holds(report, tmp_path):
    json_path, html_path = report.save(tmp_path / "new folder", "audit")
    found = verify(json_path)
    assert found.record == report.record
    assert found.checks > 0
    assert Report.load(json_path).verdict == report.verdict
    assert html_path.read_text("utf-8") == report.to_html()
    assert re.search("digest and schema are valid", found.summary())


def test_every_top_level_key_that_is_promised(report):
    promised = (
        "schema_version verdict claim checks epsilon_lower confidence power counterexamples not_covered seed "
        "provenance digest"
    )
    assert set(promised.split()) <= set(report.record)
    for word in ("private", "compliant"):
        assert word not in report.verdict


def test_the_schema_is_strict():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$id"] == "urn:verifiable-dp:record:4"


def test_an_unexpected_or_missing_key_is_refused(report, tmp_path):
    for changed in ({**report.record, "extra": 1}, {k: v for k, v in report.record.items() if k != "power"}):
        changed["digest"] = digest(changed)
        with pytest.raises(InputError, match="record:"):
            verify(saved(changed, tmp_path))


@pytest.mark.parametrize("most", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_every_single_edit_is_found(report, most, tmp_path):
    """Any leaf changed, by its digest; leaves beyond `most` are sampled."""
    every = list(leaves(report.record))
    picked = np.random.default_rng(0).permutation(len(every))[:most]
    assert len(picked)
    for path, value in [every[i] for i in picked]:
        with pytest.raises(InputError, match="record"):
            verify(saved(put(report.record, path, other(value)), tmp_path))


def test_an_edit_with_a_new_digest_is_found_where_it_changes_a_verdict(report, tmp_path):
    """Results, verdicts and bounds that do not follow from the counts beside them."""
    decisive = [
        (path, value)
        for path, value in leaves(report.record)
        if ("result" in path or path[-1] in ("verdict", "epsilon_lower")) and "counterexamples" not in path
    ]
    assert len(decisive) > 2
    for path, value in decisive:
        changed = put(report.record, path, other(value))
        changed["digest"] = digest(changed)
        with pytest.raises(InputError, match="record"):
            verify(saved(changed, tmp_path))


def test_a_flipped_verdict_with_a_new_digest_is_found(reports, tmp_path):
    changed = put(reports["play"].record, ("verdict",), "not_refuted")
    changed["digest"] = digest(changed)
    with pytest.raises(InputError, match="verdict"):
        verify(saved(changed, tmp_path))


def test_checks_without_a_claim_are_refused(reports, tmp_path):
    changed = put(reports["play"].record, ("claim",), None)
    changed["digest"] = digest(changed)
    with pytest.raises(InputError, match="claim must be given"):
        verify(saved(changed, tmp_path))


def test_a_better_count_with_a_new_digest_changes_the_result(reports, tmp_path):
    record = reports["release"].record
    place = ("checks", 0, "statistics", "k1")
    changed = put(record, place, record["checks"][0]["statistics"]["k1"] // 2)
    changed["digest"] = digest(changed)
    with pytest.raises(InputError, match=r"checks\.0\.result"):
        verify(saved(changed, tmp_path))


def test_a_table_stands_beside_the_checks_and_decides_nothing(reports):
    before, after = reports["regret"].record["regret"], reports["table"].record["regret"]
    assert "tables" not in before
    assert after["checks"] == before["checks"]
    assert after["verdict"] == before["verdict"]
    (found,) = after["tables"]
    assert [row["wins"] for row in found["result"]["rows"]] == ["first", "second", "neither", "first"]
    assert found["result"]["intervals"] == 12
    assert "first wins 2, second wins 1 of 4 rows" in reports["table"].summary()


def test_intervals_of_a_table_are_students_and_welchs(reports):
    (found,) = reports["table"].record["regret"]["tables"]
    level = 1 - 0.01 / 12
    assert found["result"]["level"] == pytest.approx(level)
    row, result = found["statistics"]["rows"][0], found["result"]["rows"][0]
    numbers = [row[key] for key in ("mean_a", "sd_a", "n_a", "mean_b", "sd_b", "n_b")]
    a, b = (stats.t.interval(level, n - 1, mean, sd / n**0.5) for mean, sd, n in (numbers[:3], numbers[3:]))
    assert [result["lower_a"], result["upper_a"]] == pytest.approx(a)
    assert [result["lower_b"], result["upper_b"]] == pytest.approx(b)
    rng = np.random.default_rng(0)
    welch = stats.ttest_ind(100 + rng.random(12), 400 + rng.random(12), equal_var=False)
    interval = welch.confidence_interval(level)
    assert [result["lower"], result["upper"]] == pytest.approx([interval.low, interval.high])
    assert result["floor"] == pytest.approx(1000 * 0.1)
    assert result["floors_a"] == pytest.approx(row["mean_a"] / 100)
    assert found["result"]["rows"][3]["floors_a"] is None


def test_a_winner_that_contradicts_its_numbers_is_refused(reports, tmp_path):
    """Negative control: the untouched table holds, a made-up winner or an emptied table does not."""
    record = reports["table"].record
    verify(saved(record, tmp_path))
    place = ("regret", "tables", 0)
    result = (*place, "result", "rows", 2, "wins")
    mean = (*place, "statistics", "rows", 0, "mean_a")
    fewer = copy.deepcopy(record)
    for part in ("statistics", "result"):
        del fewer["regret"]["tables"][0][part]["rows"][2]
    for changed in (put(record, result, "first"), put(record, mean, 500.0), fewer):
        changed["digest"] = digest(changed)
        with pytest.raises(InputError, match=r"regret\.tables\.0\.result"):
            verify(saved(changed, tmp_path))


def test_the_page_shows_the_table_and_what_its_rows_say(reports):
    page = reports["table"].to_html()
    part = page[page.index("theorem beside another") : page.index("<h2>Not covered")]
    assert "Made up." in part
    assert part.count('<th scope="row">') == 4
    assert "Of 4 rows, first has the smaller clean regret in 2 and second in 1." in part
    assert "first has the smaller regret on all of a, far lower, all of clean." in part
    assert "This bound exceeds the regret in 0 of 3 rows with outliers for first, and in 0 for second" in part
    assert "<caption>" in part
    assert 'class="scroll"' in part
    assert "theorem beside another" not in reports["regret"].to_html()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"a": NaN}',
        '{"a": Infinity}',
        "[" * 100_000,
        '{"a": ' * 100 + "1" + "}" * 100,
        '{"schema_version": "9.0.0"}',
        "\ufeff{}",
    ],
)
def test_a_corrupted_record_is_refused_in_one_line(text, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="record") as error:
        verify(path)
    assert "\n" not in str(error.value)


def test_a_record_that_is_no_text_or_no_file_is_refused(tmp_path):
    (tmp_path / "record.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "record.json", tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="record"):
            verify(path)


def test_the_digest_ignores_the_order_of_keys(report):
    turned = dict(reversed(list(report.record.items())))
    assert digest(turned) == report.record["digest"]
    assert canonical(json.loads(report.to_json())) == canonical(report.record)


def test_what_json_does_not_know():
    assert plain(
        {"a": np.float64("inf"), "b": np.int64(3), "c": (np.bool_(True), np.array([1.0, np.nan]))}
    ) == {
        "a": "inf",
        "b": 3,
        "c": [True, [1.0, "nan"]],
    }


def test_the_first_difference_is_named():
    assert first_difference({"a": [1, 2]}, {"a": [1, 3]}) == "a.1 is 2, and comes out as 3"
    assert first_difference({"a": 1}, {}) == "a is unexpected"
    assert first_difference({"a": 1}, {"a": 1.0}) != ""
    assert first_difference({"a": [1]}, {"a": [1, 2]}) != ""
    assert first_difference({"a": 1.0}, {"a": 1.00001}) != ""
    assert first_difference({"a": 10**9}, {"a": 10**9 + 1}) != ""
    # Another version of a library: the last digits of a quantile.
    assert first_difference({"a": 0.018275340355148807}, {"a": 0.01827534035513624}) == ""
    assert first_difference({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == ""


# ---------------------------------------------------------------- files


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = write_text(tmp_path / "a.txt", "old")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(InputError, match="No space left"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_unwritable_place_is_refused(report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        report.save(tmp_path / "file" / "below")
    with pytest.raises(InputError, match="path"):
        write_text(tmp_path / "none" / "a.txt", "")
    with pytest.raises(InputError, match="path"):
        write_text(tmp_path, "")


# ---------------------------------------------------------------- renderings


def test_the_page_is_self_contained(report):
    page = report.to_html()
    assert page == report.to_html()
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    assert "@import" not in page
    assert not re.search(r"url\((?!#|'#|\"#|data:)", page)
    assert report.record["digest"] in page
    assert report.verdict in page or report.regret_verdict in page


def test_the_page_is_well_formed(report):
    page = report.to_html()
    body = re.sub(r"<!doctype html>", "", page, flags=re.IGNORECASE)
    body = re.sub(r"<(meta|link|br|hr|img|col|input)\b([^>]*?)/?>", r"<\1\2/>", body)
    body = body.replace("&nbsp;", " ").replace("&middot;", " ")
    ET.fromstring(body)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))


def test_the_page_never_says_more_than_the_audit(report):
    page = re.sub(r"<(style|svg).*?</\1>", "", report.to_html(), flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", page).lower()
    assert "compliant" not in text
    assert not re.search(r"\bis (differentially )?private\b", text)


def test_what_a_user_names_is_escaped(reports):
    record = copy.deepcopy(dict(reports["play"].record))
    record["target"]["name"] = "<b>x</b><script>alert(1)</script>"
    record["target"]["note"] = '"><img src=x onerror=alert(1)>'
    page = render(Record.of(record))
    assert "&lt;script&gt;alert" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<script>alert" not in render_index([Record.of(one) for one in [record]], ["a/record.html"])


def test_the_index_links_every_record(reports):
    records = [r.record for r in reports.values()]
    links = [f"{i}/record.html" for i in range(len(records))]
    page = render_index([Record.of(one) for one in records], links)
    assert len(links) > 1
    assert all(f'href="{link}"' in page for link in links)


def test_every_rendering_holds_to_its_schema(report):
    formats.of_record(report.record)


def test_sarif_names_the_finding_and_its_place(reports):
    log = formats.sarif(to_sarif(Record.of(reports["play"].record)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [found["ruleId"] for found in run["results"]]
    assert rules == sorted(rules)  # counterexamples, one for each rung that refutes, then the lines
    assert set(rules) <= {"DP100", "DP101"}
    result = run["results"][0]
    assert result["ruleId"] == "DP100"
    assert result["level"] == "error"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"].endswith("bandits.py")
    assert location["region"]["startLine"] > 1
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {result["ruleId"]}


def test_sarif_of_a_kept_promise_has_no_findings(reports):
    for kind in ("algorithm", "release", "regret"):
        assert formats.sarif(to_sarif(Record.of(reports[kind].record)))["runs"][0]["results"] == []


# The power that a record states must be that of a check, or of a variant that was tried.


def by_alignment(
    largest=1.0, smallest=1.0 * (1 + verification.TOLERANCE), visible=True, verdict="not_refuted"
):
    check = SimpleNamespace(statistics={"visible": visible, "max_cost": 1.0}, verdict=verdict)
    power = SimpleNamespace(by="alignment", largest=largest, smallest_epsilon=smallest, black_box=None)
    return SimpleNamespace(power=power, claim=SimpleNamespace(epsilon=1.0), of_kind=lambda kind: [check])


def by_test(smallest=2.0, probability=0.75, row=(0.5, 2.0, 0.75), stated=None, **power):
    box = SimpleNamespace(noise_divided_by=0.5, smallest_epsilon=2.0, probability=0.75, tried=[row])
    said = {"by": "black_box", "smallest_epsilon": smallest, "probability": probability} | power
    found = SimpleNamespace(**said, black_box=box, variant=SimpleNamespace(stated=stated))
    return SimpleNamespace(power=found, claim=SimpleNamespace(epsilon=1.0))


@pytest.mark.parametrize(
    "record",
    [
        by_alignment(),
        by_test(),
        by_test(row=(0.5, "nan", 0.75)),
        by_test(row=(0.5, 2.0, "0.9")),
        by_test(smallest=3.0, probability=0.1, stated="event"),  # that of the event is stated then
        by_test(by="exact", smallest=3.0),
        SimpleNamespace(power=None, claim=SimpleNamespace(epsilon=1.0)),
        SimpleNamespace(power=by_test(smallest=3.0).power, claim=None),
    ],
)
def test_a_power_that_is_that_of_its_check(record):
    verification._powered(record)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (by_alignment(largest=2.0), "must agree with alignment"),
        (by_alignment(smallest=1.01), "must agree with alignment"),
        (by_alignment(visible=False), "must agree with alignment"),
        (by_alignment(verdict="refuted"), "must agree with alignment"),
        (by_test(row=(0.25, 2.0, 0.75)), "must belong to a variant that was tried"),
        (by_test(row=(0.5, 3.0, 0.75)), "must belong to a variant that was tried"),
        (by_test(row=(0.5, 2.0, 0.74)), "must belong to a variant that was tried"),
        (by_test(smallest=3.0), "power must agree with power.black_box"),
        (by_test(probability=0.8), "power must agree with power.black_box"),
    ],
)
def test_a_power_that_is_of_nothing_is_refused(record, words):
    with pytest.raises(InputError, match=words):
        verification._powered(record)


# Forms of checks and pairs are told apart by their names: each is held against that of its own kind.


PLAIN = jsonschema.Draft202012Validator(schema())


def places(value, path=()):
    """Every place in a value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def edited(record, rng):
    """The record with a value of a check, pair or mutant gone, or that of another place."""
    found = copy.deepcopy(record)
    known = [path for path in places(found) if path[0] in ("checks", "counterexamples", "mutants")]
    *to, key = rng.choice([path for path in known if len(path) > 2 and isinstance(path[-1], str)])
    place = found
    for step in to:
        place = place[step]
    place[key] = rng.choice(["alignment", "black_box", "table", 7, None, {}])
    if rng.random() < 0.3:
        del place[key]
    return found


def plainly(record):
    """The first error of the plain validator, as `validate` words it."""
    errors = sorted(PLAIN.iter_errors(record), key=lambda error: list(map(str, error.absolute_path)))
    if not errors:
        return ""
    place = ".".join(map(str, errors[0].absolute_path))
    return f"record: the JSON does not fit the schema: {place}: {' '.join(errors[0].message.split())[:200]}"


@pytest.mark.parametrize("edits", [4, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("made", [small, refuted])
def test_what_does_not_fit_is_named_by_its_first_place(made, edits):
    """Records that fit and records that do not are both among those edited."""
    record, rng, found = made(), random.Random(0), set()
    for _ in range(edits):
        wrong = edited(record, rng)
        try:
            verification.validate(wrong)
            said = ""
        except InputError as error:
            said = str(error)
        assert said == plainly(wrong)
        found.add(bool(said))
    assert found == {True, False}


def of_another(record, part, key, value):
    """The record whose first check, or counterexample's pair, says that it is of another kind."""
    found = copy.deepcopy(record)
    place = found[part][0] if part == "checks" else found[part][0]["pair"]
    place[key] = value
    return found


@pytest.mark.parametrize(
    ("part", "key", "other"), [("checks", "kind", "curve"), ("counterexamples", "type", "user")]
)
def test_what_is_held_is_the_form_of_its_own_kind(part, key, other):
    """Negative control: the same values of their own kind fit."""
    record = refuted()
    verification.validate(record)
    for wrong in (other, "Not a name", None):
        with pytest.raises(InputError, match=rf"does not fit the schema: {part}\.0\."):
            verification.validate(of_another(record, part, key, wrong))


def test_a_kind_of_another_package_needs_a_verdict_only():
    record = of_another(refuted(), "checks", "kind", "kind_of_mine")
    record["checks"][0]["statistics"] = {"anything": [1, 2]}
    verification.validate(record)
    record["checks"][0]["result"] = {"verdict": "perhaps"}
    with pytest.raises(InputError, match=r"checks\.0\.result\.verdict: 'perhaps' is not one of"):
        verification.validate(record)


# One decision: its edges, and what each rendering makes of it is in `render/test_agreement`.


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
    assert found.exit_code == (1 if failed else 0 if held else 3)
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
    assert one.short_of(require) == ("" if found >= asked else passing.REQUIRED[found])
    # The request of the record requires it, too.
    asks = replace(one, require=require)
    assert (asks.result, asks.colour, asks.exit_code, bool(asks.short)) == (
        ("passed", "not_refuted", 0, False) if found >= asked else ("undecided", "inconclusive", 3, True)
    )


@pytest.mark.parametrize("require", passing.REQUIRED)
def test_what_is_undecided_rests_on_nothing_and_what_is_refuted_falls_short_of_nothing(require):
    for privacy, regret in itertools.product(PRIVACY, REGRET):
        found = replace(HELD, privacy=privacy, regret=regret, ground=None)
        open_one = privacy == "inconclusive" and require != passing.REQUIRED[0]
        assert found.short_of(require) == ("nothing" if open_one else "")
        assert replace(found, require=require).exit_code == found.exit_code


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


# The record as a type: what is read comes out again, and types and schema refuse the same.


REPORTS = Path(__file__).parents[3] / "reports"
COMMITTED = sorted(REPORTS.glob("*/record.json"))
MADE = (small_records.small, small_records.refuted)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_a_committed_record_comes_out_as_it_was_read(path):
    """To the byte: a digest over what was parsed is that of the file."""
    content = path.read_text("utf-8")
    assert text(Record.of(json.loads(content)).as_dict()) == content


@pytest.mark.parametrize("make", MADE)
def test_a_record_is_frozen_and_reads_itself(make):
    record = Record.of(make())
    assert Record.of(record) is record
    with pytest.raises(AttributeError):
        record.verdict = "not_refuted"
    assert record.as_dict() == make()


def test_the_committed_schema_is_that_of_the_types():
    """`make schema` writes it."""
    assert schema() == record_schema()


def places_of_model(value, path=()):
    """Every place of an object in a record, but in what a kind of check or a target says itself."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("statistics", "result", "parameters", "declarations", "pair", "values", "looks_at"):
            continue
        if isinstance(item, dict | list):
            yield (*path, key)
            yield from places_of_model(item, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("make", MADE)
def test_types_and_schema_refuse_the_same(make):
    """A value too many at each place, and each value gone that must be there.

    Negative control: the record itself is refused by neither.
    """
    checked = jsonschema.Draft202012Validator(schema())
    assert checked.is_valid(make())
    tried = 0
    for path in [(), *places_of_model(make())]:
        place = at(make(), path)
        if not isinstance(place, dict) or path == ("provenance", "packages"):
            continue
        for key in (None, *place):
            wrong = make()
            held = at(wrong, path)
            if key is None:
                held["added"] = 1
            else:
                del held[key]
            fits = checked.is_valid(wrong)
            try:
                parsed = Record.of(wrong)
            except InputError:
                assert not fits, (path, key)
            else:
                # What only some forms of an entry have, and more in a check, the schema alone tells.
                assert fits or key in at(make(), path) or "checks" in path, (path, key)
                if "checks" in path:
                    continue
                assert parsed.as_dict() == wrong
            tried += 1
    assert tried > 100


def test_every_struct_is_frozen_and_strict():
    """An entry that takes unknown values would lose them on its way to a page."""
    from verifiable_dp.record import model, provenance_entries

    entries = {**vars(model), **vars(provenance_entries)}.values()
    structs = [one for one in entries if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    assert len(structs) > 30
    for one in structs:
        assert one.__struct_config__.frozen, one
        assert one.__struct_config__.forbid_unknown_fields, one


def least(form):
    """The least value that a schema describes, with every field that may be there."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        if name == "pair":  # its forms are written by hand
            return small_records.refuted()["counterexamples"][0]["pair"]
        return least(schema()["$defs"][name])
    if "const" in form or "enum" in form:
        return form["const"] if "const" in form else form["enum"][0]
    if "anyOf" in form:
        return least(next(one for one in form["anyOf"] if one != {"type": "null"}))
    if form["type"] == "object":
        left_out = [one["required"][0] for one in form.get("oneOf", ())[1:] if "required" in one]
        known = form.get("properties", {})
        return {name: least(value) for name, value in known.items() if name not in left_out}
    if form["type"] == "array":
        if form.get("uniqueItems"):
            return ["a", "b"]
        items = form["prefixItems"] if "prefixItems" in form else [form.get("items", {"type": "number"})]
        return [least(item) for item in items]
    number = 0.5 + form.get("exclusiveMinimum", 0)
    return {"string": "a", "boolean": True, "integer": 2, "number": number}[form["type"]]


ODD = (
    None,
    True,
    False,
    -1,
    0,
    0.5,
    2,
    1.5,
    "",
    "x",
    "not_refuted",
    "inf",
    "nan",
    [],
    ["x"],
    [[0.5]],
    {},
    {"x": 1},
)


def every_place(value, path=()):
    """Every place of a value, objects and numbers, but within neighbouring inputs."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("pair", "adversary") and isinstance(item, dict):
            continue
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from every_place(item, (*path, key))


def spoiled(value):
    """What is almost `value`: without a field, with one more, with another value somewhere."""
    for path in [(), *every_place(value)]:
        for odd in ODD:
            other = copy.deepcopy(value)
            held = at(other, path)
            if isinstance(held, dict):
                held["added"] = odd
                yield other
            if path:
                other = copy.deepcopy(value)
                at(other, path[:-1])[path[-1]] = odd
                yield other
        if path:
            other = copy.deepcopy(value)
            del at(other, path[:-1])[path[-1]]
            yield other


FORMS = {form.__name__: form for kind in kinds() for form in (kind.statistics, kind.result) if form}


@pytest.mark.parametrize("name", FORMS)
def test_a_kind_and_the_schema_refuse_the_same_numbers(name):
    """The negative control is in it: some of what is almost right is right."""
    form = {"$ref": f"#/$defs/{_snake(name)}"}
    checked = jsonschema.Draft202012Validator({**form, "$defs": schema()["$defs"]})
    right = least(form)
    assert FORMS[name].of(right) is not None
    said = {True: 0, False: 0}
    for value in [right, *spoiled(right)]:
        fits = checked.is_valid(value)
        said[fits] += 1
        try:
            FORMS[name].of(value)
        except msgspec.ValidationError:
            assert not fits, value
        else:
            assert fits, value
    assert said[True] > 1
    assert said[False] > 15


@pytest.mark.parametrize("make", MADE)
def test_a_record_whose_check_does_not_hold_what_its_kind_says_is_refused(make):
    for place in ("statistics", "result"):
        wrong = make()
        wrong["checks"][0][place]["added"] = 1
        with pytest.raises(InputError, match=f"{place}: .*`added`"):
            Record.of(wrong)


def test_every_kind_of_ours_has_its_form():
    """Kinds that a record can hold describe their statistics and their result."""
    held = [kind for kind in kinds() if kind.about != "number"]
    assert len(held) > 15
    for kind in held:
        assert kind.statistics, kind.name
        assert kind.result, kind.name


@pytest.mark.parametrize(
    ("changes", "ours"),
    [
        ({}, True),
        ({"kind": "mechanism"}, False),  # code of a user's that has the name and the paper
        ({"paper": ""}, False),
        ({"name": "of another package"}, False),
    ],
)
def test_whose_auditor_made_a_record(changes, ours):
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    target = Record.of(record).target
    assert msgspec.structs.replace(target, **changes).ours is ours


def test_a_bound_on_calls_for_one_run_is_not_on_every_path():
    """Where runs of larger calls depend on each other. Control: where they are alike, or there are none."""
    grounds = {}
    for release in (reported_alone, reported):
        report = vdp.audit(release, epsilon=1.0, budget="smoke")
        assert report.verdict == "not_refuted"
        assert report.record["epsilon_upper"]["scope"] == "every path"
        grounds[release.__name__] = decision(Record.of(report.record)).ground
    assert grounds == {"reported_alone": "n paths", "reported": "every path"}


def reported(data, size, rng):
    return data + rng.laplace(0, 2.0, size)


def reported_alone(data, size, rng):
    if 3 < size < 60:
        return data + rng.laplace(0, 2.0) + np.zeros(size)
    return data + rng.laplace(0, 2.0, size)
