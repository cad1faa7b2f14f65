"""Two folders of reports: what names the run may differ and nothing else, and each difference is told."""

import copy
import json
import math
import shutil
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path

import pytest

from tests.commands import run
from tests.records import read_all, resolve
from tests.small_records import refuted
from verifiable_dp.core.validate import InputError, named, on_one_line, printable
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.check import judged
from verifiable_dp.record import conclude, requests
from verifiable_dp.record.differences import apart
from verifiable_dp.record.model import Record
from verifiable_dp.record.requests import RequestEntry, requiring
from verifiable_dp.record.sealing import RUN, digest, plain, pointer, text, without_run
from verifiable_dp.record.sealing import sealed as sealed_of_output
from verifiable_dp.record.verify import verify
from verifiable_dp.render import diff, folders, junit, markdown, mutation, page, sarif
from verifiable_dp.render.diff import compare
from verifiable_dp.render.page import render, render_errata, render_study
from verifiable_dp.render.portfolio import write
from verifiable_dp.report import Report, finish
from verifiable_dp.selfcheck.mutation import summary


def changes_of(old, new):
    """What is told of two data files."""
    return [folders._change(one) for one in apart(old, new)]


REPORTS = Path(__file__).parents[3] / "reports"
LATER = {
    "version": "9.9.9",
    "command": "verifiable-dp report --out elsewhere",
    "python": "3.99.0",
    "packages": {"numpy": "9.9", "scipy": "9.9"},
    "platform": "another machine",
    "cores": 99,
    "started": "2027-01-01T00:00:00Z",
    "finished": "2027-01-02T00:00:00Z",
    "cpu_seconds": 12345.678,
    "code": "f" * 64,
    "commit": "e" * 40,
    "dirty": True,
}
OF_A_RECORD = {
    "target": {"repository": "https://example.org/r", "commit": "d" * 40, "dirty": True},
    "ci": {"provider": "gitlab-ci", "run_url": "https://example.org/1"},
}


def sealed(whole):
    """With its digest."""
    return whole | {"digest": digest(whole)}


def load(name):
    """A committed file, without a request; of the kill table the first rows, as all are judged."""
    whole = json.loads((REPORTS / name).read_text("utf-8"))
    if name != "mutants.json":
        whole["provenance"].pop("request", None)
        return sealed(whole)
    rows = whole["mutants"][:40]
    return sealed(whole | {"mutants": rows, "summary": summary(rows)})


def run_again(whole):
    """As another run on another machine with other versions leaves it."""
    found = copy.deepcopy(whole)
    found["provenance"] |= LATER | (OF_A_RECORD if "target" in found else {})
    if "cpu_seconds_by_mutant" in found["provenance"]:
        found["provenance"]["cpu_seconds_by_mutant"] = {
            name: 1.0 + seconds for name, seconds in found["provenance"]["cpu_seconds_by_mutant"].items()
        }
    return sealed(found)


PAGES = {
    "tree-sum/record": lambda whole: render(Record.of(whole)),
    "errata": render_errata,
    "mutants": mutation.render,
    "studies/S3/study": render_study,
}


def put(folder, name, whole, page=None):
    """A data file and its page."""
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(whole), "utf-8")
    whole = json.loads(text(whole))  # as a reader has it: its keys are sorted
    html = path.with_name("index.html") if name.startswith("studies/") else path.with_suffix(".html")
    html.write_text(PAGES[name](whole) if page is None else page, "utf-8")
    return path, html


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Every kind of data file with its page, and the same of another run."""
    base = tmp_path_factory.mktemp("made")
    for name in PAGES:
        whole = load(f"{name}.json")
        put(base / "old", name, whole)
        put(base / "new", name, run_again(whole))
    for side in ("old", "new"):
        (base / side / "notes.txt").write_text("one\ntwo\nthree\n")
    return base


@pytest.fixture
def tree(made, tmp_path):
    """A copy of one record and the notes, to be spoilt."""
    for side in ("old", "new"):
        shutil.copytree(made / side / "tree-sum", tmp_path / side / "tree-sum")
        shutil.copy(made / side / "notes.txt", tmp_path / side)
    return tmp_path


def compared(base, **options):
    return folders.compare(base / "old", base / "new", **options)


def only(found):
    """The one file that is not the same, and all statuses."""
    (file,) = (file for file in found.files if file.status not in ("same", "run"))
    assert found.outcome == "differs"
    return file


# ---------------------------------------------------------------- what names the run


def leaves(value, place=""):
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, place + pointer(key))
    elif isinstance(value, list) and value:
        for i, item in enumerate(value):
            yield from leaves(item, f"{place}/{i}")
    else:
        yield place


def names_the_run(place):
    return any(place == field or place.startswith(field + "/") for field in RUN)


@pytest.mark.parametrize("name", ["tree-sum", "dp-linear-printed", "se", "shuffled-linear"])
def test_nothing_but_the_named_fields_follows_from_the_run(name):
    record = load(f"{name}/record.json")
    again = run_again(record)
    assert without_run(again) == without_run(record)
    assert without_run(record, again) == again
    # What is no fact of the run is not let pass.
    other = copy.deepcopy(record)
    other["provenance"]["idealized_numerics"] = not record["provenance"]["idealized_numerics"]
    assert without_run(sealed(other)) != without_run(record)


ABSENT = [
    f"/provenance/{name}" for name in ("in_process", "ran_before", "resumed", "request", "cage", "counted")
]


def test_every_named_field_exists_and_follows_from_the_run():
    record = load("tree-sum/record.json")
    again = run_again(record)
    assert len(RUN) > 2
    for place in RUN:
        if place == "/provenance/cpu_seconds_by_mutant":
            assert resolve(load("mutants.json"), place)
        elif place in ABSENT:
            assert place.rpartition("/")[2] not in record["provenance"]  # only where there is cause
        else:
            assert resolve(record, place) != resolve(again, place), place


def test_what_it_takes_out_is_exactly_that():
    record = load("tree-sum/record.json")
    kept = set(leaves(without_run(record)))
    assert kept == {place for place in leaves(record) if not names_the_run(place)}
    assert {"/provenance/bit_generator", "/seed"} <= kept


def test_every_other_field_is_seen():
    """Each 5th leaf of a record, and every leaf of the parts that hold fields of the run."""
    record = load("tree-sum/record.json")
    kept = without_run(record)
    places = list(leaves(record))
    near = [p for p in places if p.split("/")[1] in ("provenance", "digest")]
    assert len(places) > 500
    seen = {True: 0, False: 0}
    for place in {*places[::5], *near}:
        edited = copy.deepcopy(record)
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in place.split("/")[1:])
        inner = edited
        for part in parents:
            inner = inner[int(part) if isinstance(inner, list) else part]
        inner[int(last) if isinstance(inner, list) else last] = "edited"
        changes = changes_of(kept, without_run(edited))
        assert bool(changes) != names_the_run(place), place
        if changes:
            assert [change.what for change in changes] == [".".join([*parents, last])]
            assert changes[0].new == "edited"
        seen[bool(changes)] += 1
    assert min(seen.values()) >= 15


# ---------------------------------------------------------------- the same


@pytest.fixture(scope="module")
def found(made):
    return compared(made)


def test_two_runs_are_the_same_but_for_the_run(made, found):
    assert found.outcome == "same"
    statuses = {file.path: file.status for file in found.files}
    assert statuses.pop("notes.txt") == "same"
    assert statuses.pop("errata.html") == "same"  # it shows nothing of the run
    assert set(statuses.values()) == {"run"}
    assert len(statuses) == 2 * len(PAGES) - 1
    assert all(not file.changes and not file.note for file in found.files)
    assert found.lines()[-1].endswith(": same: 2 same bytes, 7 same except for the run")
    assert f"{'same except for the run':<25}tree-sum/record.html" in found.lines()
    assert folders.compare(made / "old", made / "old").lines()[-1].endswith(": same: 9 same bytes")


def test_as_json(found):
    found = json.loads(json.dumps(found.as_dict()))
    assert found["outcome"] == "same"
    assert found["counts"] == {"same": 2, "run": 7, "differs": 0, "old": 0, "new": 0}
    assert [file["path"] for file in found["files"]] == sorted(file["path"] for file in found["files"])


# ---------------------------------------------------------------- what differs


def recounted(record, **values):
    """With other counts in the black-box check, and everything that follows from them: it holds."""
    found = copy.deepcopy(record)
    (check,) = (check for check in found["checks"] if check["kind"] == "black_box")
    check["statistics"] |= values
    check["result"] = plain(judged("black_box", check["statistics"]))
    found["verdict"], found["reason"] = conclude.conclusion(read_all(found["checks"]))
    found["detectable"] = conclude.detectable(read_all(found["checks"]))
    found["epsilon_lower"] = conclude.epsilon_lower(read_all(found["checks"]))
    return json.loads(text(sealed(found)))


def test_an_edited_count_that_was_sealed_again(tree):
    record = run_again(load("tree-sum/record.json"))
    number, before = next(
        (i, c["statistics"]["k1"]) for i, c in enumerate(record["checks"]) if c["kind"] == "black_box"
    )
    path, _ = put(tree / "new", "tree-sum/record", recounted(record, k1=before + 1))
    verify(path)  # it holds: nothing but the other record tells
    found = compared(tree)
    assert found.outcome == "differs"
    file, shown = (next(f for f in found.files if f.path == f"tree-sum/record.{x}") for x in ("json", "html"))
    assert (file.status, file.note) == ("differs", "")
    by_what = {change.what: (change.old, change.new) for change in file.changes}
    assert by_what[f"checks.{number}.statistics.k1"] == (before, before + 1)
    assert not any(what.startswith(("provenance", "digest")) for what in by_what)
    assert shown.status == "differs"  # its page shows the count
    assert any(str(before + 1) in str(change.new) for change in shown.changes)
    assert found.lines()[-1].endswith(": differs: 1 same bytes, 2 differs")
    assert f"  field checks.{number}.statistics.k1: {before} -> {before + 1}" in found.lines()


def test_a_record_that_does_not_hold(tree):
    path = tree / "new" / "tree-sum" / "record.json"
    record = json.loads(path.read_text("utf-8"))
    record["provenance"]["commit"] = "0" * 40  # a field of the run, but the digest is another
    path.write_text(text(record), "utf-8")
    found = {file.path: file for file in compared(tree).files}
    assert found["tree-sum/record.json"].status == "differs"
    assert "is invalid: record: edited or corrupted (its digest" in found["tree-sum/record.json"].note
    assert found["tree-sum/record.json"].changes == ()
    assert found["tree-sum/record.html"].status == "differs"  # no record says what it may show


def edited(path, old, new):
    content = path.read_text("utf-8")
    assert content.count(old) >= 1
    path.write_text(content.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("not refuted", "refuted", "refuted"),
        ("<title>", "<title> ", "title"),
        ("e" * 40, "e" * 39 + "d", "ed"),  # a line of the run, but not what its record says
        ("12345.678", "12345.679", "12345.679"),
        ("another machine", "another machine<br>refuted", "another machine"),
    ],
)
def test_an_edited_page(tree, old, new, where):
    edited(tree / "new" / "tree-sum" / "record.html", old, new)
    file = only(compared(tree))
    assert file.path == "tree-sum/record.html"
    assert file.changes[0].what.startswith("line ")
    assert where in file.changes[0].new
    assert any(line.startswith("  field line ") for line in compared(tree).lines())


def test_a_page_of_another_run_than_its_record(tree):
    """Each line that differs is one that may, but not all of them do."""
    page = tree / "new" / "tree-sum" / "record.html"
    before = (tree / "old" / "tree-sum" / "record.html").read_text("utf-8").split("\n")
    after = page.read_text("utf-8").split("\n")
    number = next(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
    page.write_text("\n".join([*after[:number], before[number], *after[number + 1 :]]), "utf-8")
    file = only(compared(tree))
    assert (file.path, file.changes) == ("tree-sum/record.html", ())
    assert "does not show the run" in file.note


def test_a_page_that_became_longer(tree):
    page = tree / "new" / "tree-sum" / "record.html"
    page.write_text(page.read_text("utf-8") + "\n", "utf-8")
    assert "lines -> " in only(compared(tree)).note


@pytest.mark.parametrize("name", ["mutants", "studies/S3/study", "errata"])
def test_other_data_files(made, tmp_path, name):
    html = "studies/S3/index.html" if name.startswith("studies") else f"{name}.html"
    for side in ("old", "new"):
        (tmp_path / side / name).parent.mkdir(parents=True)
        for file in (f"{name}.json", html):
            shutil.copy(made / side / file, tmp_path / side / file)
    path = tmp_path / "new" / f"{name}.json"
    whole = json.loads(path.read_text("utf-8"))
    whole["seed"] += 1
    path.write_text(text(sealed(whole)), "utf-8")
    edited(tmp_path / "new" / html, "<td>", "<td>0")
    page, data = sorted(compared(tmp_path).files, key=lambda file: file.path.endswith(".json"))
    assert (data.status, page.status) == ("differs", "differs")
    assert [(c.what, c.old, c.new) for c in data.changes] == [("seed", whole["seed"] - 1, whole["seed"])]
    assert any("<td>0" in str(change.new) for change in page.changes)


def test_the_form_of_a_data_file_counts(tree):
    path = tree / "new" / "tree-sum" / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8")
    file = only(compared(tree))
    assert file.note == "different spaces, line breaks or key order"


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("0.1", "0.10000000000000002", "last digits"),
        ("0.1", "0.1001", ""),
        ("1000000000000001", "1000000000000002", ""),  # a seed
        ("a", "b", ""),
    ],
)
def test_decimal_strings_are_compared_as_the_numbers_they_are(old, new, note):
    (change,) = changes_of(old, new)
    assert change.note == note


@pytest.mark.parametrize(("factor", "status"), [(1 + 1e-12, "run"), (1 + 1e-6, "differs")])
def test_last_digits_of_another_machine_are_no_difference(tree, factor, status):
    """By the rule of `evidence.rounding`; the page of such a record may show them."""
    path = tree / "new" / "tree-sum" / "record.json"
    record = json.loads(path.read_text("utf-8"))
    record["checks"][0]["statistics"]["spent"][-1][1] *= factor
    path.write_text(text(finish(record, started=0.0, cpu_seconds=0.0).record), "utf-8")
    path.with_suffix(".html").write_text(render(Record.of(json.loads(path.read_text("utf-8")))), "utf-8")
    found = {file.path: file for file in compared(tree).files}
    assert found["tree-sum/record.json"].status == status
    assert found["tree-sum/record.html"].status == "run", found["tree-sum/record.html"]
    assert ("last digits" in found["tree-sum/record.json"].note) == (status == "run")


def test_numbers_that_are_equal_and_written_differently(tree):
    fields = changes_of({"a": 1, "b": [0.5, 2.0]}, {"a": 1.0, "b": [0.5 + 1e-12, 2.0]})
    assert [(change.what, change.note) for change in fields] == [("a", ""), ("b.0", "last digits")]
    assert [change.line() for change in fields] == [
        "a: 1 -> 1.0",
        "b.0: 0.5 -> 0.500000000001 (last digits)",
    ]


def test_fields_that_come_and_go():
    fields = changes_of({"a": None, "c": [1, 2]}, {"b": 3, "c": [1]})
    assert [(change.what, change.old, change.new) for change in fields] == [
        ("a", None, None),
        ("b", None, 3),
        ("c", "2 entries", "1 entries"),
    ]
    assert [change.note for change in fields[:2]] == ["only in the old one", "only in the new one"]


def test_texts_and_what_is_none(tree):
    (tree / "new" / "notes.txt").write_text("one\nTwo\nthree\n")
    file = only(compared(tree))
    assert [(c.what, c.old, c.new) for c in file.changes] == [("line 2", "two", "Two")]
    (tree / "new" / "notes.txt").write_bytes(b"\xff\xfe")
    assert only(compared(tree)).note == "14 bytes -> 2 bytes, no text"
    (tree / "new" / "notes.txt").write_text("one\r\ntwo\nthree\n")
    assert only(compared(tree)).changes[0].line() == "line 1: 'one' -> 'one\\r'"
    for side in ("old", "new"):
        (tree / side / "notes.txt").write_text(f"{'x' * 5000}{side}{'y' * 5000}\n" * 9)
    file = only(compared(tree))
    assert file.note == "9 lines"
    assert len(file.changes) == 3
    assert all(len(line) < 500 for line in compared(tree).lines())
    assert "xxxold" in file.changes[0].old


def test_files_of_one_folder_only(tree):
    (tree / "old" / "tree-sum" / "record.html").unlink()
    (tree / "new" / "extra.txt").write_text("1")
    found = compared(tree)
    assert found.outcome == "differs"
    statuses = {file.path: file.status for file in found.files}
    assert statuses["tree-sum/record.html"] == "new"
    assert statuses["extra.txt"] == "new"
    back = folders.compare(tree / "new", tree / "old")
    assert {file.path: file.status for file in back.files}["extra.txt"] == "old"
    assert back.outcome == "differs"
    assert f": differs: 1 same bytes, 1 same except for the run, 2 only in {tree / 'new'}" in back.lines()[-1]


def test_what_is_left_out(tree):
    (tree / "new" / "extra.txt").write_text("1")
    edited(tree / "new" / "tree-sum" / "record.html", "not refuted", "refuted")
    assert compared(tree, without=["extra.*"]).outcome == "differs"
    assert compared(tree, without=["tree-sum"]).outcome == "differs"
    found = compared(tree, without=["extra.*", "tree-sum/"])
    assert found.outcome == "same"
    assert [file.path for file in found.files] == ["notes.txt"]
    assert found.left_out == 3
    assert found.lines()[-1].endswith(": same: 1 same bytes, 3 not compared")
    with pytest.raises(InputError, match="no file to compare"):
        compared(tree, without=["*"])


def test_hidden_files_and_links_to_folders(tree):
    (tree / "new" / ".hidden").write_text("1")
    (tree / "new" / "round").symlink_to(tree / "new")
    assert compared(tree).outcome == "same"
    (tree / "new" / "odd\x1b[2J\nname").write_text("1")
    assert all(line.isprintable() for line in compared(tree).lines())


def test_names_of_folders_that_are_none(tmp_path):
    for sides in ((tmp_path, tmp_path / "none"), (tmp_path / "none", tmp_path)):
        with pytest.raises(InputError, match="is not a folder"):
            folders.compare(*sides)
    with pytest.raises(InputError, match="no file to compare"):
        folders.compare(tmp_path, tmp_path)


# Differences of two records: what is worse, what cannot be compared, and what is only provenance.


def load_of_diff(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


@pytest.fixture
def record():
    return load_of_diff("dp-se")


def changed(record, **values):
    """The record with values at paths such as ``claim__epsilon``."""
    found = copy.deepcopy(record)
    for path, value in values.items():
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("__"))
        place = found
        for part in parents:
            place = place[part]
        place[last] = value
    return found


def by_what(difference):
    return {change.what: (change.old, change.new, change.direction) for change in difference.changes}


def test_a_record_beside_itself(record):
    found = compare(Record.of(record), Record.of(record))
    assert found.outcome == "same"
    assert found.same_evidence
    assert found.changes == found.provenance == found.not_comparable == ()
    assert "nothing differs" in found.lines()[-1]


def test_only_provenance_differs(record):
    later = changed(
        record,
        provenance__packages__numpy="9.9",
        provenance__commit="0" * 40,
        provenance__started="2027-01-01T00:00:00Z",
        digest="sha256:" + "0" * 64,
    )
    found = compare(Record.of(record), Record.of(later))
    assert found.outcome == "same"
    assert found.same_evidence
    assert found.changes == ()
    assert {change.what for change in found.provenance} == {"packages.numpy", "commit", "started"}
    assert "  only provenance differs" in found.lines()


VERDICTS = ("refuted", "inconclusive", "not_refuted")


@pytest.mark.parametrize("old", VERDICTS)
@pytest.mark.parametrize("new", VERDICTS)
def test_verdicts_are_ordered(record, old, new):
    found = compare(Record.of(changed(record, verdict=old)), Record.of(changed(record, verdict=new)))
    difference = VERDICTS.index(new) - VERDICTS.index(old)
    assert found.outcome == ("worse" if difference < 0 else "better" if difference else "same")


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("consistent", "contradicted", "worse"),
        ("consistent", "vacuous", "worse"),
        ("consistent", "inconclusive", "worse"),
        ("vacuous", "inconclusive", "same"),
        ("vacuous", "contradicted", "worse"),
        ("contradicted", "consistent", "better"),
    ],
)
def test_regret_verdicts_are_ordered(record, old, new, outcome):
    before, after = (changed(record, regret__verdict=verdict) for verdict in (old, new))
    assert compare(Record.of(before), Record.of(after)).outcome == outcome


def test_a_refuted_record_after_a_right_one():
    found = compare(Record.of(load_of_diff("dp-linear")), Record.of(load_of_diff("dp-linear-printed")))
    assert found.outcome == "worse"
    rows = by_what(found)
    assert rows["verdict"] == ("not_refuted", "refuted", "worse")
    assert rows["regret.verdict"] == ("consistent", "not_checked", "worse")
    assert rows["checks.alignment"] == ("not_refuted", "refuted", "worse")
    assert rows["checks.interactive alignment"] == ("not_refuted", None, "worse")
    assert rows["epsilon_lower"][2] == "neutral"
    assert "target.parameters.variant" in rows
    assert (
        compare(Record.of(load_of_diff("dp-linear-printed")), Record.of(load_of_diff("dp-linear"))).outcome
        == "not_comparable"
    )
    lines = found.lines()
    assert lines[1].startswith("  not comparable: they differ in variant")
    assert lines[2].startswith("  worse: verdict: not_refuted -> refuted")
    assert json.loads(json.dumps(found.as_dict()))["outcome"] == "worse"


def test_a_weaker_promise_is_worse(record):
    weaker = changed(record, claim__epsilon=2.0)
    assert by_what(compare(Record.of(record), Record.of(weaker)))["claim.epsilon"] == (1.0, 2.0, "worse")
    assert compare(Record.of(weaker), Record.of(record)).outcome == "better"
    gone = changed(record, claim=None)
    assert compare(Record.of(record), Record.of(gone)).outcome == "worse"
    assert compare(Record.of(gone), Record.of(record)).outcome == "not_comparable"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"claim__delta": 1e-6}, "measures differ"),
        ({"claim__rho": 0.5, "claim__delta": 1e-6}, "measures differ"),
        ({"claim__unit": "user"}, "different unit"),
        ({"claim__adjacency": "add-remove"}, "different adjacency"),
        ({"claim__relation": {"kind": "group", "size": 2}}, "different relation"),
    ],
)
def test_guarantees_of_other_kinds_are_not_compared(record, values, words):
    other = changed(record, epsilon_lower=0.5, power__smallest_epsilon=1.5, **values)
    for old, new in ((record, other), (other, record)):
        found = compare(Record.of(old), Record.of(new))
        assert found.outcome == "not_comparable"
        assert any(words in reason and "NIST SP 800-226" in reason for reason in found.not_comparable)
        assert not {what for what in by_what(found) if what.startswith(("epsilon_lower", "power"))}
        assert any("not comparable" in line for line in found.lines())
    refuted = compare(Record.of(record), Record.of(changed(other, verdict="refuted")))
    assert refuted.outcome == "not_comparable"  # of another promise
    assert by_what(refuted)["verdict"] == ("not_refuted", "refuted", "neutral")
    assert (
        compare(Record.of(record), Record.of(changed(other, regret__verdict="contradicted"))).outcome
        == "worse"
    )


def test_deltas_that_differ_are_not_compared(record):
    old, new = (changed(record, claim__delta=delta) for delta in (1e-6, 1e-5))
    found = compare(Record.of(old), Record.of(new))
    assert found.outcome == "not_comparable"
    assert "different delta" in found.not_comparable[0]
    assert by_what(found)["claim.delta"] == (1e-6, 1e-5, "neutral")
    assert compare(Record.of(old), Record.of(old)).outcome == "same"


def test_numbers_alone_decide_nothing(record):
    found = compare(
        Record.of(record), Record.of(changed(record, epsilon_lower=0.25, power__smallest_epsilon=1.5, seed=7))
    )
    assert found.outcome == "same"
    rows = by_what(found)
    assert rows["epsilon_lower"][1:] == (0.25, "neutral")
    assert rows["power.smallest_epsilon"][1:] == (1.5, "neutral")
    assert rows["seed"] == (0, 7, "neutral")
    assert not found.same_evidence


def test_numbers_that_round_to_the_same_are_told_apart(record):
    before = record["epsilon_lower"]
    after = math.nextafter(before, 0)
    found = compare(Record.of(record), Record.of(changed(record, epsilon_lower=after)))
    (line,) = (change.line() for change in found.changes)
    assert line == f"epsilon_lower: {before!r} -> {after!r}"


def test_checks_that_come_and_go(record):
    fewer = changed(record, checks=record["checks"][:-1])
    name = f"checks.{record['checks'][-1]['name']}"
    assert by_what(compare(Record.of(record), Record.of(fewer)))[name] == ("not_refuted", None, "worse")
    assert by_what(compare(Record.of(fewer), Record.of(record)))[name] == (None, "not_refuted", "neutral")
    assert compare(Record.of(fewer), Record.of(record)).outcome == "same"
    refuted = changed(record, **{f"checks__{len(record['checks']) - 1}__result__verdict": "refuted"})
    assert by_what(compare(Record.of(fewer), Record.of(refuted)))[name] == (None, "refuted", "worse")
    assert by_what(compare(Record.of(record), Record.of(refuted)))[name] == (
        "not_refuted",
        "refuted",
        "worse",
    )


def test_checks_of_one_name_are_told_apart(record):
    twice = changed(record, checks=[*record["checks"], record["checks"][0]])
    assert f"checks.{record['checks'][0]['name']} #2" in by_what(compare(Record.of(record), Record.of(twice)))


def test_mutants(record):
    missed = changed(record, mutants__0__verdict="not_refuted")
    name = f"mutants.{record['mutants'][0]['name']}"
    assert by_what(compare(Record.of(record), Record.of(missed)))[name] == ("refuted", "not_refuted", "worse")
    assert compare(Record.of(missed), Record.of(record)).outcome == "better"
    none = changed(record, mutants=[])
    assert by_what(compare(Record.of(record), Record.of(none)))["mutants"] == (
        len(record["mutants"]),
        0,
        "neutral",
    )


def test_what_is_not_covered_seed_and_plan(record):
    left = exclusions.Exclusion(exclusions.Left.OTHER_DATA).as_dict()
    other = changed(record, not_covered=[left], plan__interactive__probe=1)
    found = compare(Record.of(record), Record.of(other))
    assert found.outcome == "same"
    told = [(change.old, change.new) for change in found.changes if change.what == "not_covered"]
    gone = [(exclusions.in_words(one["id"], one["values"]), None) for one in record["not_covered"]]
    assert told == [(None, exclusions.in_words(left["id"], left["values"])), *gone]
    assert by_what(found)["plan.interactive.probe"] == (250, 1, "neutral")


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ({"target__parameters__horizon": 77}, "not_comparable"),
        ({"target__parameters__bounds": [0.0, 0.001]}, "not_comparable"),
        ({"plan__detect": 3.0}, "worse"),
        ({"plan__given_pairs": True}, "worse"),
        ({"plan__alpha": 1e-9}, "worse"),
        ({"plan__probe": 3}, "same"),
    ],
)
def test_an_audit_that_asks_for_less_is_not_the_same(record, values, outcome):
    """Broken variant: parameters and settings are listed, and decide nothing."""
    old, new = Record.of(record), Record.of(changed(record, **values))
    assert compare(old, new).outcome == outcome
    assert compare(new, old).outcome == {"worse": "better"}.get(outcome, outcome)


def asked_of(record, question="audit", **values):
    """The record of a request with some values, which names it as its own."""
    asked = {
        "question": question,
        "target": {"name": "a.py:f", "kind": "code", "parameters": {}, "files": {}},
    }
    asked |= {"claim": {}, "inputs": {}, "plan": {}, "level": {}, "seed": 0, "code": "0" * 64}
    asked |= {"packages": f"sha256:{'0' * 64}", **values}
    return Record.of(changed(record, provenance__request=requests.made(asked, None).as_dict()))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ({"plan": {}}, {"plan": {"own_neighbours": True}}, False),
        ({"inputs": {"pairs": [[0, 1]]}}, {"inputs": {"pairs": [[0, 0.001]]}}, False),
        ({"inputs": {"reward": "a.py:f"}}, {"inputs": {"reward": "a.py:g"}}, False),
        ({"claim": {"group": 5}}, {"claim": {"group": 1}}, False),
        (
            {"question": "regret", "claim": {"bound": 120}},
            {"question": "regret", "claim": {"bound": 390}},
            False,
        ),
        ({"inputs": {"horizon": 5}}, {"inputs": {"horizon": 6}}, True),  # the record says it, or it is unused
        ({"plan": {"budget": "smoke"}}, {"plan": {"budget": "quick", "runs": 3}, "seed": 1}, True),
        ({"claim": {"adjacency": "one"}}, {"claim": {}}, True),  # the claim of the record says it
        ({"question": "evidence"}, {"question": "audit", "plan": {"own_neighbours": False}}, True),
    ],
)
def test_records_that_were_asked_other_things_are_not_compared(old, new, same, record):
    """Broken variants: what stands only in a request is provenance; how much is run makes a question."""
    before, after = asked_of(record, **old), asked_of(record, **new)
    for one, other in ((before, after), (after, before)):
        found = compare(one, other)
        assert found.outcome == ("same" if same else "not_comparable")
        assert all("they answer different questions" in one for one in found.not_comparable)
    assert compare(before, Record.of(record)).outcome == "same"  # that names no request


def test_a_difference_that_decides_nothing_is_named(record):
    found = compare(Record.of(record), Record.of(changed(record, pairs__0__words="another pair")))
    assert found.outcome == "same"
    assert not found.same_evidence
    assert [change.what.split(" is ")[0] for change in found.changes] == ["pairs.0.words"]


def test_declarations_and_the_hazards_that_follow(record):
    old = finish(record, started=0.0, cpu_seconds=0.0).record
    new = finish(record, started=0.0, cpu_seconds=0.0, declarations={"unprotected_outputs": []}).record
    found = compare(Record.of(old), Record.of(new))
    assert found.outcome == "same"
    assert not found.same_evidence
    rows = by_what(found)
    assert rows["declarations.unprotected_outputs"] == (None, [], "neutral")
    assert rows["hazards.NIST-H08"] == ("open", "declared", "neutral")


def test_another_algorithm(record):
    for name in ("dp-se-doubling", "shuffled-linear", "adaptive-tree-printed", "ucb1"):
        other = load_of_diff(name)
        for old, new in ((record, other), (other, record)):
            found = compare(Record.of(old), Record.of(new))
            assert found.outcome == "not_comparable"
            assert {change.direction for change in found.changes} == {"neutral"}
            names = [side["target"]["name"] for side in (old, new)]
            assert by_what(found)["target.name"] == (*names, "neutral")
            first, second, *rest = found.lines()
            assert first.endswith(": not comparable")
            assert second == f"  not comparable: their targets differ: {names[0]} and {names[1]}"
            assert not [line for line in rest if "worse" in line or "weaker" in line or "caught" in line]


def test_the_same_changes_of_one_target_are_worse(record):
    """Control of the above: only the name decides that nothing is compared."""
    other = load_of_diff("adaptive-tree-printed")
    renamed = changed(other, target__name=record["target"]["name"])
    assert other["verdict"] == "refuted"
    assert compare(Record.of(record), Record.of(renamed)).outcome == "worse"
    assert (
        compare(Record.of(record), Record.of(changed(record, target__name="another"))).outcome
        == "not_comparable"
    )


def test_no_declarations_and_empty_ones_are_the_same(record):
    found = compare(
        Record.of(changed(record, declarations=None)), Record.of(changed(record, declarations={}))
    )
    assert (found.outcome, found.same_evidence, found.changes) == ("same", True, ())


def test_another_instance_is_neither_better_nor_comparable_and_may_be_worse(record):
    """A promise is compared as the claim, wherever it stands; every other parameter says what was audited."""
    weaker = changed(record, claim__epsilon=2.0, target__parameters={"epsilon": 2.0})
    stronger = changed(record, target__parameters={"epsilon": 1.0})
    assert compare(Record.of(stronger), Record.of(weaker)).outcome == "worse"
    assert compare(Record.of(weaker), Record.of(stronger)).outcome == "better"
    shorter = changed(weaker, target__parameters={"epsilon": 2.0, "horizon": 3})
    assert compare(Record.of(stronger), Record.of(shorter)).outcome == "worse"
    assert compare(Record.of(shorter), Record.of(stronger)).outcome == "not_comparable"


HOLE = {"unprotected_outputs": [{"what": "a public board", "readers": "public"}]}


def test_a_new_hole_is_worse_and_a_closed_one_better(record):
    """It was neutral: `diff` said 0 of a record with status 0 and one with status 1."""
    whole, void = (finish(record, started=0.0, cpu_seconds=0.0, declarations=one) for one in ({}, HOLE))
    assert (whole.decision.exit_code, void.decision.exit_code) == (0, 1)
    (hole,) = void.decision.holes
    found = compare(whole.parsed, void.parsed)
    assert found.outcome == "worse"
    assert by_what(found)[f"holes.{hole}"] == (None, "hole", "worse")
    assert compare(void.parsed, whole.parsed).outcome == "better"
    # A weaker claim, or another unit of privacy, does not hide it.
    other = Record.of(changed(void.record, claim__delta=0.125))
    assert compare(whole.parsed, other).outcome == "worse"


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (None, "certified", "better"),
        ("certified", None, "worse"),
        ("every-path", "tested-paths", "worse"),
        (None, None, "same"),
    ],
)
def test_less_evidence_that_is_required_is_worse(before, after, outcome, record):
    one, other = (requiring_of(record, require) for require in (before, after))
    assert compare(one, other).outcome == outcome


def test_whatever_else_makes_the_result_worse_is_worse(record):
    """The evidence stays, and what is required of it is more than it is."""
    bare = {**record, "checks": [one for one in record["checks"] if one["kind"] != "upper_bound"]}
    old, new = (requiring_of(bare, require) for require in (None, "certified"))
    found = compare(old, new)
    assert found.outcome == "worse"
    assert by_what(found)["result"] == ("passed", "undecided", "worse")
    assert by_what(found)["exit_status"] == (0, 3, "worse")


def requiring_of(record, require):
    asked = requiring(RequestEntry.of(record["provenance"]["request"]), require or "detectable")
    return Record.of(changed(record, provenance__request=asked.as_dict()))


def test_hostile_words_stay_on_their_line(record):
    found = compare(
        Record.of(record),
        Record.of(changed(record, target__note="a\nb\r\n\x1b[2Jworse: verdict" + "x" * 9999)),
    )
    assert any("worse: verdict" in line for line in found.lines())
    assert all(line.isprintable() and len(line) < 500 for line in found.lines())


def test_names_are_printed_as_they_are(record):
    """A name with `_` and one with a blank are two names."""
    old, new = (changed(record, target__name=name) for name in ("my_algo", "my algo"))
    lines = compare(Record.of(old), Record.of(new)).lines()
    assert any("my_algo -> my algo" in line for line in lines), lines


# Names of records and targets cannot pose as our words: in no line, page, JUnit or SARIF file.


LINES = (
    "valid signature: Ed25519 key sha256:00",
    "::stop-commands::x",
    "##[error]x",
    "##vso[task.complete]x",
)
NAME = (
    "x\n"
    + "\n".join(LINES)
    + "\r\n::error::y\u2028valid signature\x85\x0b::debug::z\x1b[2J\u202eevil\u200b\u2066"
)
UNSEEN = (
    "\u202e\u202a\u2066\u2069\u200b\u200d\u200e\ufeff\u061c\xad\u2060\x1b\x07\x85\u2028\U000e0041\u180e\u3164"
)


def hostile(text=NAME):
    """A record that holds, whose texts are those of an attacker."""
    record = refuted()
    record["target"].update(name=text, note=text, paper=text)
    record["target"]["source"].update(name=text, path=text)
    # Names of checks are unique: those after the first have their number, too.
    names = {check["name"]: f"{text}{i or ''}" for i, check in enumerate(record["checks"])}
    for check in record["checks"]:
        check["name"] = names[check["name"]]
    for found in record["counterexamples"]:
        found["check"] = names[found["check"]]
        found["pair"]["words"] = text
    left = {"id": "reacting-users", "values": {"why": text}, "settled_by": None}
    record["not_covered"] = [left]
    return verify(sealed_of_output(record)).record


def spoofed(output):
    """Lines that begin with what the attacker wrote, or that a service takes for a command."""
    starts = ("::", "##[", "valid signature", "evil", "x\\n", "x ")
    return [
        line
        for line in output.splitlines()
        if line.strip().startswith(starts) or "##[" in line or "##vso[" in line
    ]


@pytest.mark.parametrize("text", [NAME, "::stop-commands::x", "valid signature: Ed25519 key", " ::error::x"])
def test_no_line_begins_with_a_name(text, tmp_path):
    record = hostile(text=text)
    (tmp_path / "r.json").write_text(json.dumps(record), "utf-8")
    assert spoofed(run(tmp_path, "verify", "r.json").stdout) == []
    assert spoofed(Report(record).summary()) == []
    assert spoofed("\n".join(diff.compare(Record.of(record), Record.of(hostile(text="y"))).lines())) == []
    done = run(tmp_path, "diff", "r.json", "r.json")
    assert done.exit_code == 0
    assert spoofed(done.stdout) == []
    for form in ("junit", "sarif", "markdown"):
        done = run(tmp_path, "render", "r.json", "--to", form)
        assert done.exit_code == 0, done.stderr
        assert spoofed(done.stdout) == []


def test_the_line_of_a_name_is_one_line_and_quoted():
    line = Report(hostile(text="fine  not_refuted  epsilon >= 0.1")).line()
    assert line.startswith("target 'fine  not_refuted  epsilon >= 0.1' ")
    assert Report(hostile()).line().count("\n") == 0
    assert Report(hostile(text="bandits.py:play")).line().startswith("target bandits.py:play ")


def test_a_message_about_a_record_is_one_line(tmp_path):
    record = copy.deepcopy(hostile())
    record["target"]["kind"] = NAME
    (tmp_path / "r.json").write_text(json.dumps(sealed_of_output(record)), "utf-8")
    done = run(tmp_path, "verify", "r.json")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert spoofed(done.stderr) == []


@pytest.mark.parametrize("character", sorted(UNSEEN))
def test_what_cannot_be_seen_is_escaped(character, tmp_path):
    """Controls, what turns the direction of a line, and what has no width."""
    text = f"a{character}b"
    escape = character.encode("unicode_escape").decode()
    assert printable(text) == f"a{escape}b"
    record = hostile(text=text)
    shown = {
        "html": page.render(Record.of(record), drawn=False),
        "junit": junit.to_junit(Record.of(record)),
        "sarif": sarif.to_sarif(Record.of(record)),
        "summary": Report(record).summary(),
    }
    for form, content in shown.items():
        assert character not in content, form
        assert escape.replace("\\", "\\\\") in content if form == "sarif" else escape in content, form
    assert character not in markdown.to_markdown(Record.of(record))


def test_line_breaks_do_not_reach_names():
    record = hostile()
    suite = ET.fromstring(junit.to_junit(Record.of(record))).find("testsuite")
    for element in suite.iter("testcase"):
        assert "\n" not in element.get("name") + element.get("classname")
    log = json.loads(sarif.to_sarif(Record.of(record)))
    assert "\n" not in json.dumps(log, ensure_ascii=False)
    assert "\\n" in on_one_line("a\nb")


def test_names_on_pages_are_isolated(tmp_path):
    """Letters of a script that is written from the right do not move what stands beside them."""
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    record = hostile(text=hebrew)
    shown = page.render(Record.of(record), drawn=False)
    assert f"<h1><bdi>{hebrew}</bdi></h1>" in shown
    assert f"<td><bdi>{hebrew}</bdi>" in shown
    (tmp_path / "record.json").write_text(json.dumps(record), "utf-8")
    index = write(tmp_path)[0].read_text("utf-8")
    assert f"<bdi>{hebrew}" in index


def test_ordinary_names_stay_as_they_are():
    for name in ("bandits.py:play", "package.module:Class", "dp-se", "a/b_c.py:f"):
        assert named(name) == name
    assert named("python3 mine.py") == "'python3 mine.py'"
    assert on_one_line("Gavaldà, ε ≤ 1 – naïve 数") == "Gavaldà, ε ≤ 1 – naïve 数"


# ---------------------------------------------------------------- pages load nothing


def test_pages_forbid_all_but_their_own_script(tmp_path):
    import base64
    import hashlib
    import html
    import re

    record = hostile(text="fine")
    (tmp_path / "record.json").write_text(json.dumps(record), "utf-8")
    index = html.unescape(write(tmp_path)[0].read_text("utf-8"))
    shown = {"page": page.render(Record.of(record), drawn=False), "index": index}
    for name, content in shown.items():
        head = html.unescape(content).partition("<style>")[0]
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', head)
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert (rules["base-uri"], rules["form-action"]) == ("'none'", "'none'")
        scripts = re.findall(r"<script>(.*?)</script>", content, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
        assert rules.get("script-src", "").split() == [f"'sha256-{digest}'" for digest in digests], name
    assert "<script>" in shown["index"]


def test_every_page_has_a_policy():
    folder = resources.files("verifiable_dp.render").joinpath("templates")
    pages = {
        path.name: path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".html.jinja")
    }
    assert sum('{% extends "base.html.jinja" %}' in text for text in pages.values()) >= 10
    assert {name for name, text in pages.items() if "<head>" in text} == {"base.html.jinja"}
    assert 'content="{{ policy(' in pages["base.html.jinja"]
