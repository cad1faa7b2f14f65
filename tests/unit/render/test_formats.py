"""The checks of `tests.formats` refuse what is not of the format."""

import json
from pathlib import Path

import pytest

from tests import formats
from tests.formats import NotOfTheFormatError
from verifiable_dp.record.model import Record
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.sarif import to_sarif

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def refuted():
    """A record with findings, failures and a counterexample."""
    return json.loads((ROOT / "reports" / "dp-linear-printed" / "record.json").read_text("utf-8"))


def test_the_schemas_are_the_published_ones():
    found = formats.recorded_digests()
    kept = {path.name for path in formats.SCHEMAS.iterdir()} - {"README.md", "LICENSE.schemastore"}
    assert set(found) == kept == {"sarif-2.1.0-rtm.5.json", "junit-10.xsd"}
    assert {name: formats.digest(name) for name in kept} == found


def first_result(log):
    return log["runs"][0]["results"][0]


def place(log):
    return first_result(log)["locations"][0]["physicalLocation"]


BREAK_SARIF = {
    "version": lambda log: log.update(version="2.0.0"),
    "no runs": lambda log: log.pop("runs"),
    "unknown key": lambda log: log["runs"][0].update(digest="x"),
    "no name": lambda log: log["runs"][0]["tool"]["driver"].pop("name"),
    "no message": lambda log: first_result(log).pop("message"),
    "message is a string": lambda log: first_result(log).update(message="refuted"),
    "level": lambda log: first_result(log).update(level="fatal"),
    "line 0": lambda log: place(log)["region"].update(startLine=0),
    "line is a string": lambda log: place(log)["region"].update(startLine="7"),
    "space in the address": lambda log: place(log)["artifactLocation"].update(uri="my code.py"),
    "rule unknown": lambda log: first_result(log).update(ruleId="unheard-of"),
    "rule twice": lambda log: log["runs"][0]["tool"]["driver"]["rules"].append({"id": "DP100"}),
}


@pytest.mark.parametrize("how", BREAK_SARIF)
def test_broken_sarif_is_refused(how, refuted):
    log = formats.sarif(to_sarif(Record.of(refuted)))
    BREAK_SARIF[how](log)
    with pytest.raises(NotOfTheFormatError):
        formats.sarif(json.dumps(log))


BREAK_JUNIT = {
    "root": ("testsuites", "suites"),
    "unknown attribute": ("<testcase ", '<testcase verdict="refuted" '),
    "skipped at the root": ("<testsuites ", '<testsuites skipped="1" '),
    "no name": ('name="verdict" ', ""),
    "time": (' time="', ' time="long: '),
    "unknown element": ("<failure ", "<details /><failure "),
    "not counted": (' failures="2"', ""),
}


@pytest.mark.parametrize("how", BREAK_JUNIT)
def test_broken_junit_is_refused(how, refuted):
    document = to_junit(Record.of(refuted))
    assert formats.junit(document).tag == "testsuites"
    broken = document.replace(*BREAK_JUNIT[how])
    assert broken != document
    with pytest.raises(NotOfTheFormatError):
        formats.junit(broken)


BREAK_INTOTO = {
    "type": lambda s: s.update(_type="https://in-toto.io/Statement/v0.1"),
    "no subject": lambda s: s.update(subject=[]),
    "subject without digest": lambda s: s["subject"][0].pop("digest"),
    "no predicate type": lambda s: s.pop("predicateType"),
    "unknown key": lambda s: s.update(signature="x"),
    "unknown key of the predicate": lambda s: s["predicate"].update(tests=[]),
    "result": lambda s: s["predicate"].update(result="refuted"),
    "tests are no list": lambda s: s["predicate"].update(passedTests="all"),
    "descriptor of nothing": lambda s: s["predicate"]["configuration"].append({"mediaType": "text/plain"}),
    "content is not Base64": lambda s: s["predicate"]["configuration"][1].update(content="A"),
    "digest": lambda s: s["subject"][0]["digest"].update(sha256="sha256:00"),
}


@pytest.mark.parametrize("how", BREAK_INTOTO)
def test_a_broken_statement_is_refused(how, refuted):
    statement = formats.intoto(to_intoto(Record.of(refuted)))
    BREAK_INTOTO[how](statement)
    with pytest.raises(NotOfTheFormatError):
        formats.intoto(json.dumps(statement))
