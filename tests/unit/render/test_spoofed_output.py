"""Names of records and targets cannot pose as our words: in no line, page, JUnit or SARIF file."""

import copy
import json
import xml.etree.ElementTree as ET
from importlib import resources

import pytest

from tests.commands import run
from tests.small_records import refuted
from verifiable_dp.core.validate import named, on_one_line, printable
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import verify
from verifiable_dp.render import diff, junit, markdown, page, sarif
from verifiable_dp.render.portfolio import write
from verifiable_dp.report import Report

LINES = (
    "signature holds: Ed25519 key sha256:00",
    "::stop-commands::x",
    "##[error]x",
    "##vso[task.complete]x",
)
NAME = (
    "x\n"
    + "\n".join(LINES)
    + "\r\n::error::y\u2028signature holds\x85\x0b::debug::z\x1b[2J\u202eevil\u200b\u2066"
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
    return verify(sealed(record)).record


def spoofed(output):
    """Lines that begin with what the attacker wrote, or that a service takes for a command."""
    starts = ("::", "##[", "signature holds", "evil", "x\\n", "x ")
    return [
        line
        for line in output.splitlines()
        if line.strip().startswith(starts) or "##[" in line or "##vso[" in line
    ]


@pytest.mark.parametrize("text", [NAME, "::stop-commands::x", "signature holds: Ed25519 key", " ::error::x"])
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
    (tmp_path / "r.json").write_text(json.dumps(sealed(record)), "utf-8")
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
    whole = {name for name, text in pages.items() if "<head>" in text}
    assert len(whole) >= 6
    assert whole == {name for name, text in pages.items() if 'content="{{ policy(' in text}
