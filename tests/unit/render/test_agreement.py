"""One decision wherever a record is shown: verdict and strength follow from the record alone."""

import html
import json
import re
import shutil
import xml.etree.ElementTree as ET

import pytest

from tests.committed import NAMES, REPORTS, SIX, each, without_plots
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.run import put_kill_table, save_kill_table
from verifiable_dp.compliance.blocks import to_compliance
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import kills
from verifiable_dp.record.decision import WEAK as WEAK_AT
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.requests import RequestEntry, requiring
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import examine, verify
from verifiable_dp.render import renderings, sidecars, strength, summary_card
from verifiable_dp.render.annotations import to_github
from verifiable_dp.render.diff import compare
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import to_dpia, to_markdown
from verifiable_dp.render.opendp_registry import to_opendp
from verifiable_dp.render.page import render, render_index, render_pack
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

WEAK = ("dp-exponential-nas", "dp-nas", "dp-robust-elimination")


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


@pytest.fixture
def table():
    return json.loads((REPORTS / "mutants.json").read_text("utf-8"))


def read(page):
    text = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


def said(record):
    """(verdict, strength) of a record, as each rendering tells them."""
    page, pack = render(Record.of(record), drawn=False), render_pack(Record.of(record))
    document, annex = (
        html.unescape(to(Record.of(record)).replace("\\", "")) for to in (to_markdown, to_dpia)
    )
    (run,) = json.loads(to_sarif(Record.of(record)))["runs"]
    statement = json.loads(to_intoto(Record.of(record)))["predicate"]["configuration"][0]["annotations"]
    suite = {
        p.get("name"): p.get("value") for p in ET.fromstring(to_junit(Record.of(record))).iter("property")
    }
    row = read(re.search(r"<tbody>.*?</tr>", render_index([Record.of(record)], ["x.html"]), re.DOTALL)[0])
    headline = summary_card.headline(Record.of(record))
    for shown in (page, pack):
        (banner,) = re.findall(r'<div class="banner.*?<strong>(.*?)</strong>', shown, re.DOTALL)
        assert html.unescape(re.sub("<.*?>", "", banner)) == headline
    assert f"**{headline}.**" in document
    assert statement["headline"] == headline
    measured = strength.strength(Record.of(record))
    refuted, silent = record["verdict"] == "refuted", record["target"]["role"] == "baseline"
    commands = to_github(Record.of(record))
    assert (" title=DP100::" in commands or ",title=DP100::" in commands) == (refuted and not silent)
    assert json.loads(to_compliance(Record.of(record)))["summary"]["verdict"] == record["verdict"]
    if not silent:
        assert ("The audit REFUTES" in to_opendp(Record.of(record))) == refuted
    label = "" if measured.state == "none" else f"{measured.state.capitalize()}. "
    strong = f"{label}{measured.words}"
    # Its own words only: the page and its kin show them, with the state before them.
    for shown in (read(page), read(pack), document, annex):
        assert strong in shown
    colours = [re.search(r'<div class="banner ([\w-]+)', shown)[1] for shown in (page, pack)]
    weak = record["verdict"] == "not_refuted" and measured.state == "weak"
    baseline = "baseline" in row
    expected = "inconclusive" if weak or baseline else record["verdict"]
    assert colours == [expected] * 2
    shown = [state for state in ("strong", "weak") if f" {state} " in row]
    assert shown == ([] if measured.state == "none" else [measured.state])
    return {
        (record["verdict"], measured.state),
        (run["properties"]["verdict"], run["properties"]["strength"]),
        (statement["verdict"], statement["strength"]),
        (suite["verdict"], suite["strength"]),
    }


RESULTS = {"passed": "PASSED", "undecided": "WARNED", "failed": "FAILED"}


BY_DAY = (*SIX, "dp-robust-elimination")


@pytest.mark.parametrize("name", each(by_day=BY_DAY))
def test_every_rendering_tells_one_verdict_and_one_strength(name):
    assert len(said(load(name))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_machines_read_follows_from_verdict_and_strength(name):
    record = load(name)
    state = strength.strength(Record.of(record)).state
    assert (state == "weak") == (name in WEAK)
    expected = "failed" if record["verdict"] == "refuted" else "undecided" if state == "weak" else "passed"
    assert decision(Record.of(record)).result == expected
    assert json.loads(to_intoto(Record.of(record)))["predicate"]["result"] == RESULTS[expected]
    assert decision(Record.of(record)).exit_code == {"failed": 1, "undecided": 0, "passed": 0}[expected]
    (run,) = json.loads(to_sarif(Record.of(record)))["runs"]
    rules = {result["ruleId"] for result in run["results"]}
    assert ("DP100" in rules, "DP302" in rules) == (expected == "failed", state == "weak")
    failures = ET.fromstring(to_junit(Record.of(record))).findall(".//failure")
    skipped = [
        case.get("name")
        for case in ET.fromstring(to_junit(Record.of(record))).iter("testcase")
        if case[0].tag == "skipped"
    ]
    assert (bool(failures), "strength" in skipped) == (expected == "failed", state == "weak")


def caught_from(times):
    """A record whose tests catch a leak of so many times the claim."""
    record = load("dp-se")
    return record | {"power": record["power"] | {"smallest_epsilon": times * record["claim"]["epsilon"]}}


UNDECIDED = {"verdict": "inconclusive", "reason": "weak"}
BORDERS = {
    "as weak as is strong": (lambda: caught_from(WEAK_AT), "passed", "strong"),
    "a little weaker": (lambda: caught_from(WEAK_AT * (1 + 1e-9)), "undecided", "weak"),
    "undecided, whatever its strength": (lambda: load("dp-se") | UNDECIDED, "undecided", "strong"),
}


@pytest.mark.parametrize("name", BORDERS)
def test_what_is_shown_of_a_record_at_a_border_agrees_too(name):
    made, result, strength = BORDERS[name]
    assert len(said(made())) == 1
    found = decision(Record.of(made()))
    assert (found.result, found.strength) == (result, strength)


def test_a_statement_on_regret_alone_does_not_pass():
    """A policy that reads only the result took a bandit without noise for private. Control: with privacy."""
    whole = load("dp-se")
    alone = {**whole, "checks": [], "verdict": "inconclusive", "power": None, "mutants": []}
    for record, result in ((whole, "PASSED"), (alone, "WARNED")):
        one = Record.of({**record, "declarations": {"expires": "2099-01-01"}})
        assert decision(one).result == "passed"
        said = json.loads(to_intoto(one))["predicate"]
        assert said["result"] == result
        assert ("privacy: not audited" in said["warnedTests"]) == (result == "WARNED")
        assert said["configuration"][0]["annotations"]["expires"] == "2099-01-01"


def test_less_evidence_than_the_request_requires_is_green_nowhere():
    """Its audit exits with 3; in-toto said PASSED, JUnit and SARIF said nothing, and the page was green."""
    record = load("dp-se")
    bare = {**record, "checks": [c for c in record["checks"] if c["kind"] != "upper_bound"]}
    asked = RequestEntry.of(record["provenance"]["request"])
    for whole, require, rule in (
        (record, "certified", None),
        (bare, "detectable", None),
        (bare, "tested-paths", "DP304"),
    ):
        request = requiring(asked, require).as_dict()
        one = Record.of({**whole, "provenance": {**whole["provenance"], "request": request}})
        said = "; but the evidence is only detectable, and tested-paths is required"
        short = rule is not None
        assert decision(one).exit_code == (3 if short else 0)
        statement = json.loads(to_intoto(one))["predicate"]
        assert statement["result"] == ("WARNED" if short else "PASSED")
        results = json.loads(to_sarif(one))["runs"][0]["results"]
        assert [each["ruleId"] for each in results] == [rule][:short]
        cases = {case.get("name"): case[0].tag for case in ET.fromstring(to_junit(one)).iter("testcase")}
        shown = {"detectable": None, "certified": "system-out", "tested-paths": "skipped"}
        assert cases.get("evidence") == shown[require]
        for page in (render(one, drawn=False), render_pack(one)):
            assert (said in html.unescape(page)) == short
            colour = re.search(r'<div class="banner ([\w-]+)', page)[1]
            assert colour == ("inconclusive" if short else "not_refuted")
        assert (said in to_markdown(one)) == short
        assert ("is required" in to_github(one)) == short


@pytest.mark.parametrize("regret", ["inconclusive", "vacuous"])
def test_a_claim_about_regret_that_is_open_is_green_nowhere(regret):
    """Beside privacy, too: the exit status and the sentence say so. Control: one that is consistent."""
    for verdict in (regret, "consistent"):
        record = load("dp-se")
        record["regret"] = {**record["regret"], "verdict": verdict}
        one, is_open = Record.of(record), verdict == regret
        assert decision(one).exit_code == campaign.exit_status([Report(record)]) == 3 * is_open
        assert decision(one).result == ("undecided" if is_open else "passed")
        said = "; but a claim on regret is undecided"
        for page in (render(one, drawn=False), render_pack(one)):
            assert (said in html.unescape(page)) == is_open
            colour = re.search(r'<div class="banner ([\w-]+)', page)[1]
            assert colour == ("inconclusive" if is_open else "not_refuted")
        assert campaign.verdict(Report(record)) == "not_refuted" + f", regret {regret}" * is_open


RENDERINGS = (
    *("render", "render_pack", "render_index", "to_markdown", "to_dpia", "to_sarif", "to_intoto", "to_junit"),
    *("to_compliance", "to_opendp", "to_github"),
)


@pytest.mark.parametrize("broken", RENDERINGS)
def test_a_rendering_that_tells_of_another_verdict_does_not_agree(broken, monkeypatch):
    """Each of them in turn shows a twin of the record that is refuted: what is above has to notice it."""
    record, make = load("dp-se"), globals()[broken]
    twin = Record.of(record | {"verdict": "refuted"})

    def of_the_twin(given, *more, **named):
        return make([twin] if isinstance(given, list) else twin, *more, **named)

    assert len(said(record)) == 1
    monkeypatch.setitem(globals(), broken, of_the_twin)
    try:
        agreed = len(said(record)) == 1
    except AssertionError:
        agreed = False
    assert not agreed


# ---------------------------------------------------------------- alone and in its folder


@pytest.mark.parametrize("name", each(by_day=BY_DAY))
def test_a_record_says_alone_what_it_says_in_its_folder(name, tmp_path, monkeypatch):
    """The page in the folder has links to what lies there, and nothing else that differs."""
    without_plots(monkeypatch)
    there, alone = REPORTS / name / "record.json", tmp_path / "record.json"
    shutil.copy(there, alone)
    for to in ("html", "markdown", "pack", "dpia", "junit", "sarif", "in-toto", "compliance"):
        assert renderings.render(there, to) == renderings.render(alone, to), to
    pages = [
        render(
            Record.of(load(name)),
            drawn=False,
            around=sidecars.of(path, Record.of(load(name)), path.with_suffix(".html")),
        )
        for path in (there, alone)
    ]
    assert 'class="links"' in pages[0]
    links = r'<p class="links">.*?</p>| \(see <a href="[^"#]*">the corrected variant</a>[^)]*\)'
    if 'href="#regret"' not in pages[1]:  # a study in the folder may have measured regret
        links += r'|<li><a href="#regret">Regret</a></li>|<section id="regret".*?</section>\s*'
    assert re.sub(links, "", pages[0], flags=re.DOTALL).split() == pages[1].split()


@pytest.mark.parametrize("name", NAMES)
def test_a_record_holds_what_the_kill_table_beside_it_says(name, table):
    record = load(name)
    told = kills.of_table(table, Record.of(record))
    assert record["kill_table"] == (told and told.as_dict())
    rows = [row for row in table["mutants"] if row["algorithm"] == record["target"]["name"]]
    found = record["kill_table"]
    if found is None:
        assert not rows or name.endswith("-printed")
        return
    assert found["digest"] == table["digest"]
    assert sum(found["caught"].values()) + len(found["others"]) == len(rows)
    assert sum(found["caught"].values()) == sum(row["outcome"] == "killed" for row in rows)


def test_a_kill_table_says_nothing_of_another_promise_or_a_printed_listing(table):
    """Control: of this promise it does."""
    record = load("dp-robust-elimination")
    bare = Report(sealed(record | {"kill_table": None}))
    told = bare.with_kill_table(table)
    assert strength.strength(Record.of(bare.record)).state == "strong"
    assert strength.strength(Record.of(told.record)).state == "weak"
    assert told.record == record
    examine(told.record)
    other = Report(sealed(record | {"kill_table": None, "claim": record["claim"] | {"epsilon": 2.0}}))
    assert other.with_kill_table(table) is other
    printed = Report(load("dp-robust-elimination-printed"))
    assert printed.with_kill_table(table) is printed


def test_a_table_goes_into_the_records_of_a_folder(table, tmp_path, monkeypatch):
    """They are sealed anew and nothing else of them changes; a second time there is nothing to do."""
    without_plots(monkeypatch)
    names = ("dp-robust-elimination", "ucb1")
    for name in names:
        bare = Report(sealed(load(name) | {"kill_table": None}))
        bare.save(tmp_path / name)
    assert save_kill_table(table, tmp_path) == ["dp-robust-elimination"]
    for name in names:
        path = tmp_path / name / "record.json"
        assert verify(path).record == load(name)
        expected = render(
            Record.of(load(name)), around=sidecars.of(path, Record.of(load(name)), path.with_suffix(".html"))
        )
        assert path.with_suffix(".html").read_text("utf-8") == expected
    assert "1 missed" in (tmp_path / "index.html").read_text("utf-8")
    assert save_kill_table(table, tmp_path) == []
    assert put_kill_table(table, tmp_path, {"x": Report(load("ucb1"))}) == {}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("digest", "sha256:1"),
        ("caught", {"auditor": 1}),
        ("caught", {"auditor": -1, "operators": 0}),
        ("others", [{}]),
    ],
)
def test_what_a_kill_table_says_has_a_form(place, value):
    record = load("dp-se")
    examine(record)  # control
    record["kill_table"] = record["kill_table"] | {place: value}
    with pytest.raises(InputError, match="kill_table"):
        examine(sealed({key: item for key, item in record.items() if key != "digest"}))


def test_a_difference_names_a_mutant_that_passes_now_and_a_weak_audit():
    """Control: the other way round it is better."""
    new = load("dp-robust-elimination")
    rows = [row for row in new["kill_table"]["others"] if row["outcome"] != "survived"]
    old = new | {"kill_table": new["kill_table"] | {"others": rows}}
    lines = compare(Record.of(old), Record.of(new)).lines()
    assert compare(Record.of(old), Record.of(new)).outcome == "worse"
    assert "  worse: strength: strong -> weak" in lines
    assert "  worse: kill_table.last reward not truncated: not among the missed -> missed" in lines
    assert compare(Record.of(new), Record.of(old)).outcome == "better"


def test_a_report_takes_the_table_of_its_folder(table, tmp_path):
    """Control: one that does not hold says nothing, and is named."""
    told = []
    for seed, found in ((table["seed"], "weak"), (table["seed"] + 1, "strong")):
        folder = tmp_path / str(seed)
        Report(sealed(load("dp-robust-elimination") | {"kill_table": None})).save(
            folder / "dp-robust-elimination"
        )
        (folder / "mutants.json").write_text(json.dumps(table | {"seed": seed}), "utf-8")
        reports = {"dp-robust-elimination": Report.load(folder / "dp-robust-elimination" / "record.json")}
        reports |= campaign._with_table_of(folder, reports)
        assert strength.strength(Record.of(reports["dp-robust-elimination"].record)).state == found
        campaign.write_index(folder, reports, told.append)
    assert len(told) == 1
    assert "mutants.json" in told[0]
