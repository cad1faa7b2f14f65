"""Records: schema, digest, verdicts that follow from their numbers; pages and other renderings of them."""

import copy
import json
import os
import re
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest
from scipy import stats

import verifiable_dp as vdp
from tests import formats
from tests.user_code import bandits
from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.evidence.regret.table import table
from verifiable_dp.record.differences import first_difference
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import canonical, digest, plain, schema
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
    assert re.search("digest and schema hold", found.summary())


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
    assert "does not bind, in 0 of 3 rows with outliers for first, and in 0 for second" in part
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
