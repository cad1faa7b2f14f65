"""Renderings of real records, and of hostile ones: Markdown, JUnit, in-toto, OpenDP, SARIF, PDF."""

import base64
import contextlib
import copy
import hashlib
import html
import json
import os
import re
import sys
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from markdown_it import MarkdownIt

from tests import formats
from tests.committed import NAMES, REPORTS, each
from verifiable_dp.compliance import blocks
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.regret.floors import floor_row, floors
from verifiable_dp.evidence.regret.price import prices
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import digest, text
from verifiable_dp.record.verify import verify
from verifiable_dp.render import page, pdf, renderings, summary_card
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import escape, to_dpia, to_markdown
from verifiable_dp.render.opendp_registry import to_opendp
from verifiable_dp.render.outcomes import outcomes
from verifiable_dp.render.pdf import to_pdf
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import finish

HOSTILE = (
    "</td><script>alert(1)</script><img src=http://127.0.0.1:9/x>]]>\n\n# head\n\n| a | b |\n- x\n\r```\n"
    "**b** _i_ ~~s~~ `c` [l](https://evil.example) ![i](x) &lt; & \"q\" 'q' \\| $x$ --- "
    "\u202e\x00\x1b[31m\x7f"
)


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


@pytest.fixture(params=each())
def record(request):
    return load(request.param)


DECLARED = {
    "unprotected_outputs": ["server logs", HOSTILE[:1900]],
    "deployment": {
        "description": "orders articles",
        "model": "central",
        "release_type": "continual release",
        "data_source": "dynamic",
    },
    "actors": [{"role": "curator", "trusted": True, "assumption": "runs the code unmodified"}],
    "accounting": {"composition": "basic composition", "post_processing": "argmax"},
}


@pytest.fixture
def newest(monkeypatch):
    """A record of the newest version, with declarations, made by CI."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for key, value in {"SERVER_URL": "https://ci.example", "REPOSITORY": "a/b", "RUN_ID": "7"}.items():
        monkeypatch.setenv(f"GITHUB_{key}", value)
    found = finish(load("dp-se"), started=0.0, cpu_seconds=1.0, declarations=DECLARED).record
    return found


def replaced(record, words):
    """The same record with `words` wherever whoever writes a target decides the text."""
    found = copy.deepcopy(record)
    found["target"] |= {"name": words, "paper": words, "note": words}
    found["target"]["source"] |= {"name": words, "path": words}
    found["target"]["parameters"] = {words: words}
    found["claim"]["source"] = {"paper": words, "statement": words, "note": words}
    # Names of checks are unique: those after the first have their number, too.
    names = {c["name"]: f"{words}{i or ''}" for i, c in enumerate(found["checks"])}
    for check in found["checks"]:
        check["name"] = names[check["name"]]
        for premise in check["statistics"].get("premises", []):
            premise["tested_by"] = names.get(premise["tested_by"], "")
    if found["epsilon_upper"]:
        found["epsilon_upper"]["check"] = names[found["epsilon_upper"]["check"]]
    for example in found["counterexamples"]:
        example["check"] = names[example["check"]]
        example["pair"]["words"] = words
        if "event" in example:
            example["event"] = words
    for mutant in found["mutants"]:
        mutant |= {"name": words, "fault": words, "decided_by": words}
    for check in found["regret"]["checks"] if found["regret"] else []:
        check["name"] = words
    for claim in found["regret"]["claims"] if found["regret"] else []:
        claim |= {"name": words, "statement": words, "domain": words}
    left = {"id": "reacting-users", "values": {"why": words}, "settled_by": None}
    found["not_covered"] = [left]
    found["provenance"] |= {"command": words, "platform": words}
    found["digest"] = digest(found)
    return found


@pytest.fixture(params=["dp-linear-printed", "dp-se"])
def hostile(request):
    return replaced(load(request.param), HOSTILE)


def test_the_committed_records_show_every_verdict():
    records = [load(name) for name in NAMES]
    assert len(records) > 20
    assert {r["verdict"] for r in records} == {"refuted", "not_refuted"}
    statuses = {outcome.status for r in records for outcome in outcomes(Record.of(r))}
    assert statuses == {"passed", "failed", "undecided", "silent"}


def test_the_hostile_record_is_one_that_verify_accepts(hostile, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(text(hostile), "utf-8")
    assert verify(path).record["target"]["name"] == HOSTILE


# ---------------------------------------------------------------- outcomes


def test_outcomes_count_every_check_and_mutant(record):
    found = outcomes(Record.of(record))
    regret = record["regret"]["checks"] if record["regret"] else []
    by_group = {
        group: [o for o in found if o.group == group] for group in ("privacy", "regret", "broken variant")
    }
    power = 0 if record["verdict"] == "refuted" and not record["power"] else 1
    strength = 1 if record["checks"] and record["verdict"] == "not_refuted" else 0
    assert len(by_group["privacy"]) == len(record["checks"]) + power + strength
    assert len(by_group["regret"]) == len(regret)
    assert len(by_group["broken variant"]) == len(record["mutants"])
    assert any(o.status == "failed" for o in by_group["privacy"]) == (record["verdict"] == "refuted")
    assert all(o.message and "\n" not in o.message for o in found)


def test_a_mutant_that_is_not_caught_and_a_missing_power_are_undecided():
    record = load("dp-se")
    record["mutants"][0]["verdict"] = "not_refuted"
    record |= {"power": None, "verdict": "inconclusive"}
    undecided = [o.title for o in outcomes(Record.of(record)) if o.status == "undecided"]
    assert f"broken variant: {record['mutants'][0]['name']}" in undecided
    assert "privacy: power" in undecided
    assert not [o for o in outcomes(Record.of(record)) if o.status == "failed"]


# ---------------------------------------------------------------- Markdown


def parsed(document):
    return MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(document)


def cells(document):
    """Rows of all tables: the text of each cell."""
    rows, tokens = [], parsed(document)
    for i, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in tokens[i + 1].children))
    return rows


def structure(document):
    """Blocks and marks without their texts."""
    marks = []
    for token in parsed(document):
        inline = [child.type for child in token.children or () if child.type != "text"]
        marks.append((token.type, token.tag, *inline))
    return marks


def test_markdown_tables_have_as_many_cells_as_heads(record):
    width, lines = None, to_markdown(Record.of(record)).splitlines()
    assert any(line.startswith("|") for line in lines)
    for line in lines:
        if not line.startswith("|"):
            width = None
            continue
        count = len(re.findall(r"(?<!\\)\|", line.replace("\\\\", "")))
        width = width or count
        assert count == width, line


def test_markdown_tells_all_that_the_record_does(record):
    document = to_markdown(Record.of(record))
    rows = cells(document)
    first = [row[0] for row in rows]
    for check in [*record["checks"], *(record["regret"]["checks"] if record["regret"] else [])]:
        assert check["name"] in first
    for mutant in record["mutants"]:
        assert [mutant["name"], mutant["fault"]] in [row[:2] for row in rows]
    for line in words.not_covered(Record.of(record)):
        assert f"- {escape(line)}" in document
    assert record["digest"] in document
    assert f"**{escape(summary_card.headline(Record.of(record)))}.**" in document
    assert document.count("## Counterexamples") == bool(record["counterexamples"])
    assert not re.search(r"\b(is private|compliant)\b", document)


def test_hostile_texts_do_not_change_the_structure_of_markdown(hostile):
    benign = replaced(hostile, "x")
    document = to_markdown(Record.of(hostile))
    assert structure(document) == structure(to_markdown(Record.of(benign)))
    assert "<" not in document.replace("<br>", "")
    assert not re.search("[\x00\x1b\u202e]", document)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "# a",
            "- a",
            "+ a",
            "1. a",
            "1) a",
            "=== ",
            "---",
            "> a",
            "| a | b |",
            "a | b",
            "*a*",
            "__a__",
            "`a`",
        ),
        *(
            "<b>a</b>",
            "&amp;",
            "[a](b)",
            "![a](b)",
            "[a]: b",
            "~~a~~",
            "\\",
            "a\\|b",
            "<http://a.b>",
            "````",
            "$a$",
        ),
    ],
)
def test_an_escaped_text_shows_as_it_is(words):
    for document, kind in (
        (escape(words), "paragraph_open"),
        (f"| {escape(words)} |\n| --- |\n", "table_open"),
    ):
        tokens = parsed(document)
        assert tokens[0].type == kind
        (inline,) = [token for token in tokens if token.type == "inline"]
        assert "".join(child.content for child in inline.children) == words.strip()
        assert {child.type for child in inline.children} <= {"text"}


def test_mentions_links_and_emoji_are_broken():
    assert escape("@me") == "@&#8203;me"
    assert escape("#12") == "\\#&#8203;12"
    assert "://" not in escape("https://a.b")
    assert "www." not in escape("www.a.b")
    assert ":smile:" not in escape(":smile:")
    assert escape("14:19:18Z") == "14:19:18Z"


def regret_tables():
    """One of each kind, and one of a kind that is not known here."""
    rng = np.random.default_rng(0)
    runs = {"a": 100 + rng.random(9), "b": 50 + rng.random(9)}
    price = table_row(**runs, instance=HOSTILE, private="dp", free="se", epsilon=1.0, horizon=1000)
    floor = floor_row(runs["a"], bound=5.0, algorithm="dp", instance=HOSTILE, epsilon=0.5, horizon=9)
    found = [
        load("dp-robust-elimination")["regret"]["tables"][0],
        prices("price", [price], claim="c", caption="Made up.").as_dict(),
        floors("floors", [floor], claim="c", caption="Made up.").as_dict(),
    ]
    return found


@pytest.mark.parametrize("found", regret_tables(), ids=lambda found: found["kind"])
def test_markdown_of_tables_of_regret(found):
    record = load("dp-se")
    bare = {key: value for key, value in record["regret"].items() if key != "tables"}
    record["regret"] = bare | {"tables": [found]}
    document = to_markdown(Record.of(record))
    assert f"### {escape(found['name'])}" in document
    rows = cells(document.partition("### ")[2].partition("## Not covered")[0])
    assert len(rows) == 1 + len(found["statistics"]["rows"])
    assert {len(row) for row in rows} == {len(rows[0])}
    (mean,) = {"mean_a", "mean"} & set(found["statistics"]["rows"][0])
    assert f"{found['statistics']['rows'][0][mean]:.4g}" in rows[1]
    without = to_markdown(Record.of({**record, "regret": bare}))
    kinds = [[token.type for token in parsed(text)] for text in (document, without)]
    assert kinds[0].count("table_open") == kinds[1].count("table_open") + 1
    assert "html_block" not in kinds[0]


def test_markdown_lists_the_hazards(newest):
    rows = [row for row in cells(to_markdown(Record.of(newest))) if row[0].startswith("NIST-H")]
    assert [row[0] for row in rows] == [hazard["id"] for hazard in blocks.of(newest)["hazards"]]
    assert len(rows) == 24
    assert "declared" in {row[3] for row in rows}


# ---------------------------------------------------------------- JUnit


def suite(document):
    root = formats.junit(document)
    assert root.tag == "testsuites"
    (found,) = root
    assert found.tag == "testsuite"
    return found


def test_junit_holds_a_case_for_each_outcome(record):
    found = suite(to_junit(Record.of(record)))
    cases = found.findall("testcase")
    expected = outcomes(Record.of(record))
    status = {"failed": "failure", "undecided": "skipped", "silent": "skipped", "passed": "system-out"}
    assert [(case.get("name"), case[0].tag) for case in cases] == [
        (outcome.name, status[outcome.status]) for outcome in expected
    ]
    assert int(found.get("tests")) == len(cases)
    assert int(found.get("failures")) == len(found.findall("testcase/failure"))
    assert int(found.get("skipped")) == len(found.findall("testcase/skipped"))
    assert (int(found.get("failures")) > 0) == (record["verdict"] == "refuted")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", found.get("timestamp"))
    properties = {p.get("name"): p.get("value") for p in found.findall("properties/property")}
    assert properties["digest"] == record["digest"]


def test_junit_shows_the_counterexample_in_the_failure():
    failures = suite(to_junit(Record.of(load("dp-linear-printed")))).findall("testcase/failure")
    assert [failure.get("type") for failure in failures] == ["refuted", "refuted"]
    for failure in failures:
        assert "counterexample: round 1, arm 0: reward -1 against 1" in failure.text
        assert "--rerun" in failure.text


def test_junit_of_a_hostile_record_is_xml_with_the_same_cases(hostile):
    document, benign = to_junit(Record.of(hostile)), to_junit(Record.of(replaced(hostile, "x")))
    assert [e.tag for e in formats.junit(document).iter()] == [e.tag for e in formats.junit(benign).iter()]
    assert suite(document).get("name").startswith("</td><script>")
    assert not re.search("[\x00\x1b]", document)


# ---------------------------------------------------------------- in-toto


def test_intoto_says_what_the_banner_says():
    """Also where the audit as a whole is inconclusive. Without a headline beside it, it names the bounds."""
    record = load("dp-nas")
    undecided = record | {"verdict": "inconclusive", "reason": "weak"}
    for shown, result in ((record, "WARNED"), (undecided, "WARNED"), (load("ucb1"), "FAILED")):
        predicate = json.loads(to_intoto(Record.of(shown)))["predicate"]
        drawn = page.render(Record.of(shown), drawn=False)
        headline, banner = re.search(
            r'<div class="banner.*?<strong>(.*?)</strong>.*?<p class="verdict">(.*?)</p>', drawn, re.DOTALL
        ).groups()
        said = predicate["configuration"][0]["annotations"]
        assert predicate["result"] == result
        brief = said["says"].replace(
            "of epsilon 2 was found, and epsilon is at most 2 if the premises hold.", "was found."
        )
        assert (said["verdict"], brief) == (shown["verdict"], html.unescape(banner))
        assert said["headline"] == html.unescape(re.sub("<.*?>", "", headline))
        assert len(json.dumps(predicate["configuration"][0])) < 1024  # as the framework recommends
    assert undecided["power"]
    assert "but the tests are weak" in to_intoto(Record.of(record))
    assert "privacy: verdict" in json.loads(to_intoto(Record.of(undecided)))["predicate"]["warnedTests"]


def test_intoto_statement(record, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(text(record), "utf-8")
    statement = formats.intoto(renderings.render(path, "in-toto", url="https://ci.example/7").decode())
    assert set(statement) == {"_type", "subject", "predicateType", "predicate"}
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    source = record["target"]["source"]
    assert statement["subject"] == [{"name": source["path"], "digest": {"sha256": source["sha256"]}}]
    predicate = statement["predicate"]
    assert predicate["url"] == "https://ci.example/7"
    titles = predicate["passedTests"] + predicate["warnedTests"] + predicate["failedTests"]
    # What says nothing where other checks decide is no test that passed, nor a warning.
    told = [outcome for outcome in outcomes(Record.of(record)) if outcome.status != "silent"]
    assert sorted(titles) == sorted(outcome.title for outcome in told)
    expected = "FAILED" if predicate["failedTests"] else "WARNED" if predicate["warnedTests"] else "PASSED"
    assert predicate["result"] == expected
    assert (expected == "FAILED") == (record["verdict"] == "refuted")
    written, plan, tool = predicate["configuration"]
    assert written["digest"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert written["name"] == "r.json"
    content = base64.b64decode(plan["content"])
    assert plan["digest"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert len(plan["content"]) < 1024  # as the framework recommends
    assert json.loads(content)["seed"] == record["seed"]
    assert tool["uri"].startswith("pkg:pypi/verifiable-dp@")


def test_intoto_knows_the_run_of_ci(newest):
    url = "https://ci.example/a/b/actions/runs/7"
    assert formats.intoto(to_intoto(Record.of(newest)))["predicate"]["url"] == url
    assert json.loads(to_intoto(Record.of(newest), url="https://x"))["predicate"]["url"] == "https://x"
    assert "url" not in json.loads(to_intoto(Record.of(load("dp-se"))))["predicate"]


def test_intoto_results_are_all_met_in_the_catalogue():
    results = {json.loads(to_intoto(Record.of(load(name))))["predicate"]["result"] for name in NAMES}
    assert results == {"PASSED", "WARNED", "FAILED"}


def test_intoto_of_a_hostile_record(hostile):
    statement = formats.intoto(to_intoto(Record.of(hostile)))
    assert statement["subject"][0]["name"] == HOSTILE
    assert len(statement["predicate"]["failedTests"] + statement["predicate"]["passedTests"]) > 0


def test_intoto_needs_a_subject():
    record = load("dp-se")
    record["target"]["source"] |= {"path": "", "sha256": ""}
    with pytest.raises(InputError, match="subject"):
        to_intoto(Record.of(record))


# ---------------------------------------------------------------- OpenDP's registry

# Fields of deployments-schema.yaml at the commit that `to_opendp` names; lists are of allowed values.
_TYPES = ["Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API"]
REGISTRY = {
    "url_slug": str,
    "deployment": {
        "basic": {
            "name": str,
            "data_curators": [{"data_curator_name": str, "data_curator_type": str}],
            **dict.fromkeys(("description", "intended_use", "data_product_region", "publication_date"), str),
            "data_product_type": {*_TYPES, "SQL queries"},
            "data_product_sector": {
                "Technology",
                "Healthcare",
                "Education",
                "Government",
                "Energy",
                "Finance",
            },
        },
        "dp_variant": {
            "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "number_of_privacy_units": int,
            "privacy_parameters": dict.fromkeys(("epsilon", "delta", "rho"), float),
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            **dict.fromkeys(("model_name_details", "trust_assumptions", "actors"), str),
            "release_type": {"One release", "Many releases"},
            "release_type_details": str,
            "data_source_type": {"Static", "Dynamic"},
            "data_source_type_details": str,
            "access_type": {"Interactive", "Non-interactive"},
            "access_type_details": str,
        },
        "implementation": dict.fromkeys(
            (
                "preprocessing_and_hyperparameter_tuning",
                *("mechanisms", "composition", "post_processing", "justification", "utility"),
                "additional_information",
            ),
            str,
        ),
        "administrative": {"status": {"Draft"}, "registry_authors": [str], "tier": int},
    },
}
REQUIRED = {
    "basic": ("name", "data_curators", "description", "intended_use", "data_product_type"),
    "administrative": ("status", "registry_authors", "tier"),
}


def read_yaml(document):
    """The small part of YAML that the draft uses: block style, JSON's scalars; and the null with a TODO."""
    lines = [line for line in document.splitlines() if not line.startswith("#")]

    def scalar(words):
        if words.startswith("null"):
            assert re.fullmatch(r"null  # TODO: .+", words)
            return None
        return json.loads(words)

    def block(depth):
        found = None
        while lines and (len(lines[0]) - len(lines[0].lstrip())) == 2 * depth:
            line = lines.pop(0)
            key, words = re.fullmatch(r" *(-|\w+:)(?: (.+))?", line).groups()
            value = scalar(words) if words else block(depth + 1)
            if key == "-":
                found = [*(found or []), value]
            else:
                found = found or {}
                assert key[:-1] not in found
                found[key[:-1]] = value
        return found

    whole = block(0)
    assert not lines
    return whole


def check_entry(value, allowed, place=""):
    """Nothing that the registry does not know; null stands for what is to do."""
    if value is None:
        return
    if isinstance(allowed, dict):
        assert set(value) <= set(allowed), place
        for key, item in value.items():
            check_entry(item, allowed[key], f"{place}.{key}")
    elif isinstance(allowed, list):
        assert value, place
        for item in value:
            check_entry(item, allowed[0], place)
    elif isinstance(allowed, set):
        assert value in allowed, place
    else:
        assert isinstance(value, allowed), place


def test_opendp_draft_has_the_registrys_layout(record):
    if record["target"]["role"] == "baseline":
        with pytest.raises(InputError, match="privacy claim"):
            to_opendp(Record.of(record))
        return
    entry = read_yaml(to_opendp(Record.of(record)))
    check_entry(entry, REGISTRY)
    deployment = entry["deployment"]
    for part, keys in REQUIRED.items():
        assert set(keys) <= set(deployment[part])
    assert deployment["administrative"]["status"] == "Draft"
    assert all(value is None for key, value in deployment["basic"].items() if key != "data_curators")
    claim = record["claim"]
    assert deployment["privacy_loss"]["privacy_parameters"]["epsilon"] == claim["epsilon"]
    assert deployment["privacy_loss"]["privacy_parameters"].get("delta", 0.0) == claim["delta"]
    model = {"central": "Central", "local": "Local", "shuffle": "Shuffle"}[claim["trust_model"]]
    assert deployment["deployment_model"]["model_name"] == model
    assert ("REFUTES" in to_opendp(Record.of(record))) == (record["verdict"] == "refuted")


def test_opendp_draft_names_the_variant():
    record = load("shuffled-linear")
    document = to_opendp(Record.of(record))
    assert 'variant_name: "Approximate DP"' in document
    assert "delta: 1.0e-06" in document  # 1e-06 is a string in YAML 1.1
    record["claim"]["rho"] = 0.5
    assert 'variant_name: "Zero-concentrated DP"' in to_opendp(Record.of(record))
    assert 'variant_name: "Pure DP"' in to_opendp(Record.of(load("dp-se")))


def test_opendp_draft_of_a_hostile_record_keeps_its_lines(hostile):
    entry = read_yaml(to_opendp(Record.of(hostile)))
    check_entry(entry, REGISTRY)
    assert entry["deployment"]["privacy_loss"]["privacy_unit"] == "event: one reward of one round"
    assert HOSTILE in entry["deployment"]["implementation"]["additional_information"]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", to_opendp(Record.of(hostile)))


def test_opendp_draft_takes_what_is_declared(newest):
    entry = read_yaml(to_opendp(Record.of(newest)))
    check_entry(entry, REGISTRY)
    deployment = entry["deployment"]
    assert deployment["basic"]["intended_use"] == "orders articles"
    assert deployment["dp_variant"]["unprotected_quantities"].startswith("server logs; </td>")
    assert deployment["deployment_model"]["release_type"] == "Many releases"
    assert deployment["deployment_model"]["data_source_type"] == "Dynamic"
    assert deployment["deployment_model"]["actors"] == "curator (trusted): runs the code unmodified"
    assert deployment["implementation"]["composition"] == "basic composition"
    undeclared = read_yaml(to_opendp(Record.of(load("dp-se"))))["deployment"]
    assert undeclared["dp_variant"]["unprotected_quantities"] is None
    assert undeclared["deployment_model"]["actors"] is None


def test_opendp_needs_a_claim():
    with pytest.raises(InputError, match="privacy claim"):
        to_opendp(Record.of(load("dp-se") | {"claim": None}))


# ---------------------------------------------------------------- SARIF


def test_sarif_is_valid(record):
    (run,) = formats.sarif(to_sarif(Record.of(record)))["runs"]
    assert {"refuted": True, "not_refuted": False}[record["verdict"]] == bool(
        [result for result in run["results"] if result["ruleId"] == "DP100"]
    )


def test_sarif_of_a_hostile_record_is_valid(hostile):
    (run,), (benign,) = (
        formats.sarif(to_sarif(Record.of(found)))["runs"] for found in (hostile, replaced(hostile, "x"))
    )
    assert len(run["results"]) == len(benign["results"])


def test_sarif_of_the_newest_record_is_valid(newest):
    assert formats.sarif(to_sarif(Record.of(newest)))["runs"][0]["properties"]["digest"] == newest["digest"]


def test_renderings_of_the_newest_record_hold_to_their_schemas(newest):
    formats.of_record(newest)


def test_sarif_of_an_undecided_and_of_a_contradicted_record_is_valid():
    record = load("dp-se") | {"verdict": "inconclusive"}
    (result,) = formats.sarif(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("DP301", "warning")
    record = load("dp-se")
    check = next(c for c in record["regret"]["checks"] if "p_value" in c["result"])
    check["result"] |= {"verdict": "contradicted"}
    (result,) = formats.sarif(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("DP401", "error")


def test_sarif_points_at_the_file_as_the_repository_has_it():
    """The package's `algorithms` is a link; code hosts show findings at the file itself."""
    root = Path(__file__).parents[3]
    refuted = [record for record in map(load, NAMES) if record["verdict"] == "refuted"]
    assert len(refuted) > 5
    for record in refuted:
        results = formats.sarif(to_sarif(Record.of(record)))["runs"][0]["results"]
        assert results
        for result in results:
            place = result["locations"][0]["physicalLocation"]
            file = place["artifactLocation"]["uri"]
            assert re.fullmatch(r"algorithms/[\w/]+\.py", file)
            content = (root / file).read_bytes()
            if hashlib.sha256(content).hexdigest() == record["target"]["source"]["sha256"]:
                line = content.decode().splitlines()[place["region"]["startLine"] - 1]
                assert re.match(r"@dataclass|class ", line)


def test_sarif_keeps_the_file_of_another_target():
    record = load("dp-linear-printed")
    for path, uri in {"shop/play.py": "shop/play.py", "/srv/play.py": "file:///srv/play.py"}.items():
        record["target"]["source"]["path"] = path
        result = formats.sarif(to_sarif(Record.of(record)))["runs"][0]["results"][0]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


# ---------------------------------------------------------------- PDF


@pytest.mark.slow
def test_pdf_is_the_same_each_time_and_has_its_pages(tmp_path):
    pytest.importorskip("weasyprint")
    path = tmp_path / "record.json"
    path.write_text(text(load("dp-linear-printed")), "utf-8")
    made = renderings.render(path, "pdf")
    assert made.startswith(b"%PDF-")
    assert made.rstrip().endswith(b"%%EOF")
    assert 2 <= pages(made) <= 12
    assert made == renderings.render(path, "pdf")


def streams(made):
    """What the compressed streams of a PDF hold."""
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", made, re.DOTALL):
        with contextlib.suppress(zlib.error):
            found.append(zlib.decompressobj().decompress(stream))  # the last byte may look like a line's end
    return found


def pages(made):
    """Number of pages: page objects lie in compressed streams."""
    return sum(len(re.findall(rb"/Type /Page\b(?!s)", part)) for part in (made, *streams(made)))


@pytest.mark.slow
def test_pdf_of_a_hostile_record_fetches_nothing(monkeypatch, caplog):
    """Escaped, it asks for nothing; were it not, nothing would be fetched either, and the log says so."""
    pytest.importorskip("weasyprint")
    record = replaced(load("dp-linear-printed"), HOSTILE.replace("\x1b", "").replace("\x7f", ""))
    assert to_pdf(Record.of(record)).startswith(b"%PDF-")
    assert "Failed to load" not in caplog.text
    image = "<html><head></head><body><img src='http://127.0.0.1:9/x'></body></html>"
    monkeypatch.setattr("verifiable_dp.render.pdf.render", lambda record, **_: image)
    assert to_pdf(Record.of(record)).startswith(b"%PDF-")
    assert "disallowed protocol: http://127.0.0.1:9/x" in caplog.text


SHEETS = ("style.css", "card.css", "tracing.css", "hazards.css", "print.css")


def refused(style, caplog):
    """What WeasyPrint does not draw though it knows the property."""
    caplog.clear()
    pytest.importorskip("weasyprint").HTML(
        string=f"<style>{style}</style><p class=a><i>text</i></p>"
    ).render()
    return [row.getMessage() for row in caplog.records if "invalid value" in row.getMessage()]


def test_no_value_of_our_sheets_is_ignored_on_paper(caplog):
    """Else a scale lacks its bar, and says that nothing is caught. Control: a stop with two places is one."""
    shown = "".join(page.style(name) for name in SHEETS).replace(".meter i ", "i ")
    assert refused(f"{shown} p {{ --full: 40% }}", caplog) == []
    stop = "var(--passes) 0, var(--passes) 2px"
    assert refused(shown.replace(stop, "var(--passes) 0 2px"), caplog)


def laid_out(style, length):
    """Pages of a table and a figure below some text: the tags that each page has, in the printed style."""
    weasyprint = pytest.importorskip("weasyprint")
    rows = "<tr><td>row</td></tr>" * 70
    table = f"<table><caption>c</caption><thead><tr><th>head</th></tr></thead><tbody>{rows}</tbody></table>"
    figure = '<figure><div style="height:9cm"></div><figcaption>said</figcaption></figure>'
    body = f'<p style="height:{length}mm">text</p>{table}{figure}{figure}{figure}'
    pages = weasyprint.HTML(string=f"<style>{style}</style>{body}").render().pages
    return [[box.element_tag for box in page._page_box.descendants()] for page in pages]


def test_heads_of_tables_and_captions_of_figures_stay_with_them():
    """Control: without the rules of the printed style a caption or a head stands alone on some page."""

    def apart(style):
        found = 0
        for length in range(150, 240, 15):
            for tags in laid_out(style, length):
                head, rows = tags.count("th"), tags.count("td")
                found += bool(rows) != bool(head) or ("caption" in tags and not rows)
                # A caption has three boxes: its own, its line, its text.
                found += 3 * tags.count("figure") != tags.count("figcaption")
        return found

    assert apart(page.style("print.css")) == 0
    assert apart("thead { display: table-row-group } @page { size: A4 }") > 0


def printed(body, *styles):
    """Pages of a body in the printed style: size, and the boxes of each."""
    weasyprint = pytest.importorskip("weasyprint")
    style = "".join([page.style(), page.style("print.css"), *styles])
    made = weasyprint.HTML(string=f"<style>{style}</style><body>{body}").render().pages
    return [(one.width, list(one._page_box.descendants())) for one in made]


@pytest.mark.parametrize(("columns", "turned"), [(12, False), (14, True)])
def test_a_wide_table_is_on_the_sheet_of_its_heading(columns, turned):
    """It was on a turned sheet of its own. Control: with the rule of the table alone it is."""
    cells = "".join(f"<th>{i}</th>" for i in range(columns))
    table = f"<table><tr>{cells}</tr></table>"
    fold = f'<details><summary>All rows</summary><div class="scroll" role="region">{table}</div></details>'

    def sheets(style=""):
        return [
            (width > 1000, {box.element_tag for box in boxes} & {"summary", "table"})
            for width, boxes in printed(f"<section><p>before</p>{fold}</section>", style)
        ]

    assert sheets()[-1] == (turned, {"summary", "table"})
    alone = sheets('details:has(.scroll) { page: auto !important } [role="region"] { page: wide }')
    assert alone[-1] == (True, {"table"})


def test_no_word_is_left_alone_on_a_sheet_by_what_it_heads():
    """Nor is an item parted. Control: without the rules of the sheet they are."""
    words = "<dl><dt>word</dt><dd>what it means</dd></dl>"
    items = "<ul><li><span style='display:block'>hole</span><span style='display:block'>said</span></li></ul>"

    def parted(style=""):
        found = 0
        for height in range(900, 945, 3):
            for body, tags in ((words, ("dt", "dd")), (items, ("span", "span"))):
                sheets = printed(f'<p style="height:{height}px;margin:0">text</p>{body}', style)
                counts = [[box.element_tag for box in boxes] for _, boxes in sheets]
                found += any(bool(one.count(tags[0])) != bool(one.count(tags[1])) for one in counts)
                found += sum("li" in one for one in counts) > 1
        return found

    assert parted() == 0
    assert parted("dt { break-after: auto !important } li { break-inside: auto !important }") > 0


def test_a_line_with_a_link_at_its_end_is_filled_on_paper():
    """WeasyPrint ended it at its first word where there was no room for the link alone. Control: it does."""
    said = 'The claim is false: nobody has it. <a href="#x">More</a>'

    def short(body):
        found = []
        for width in range(140, 200):
            shown = f'<div style="width:{width}pt">{body}</div>'
            lines = [box for _, boxes in printed(shown) for box in boxes if type(box).__name__ == "LineBox"]
            first = "".join(getattr(box, "text", "") for box in lines[0].descendants())
            found += [width] if first.strip() == "The" else []
        return found

    assert short(pdf._spaced(said)) == []
    assert short(said) != []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffled-linear", "adaptive-tree-printed"])
def test_nothing_of_a_page_is_missing_on_paper(monkeypatch, name):
    """Every hazard, broken variant and row. Control: what is folded away is missing."""
    weasyprint = pytest.importorskip("weasyprint")
    record = Record.of(load(name))
    sheets = []
    real = weasyprint.HTML.render

    def keeps(*given, **more):
        sheets.append(real(*given, **more))
        return sheets[-1]

    def left_out():
        to_pdf(record)
        boxes = (box for sheet in sheets.pop().pages for box in sheet._page_box.descendants())
        shown = "".join("".join(getattr(box, "text", "") for box in boxes).split())
        cells = re.findall(r"<(?:td|th|li|summary|dd)\b[^>]*>(.*?)</(?:td|th|li|summary|dd)>", whole)
        texts = [part for cell in cells for part in re.split(r"<[^>]*>", cell)]
        return [part for part in texts if "".join(html.unescape(part).split()) not in shown]

    monkeypatch.setattr(weasyprint.HTML, "render", keeps)
    whole = re.sub(
        r'<span class="meter.*?</span>', "", page.render(record)
    )  # a picture of the words after it
    hazards = page.context(record)["r"].blocks["hazards"]
    assert all(row["id"] in whole for row in hazards)
    assert left_out() == []
    monkeypatch.setattr(pdf, "style", lambda sheet: page.style(sheet) + "details { display: none }")
    assert left_out() != []


def test_pdf_is_tagged_and_says_the_time_of_its_record(monkeypatch):
    """The same bytes at another time.

    Which library cuts fonts down, and whether it stamps them, depends on what is installed: the clock that
    fontTools stamps them by is looked at itself. Control: without `_dated` it is that of the machine.
    """
    weasyprint = pytest.importorskip("weasyprint")
    from fontTools.misc import timeTools

    real, stamps = weasyprint.HTML.write_pdf, []

    def writes(*given, **more):
        stamps.append(timeTools.timestampNow())
        return real(*given, **more)

    shown = "<html lang=en><head><title>t</title></head><body><h1>Head</h1><p>text</p></body></html>"
    monkeypatch.setattr(pdf, "render", lambda record, **_: shown)
    monkeypatch.setattr(weasyprint.HTML, "write_pdf", writes)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    clock = iter(range(10**9, 2 * 10**9, 1000))
    monkeypatch.setattr(timeTools, "time", SimpleNamespace(**vars(time) | {"time": lambda: next(clock)}))
    record = load("dp-linear-printed")
    made = to_pdf(Record.of(record))
    assert made == to_pdf(Record.of(record))
    whole = made + b"".join(streams(made))
    assert b"/MarkInfo" in whole
    assert b"/StructTreeRoot" in whole
    assert re.search(rb"/S /H1\b", whole)
    assert "SOURCE_DATE_EPOCH" not in os.environ
    monkeypatch.setattr(pdf, "_dated", lambda finished: contextlib.nullcontext())
    to_pdf(Record.of(record))
    to_pdf(Record.of(record))
    assert stamps[0] == stamps[1]
    assert stamps[2] < stamps[3]


def test_an_annex_holds_what_the_record_says_and_leaves_the_rest_to_be_written(tmp_path):
    record = load("dp-se")
    path = tmp_path / "record.json"
    path.write_text(text(record), "utf-8")
    bare = renderings.render(path, "dpia").decode()
    assert [bare.count(f"## ({letter}) ") for letter in "abcd"] == [1] * 4
    assert "| What is the system for? | **to be written** |" in bare
    assert "| A person with 10 rounds | epsilon 10, delta 0; " in bare
    assert "| A person with 1 round | epsilon 1, delta 0; " in bare
    stream = to_dpia(Record.of(load("adaptive-tree-printed")))  # whose page speaks of values
    assert "| A person with 1 value | " in stream
    assert "| A person with 2 values | " in stream
    assert not re.search(r"\|\s*\|\n\| ---", bare + stream)  # no column without a head
    assert bare.count("| | NIST-H") == sum(
        row["status"] == "open" for row in page.context(Record.of(record))["r"].blocks["hazards"]
    )
    shown = to_dpia(
        Record.of({**record, "declarations": {"deployment": {"description": "news | for *all*"}}})
    )
    assert r"| What is the system for? | Declared (no objection): news \| for \*all\* |" in shown
    assert "<summary>7 questions: 0 declared, 7 to be written</summary>" in bare
    assert "<summary>7 questions: 1 declared, 6 to be written</summary>" in shown


def test_an_annex_is_a_page_where_its_file_is_one(tmp_path):
    """Its declarations cannot format it. Control: into another file it is Markdown."""
    path = tmp_path / "record.json"
    said = "<script>x</script> <b>bold</b> [a](javascript:x)"
    record = load("dp-se") | {"declarations": {"deployment": {"description": said}}}
    record["digest"] = digest(record)
    path.write_text(text(record), "utf-8")
    written = renderings.render(path, "dpia", out=tmp_path / "annex.md").decode()
    shown = renderings.render(path, "dpia", out=tmp_path / "annex.html").decode()
    assert written == renderings.render(path, "dpia").decode()
    assert written.startswith("# dp-se: annex")
    assert "default-src 'none'" in html.unescape(shown)
    assert shown.startswith("<!doctype html>")
    assert "<h2>(a) The processing</h2>" in shown
    assert shown.count("<details>") == shown.count("</details>") == written.count("<details>") == 6
    assert said in html.unescape(shown)
    assert not re.search(r"<script|<b>|href=", shown)


def test_pdf_without_weasyprint_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(InputError, match=r"verifiable-dp\[pdf\]") as caught:
        to_pdf(Record.of(load("dp-linear-printed")))
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- all of them


def test_every_format_refuses_an_edited_record(tmp_path):
    record = load("dp-linear-printed")
    record["seed"] += 1
    path = tmp_path / "record.json"
    path.write_text(text(record), "utf-8")
    formats = renderings.formats()
    assert {"html", "markdown", "compliance"} <= {*formats}
    for to in formats:
        with pytest.raises(InputError, match="edited or corrupted"):
            renderings.render(path, to)


def test_unknown_formats_and_a_lost_url_are_refused():
    path = REPORTS / "dp-se" / "record.json"
    with pytest.raises(InputError, match="in-toto, junit, markdown, opendp"):
        renderings.render(path, "docx")
    with pytest.raises(InputError, match="url"):
        renderings.render(path, "junit", url="https://ci.example")


def test_text_formats_are_utf8_and_end_with_a_line(tmp_path):
    path = REPORTS / "dp-linear-printed" / "record.json"
    for to in ("html", "markdown", "sarif", "in-toto", "opendp", "junit", "pack", "dpia"):
        content = renderings.render(path, to).decode()
        assert content == renderings.render(path, to).decode()
        assert content.endswith(("\n", "</html>"))
        assert not re.search(r"(?i)\bcompliant\b", content)
