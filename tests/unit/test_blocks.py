"""Blocks of a record: they follow from its core, and nothing of a record can be edited unseen."""

import copy
import json
import os
import random
import re
import subprocess
import time
import tomllib
from pathlib import Path

import jsonschema
import pytest

import verifiable_dp as vdp
from tests.user_code import bandits
from verifiable_dp._validate import InputError
from verifiable_dp.reporting import blocks, declarations
from verifiable_dp.reporting.page import render
from verifiable_dp.reporting.record import (
    SCHEMA_VERSION,
    _ci,
    _place,
    _without_login,
    canonical,
    digest,
    schema,
)
from verifiable_dp.reporting.report import finish
from verifiable_dp.reporting.verify import _check_blocks, read, verify

DATA = Path(__file__).parents[1] / "data"
DECLARED = declarations.checked(
    tomllib.loads(re.sub(r"^#(?=\S)", "", declarations.STARTER, flags=re.MULTILINE))
)


@pytest.fixture(scope="module")
def reports():
    return {
        "algorithm": vdp.audit("tree-sum", budget=0.05),
        "declared": vdp.audit("tree-sum", budget=0.05, mutants=False, declarations=DECLARED),
        "refuted": vdp.audit(bandits.ucb1, epsilon=1.0, n_arms=2, horizon=12, budget="smoke", runs=1200),
        "mechanism": vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=1200),
        "zcdp": vdp.audit(bandits.laplace, rho=0.5, delta=1e-5, budget="smoke", runs=1200),
        "baseline": vdp.audit("ucb1", budget=0.1, mutants=False),
        "regret": vdp.check_regret("nas"),
        "sequential": vdp.audit(bandits.laplace, epsilon=1.0, budget="smoke", runs=1200, sequential=True),
    }


KINDS = ("algorithm", "declared", "refuted", "mechanism", "zcdp", "baseline", "regret", "sequential")


@pytest.fixture(params=KINDS)
def record(request, reports):
    return json.loads(reports[request.param].to_json())


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


def test_every_record_has_every_block_and_holds(record, tmp_path):
    assert record["schema_version"] == SCHEMA_VERSION
    assert set(record) == {*blocks.CORE, *blocks.BLOCKS, blocks.DECLARED}
    assert verify(saved(record, tmp_path)).record == record


def test_the_blocks_of_the_example_are_there(record):
    """Those of the example report of the issue, but for its `report_id`, whose role the digest has."""
    promised = (
        "created report_status tier summary subject guarantee deployment_model accounting privacy_claims "
        "utility_claims hazards frameworks run artifacts assurance administrative"
    )
    assert set(promised.split()) == set(blocks.BLOCKS)


def test_blocks_follow_from_the_core_alone(record):
    core = {key: value for key, value in record.items() if key not in blocks.BLOCKS}
    assert canonical(blocks.of(core)) == canonical({key: record[key] for key in blocks.BLOCKS})


def test_numbers_of_claims_are_decimal_strings_that_read_back(reports):
    record = reports["algorithm"].record
    guarantee = record["guarantee"]
    assert guarantee["privacy_parameters"] == {"epsilon": "1", "delta": "0"}
    assert guarantee["contribution_bounds"]["reward_range"] == ["0", "1"]
    assert [row["epsilon"] for row in guarantee["group_privacy"]] == ["1", "2", "5", "10", "100"]
    for claim, check in zip(record["privacy_claims"], record["checks"], strict=True):
        assert float(claim["result"]["epsilon_lower_bound"]) == check["result"]["epsilon_lower"]
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


def test_summary_counts_its_claims(record):
    summary = record["summary"]
    assert summary["verdict"] == record["verdict"]
    assert summary["claims_total"] == len(record["checks"])
    assert sum(summary[word] for word in ("refuted", "inconclusive", "not_refuted")) == len(record["checks"])


def test_no_block_says_more_than_the_audit(record):
    text = canonical({key: record[key] for key in blocks.BLOCKS if key != "subject"}).lower()
    assert "compliant" not in text
    assert not re.search(r"\bis (differentially )?private\b", text)


def test_a_baseline_and_a_regret_record_have_no_guarantee(reports):
    for kind in ("baseline", "regret"):
        assert reports[kind].record["guarantee"] is None
    assert reports["regret"].record["summary"]["statement"] == "Privacy was not audited."


def test_zcdp_states_its_native_parameter(reports):
    record = reports["zcdp"].record
    assert record["guarantee"]["measure"] == "zero_concentrated_divergence"
    assert record["guarantee"]["privacy_parameters"]["rho"] == "0.5"
    (conversion,) = record["accounting"]["conversions"]
    assert conversion["native"] == {"rho": "0.5"}
    assert float(conversion["to"]["epsilon"]) == record["claim"]["epsilon"]


def test_what_is_not_declared_is_null(reports):
    record = reports["algorithm"].record
    assert set(record["deployment_model"].values()) == {None}
    assert record["guarantee"]["unprotected_outputs"] is None
    assert record["administrative"] == {"authors": [], "reviewers": [], "sources": [], "notes": ""}


def test_every_pointer_points_to_something(record):
    for row in record["hazards"]:
        for place in [*row["evidence"], *row["declared"]]:
            blocks.resolve(record, place)
        assert all(place.startswith("/declarations/") for place in row["declared"])
        assert not any(place.startswith("/declarations/") for place in row["evidence"])
    for claim in [*record["privacy_claims"], *(i for c in record["utility_claims"] for i in c["instances"])]:
        assert claim["verdict"] == blocks.resolve(record, claim["check"])["result"]["verdict"]


def test_pointers():
    assert blocks.pointer("a/b", 0, "~") == "/a~1b/0/~0"
    assert blocks.resolve({"a/b": [{"~": 7}]}, "/a~1b/0/~0") == 7
    with pytest.raises(KeyError):
        blocks.resolve({"a": {}}, "/a/b")


def test_declarations_do_not_change_what_was_measured(reports):
    bare = vdp.audit("tree-sum", budget=0.05, mutants=False).record
    free = {"provenance", "digest"}
    for key in set(blocks.CORE) - free:
        assert bare[key] == reports["declared"].record[key]


def test_a_report_finished_again_keeps_its_declarations(reports):
    again = finish(reports["declared"].record, started=0.0, cpu_seconds=0.0)
    assert again.record["declarations"] == DECLARED
    assert again.record["hazards"] == reports["declared"].record["hazards"]


# ---------------------------------------------------------------- schema and versions


def test_both_schemas_are_valid_and_named():
    for major in (1, 2):
        jsonschema.Draft202012Validator.check_schema(schema(major))
        assert schema(major)["$id"] == f"urn:verifiable-dp:record:{major}"
    assert schema() == schema(2)
    assert set(schema()["required"]) == {*blocks.CORE, *blocks.BLOCKS, blocks.DECLARED}
    with pytest.raises(InputError, match="major"):
        schema(3)


def test_every_kind_of_check_has_its_block():
    defined = schema()["$defs"]
    kinds = {branch["properties"]["kind"]["const"] for branch in defined["privacy_check"]["oneOf"]}
    assert kinds == set(blocks._METHODS)
    assert set(defined["regret_check"]["properties"]["kind"]["enum"]) == set(blocks._INSTANCE)


def test_version_2_only_adds_to_version_1():
    for name, first in schema(1)["$defs"].items():
        second = schema(2)["$defs"][name]
        assert set(first.get("properties", {})) <= set(second.get("properties", {}))
        assert set(first.get("required", [])) <= set(second.get("required", []))


def test_a_record_of_version_1_is_read_verified_and_rendered(tmp_path):
    found = verify(DATA / "record-1.json").record
    assert found["schema_version"] == "1.0.0"
    assert not set(found) & {*blocks.BLOCKS, blocks.DECLARED}
    assert "NIST" not in render(found)
    edited = {**found, "hazards": []}
    with pytest.raises(InputError, match="record"):
        verify(saved(edited, tmp_path, seal=True))


def test_a_kept_record_of_version_2_still_holds():
    """Its words are part of the version: whoever changes one of them raises the version."""
    found = verify(DATA / "record-2.json").record
    assert found["schema_version"] == SCHEMA_VERSION == "2.0.0"
    assert found["declarations"] == DECLARED


@pytest.mark.parametrize("version", ["3.0.0", "2.1.0", None, 2, ["1.0.0"], {}])
def test_an_unknown_version_is_refused(reports, tmp_path, version):
    record = {**reports["mechanism"].record, "schema_version": version}
    with pytest.raises(InputError, match=r"schema_version must be 1\.0\.0 or 2\.0\.0"):
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


@pytest.mark.parametrize("most", [30, pytest.param(10_000, marks=pytest.mark.slow)])
def test_every_edit_of_a_block_is_refused_with_a_new_digest(record, most, tmp_path):
    """A sample of the edits by day. Negative control: the untouched record passes the same way."""
    verify(saved(record, tmp_path, seal=True))
    places = [(path, key) for path, key in containers(record) if ((*path, key))[0] in blocks.BLOCKS]
    assert len(places) > 150
    rng = random.Random(3)
    if (record["claim"] or {}).get("rho"):  # its group table takes a search
        most = min(most, 60)
    places = rng.sample(places, min(most, len(places)))
    for number, (path, key) in enumerate(places):
        changed = copy.deepcopy(record)
        place, value = at(changed, path), at(record, (*path, key))
        if isinstance(value, bool):
            place[key] = not value
        elif isinstance(value, int | float):
            place[key] = value + 1
        elif isinstance(value, str):
            place[key] = "1.5" if blocks.decimal(value) != "1.5" and value[:1].isdigit() else value + "x"
        elif value is None:
            place[key] = "x"
        elif rng.random() < 0.5 and value:
            place[key] = type(value)()
        elif path:
            del place[key]
        else:
            continue
        if canonical(changed) == canonical(record):
            continue
        # What the schema refuses first may fail in another way here.
        assert refuses(_check_blocks, changed, (InputError, KeyError, TypeError, AttributeError)), (path, key)
        if number % 25 == 0:
            with pytest.raises(InputError, match="record"):
                verify(saved(changed, tmp_path, seal=True))


def test_an_edited_declaration_with_a_new_digest_is_refused_where_a_block_repeats_it(reports, tmp_path):
    """What a new digest can hide without a signature: a declaration, with its copies in the blocks."""
    record = json.loads(reports["declared"].to_json())
    record["declarations"]["actors"][0]["trusted"] = False
    with pytest.raises(InputError, match="deployment_model"):
        verify(saved(record, tmp_path, seal=True))
    record |= blocks.of(record)
    verify(saved(record, tmp_path, seal=True))  # needs a signature


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
        (b'{"a": 1, "b": 2, "a": 1}', "'a' stands twice"),
        (b'{"a": [{"x": 1, "x": 2}]}', "'x' stands twice"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": -Infinity}', "-Infinity is no JSON number"),
        (b'{"a": 1e999}', "no finite number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "corrupted"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"schema_version": "2.0.0"}', "required"),
        (b'"' + b"x" * 1000, "corrupted"),
        (b"\x00\x01", "corrupted"),
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
    with pytest.raises(InputError, match="larger than 64 MiB"):
        read("/dev/zero")


def test_many_keys_with_one_that_repeats_take_no_quadratic_time(tmp_path):
    keys = ",".join(f'"k{i}":0' for i in range(200_000))
    before = time.process_time()
    refused(tmp_path, f'{{{keys},"k199999":1}}'.encode(), "stands twice")
    assert time.process_time() - before < 5


@pytest.mark.parametrize("wrong", [None, 0, "x", [], {}, True, -1, 1e308, [[[]]]])
def test_wrong_types_are_refused_in_one_line(wrong, reports, tmp_path):
    record = reports["mechanism"].record
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
    declared = copy.deepcopy(DECLARED)
    declared["unprotected_outputs"] = [bad]
    declared["actors"][0]["role"] = bad
    declared["threat_hypotheses"][0] |= {"harm": bad, "world_0": bad}
    declared["administrative"]["notes"] = bad
    declared["data_security"] = {"statement": bad, "reference": bad}
    record = json.loads(reports["declared"].to_json())
    record["target"]["parameters"]["horizon"] = 8
    record["claim"]["unit"] = bad
    page = render(finish(record, started=0.0, cpu_seconds=0.0, declarations=declared).record)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6


# ---------------------------------------------------------------- the page


def test_the_page_shows_each_hazard_and_tells_declarations_from_evidence(reports):
    page = reports["declared"].to_html()
    for row in reports["declared"].record["hazards"]:
        assert f"{row['id']}, section {row['section']}" in page
    # In words, by a line of another kind and by slanted letters: not by colour alone.
    assert page.count("<b>Declaration, not checked</b>") >= 8
    assert page.count("<b>Evidence</b>") >= 8
    assert "border-left: .2rem dotted" in page
    assert "font-style: italic" in page
    assert "epsilon of the 10 rounds of one person 10 is 10 or more" in page
    bare = reports["algorithm"].to_html()
    assert "<b>Declaration, not checked</b>" not in bare
    assert "Deployment as declared" not in bare


def test_tables_of_the_page_have_captions_and_heads(record):
    page = render(record)
    assert page.count("<table") == page.count("<caption>")
    assert "Hazards of NIST SP 800-226" in page


# ---------------------------------------------------------------- provenance


def test_addresses_lose_their_logins():
    assert _without_login("https://user:secret@host.org/a/b.git") == "https://host.org/a/b.git"
    assert _without_login("https://host.org/a@b") == "https://host.org/a@b"
    assert _without_login("git@host.org:a/b.git") == "git@host.org:a/b.git"
    assert _without_login("/srv/git/a") == _without_login("file:///srv/a") == _without_login("") == ""


def test_a_file_in_no_repository_has_no_commit(tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    for path in (str(tmp_path / "mine.py"), "", "nothing/there.py"):
        assert _place(path) == {"repository": "", "commit": "", "dirty": False}


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
    assert _place(str(file))["commit"] == ""  # not under version control yet
    git("add", "mine.py")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    found = {"repository": "https://example.org/mine.git", "commit": git("rev-parse", "HEAD")}
    assert _place(str(file)) == {**found, "dirty": False}
    file.write_text("x = 2\n")
    assert _place(str(file)) == {**found, "dirty": True}


def test_continuous_integration_is_named_where_it_says_so(monkeypatch):
    for key in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(key, raising=False)
    assert _ci() is None
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for key, value in {"SERVER_URL": "https://github.com", "REPOSITORY": "a/b", "RUN_ID": "7"}.items():
        monkeypatch.setenv(f"GITHUB_{key}", value)
    assert _ci() == {"provider": "github-actions", "run_url": "https://github.com/a/b/actions/runs/7"}
