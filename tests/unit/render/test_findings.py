"""Findings: codes that stay, one section of the docs each, the same in the terminal, SARIF and the page."""

import functools
import html
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
import verifiable_dp.render.findings as rendered
from tests.committed import NAMES, REPORTS, without_plots
from verifiable_dp.compliance import blocks
from verifiable_dp.compliance.blocks import to_compliance
from verifiable_dp.compliance.nist import Reviewed
from verifiable_dp.evidence import check, origins
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import power_words, words
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.render import (
    advice,
    following,
    markdown,
    mutation,
    opendp_registry,
    page,
    plainly,
    portfolio,
    promised,
)
from verifiable_dp.render.findings import RULES, Finding, FindingCode, findings, told
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import to_dpia, to_markdown
from verifiable_dp.render.opendp_registry import to_opendp
from verifiable_dp.render.page import render, render_pack
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

PAGE = (Path(__file__).parents[3] / "docs" / "findings.md").read_text("utf-8")


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


def section(code):
    return re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:][list(FindingCode).index(code)]


def test_codes_are_what_they_were():
    """Suppressions and dashboards hold on to them: a code may come, none may change."""
    assert {code.name: code.value for code in FindingCode} == {
        "REFUTED": "DP100",
        "RAW_DATA": "DP101",
        "RELEASE_COST": "DP102",
        "UNBOUNDED": "DP201",
        "UNDECIDED": "DP301",
        "WEAK": "DP302",
        "MISSED": "DP303",
        "SHORT": "DP304",
        "REGRET": "DP401",
        "HOLE": "DP501",
    }


@pytest.mark.parametrize("code", FindingCode)
def test_every_code_has_its_section(code):
    heading, *text = section(code).splitlines()
    assert heading == code
    whole = " ".join(text)
    assert RULES[code].title.rstrip(".") in whole
    assert f"To do: {RULES[code].advice}." in whole
    assert f"| [{code}](#{code.lower()}) | {RULES[code].severity} |" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_sarif_has_every_finding_but_notes(name):
    record = load(name)
    results = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    told = [each for each in findings(Record.of(record)) if each.severity != "note"]
    assert [r["ruleId"] for r in results] == sorted(each.code for each in told)


def shown_on(page):
    """Severity, code, place and sentence of each finding on a page, as it is read."""
    listed = re.search(r'<section id="findings">.*?</section>', page, re.DOTALL)
    items = re.findall(r"<li>(.*?)</li>", listed[0] if listed else "", re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", "", item)).split()) for item in items]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_finding_to_act_on(name):
    """With its sentence and what to do; a line of code has its place."""
    record = Record.of(load(name))
    expected = {(one.code, one.sentence): one for one in told(record)}.values()
    shown = shown_on(render(record, drawn=False))
    assert len(shown) == len(expected)
    for item, one in zip(shown, expected, strict=True):
        place = f" {one.file}:{one.line}" if one.file else ""
        said = f"{one.sentence.rstrip('.')}. To do: {one.advice}"
        assert item == f"{one.severity} {one.code}{place}: {' '.join(said.split())}"


def test_a_finding_that_is_left_out_would_be_missed():
    """Negative control of the test above."""
    record = Record.of(load("dp-linear-printed"))
    page = render(record, drawn=False)
    assert shown_on(page)
    assert shown_on(re.sub(r"<li><b class=.*?</li>", "", page)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_shows_six_lines_and_nothing_that_unsays_a_refutation(name):
    report = Report(load(name))
    lines = report.brief("r.json").splitlines()
    assert 2 <= len(lines) <= 6
    assert "  record: r.json" in lines
    if report.verdict == "refuted":
        assert not [line for line in lines if "not refuted" in line or "lead, not proof" in line]
        assert [line for line in lines if line.startswith("  counterexample")]
        assert "  again: verifiable-dp verify r.json --rerun" in lines


def undecided(record, **changes):
    return {**record, "verdict": "inconclusive", "reason": "weak", "counterexamples": [], **changes}


def test_where_a_bound_ends_is_a_note_with_its_place_until_the_claim_is_refuted():
    """Negative control: without a reason, and beside a refutation, there is none."""
    ended = {"what": "calls hash", "file": "a.py", "line": 33}
    record = load("dp-se")
    (found,) = [each for each in findings(Record.of({**record, "unbounded": ended})) if each.code == "DP201"]
    assert (found.severity, found.file, found.line) == ("note", "a.py", 33)
    assert found.words() == "note DP201 a.py:33: no upper bound; first obstacle: calls hash"
    assert json.loads(to_sarif(Record.of({**record, "unbounded": ended})))["runs"][0]["results"] == []
    assert not findings(Record.of({**record, "unbounded": None}))
    assert "DP201" not in [
        each.code for each in findings(Record.of({**record, "verdict": "refuted", "unbounded": ended}))
    ]


def test_what_is_undecided_says_so_once():
    lines = Report(undecided(load("dp-se"))).brief().splitlines()
    assert lines[1].startswith("warning DP301 verifiable_dp/algorithms/")
    assert sum("inconclusive about" in line for line in lines) == 1


def test_advice_fits_what_was_found():
    """Controls: with a line, with events that come out in two ways and from secret seeds the rules' own."""
    record = load("dp-se")
    ended = {"what": "gave up", "file": "", "line": 0}
    (found,) = [one for one in findings(Record.of({**record, "unbounded": ended})) if one.code == "DP201"]
    assert found.advice.startswith("run `inspect TARGET --play`")
    (found,) = findings(Record.of({**record, "unbounded": UNFOLLOWED}))
    assert found.advice.startswith("rewrite this line")

    def todo(checks, reason):
        given = Record.of(undecided(record, reason=reason))
        return replaced_checks(given, checks)

    never = SimpleNamespace(kind="black_box", verdict="not_refuted", constant="every")
    seeds, decided, other = (
        SimpleNamespace(kind=origins.KIND, verdict="inconclusive", constant="", name=name)
        for name in (origins.SEEDS, origins.DECIDED, "x")
    )
    assert "a longer --horizon" in todo([never], "unsearched")
    assert "seed from the system" in todo([seeds], "lead")
    # Broken variant: whatever the doubt is, it is about seeds.
    assert todo([decided], "lead").startswith("let only released values decide")
    assert todo([other], "lead").startswith("remove the cause named here")
    assert todo([SimpleNamespace(kind="black_box", verdict="not_refuted", constant="")], "unsearched") == ""
    assert todo([never], "weak") == ""


def test_beside_an_upper_bound_nobody_is_sent_to_why_there_is_none():
    """Broken variant: the rules' own advice, which names DP201. Control: without a bound."""
    record = Record.of(undecided(load("dp-se")))
    seen = [SimpleNamespace(kind="black_box", verdict="not_refuted", constant="")]
    claim = record.claimed.epsilon
    for bound, begins in (
        (2 * claim, "claim an epsilon of at least"),
        (claim, "make the tests sharper"),
    ):
        said = replaced_checks(record, seen, bound)
        assert said.startswith(begins)
        assert "DP201" not in said
    assert replaced_checks(record, seen) == ""
    assert "DP201" in RULES[FindingCode.UNDECIDED].advice
    bounded = SimpleNamespace(epsilon_upper=record.epsilon_upper)
    assert "DP201" not in advice.short(bounded) != ""
    assert advice.short(SimpleNamespace(epsilon_upper=None)) == ""


def test_an_audit_that_its_time_cut_says_so_first():
    """On the page's card. Control: one that ran its budget."""
    record = load("dp-se")
    for capped in ({"capped": True}, {}):
        found = Record.of({**record, "plan": {**record["plan"], **capped}})
        said = [words for words, _ in following.caveats(Reviewed.with_blocks(found, blocks.of(found)))]
        assert ("The time limit made this audit smaller than its budget" in said[:3]) == bool(capped)


def test_a_local_claim_that_stays_open_says_what_else_to_audit():
    """Controls: an algorithm of the catalogue, and a claim that is refuted."""

    def said(role, **changed):
        record = undecided(load("ldp-ucb"), reason="lead")
        record["target"] = {**record["target"], "role": role}
        return [one.advice for one in findings(Record.of({**record, **changed})) if "DP3" in one.code]

    alone = "audit the report function by itself"
    assert [alone in one for one in said("user")] == [True]
    assert [alone in one for one in said("promise")] == [False]
    assert not any(alone in one for one in said("user", verdict="refuted", reason=None))


def replaced_checks(record, checks, bound=None):
    """The advice on a record with these checks, and an upper bound."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(advice.conclude, "constant", lambda found: found[0].constant)
        facts = {name: getattr(record, name) for name in ("reason", "plan", "claim", "claimed", "target")}
        upper = None if bound is None else SimpleNamespace(epsilon=bound)
        return advice.undecided(SimpleNamespace(checks=checks, epsilon_upper=upper, **facts))


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (1.0, "Any epsilon above 1 at the tested event"),
        (0.9, "Any epsilon above 1"),
        (1.8, "Epsilon 1.8 at the tested event"),
    ],
)
def test_what_would_have_been_detected_does_not_contradict_the_claim(seen, said):
    """Of an event that shows exactly the claim it said that epsilon 1 would have been detected."""
    record = SimpleNamespace(power=None, detectable=seen, claimed=SimpleNamespace(epsilon=1.0))
    assert words._detected(record).startswith(said)


@pytest.mark.parametrize(
    ("event", "said"), [(1.8, "; accepted because a loss of 1.8 at the tested event"), (4.0, "")]
)
def test_a_weak_audit_says_what_it_was_accepted_for(event, said):
    """Variants need 4 times the claim, and the verdict rests on the event."""
    black_box = SimpleNamespace(smallest_epsilon=4.0)
    power = SimpleNamespace(black_box=black_box, of_event=False)
    with pytest.MonkeyPatch.context() as patched:
        for scope in (None, "every path"):
            patched.setattr(rendered, "decision", lambda _, scope=scope: SimpleNamespace(scope=scope))
            found = rendered._decisive(SimpleNamespace(power=power, detectable=event))
            assert found.startswith(said)
            assert bool(found) == bool(said and scope is None)
            said = ""


def test_the_first_line_shows_rho_beside_epsilon():
    record = load("adac-gope")
    claimed = f", claimed {words.promised(Record.of(record))}"
    assert claimed in Report(record).line()
    assert ", claimed" not in Report(load("dp-se")).line()


def test_a_place_without_a_line_shows_none():
    assert Finding("DP301", "said", "a.py").words().startswith("warning DP301 a.py: said")
    assert Finding("DP301", "said", "a.py", 3).words().startswith("warning DP301 a.py:3: said")


def test_a_line_that_is_not_followed_is_told_by_the_end_of_the_bound_alone():
    """DP101 said that raw data decided there: an open lead of another kind still says so."""
    lead = {"file": "a.py", "line": 33, "words": "w", "source": "s", "open": True}

    def codes(what):
        tracing = SimpleNamespace(kind="tracing", statistics={"leads": [{**lead, "what": what}]})
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(rendered, "too_costly", lambda numbers: [])
            return [one.code for one in rendered._of_code(SimpleNamespace(verdict="weak", checks=[tracing]))]

    assert (codes("unfollowed"), codes("branch")) == ([], ["DP101"])


def test_a_contradicted_theorem_comes_with_its_numbers():
    record = load("dp-se")
    check = next(c for c in record["regret"]["checks"] if "p_value" in c["result"])
    check["result"]["verdict"] = "contradicted"
    (found,) = findings(Record.of(record))
    assert (found.code, found.severity) == ("DP401", "error")
    assert check["name"] in found.sentence


UNFOLLOWED = {"what": "calls hash", "file": "a.py", "line": 33}


def test_a_note_comes_after_what_is_a_warning():
    """Control: where nothing else is found, the note is shown first."""
    record = {**load("dp-robust-elimination"), "unbounded": UNFOLLOWED}
    assert [each.code for each in findings(Record.of(record))] == ["DP302", "DP201"]
    lines = Report(record).brief().splitlines()
    assert [line.split()[1] for line in lines if line.startswith(("warning", "note"))] == ["DP302", "DP201"]
    alone = Report({**load("dp-se"), "unbounded": UNFOLLOWED}).brief().splitlines()
    assert alone[2].startswith("note DP201 a.py:33")


def test_checks_of_regret_never_push_a_refutation_beyond_six_lines():
    record = {**load("dp-linear-printed"), "regret": load("dp-se")["regret"]}
    lines = Report(record).brief("r.json").splitlines()
    assert len(lines) <= 6
    assert lines[-2:] == ["  again: verifiable-dp verify r.json --rerun", "  record: r.json"]


def test_what_has_to_be_known_of_an_open_audit_is_in_sarif():
    record = undecided(load("dp-se"))
    record["target"]["note"] = "we could not measure power: try a larger --budget"
    (result,) = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert result["message"]["text"].endswith("we could not measure power: try a larger --budget")


def test_one_variant_is_one():
    record = load("dp-se")
    own = [mutant for mutant in record["mutants"] if mutant["breaks"] == "regret"]
    own[0]["verdict"] = "not_contradicted"
    (found,) = findings(Record.of(record))
    assert (found.code, found.sentence) == ("DP303", f"1 broken variant missed ({own[0]['name']})")


# What the page of a record says in its first lines is what the Markdown of it says.


REPORTS_OF_WORDS = Path(__file__).parents[3] / "reports"
REFUTED = "The claim of epsilon 1 is refuted: epsilon is at least 2. The counterexample can be run again."


def spoken(name):
    """The sentence under the verdict: of the page, of the Markdown."""
    record = json.loads((REPORTS_OF_WORDS / name / "record.json").read_text("utf-8"))
    banner = re.search(r'<p class="verdict">(.*?)</p>', render(Record.of(record), drawn=False), re.DOTALL)[1]
    written = re.search(r"(?m)^\*\*.*?\*\* (.*)", markdown.to_markdown(Record.of(record)))[1]
    return " ".join(html.unescape(banner).split()), written


def test_no_verdict_says_more_than_the_evidence():
    """Literally: these sentences are what people act on."""
    assert spoken("dp-linear")[0] == (
        "No violation was found. The certificate covers every input and every run of this instance if its "
        "premises hold. It does not cover other instances, noise in production, rounding or side channels, "
        "so it does not prove that a deployment satisfies differential privacy."
    )
    assert spoken("dp-linear-printed")[0].startswith(REFUTED)
    record = json.loads((REPORTS_OF_WORDS / "dp-linear" / "record.json").read_text("utf-8"))
    undecided = {**record, "verdict": "inconclusive", "power": None}
    assert words.verdict(Record.of(undecided)).startswith(
        "The audit is inconclusive about epsilon 1: not every check"
    )
    assert words.verdict(Record.of({**record, "checks": []})) == "Privacy was not audited."


@pytest.mark.parametrize(
    ("name", "levels"), [("dp-linear-printed", ["error", "error"]), ("dp-linear", []), ("ucb1", ["error"])]
)
def test_refutations_are_errors_to_code_hosts(name, levels):
    record = json.loads((REPORTS_OF_WORDS / name / "record.json").read_text("utf-8"))
    results = json.loads(to_sarif(Record.of(record)))["runs"][0]["results"]
    assert [(found["ruleId"], found["level"]) for found in results] == [("DP100", x) for x in levels]


@pytest.mark.parametrize("name", ["dp-linear-printed", "dp-linear", "dp-se", "ucb1"])
def test_page_and_markdown_say_the_same_of_the_verdict(name):
    page, written = spoken(name)
    assert page == written


def test_a_refutation_says_how_far_and_of_which_listing():
    assert spoken("dp-linear-printed")[0] == f"{REFUTED} We audited the listing as printed."
    assert "as printed" not in spoken("dp-linear")[0]


def test_every_judge_has_its_sentence():
    kinds = check.kinds()
    assert {"black_box", "scaling"} <= {kind.name for kind in kinds}
    for kind in kinds:
        assert kind.judge is not None
        assert kind.words is not None


@pytest.mark.parametrize("name", ["dp-se", "shuffled-linear", "dp-nas", "dp-robust-elimination"])
def test_all_faces_take_the_sentence_of_a_check_from_beside_its_judge(name, monkeypatch):
    """Control: a judge that words its numbers otherwise changes every face."""
    record = json.loads((REPORTS_OF_WORDS / name / "record.json").read_text("utf-8"))
    regret = record["regret"]
    found = [*record["checks"], *regret["checks"], *regret.get("tables", [])]
    sentences = {check.in_words(Check.read(one)) for one in found}
    assert len(sentences) > 2
    assert not [said for said in sentences if re.search(r"\b(None|nan|inf|undefined)\b", said)]
    for said in sentences:
        assert said in Report(record).summary()
    written, cases = markdown.to_markdown(Record.of(record)), html.unescape(to_junit(Record.of(record)))
    for one in (*record["checks"], *regret["checks"]):
        assert markdown.escape(check.in_words(Check.read(one))) in written
        assert check.in_words(Check.read(one)) in cases
    for kind in check.kinds():
        monkeypatch.setattr(kind, "words", lambda numbers, result: "otherwise")
    for shown in (
        Report(record).summary(),
        markdown.to_markdown(Record.of(record)),
        to_junit(Record.of(record)),
    ):
        assert shown.count("otherwise") >= len(record["checks"]) + len(regret["checks"])


def test_a_record_read_from_its_file_has_the_plots_of_the_one_that_was_written():
    """A report renders each page twice, before its neighbours stand and after. Control: another record."""
    whole = (REPORTS_OF_WORDS / "ucb1" / "record.json").read_text("utf-8")
    record = json.loads(whole)
    page.render(Record.of(json.loads(whole, object_pairs_hook=lambda pairs: dict(reversed(pairs)))))
    hits = page._drawn.cache_info().hits
    page.render(Record.of(record))
    assert page._drawn.cache_info().hits == hits + 1
    page.render(Record.of({**record, "seed": record["seed"] + 1}))
    assert page._drawn.cache_info().hits == hits + 1


def test_pages_without_plots_leave_none_behind(monkeypatch):
    """Pages keep the plots of a record; control: an empty one that is kept takes the place of later ones."""
    record = json.loads((REPORTS_OF_WORDS / "ucb1" / "record.json").read_text("utf-8"))
    caches = (page._drawn, page._kept)
    kept = [cache.cache_info() for cache in caches]
    with monkeypatch.context() as patched:
        without_plots(patched)
        assert "<svg/>" in page.render(Record.of(record))
    assert [cache.cache_info() for cache in caches] == kept


def test_a_mechanism_has_data_and_outputs_and_no_actions():
    record = json.loads((REPORTS_OF_WORDS / "dp-se" / "record.json").read_text("utf-8"))
    record["target"] |= {"kind": "release", "plays": "data"}
    record["claim"]["unit"] = "pairs"
    said, seen = "changing the data to a neighbour that was tested", "what the mechanism releases"
    who = f"anyone who sees {seen}; the operator is trusted"
    assert promised.promise(Record.of(record)) == (
        f"Epsilon 1 for {said}, against {who}. It names no unit of privacy."
    )
    promise = plainly.summary(Record.of(record))[0]
    assert promise.startswith(f"The promise: {said} makes anything visible in {seen} at most")
    record["target"]["plays"] = "arms"
    assert "the actions and every noisy statistic" in promised.promise(Record.of(record))


def test_a_record_of_regret_alone_has_a_verdict_on_its_first_screen():
    record = json.loads((REPORTS_OF_WORDS / "dp-se" / "record.json").read_text("utf-8"))
    assert "privacy was not audited</strong>" not in render(Record.of(record), drawn=False)
    record |= {"checks": [], "claim": None, "power": None, "epsilon_lower": 0.0, "mutants": []}
    (banner,) = re.findall(
        r'<div class="banner (\w+)">\s*<strong>(.*?)</strong>', render(Record.of(record), drawn=False)
    )
    assert banner == ("consistent", "Regret: consistent; privacy was not audited")


def test_mutants_that_are_killed_are_good_news_and_fold_away():
    """Of the kill table: what was not killed comes first and unfolded, and only what survived is in red."""
    table = json.loads((REPORTS_OF_WORDS / "mutants.json").read_text("utf-8"))
    table["mutants"] = [row for row in table["mutants"] if row["algorithm"] == "dp-robust-elimination"]
    with pytest.MonkeyPatch.context() as patched:
        without_plots(patched)
        made = mutation.render(table)
    before, _, folded = made.partition("<details>")
    opened = before.partition('<details class="item" id="dp-robust-elimination" open="">')[2]
    assert '<span class="missed">missed</span>' in opened
    rows = [len(re.findall('<tr><th scope="row">', part)) for part in (opened, folded)]
    killed = sum(row["outcome"] == "killed" for row in table["mutants"])
    assert rows == [len(table["mutants"]) - killed, killed]
    assert killed > 40
    assert 'class="missed"' not in folded
    assert '"refuted">' not in made
    table["mutants"] = [row for row in table["mutants"] if row["outcome"] != "survived"]
    assert ' open=""' not in mutation.render(table)  # control: none was missed


# A verdict states the promised quantity, and which leaks the stated power is about, in every rendering.


def permute_and_flip(data, rng):
    """Keeps epsilon 1, but not rho 1/8, which only the exponential mechanism does."""
    for i in rng.permutation(data.size):
        if rng.random() < np.exp((data[i] - data.max()) / 2):
            return int(i)


permute_and_flip.neighbours = [(np.zeros(2), np.array([1.0, -1.0]))]


def noisy(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1.0, size)


def normal(data, size, rng):
    return np.sum(data) + rng.normal(0, 1.0, size)


def greedy(rewards, rng):
    """Plays what paid in the first round of either arm."""
    actions = np.zeros(len(rewards), int)
    actions[1] = 1
    actions[2:] = int(rewards[1, 1] > rewards[0, 0])
    return actions


REFUTED_OF_PROMISES = {
    "rho": (permute_and_flip, {"rho": 0.125}, "rho 0.125"),
    "mu": (normal, {"mu": 0.5}, "mu 0.5"),
    "epsilon": (noisy, {"epsilon": 0.5}, "epsilon 0.5"),
    "epsilon and delta": (noisy, {"epsilon": 0.5, "delta": 1e-5}, "epsilon 0.5 at delta 1e-05"),
    "group": (
        greedy,
        {"epsilon": 0.5, "group": 2, "n_arms": 2, "horizon": 6},
        "epsilon 1 for a group of 2 rewards",
    ),
}


def on_a_page(shown):
    """What is read of a page: tags end a sentence, and pictures are not read here."""
    plain = re.sub(r"<(style|svg|script)\b.*?</\1>", " ", shown, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "\n", plain))


RENDERINGS = {
    "line": lambda record: vdp.Report(record).line(),
    "terminal": lambda record: vdp.Report(record).summary(),
    "notebook": lambda record: on_a_page(vdp.Report(record)._repr_html_()),
    "page": lambda record: on_a_page(render(Record.of(record))),
    "pack": lambda record: on_a_page(render_pack(Record.of(record))),
    "markdown": lambda record: to_markdown(Record.of(record)).replace("\\", ""),
    "dpia": lambda record: to_dpia(Record.of(record)).replace("\\", ""),
    "sarif": lambda record: to_sarif(Record.of(record)),
    "junit": lambda record: html.unescape(to_junit(Record.of(record))),
    "in-toto": lambda record: to_intoto(Record.of(record)),
    "opendp": lambda record: to_opendp(Record.of(record)),
    "compliance": lambda record: to_compliance(Record.of(record)),
}
_NUMBER = r"(\d[\d.]*(?:e-?\d+)?)"
# A measured bound and the claim that it is beside, in one sentence.
_BESIDE = (
    re.compile(rf"(?:at least|>=) {_NUMBER}[^;\n]*?(?:claimed|promised at most)(?: epsilon)? {_NUMBER}"),
    re.compile(rf"claim of epsilon {_NUMBER}[^\n]*?refuted: epsilon is at least {_NUMBER}"),
)


def slips(text):
    """Sentences in which something is refuted by less than was claimed."""
    found = []
    for line in text.splitlines():
        if "refuted" not in line.replace("not refuted", "").replace("not_refuted", ""):
            continue
        for number, pattern in enumerate(_BESIDE):
            for match in pattern.finditer(line):
                both = (match[1], match[2]) if number == 0 else (match[2], match[1])
                least, claim = (float(part.rstrip(".")) for part in both)
                if not least > claim:
                    found.append(match[0])
    return found


@functools.cache
def refuted(kind):
    target, promise, _ = REFUTED_OF_PROMISES[kind]
    return vdp.audit(target, budget="smoke", seed=0, **promise).to_json()


@pytest.mark.parametrize("kind", REFUTED_OF_PROMISES)
def test_a_refutation_states_what_was_promised_and_where_it_fails(kind):
    record, promised = json.loads(refuted(kind)), REFUTED_OF_PROMISES[kind][2]
    assert record["verdict"] == "refuted"
    said = words.verdict(Record.of(record))
    assert said.startswith(f"The claim of {promised} is refuted: ")
    for name, rendering in RENDERINGS.items():
        text = rendering(record)
        assert not slips(text), name
        if kind in ("rho", "mu", "group") and name != "compliance":  # that has numbers by name
            shown = " ".join(text.replace('" value="', " ").split())
            assert (promised if kind != "group" else "2 rewards") in shown, name


@pytest.mark.parametrize("kind", ["rho", "mu", "epsilon"])
def test_a_portfolio_has_the_promise_beside_what_breaks_it(kind, tmp_path):
    record = json.loads(refuted(kind))
    vdp.Report(record).save(tmp_path)
    cells = on_a_page(portfolio.write(tmp_path)[0].read_text("utf-8"))
    assert words.claimed(Record.of(record)) in cells
    assert words.shown(Record.of(record)) in " ".join(cells.split())
    if kind != "epsilon":
        assert words.claimed(Record.of(record)) == REFUTED_OF_PROMISES[kind][2]
        assert words.shown(Record.of(record)) == words.broken(Record.of(record))


def test_the_slip_is_found_where_it_was():
    """Control: the sentences of earlier versions."""
    assert slips("target f  refuted  epsilon >= 0.973, claimed 2.166 at delta 1e-05")
    assert slips("The claim of epsilon 2.166 is refuted: epsilon is at least 0.973. It can be run again.")
    assert slips("  check curve: refuted, 13 points: epsilon at least 0.8562 with 95 %, claimed 2.166")
    assert not slips("  check black box: not refuted, epsilon at least 0.973, claimed 2.166")
    assert not slips("refuted  epsilon >= 2.5, claimed 1")


def test_a_curve_names_the_point_that_breaks_it():
    record = json.loads(refuted("rho"))
    [check] = [c for c in record["checks"] if c["kind"] == "curve"]
    point = curves.breaking(check["statistics"], check["result"])
    assert point in words.verdict(Record.of(record))
    assert point in words.line(Check.read(check))
    assert point in words.counterexample(Counterexample.of(record["counterexamples"][0]), Record.of(record))
    measured, promised = re.fullmatch(
        r"\w+ is at least (\S+) at \w+ \S+, promised at most (\S+)", point
    ).groups()
    assert float(measured) > float(promised)


@functools.cache
def unbounded():
    return vdp.audit(noisy, epsilon=1.0, adjacency="add-remove", budget="smoke", seed=0).to_json()


def test_the_stated_power_says_of_which_leaks():
    record = json.loads(unbounded())
    assert (record["verdict"], record["epsilon_upper"]) == ("not_refuted", None)
    stated = re.compile(
        r"would have (?:been )?(?:seen|caught|detected)|would (?:detect|catch)|Sampling catches|caught from"
    )
    kinds = (power_words.KIND, power_words.SHORT, "ess noise caught from")
    seen = 0
    for name, rendering in RENDERINGS.items():
        for sentence in re.split(r"(?<=[a-z)])\. |\n", rendering(record)):
            if stated.search(sentence) and re.search(r"epsilon|caught \d", sentence):
                seen += 1
                assert any(kind in sentence for kind in kinds), (name, sentence)
    assert seen > 8


@pytest.mark.parametrize(
    ("verdict", "checks", "said"),
    [
        ("not_refuted", [], "kept"),
        ("not_refuted", [1], "Audited: kept At confidence 0.95, epsilon is at least 0.5."),
        ("inconclusive", [1], "Audited: kept At confidence 0.95, epsilon is at least 0.5."),
        ("refuted", [1], "Audited: kept At confidence 0.95, broken."),
    ],
)
def test_what_a_registry_is_told_of_the_audit(verdict, checks, said, monkeypatch):
    for name, text in (("verdict", "kept"), ("broken", "broken")):
        monkeypatch.setattr(opendp_registry.words, name, lambda record, text=text: text)
    record = SimpleNamespace(verdict=verdict, checks=checks, epsilon_lower=0.5, confidence=0.95, power=None)
    assert opendp_registry._audit(record) == said
