"""The first screen, and what a page says of the limits of its checks beside their verdicts."""

import copy
import functools
import html
import json
import math
import re
import shutil
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from tests.committed import REPORTS, without_plots
from tests.records import reviewed
from verifiable_dp.compliance import blocks, nist
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.evidence import premises
from verifiable_dp.evidence.check import Check, kind_of
from verifiable_dp.record import power_words, questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.record.sealing import digest
from verifiable_dp.render import (
    audited,
    bounds,
    following,
    limits,
    pdf,
    plainly,
    plots,
    portfolio,
    promised,
    regrets,
    renderings,
    sidecars,
    strength,
    summary_card,
    timelines,
)
from verifiable_dp.render.markdown import to_dpia, to_markdown
from verifiable_dp.render.page import render, render_index, render_pack

MISSED = "last reward not truncated"
LIMITS = "limits of this evidence that no declaration removes: test or accept them"


@pytest.fixture(scope="module")
def table():
    return json.loads((REPORTS / "mutants.json").read_text("utf-8"))


def load(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


def without_table(name):
    """The record as it is where no kill table was at hand."""
    return load(name) | {"kill_table": None}


def rendered(name, **changes):
    """What is read on the page of a record with changes, and its source."""
    found = render(Record.of(load(name) | changes), drawn=False)
    return " ".join(
        html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", found, flags=re.DOTALL)).split()
    ), found


@functools.cache
def shown(name):
    """What is read on a page, and its source."""
    return rendered(name)


def of(name, **changes):
    return summary_card.of(reviewed(load(name) | changes))


# ---------------------------------------------------------------- the card


@pytest.mark.parametrize(("turned", "named"), [(True, "neighbour"), (False, "recorded input")])
def test_the_values_of_a_transcript_are_named_after_the_input_that_they_are_of(turned, named):
    """A replay may begin on either."""
    record = load("dp-linear-printed")
    record["counterexamples"][0]["turned"] = turned
    assert f"exact value on the {named}, scale" in render(Record.of(record), drawn=False)
    assert ("values are those on the neighbour" in to_markdown(Record.of(record))) == turned


@pytest.mark.parametrize("name", ["dp-se", "dp-nas", "shuffled-linear", "dp-linear-printed", "ucb1"])
def test_page_and_markdown_have_the_card(name):
    record = load(name)
    said = of(name)
    read, page = shown(name)
    written = html.unescape(to_markdown(Record.of(record)).replace("\\", ""))
    head = written[: written.index("## In plain words")]
    first = read[: read.index("In plain words")]
    for label, text in [("", said.headline), *said.rows]:
        assert text in re.sub(r" ([,.;])", r"\1", first), label  # names of hazards are links
        assert text in head, label
    assert said.instance.startswith("Only this instance")  # never lost among the caveats
    assert 1 <= len(said.caveats) <= 3
    for text, place in said.caveats:
        assert text in first
        assert text in head
        assert f'id="{place}"' in page  # no "see" leads nowhere
    assert {"Target", "When", "Audited with", "Signature"} <= dict(said.audited).keys()


def test_every_link_within_a_page_leads_somewhere():
    for name in ("dp-nas", "adaptive-tree-printed", "nas"):
        _, page = shown(name)
        for place in set(re.findall(r'href="#([^"]*)"', page)):
            assert page.count(f'id="{place}"') == 1, place
        titles = re.findall(r'<section id="[a-z-]+">\s*<h2>(.*?)</h2>', page)
        contents = page[page.index('<nav class="contents"') : page.index("</nav>")]
        assert re.findall(r"<a href=\"#[a-z-]+\">(.*?)</a>", contents) == titles
        assert len(titles) > 6


@pytest.mark.parametrize(
    ("name", "state", "times"),
    [
        ("dp-se", "strong", "1188 runs were checked exactly"),
        ("dp-nas", "weak", "4 times the claim"),
        ("dp-exponential-nas", "weak", "2.5 times"),
        ("shuffled-linear", "strong", "Exact computation catches"),
        ("ucb1", "none", "counterexample"),
    ],
)
def test_strength_is_told_apart(name, state, times):
    """An audit that catches four times the claim does not look like one that catches any excess."""
    found = of(name).strength
    assert (found.state, times in found.words) == (state, True)
    page = html.unescape(render(Record.of(load(name)), drawn=False))
    meters = re.findall(r'<span class="meter (\w+)[^>]* aria-label="([^"]*)" style="--full:(\d+)%">', page)
    assert meters == ([] if state == "none" else [(state, found.in_words(), str(found.full))])


def test_the_meter_has_a_scale_that_can_be_read_and_heard():
    """Evenly doubling, from the claim; control: of the refuted there is nothing to measure."""
    weak, page = of("dp-nas").strength, shown("dp-nas")[1]
    assert weak.in_words() == (
        "Scale of leaks, evenly doubling: epsilon 2 (claim), epsilon 4 (2×), epsilon 8 (4×), epsilon 16 "
        "(8×), epsilon ∞ (no limit). By samples alone, less noise is caught at epsilon 8 or more."
    )
    for place, epsilon, what in weak.ticks:
        assert f'<small style="left:{place}%">{epsilon}<br> ({what})</small>' in page
    places = [place for place, _, _ in weak.ticks]
    assert places == [0, 25, 50, 75, 100]
    assert 100 - weak.full == places[2]  # caught from four times the claim
    assert f"<em>{weak.mark}</em>" in page
    assert of("dp-se").strength.mark == "any excess on the replayed runs is caught"
    assert (
        of("shuffled-linear").strength.mark == "less noise in all batches is caught at epsilon 4.004 or more"
    )
    missed = strength.strength(Record.of(load("dp-robust-elimination")))
    assert missed.mark == "a total leak was missed"
    assert not of("ucb1").strength.ticks


def test_the_meter_empties_as_the_leak_that_passes_grows():
    full = []
    for leak in (1.0, 1.4, 1.6, 4.0, 40.0):
        record = load("dp-nas")
        record["power"]["smallest_epsilon"] = leak * record["claim"]["epsilon"]
        full.append((strength.strength(Record.of(record)).full, strength.strength(Record.of(record)).state))
    assert [state for _, state in full] == ["strong", "strong", "weak", "weak", "weak"]
    sizes = [size for size, _ in full]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes == [100, 88, 83, 50, 5]
    record["power"], record["detectable"] = None, "inf"
    found = strength.strength(Record.of(record))
    assert found.words == (
        "We know of no leak, however large, that the tests would catch. If the premises hold, epsilon is at "
        "most 2; the tests alone show nothing."
    )
    assert (found.state, found.full, found.mark) == ("weak", 0, "no leak is known to be caught")


def test_regret_is_a_sentence():
    said = of("dp-se").regret
    assert said == (
        "25 of 25 checks on regret that can fail and 3 of 3 on lemmas agree with the stated bounds (6 of "
        "these 7 are partly our own). 1 more check cannot fail below 9.2e+07 rounds and does not count. 8 "
        "checks are coarse: 10 times the measured value would pass."
    )
    record = load("dp-se")
    record["regret"]["checks"][0]["result"]["verdict"] = "contradicted"
    assert f"Contradicted: {record['regret']['checks'][0]['name']}" in regrets.sentence(Record.of(record))
    assert regrets.sentence(Record.of(record | {"regret": None})) == ""


UNBOUNDED = {  # gaussian-ts without its certificate
    "epsilon_upper": None,
    "checks": [check for check in load("gaussian-ts")["checks"] if check["kind"] != "upper_bound"],
}


def test_what_to_do_follows_from_the_verdict():
    assert of("dp-linear-printed").following.endswith("then use the corrected variant.")
    assert of("ucb1").following.startswith("Do not use this baseline")
    assert of("dp-nas").following.startswith(
        "Audit again with more runs (--budget thorough: runs, not epsilon): this only sharpens the test and "
        "tests no assumption. Answer 8 "
    )
    assert "only sharpens the test and gives no upper bound. " in of("gaussian-ts", **UNBOUNDED).following
    printed = "Use the corrected variant, not this printed listing: the errata say what it corrects."
    assert of("ldp-robust-se-printed").following == printed
    plan = load("dp-nas")["plan"] | {"budget": "thorough"}
    assert "(--budget SECONDS: runs, not epsilon)" in of("dp-nas", plan=plan).following
    assert of("dp-se").following.startswith("Answer 8 questions (4 can void the promise): other releases, ")
    undecided = of("dp-se", verdict="inconclusive", reason="weak")
    assert undecided.following.startswith("Do not rely on this claim yet.")
    assert undecided.caveats[0][0].startswith("The audit could not decide")


@pytest.mark.parametrize("without", [{}, UNBOUNDED])
def test_a_verdict_on_your_code_says_for_which_inputs(without):
    """And that the usual range is our choice. Control: the range of an algorithm is part of it."""
    record = load("gaussian-ts" if without else "dp-se") | without
    assert "rewards in" not in words.verdict(Record.of(record))
    record["target"]["bounds"] = None
    for ends, said in (
        ([0, 1], "[0, 1] (our default; --bounds sets another range)"),
        ([0, 100], "[0, 100]"),
    ):
        record["target"]["parameters"]["bounds"] = ends
        assert f" for rewards in {said}{'.' if without else ', if'}" in words.verdict(Record.of(record))


def test_intervals_say_what_they_rest_on():
    by = "proved by this tool; nobody else has checked"
    assumed = "if 4 assumptions hold (1 of them untested: ideal Laplace noise)."
    assert of("dp-nas").interval == f"Epsilon lies between 0.9309 (observed) and 2 ({by}), {assumed}"
    record = load("dp-se")
    record["epsilon_upper"] |= {"scope": "n paths", "paths": 7}
    assert f"equals the upper bound (bounded over what was traced), {assumed}" in bounds.interval(
        Record.of(record)
    )
    assert (
        "covers every input on 7 traced paths if its premises hold. It does not cover other paths, "
        in words.covered(Record.of(record))
    )
    without = [check for check in record["checks"] if check["kind"] != "upper_bound"]
    assert "There is no upper bound" in bounds.interval(
        Record.of(record | {"epsilon_upper": None, "checks": without})
    )
    # One is computed there, but what it rests on was refuted; the limit of samples exceeds the exact loss.
    printed = of("dp-linear-printed").interval
    uncounted = "It is above the claim, so the record does not count it; nothing contradicts its premises."
    assert printed.endswith(f"We computed an upper bound of 2. {uncounted}")
    record = load("dp-linear-printed")
    record["checks"][0]["statistics"]["divergence"] = "scale"  # which contradicts what the bound rests on
    said = bounds.interval(Record.of(record))
    assert said.endswith("It does not count: the alignment check, which tests its premises, failed.")
    assert "The 95 % lower limit from sampled runs of the audited instance is 2.003, but such a " in printed
    assert "limit may exceed the truth in 1 audit of 20, so quote 2." in printed
    here = "a replayed run of this instance has exactly that loss"
    assert here in printed


def test_which_counterexample_can_be_run_again_is_said():
    """Of another instance, or of this one; control: of samples there is no run."""
    here = "a replayed run of this instance has exactly that loss."
    kept = "The record contains another run, shown below, with horizon = 16: loss 1.014, claimed 1."
    assert f"{here} {kept}" in of("adaptive-tree-printed").interval
    again = f"{here} It is the counterexample below, and can be run again: verify --rerun."
    assert again in of("dp-robust-ucb-printed").interval
    record = load("dp-robust-ucb-printed")
    record["counterexamples"][0]["loss"] /= 2
    kept = "The record contains another run, shown below: loss 0.5563, claimed 1. Both can be run again"
    assert kept in bounds.interval(Record.of(record))
    assert "run again" not in of("ucb1").interval
    assert "does not keep that run" not in shown("adaptive-tree-printed")[0]


def test_ends_are_alike_only_where_they_are_one_number():
    """Both ends of 3.99997 and 4 were shown as 4; 0.7712 is a number of more digits."""
    by = "the computed lower bound equals the upper bound (proved by this tool; nobody else has checked), if "
    assert of("dp-se").interval.startswith(f"Epsilon is exactly 1: {by}")
    assert of("dp-lin-ucb").interval.startswith(f"Epsilon is exactly 1 at delta 0.001: {by}")
    assert of("adaptive-tree").interval.startswith(f"Epsilon is 0.7712: {by}")
    assert of("shuffled-linear").interval.startswith("Epsilon lies between 3.99997 (computed) and 4 (")
    assert words.interval(Record.of(load("dp-se"))) == "epsilon exactly 1 certified"
    assert (
        words.interval(Record.of(load("shuffled-linear")))
        == "epsilon in [3.99997, 4] certified at delta 1e-06"
    )
    assert words.interval(Record.of(load("dp-nas"))) == "epsilon in [0.9309, 2] certified"


# ---------------------------------------------------------------- what lies beside


def test_a_page_alone_links_nothing_and_one_in_its_folder_what_is_there(tmp_path, monkeypatch):
    without_plots(monkeypatch)
    assert not re.findall(r'href="(?!#|data:)', shown("dp-linear")[1])
    folder = tmp_path / "reports"
    for name in ("dp-linear", "dp-linear-printed"):
        shutil.copytree(REPORTS / name, folder / name)
    for name in ("mutants.json", "mutants.html", "errata.html"):
        shutil.copy(REPORTS / name, folder)
    path, out = folder / "dp-linear" / "record.json", folder / "dp-linear" / "record.html"
    page = renderings.render(path, "html", out=out).decode()
    links = re.findall(r'<a href="((?!#|data:)[^"]*)"', page)
    assert links == [
        "record.json",
        "../errata.html",
        "../dp-linear-printed/record.html",
        "../mutants.html#dp-linear",
    ]
    for link in links:
        assert (out.parent / link.partition("#")[0]).is_file()
    # Its place is unknown, or another one than that of the record: it may be given away without it.
    for place in (
        None,
        tmp_path / "record.html",
        folder / "record.html",
        folder / "dp-linear-printed" / "a.html",
    ):
        assert not re.findall(r'href="(?!#|data:)', renderings.render(path, "html", out=place).decode())


def test_a_signature_is_named_with_what_is_known_of_it(tmp_path):
    """Control: where there is none, the page knows of none."""
    path = tmp_path / "record.json"
    shutil.copy(REPORTS / "ucb1" / "record.json", path)
    record = load("ucb1")
    sign = {
        "digest": record["digest"],
        "public_key": "sha256:<b>",
        "algorithm": "Ed25519",
        "signature": "AA==",
    }
    assert sidecars.of(path, Record.of(record)).signature is None
    assert "no signature found; check with verify" in render(Record.of(record), drawn=False)
    for text, said in (
        (json.dumps(sign), "names the key sha256:&lt;b&gt;, but it was not checked; check with verify --key"),
        (
            json.dumps(sign | {"digest": "x"}),
            "but it is not valid: it is for another record, or the record was",
        ),
        ("{", "but it cannot be read, so it was not checked; check with verify --key"),
        (
            "[" * 60_000,
            "but it cannot be read, so it was not checked",
        ),  # deeper than a page can be allowed to follow
    ):
        Path(f"{path}.sig").write_text(text, "utf-8")
        page = render(Record.of(record), drawn=False, around=sidecars.of(path, Record.of(record)))
        page = re.sub("</?span[^>]*>", "", page)  # which keep a line from ending within an option
        assert "a signature file was found" in page
        assert said in page


def test_signature_and_tier_reach_page_print_and_portfolio(tmp_path, monkeypatch):
    """Control: without either, nothing is said of them beyond how to check."""
    without_plots(monkeypatch)
    record = load("ucb1")
    folder = tmp_path / "ucb1"
    folder.mkdir()
    plain = tmp_path / "plain"
    shutil.copytree(REPORTS / "ucb1", plain / "ucb1")
    record["declarations"] = {"administrative": {"tier": 2}}
    record["digest"] = digest(record)
    (folder / "record.json").write_text(json.dumps(record), "utf-8")
    sign = {"digest": record["digest"], "public_key": "sha256:abc"}
    sign |= {"algorithm": "Ed25519", "signature": "AA=="}
    (folder / "record.json.sig").write_text(json.dumps(sign), "utf-8")
    printed = []
    monkeypatch.setattr(pdf, "to_pdf", lambda record, around: printed.append((record, around)) or b"")
    renderings.render(folder / "record.json", "pdf")
    shown = [
        renderings.render(folder / "record.json", to).decode() for to in ("html", "markdown", "pack", "dpia")
    ]
    shown.append(render(printed[0][0], drawn=False, around=printed[0][1]))
    for text in shown:
        assert "names the key sha256:abc" in html.unescape(text)
        assert "2 (as declared)" in text
    index = portfolio.write(tmp_path, tmp_path / "i.html")[0].read_text("utf-8")
    assert index.count("tier 2 (declared)") == index.count("names the key sha256:abc") == 1
    bare = portfolio.write(plain, tmp_path / "j.html")[0].read_text("utf-8")
    assert "tier" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", bare, flags=re.DOTALL)
    assert "names the key" not in bare


def test_worlds_that_are_no_neighbours_are_on_the_card_and_so_is_the_sampler():
    apart = [{"harm": "a year is seen", "world_0": [0.0, 1.0], "world_1": [1.0, 0.0]}]
    said = of("dp-linear", declarations={"threat_hypotheses": apart})
    assert any(
        "not neighbours under the claim: a year is seen (rounds 1, 2 differ" in line
        for line, _ in said.caveats
    )
    assert not any("neighbours of" in line for line, _ in of("dp-linear").caveats)
    assert "a live session draws from OpenDP, which was not tested here" in dict(said.audited)["Noise"]
    (row,) = (row for row in blocks.of(load("dp-linear"))["hazards"] if row["id"] == "NIST-H09")
    assert row["status"] == "open"
    assert "the production sampler was not audited" in row["note"]
    own = load("dp-linear")
    own["target"]["kind"] = "release"
    assert "we do not know whether production draws the same noise" in audited.sampler(Record.of(own))


# ---------------------------------------------------------------- limits beside wins


def test_every_mutant_is_shown_and_misses_are_named(table):
    """A mutant of the kill table that passed was missing from the page of its algorithm."""
    name = "dp-robust-elimination"
    read, page = shown(name)
    first = read[: read.index("In plain words")]
    assert f"1 broken variant missed: {MISSED}" in first
    assert '<span class="missed">missed</span></td><td class="number">∞' in page
    rows = [row for row in table["mutants"] if row["algorithm"] == name]
    killed, left = (sum(row["outcome"] == word for row in rows) for word in ("killed", "undecided"))
    assert (
        "This audit caught all 15 of its broken variants. The catalogue's suite overlaps with "
        f"these. Of its {len(rows)} broken variants: {killed} caught, {left} undecided, 1 missed. "
        f"Missed: {MISSED}." in read
    )
    written = to_markdown(Record.of(load(name)))
    assert f"| {MISSED} |" in written
    assert f"digest of the suite of broken variants {table['digest']}" in read
    alone = render(Record.of(without_table(name)), drawn=False)
    assert MISSED not in alone
    assert "The catalogue's suite tries more broken variants; its results are not in this record." in alone


def test_a_mutant_of_the_record_that_passed_is_named():
    record = load("dp-se")
    record["mutants"][0]["verdict"] = "not_refuted"
    name = record["mutants"][0]["name"]
    page = render(Record.of(record), drawn=False)
    assert '<span class="missed">missed</span>' in page
    assert "This audit caught 11 of its 12 broken variants. " in page
    assert "overlaps with these. Of its 43 broken variants: " in page
    assert f"Missed: {name}." in page
    said = summary_card.of(reviewed(record))
    assert said.strength.state == "weak"  # it was to catch this one
    assert said.strength.words.startswith(f"1 broken variant missed: {name} (its epsilon: unknown). ")
    assert said.headline.endswith("but the tests are weak")
    worse = record["mutants"][0] | {"breaks": "regret"}  # which says nothing about privacy
    other = summary_card.of(reviewed(record | {"mutants": [worse]}))
    assert other.strength.state == "strong"
    assert other.caveats[0][0].endswith(f"missed by this audit: {name}")


def test_what_was_checked_exactly_has_its_scope_wherever_it_is_said():
    index = render_index([Record.of(load("dp-se"))], ["x.html"])
    for text in (shown("dp-se")[0], to_markdown(Record.of(load("dp-se"))), index):
        assert text.count("1188 runs were checked exactly") == text.count(
            "1188 runs were checked exactly; other inputs rest on the conditional proof"
        )
        assert "1188 runs were checked exactly" in text


def test_a_bound_above_the_claim_that_refutes_nothing_has_its_sentence():
    record = load("dp-se")
    check = next(c for c in record["checks"] if c["kind"] == "black_box")
    assert limits.of(Check.read(check)) == []
    check["result"] |= {"epsilon_lower": 1.001, "p_value": 0.013}
    (said,) = limits.of(Check.read(check))
    assert said.startswith("the 95 % lower bound 1.001 is above the claim of 1; this is not a refutation:")
    assert said in html.unescape(re.sub("</?span[^>]*>", "", render(Record.of(record), drawn=False)))
    assert said in to_markdown(Record.of(record)).replace("\\", "")
    check["result"]["verdict"] = "refuted"
    assert limits.of(Check.read(check)) == []


def test_the_counterexample_that_has_the_number_leads_and_others_say_so():
    record = load("shuffled-linear-printed")
    values = [limits.shown(Counterexample.of(e), 4.0) for e in limits.strongest_first(Record.of(record))]
    assert values[0] == record["epsilon_lower"] == max(values)
    page = render(Record.of(record), drawn=False)
    assert page.index(record["counterexamples"][-1]["event"]) < page.index(
        record["counterexamples"][0]["event"]
    )
    read, _ = shown("dp-robust-elimination")
    assert "This run shows epsilon 1.37. The bound of 2 comes from another run of the same check" in read
    assert "This run shows" not in shown("dp-linear-printed")[0]


def test_power_by_exact_computation_is_not_called_black_box():
    record = load("shuffled-linear")
    read, _ = shown("shuffled-linear")
    assert "Exact computation catches epsilon 4.004" in read
    section = read[read.index("With less noise") :].partition("Broken variants")[0]
    assert "black box" not in section.lower()
    assert "Exact computation catches" in render_index([Record.of(record)], ["x.html"])


def test_loose_checks_are_called_loose_and_exponents_come_first():
    read, page = shown("dp-se")
    assert "a loose check: code with 160 times this mean would pass" in read
    assert "; a loose check: code with 160 times this mean would pass" in to_markdown(
        Record.of(load("dp-se"))
    )
    assert page.index("Rates: exponents") < page.index("Mean against the bound")
    tight = copy.deepcopy(next(c for c in load("dp-se")["regret"]["checks"] if c["kind"] == "mean_bound"))
    tight["result"]["verdict"] = "consistent"
    tight["statistics"] |= {"mean": 9.0, "bound": 80.0, "sd": 1.0}
    assert limits.of(Check.read(tight)) == []
    tight["statistics"]["bound"] = 90.0
    assert limits.of(Check.read(tight)) == ["a loose check: code with 10 times this mean would pass"]


def test_an_interval_without_width_says_why():
    _, page = shown("dp-se")
    assert '<td class="number">all 30 runs equal</td>' in page
    assert "4830 to 4830" not in page
    assert "all 30 runs are equal" in to_markdown(Record.of(load("dp-se")))


def test_a_margin_is_stated_where_the_interval_excludes_what_is_claimed():
    read, _ = shown("dp-se")
    assert "the interval excludes 1, but lies within the margin of 0.1 around it" in read
    inside = next(
        c for c in load("dp-se")["regret"]["checks"] if c["name"] == "theorem-4.3 exponent over Delta"
    )
    assert limits.of(Check.read(inside)) == []


def test_caught_mutants_look_like_good_news_and_survivors_like_bad_news():
    record = load("tree-sum")
    bars = len([m for m in record["mutants"] if m["breaks"] == "privacy"])
    drawn = plots.epsilon_bars(Record.of(record))
    assert drawn.count(plots.BAD) == 0
    record["mutants"][0]["verdict"] = "not_refuted"
    again = plots.epsilon_bars(Record.of(record))
    assert again.count(plots.BAD) == 1
    assert bars > 3


def pair(rows, place, arm, value):
    return {"type": "table", "rows": rows, "round": place, "arm": arm, "value": value}


def test_both_inputs_stand_side_by_side():
    """The round that differs is a row of its own, wherever it is."""
    rows = [[3, [0.0, 0.5]], [2, [1.0, 0.5]]]
    assert timelines.worlds(pair(rows, 1, 1, 1.0)) == [
        ("1", "0, 0.5", "0, 0.5", False),
        ("2", "0, 0.5", "0, 1", True),
        ("3", "0, 0.5", "0, 0.5", False),
        ("4 to 5", "1, 0.5", "1, 0.5", False),
    ]
    assert timelines.worlds(pair(rows, 4, 0, 0.0))[-1] == ("5", "1, 0.5", "0, 0.5", True)
    many = [[1, [float(i)]] for i in range(50)]
    for place in (0, 25, 49):
        found = timelines.worlds(pair(many, place, 0, 99.0))
        assert len(found) == 10
        assert [row[2] for row in found if row[3]] == ["99"]
    assert timelines.worlds({"type": "other"}) == []
    read, page = shown("dp-linear-printed")
    assert "Rounds Recorded input Neighbour Differs 1 -1, -1 1, -1 yes 2 to 400 -1, -1 -1, -1" in read
    assert '<tr class="differs">' in page
    assert "| 1 | -1, -1 | 1, -1 | yes |" in to_markdown(Record.of(load("dp-linear-printed"))).replace(
        "&#45;", "-"
    )


def test_figures_are_turned_in_the_dark_and_stay_white_in_print():
    page = shown("dp-se")[1]
    assert "@media screen and (prefers-color-scheme: dark) { figure { background: #14191e;" in page
    assert "filter: invert(.92) hue-rotate(180deg)" in page


def test_the_pack_has_the_card_every_open_item_and_room_to_sign():
    """Control: an item that is declared is not among the open ones."""
    record = load("dp-robust-elimination")
    found = blocks.of(record)["hazards"]
    pack = render_pack(Record.of(record))
    read = " ".join(html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", pack, flags=re.DOTALL)).split())
    rows = re.findall(r'<th scope="row">(NIST-H\d\d): ', pack)
    assert rows == [row["id"] for row in found if row["status"] == "open"]
    assert "NIST-H13" in rows  # a fault of truncation passed
    for row in found:
        assert (row["action"] != "" and row["action"] in read) == (row["status"] == "open")
    assert record["digest"] in read
    assert pack.count('class="blank"') == 3
    assert not re.findall(r'(?:href|src)="', pack)
    record["declarations"] = {"data_security": {"encrypted": True}}
    assert "NIST-H22" in rows
    assert "NIST-H22" not in render_pack(Record.of(record))


def test_names_in_a_pack_stay_in_their_place():
    record = load("dp-se")
    record["target"]["name"] = record["target"]["paper"] = "</dd><script>alert(1)</script>"
    pack = render_pack(Record.of(record))
    assert "&lt;script&gt;" in pack
    assert "<script" not in pack


@pytest.mark.slow
def test_the_pack_prints_on_two_pages(tmp_path):
    weasyprint = pytest.importorskip("weasyprint")
    for name in ("dp-se", "dp-nas", "dp-robust-elimination"):
        made = weasyprint.HTML(string=render_pack(Record.of(load(name)))).render()
        assert len(made.pages) == 2, name


@pytest.mark.parametrize("name", ["dp-robust-elimination", "dp-se", "shuffled-linear"])
def test_a_page_is_short_before_its_folds(name):
    """Everything is on the page; what only some look up is folded. Control: all of it is much longer."""
    whole = shown(name)[1]
    unfolded = re.sub(r"<details>.*?</details>|<style>.*?</style>|<svg.*?</svg>", "", whole, flags=re.DOTALL)
    read = len(re.sub("<[^>]*>", " ", unfolded).split())
    assert read < 2550 < len(shown(name)[0].split())
    assert whole.count("<details") == whole.count("</details>")
    assert len(whole) < 400_000


# ---------------------------------------------------------------- what a reading from screenshots found


def test_a_joint_promise_leaves_out_the_own_actions_of_a_user():
    joint = "against anyone who sees every noisy statistic and all actions but the user's own; "
    assert joint in of("dp-lin-ucb").promise
    central = load("dp-lin-ucb")["claim"] | {"protects": "context-central"}
    assert "user's own" not in of("dp-lin-ucb", claim=central).promise
    acts = load("dp-lin-ucb")["claim"] | {"observe": "actions"}
    assert "anyone who sees all actions but the user's own; the" in of("dp-lin-ucb", claim=acts).promise


def mechanism(unit):
    """A record of a mechanism, made of one of the catalogue."""
    record = load("dp-se")
    target = record["target"] | {"kind": "release", "plays": "data", "parameters": {"bounds": [0.0, 1.0]}}
    return {"target": target, "claim": record["claim"] | {"unit": unit}}


def test_a_mechanism_has_neither_actions_nor_rounds():
    given = of("dp-se", **mechanism("pairs"))
    assert given.promise == (
        "Epsilon 1 for changing the data to a neighbour that was tested, against anyone who sees what the "
        "mechanism releases; the operator is trusted. It names no unit of privacy."
    )
    assert not any("a person with" in line for line, _ in given.caveats)
    named = of("dp-se", **mechanism("entry"))
    assert "for changing one entry of the data" in named.promise
    assert named.promise.endswith("It protects one entry; whether that is a person is not stated.")
    assert named.caveats[0][0] == (
        "Entries add up: a person with 10 entries (our example) has less protection: epsilon 10"
    )
    assert named.instance.startswith("Only this instance: bounds = [0, 1]")


def test_where_the_promise_is_not_quite_that_of_the_paper_the_card_says_so():
    """It belongs to what was audited; control: a promise that is the paper's has no such note."""
    assert (
        of("dist-dp-se").variant
        == "Note on the promise: only noisy sums with real-valued noise, not what users send."
    )
    own = "Our own version: we did not have the paper, so all constants are ours."
    assert of("dp-lin-ucb").variant == of("ldp-lin-ucb").variant == own
    assert of("dp-robust-elimination").variant == (
        "Corrected, not as printed (see errata): the scales of the noise are partly reconstructed."
    )
    assert of("dp-linear").variant == (
        "Corrected, not as printed (see errata): with Lap(2/epsilon), for rewards in [-1, 1]."
    )
    assert of("dp-linear-printed").variant == "As printed in the paper."
    page = shown("dp-lin-ucb")[1]
    assert f"<dt>Variant</dt><dd>{of('dp-lin-ucb').variant}" in html.unescape(page)
    assert page.index("<dt>Variant") < page.index("<dt>What was audited")
    assert dict(of("lazy-dp-ts").audited)["Promise from"] == "Theorem 3"
    assert of("dp-nas").variant == ""
    assert "<dt>Variant" not in shown("dp-nas")[1]
    assert "Promise from" not in dict(of("ucb1").audited)


def test_a_person_has_no_more_rounds_than_the_run():
    assert load("tree-sum")["target"]["parameters"]["horizon"] == 8
    people = [line for line, _ in of("tree-sum").caveats if "a person with" in line]
    assert people == ["Values add up: a person with 5 values (our example) has less protection: epsilon 5"]


def test_a_person_with_many_rounds_may_have_no_promise_at_all():
    """A delta of 1 says that this conversion is empty, not that nobody is protected. Control: dp-se."""
    for name in ("shuffled-linear", "dp-lin-ucb"):
        people = [line for line, _ in of(name).caveats if "a person with" in line]
        assert people == [
            "Rounds add up: for a person with 10 (our example) this conversion gives no guarantee: delta is 1"
        ]
    few = {"parameters": load("shuffled-linear")["target"]["parameters"] | {"horizon": 2}}
    people = [
        line for line, _ in of("shuffled-linear", target=load("shuffled-linear")["target"] | few).caveats
    ]
    said = "Rounds add up: a person with 2 rounds (our example) has less protection: "
    said += "epsilon 8 and delta 5.56e-05"
    assert said in people
    assert not any("says nothing" in line for line, _ in of("dp-se").caveats)


def test_a_refuted_promise_leaves_nobody_a_guarantee():
    lines = [line for line, _ in of("dp-linear-printed").caveats]
    assert lines[0].startswith("The claim is false: nobody has the protection that it promises")
    assert not any("follows from it" in line for line in lines)
    assert not any("has less protection" in line for line in lines)


def test_a_baseline_has_no_noise_to_speak_of_and_no_model():
    said = of("ucb1")
    assert not any("sampler" in line for line, _ in said.caveats)
    assert dict(said.audited)["Target"] == "ucb1 (algorithm, no promise of privacy)"


def test_what_was_not_replayed_rests_on_the_bound_only_where_there_is_one():
    record = load("dp-se")
    assert (
        "runs were checked exactly; other inputs rest on the conditional proof."
        in strength.strength(Record.of(record)).words
    )
    assert (
        "other inputs were not examined."
        in strength.strength(Record.of(record | {"epsilon_upper": None})).words
    )


# ---------------------------------------------------------------- what a second reading found


def test_what_takes_no_actions_is_not_said_to_show_them():
    """Control: a bandit shows them, wherever its code is; nor does it matter where that of a sum is."""
    seen = "anyone who sees the halting round and the released estimate;"
    assert seen in of("dp-nas").promise
    assert seen[16:-1] in shown("dp-nas")[0].partition("The adversary sees")[2]
    assert "sequence of actions" not in shown("dp-nas")[0]
    assert "anyone who sees every noisy partial sum;" in of("tree-sum").promise
    own = load("dp-nas")["target"]
    own = own | {"source": own["source"] | {"path": "mine.py"}}
    assert seen in of("dp-nas", target=own).promise
    assert of("dp-nas", target=own | {"plays": "arms"}).promise.endswith(
        "the sequence of actions; the operator is trusted. It protects one round, not a person."
    )


def test_a_counterexample_of_another_instance_says_so():
    """Control: the bound of shuffled reports is of the audited instance."""
    found = of("ldp-linear-printed")
    assert found.interval == (
        "Epsilon is at least 2: a replayed run of this instance has exactly that loss. The record "
        "contains another run, shown below, with actions = 2 vectors, beta = 0.9, epsilon = 20, horizon = "
        "400: loss 40, claimed 20. Both can be run again: verify --rerun. We computed an upper bound of 2. "
        "It is above the claim, so the record does not count it; nothing contradicts its premises."
    )
    assert found.instance.endswith("horizon = 1000.")
    assert (
        of("tree-sum").instance == "Only this instance: split of epsilon = levels, epsilon = 1, horizon = 8. "
        "Utility was measured with different parameters: horizon 1024 (audited: 8), unless a check states "
        "its own. This says nothing about the audited parameters."
    )
    record = load("ldp-linear-printed")
    for check in record["checks"]:
        check["statistics"].pop("spent", None)  # nothing says what a run of the audited instance costs
    assert bounds.interval(Record.of(record)).startswith(
        "Epsilon is at least 2: we computed a loss of 40 on another instance of the same code (actions = 2 "
        "vectors, beta = 0.9, epsilon = 20, horizon = 400), 2 times what that instance claims. It is the "
        "counterexample below, and can be run again: verify --rerun. We computed"
    )
    assert "another instance" not in of("shuffled-linear-printed").interval
    assert of("shuffled-linear-printed").instance.endswith("horizon = 60000.")


def test_undecided_mutants_are_on_the_index(table):
    """34 of 34 beside a weak verdict: seven more were not decided. Control: without a kill table, none is."""
    rows = [row for row in table["mutants"] if row["algorithm"] == "dp-nas"]
    open_ = sum(row["outcome"] == "undecided" for row in rows)
    assert open_ > 0
    assert f">{open_} undecided</span>" in render_index([Record.of(load("dp-nas"))], ["x.html"])
    assert "undecided</span>" not in render_index([Record.of(without_table("dp-nas"))], ["x.html"])
    assert "undecided</span>" not in render_index([Record.of(load("dp-se"))], ["x.html"])


def test_a_joint_promise_names_its_model():
    assert (
        "Trust model central, joint: users trust the curator but not each other" in (shown("dp-lin-ucb")[0])
    )
    assert "| Trust model | central |" in to_markdown(Record.of(load("dp-se")))


def test_what_fails_for_the_verdict_asks_for_no_smaller_delta():
    rows = {row["id"]: row for row in blocks.of(load("dp-linear-printed"))["hazards"]}
    assert rows["NIST-H02"]["action"].startswith("Settle the verdict on the claim first")
    rows = {row["id"]: row for row in blocks.of(load("dp-lin-ucb"))["hazards"]}
    assert rows["NIST-H02"]["action"].startswith("Show that delta")


def test_a_baseline_speaks_of_no_noise_that_it_would_draw():
    read = shown("ucb1")[0].partition("Check this record")[2]
    assert "last bits of floating-point noise" not in read
    assert "perfect real-valued noise" not in read
    assert "Some noise is hidden" not in read
    assert "last bits of floating-point noise" not in to_markdown(Record.of(load("ucb1")))
    assert "last bits of floating-point noise" in shown("dp-nas")[0]


def test_the_corrected_variant_is_linked_where_it_is_advised():
    found = summary_card.Around(links=(("the corrected variant", "../dp-linear/record.html"),))
    link = '<a href="../dp-linear/record.html">the corrected variant</a>'
    page = render(Record.of(load("dp-linear-printed")), drawn=False, around=found)
    assert link in page[page.index('<div class="banner') : page.index('<dl class="facts')]  # by the verdict
    assert link not in render(Record.of(load("dp-linear-printed")), drawn=False)


def test_a_fault_that_passed_empties_the_meter_and_leads(table):
    """Control: without the kill table the same audit is strong, and its meter full."""
    found = strength.strength(Record.of(load("dp-robust-elimination")))
    assert (found.state, found.full) == ("weak", 0)
    assert found.words == (
        "1 broken variant missed: last reward not truncated (its epsilon: infinity). 1728 runs "
        "were checked exactly; this broken variant leaks only in other runs (covered by the proof alone). "
        "If the premises hold, epsilon is at most 1; but the tests of the premises missed this broken "
        "variant."
    )
    assert strength.strength(Record.of(without_table("dp-robust-elimination"))).full == 100


# ---------------------------------------------------------------- what a third reading found


def test_one_sentence_says_what_a_certificate_covers():
    """On page, Markdown, pack and in the documentation; the record claims no proof beyond it."""
    record = load("dp-se")
    said = words.covered(Record.of(record))
    assert said == (
        "The certificate covers every input and every run of this instance if its premises hold. It does "
        "not cover other instances, noise in production, rounding or side channels, so it does not prove "
        "that a deployment satisfies differential privacy."
    )
    pages = [shown("dp-se")[1], to_markdown(Record.of(record)), render_pack(Record.of(record))]
    documents = [Path(REPORTS.parent / "docs" / name).read_text("utf-8") for name in ("concepts.md",)]
    for text in (*pages, *documents):
        assert said in " ".join(html.unescape(text).split())
    for text in pages:
        assert not re.search(r"not prove differential privacy|under the premises", text)
    inputs = [line for line in words.not_covered(Record.of(record)) if line.startswith("inputs, events")]
    assert inputs == [
        "inputs, events and sample sizes beyond those stated here: only the upper bound covers them"
    ]
    assert words.not_covered(Record.of(load("ucb1")))[-1].endswith("an audit cannot prove privacy")


def test_premises_and_open_hazards_are_named_and_linked():
    found, page = of("shuffled-linear"), shown("shuffled-linear")[1]
    assert found.premises == (
        "5 assumptions: 3 tested by replaying runs of one report (outputs depend only on noisy statistics, "
        "each reward enters only one block, the stated noise), 2 not tested (ideal Laplace noise, the "
        "shuffler hides who reported)."
    )
    assert f'{found.premises} <a href="#premises">' in page
    rows = [row for row in blocks.of(load("shuffled-linear"))["hazards"] if row["status"] == "open"]
    named = [row for part in found.hazards for _, group in part.groups for row in group]
    assert sorted(place for place, _ in named) == [row["id"] for row in rows]
    first = page[: page.index('<section id="plain"')]
    for place, name in named:
        assert f'<a href="#{place}">{name}</a>' in first
        assert page.count(f'id="{place}"') == 1
    none = "No upper bound was found, so there are no premises to state."
    assert of("ucb1").premises == none
    computed = "The bound of 2 does not count; its 4 premises are below."
    assert of("ldp-linear-printed").premises == computed


VALUES = {
    "noise": "normal",
    "parameter": "deviation",
    "norm": "trace",
    "users": 2000,
    "farthest": 1e6,
    "lines": [3, 5],
    "branches": 2,
    "runs": 1600,
    "shapes": [[], [5]],
    "held": 24,
    "open": 2,
}


@pytest.mark.parametrize("taken", premises.Taken)
def test_every_premise_has_a_short_name(taken):
    """A name holds no comma: they are listed with commas, and counted."""
    whole = premises.Premise(taken, VALUES).as_dict()
    brief, full = premises.briefly(whole), premises.in_words(whole)
    assert "," not in brief
    assert len(brief.split()) <= 7
    assert len(brief) < len(full)


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ([[], [5], [1], [2]], "a number or 1, 2 or 5 entries"),
        ([[1]], "1 entry"),
        ([[3, 2], [4]], "4 or 3 x 2 entries"),
        ([[]], "a number"),
    ],
)
def test_sizes_of_data_are_one_list_in_order(shapes, said):
    premise = premises.Premise(premises.Taken.SIZES_OF_DATA, {"shapes": shapes}).as_dict()
    assert premises.in_words(premise).startswith(f"the data are {said}, each anywhere")


def test_a_headline_says_that_its_audit_is_weak():
    """Control: without the kill table nothing passed."""
    name = "dp-robust-elimination"
    headline = "Holds for this instance: epsilon = 1, as promised (4 assumptions, 1 untested)"
    headline = f"{headline}; but the tests are weak"
    assert headline in shown(name)[0]
    assert f"**{headline}.**" in to_markdown(Record.of(load(name))).replace("\\", "")
    assert headline in renderings_of(load(name))[1]
    assert of(name, kill_table=None).headline.endswith("1 untested)")
    assert dict(of("dp-nas").answers)["How strong"].startswith(
        "Weak: samples alone could miss 4 times the claim, or more; 9 broken variants undecided. "
    )
    (one,) = (row for row in load(name)["kill_table"]["others"] if row["outcome"] == "survived")
    record = load(name)
    assert following.following(reviewed(record)).startswith("Check by hand for the missed fault. ")
    record["kill_table"]["others"] += [one | {"mutant": "another"}]
    assert "for the 2 missed faults. " in following.following(reviewed(record))


def test_the_first_screen_names_what_was_missed_and_asked():
    """Names of faults as many as fit, and a link to the others, and questions that can void the promise."""
    screen = html_of_first_screen(load("dp-robust-elimination"))
    assert f"1 broken variant missed ({MISSED}); 1 undecided." in screen
    assert '<a href="#hazards">8 questions</a>; 4 of them and 3 limits can void the promise.' in screen
    grave = "other releases, trust, data security, access control"  # named where nothing else comes first
    asked = f'<a href="#hazards">8 questions</a> (4 can void the promise: {grave})'
    less = following.following(reviewed(load("dp-se")), brief=True, terse=2)
    assert less.endswith(f"(4 can void the promise: {grave}). 2 of 4 limits can also void the promise.")
    # Where there is room.
    limits = "Production sampler, floating point and timing can void the promise whatever you answer."
    assert f"{asked}. {limits}" in html_of_first_screen(load("dp-se"))
    assert "#mutants" not in screen
    record = load("dp-robust-elimination")
    (one,) = (row for row in record["kill_table"]["others"] if row["outcome"] == "survived")
    names = ["no noise at all", "half of the noise"]
    record["kill_table"]["others"] += [one | {"mutant": name} for name in names]
    screen = html_of_first_screen(record)
    assert f'3 broken variants missed ({MISSED} <a href="#mutants">and 2 more</a>); 1 undecided.' in screen
    every = [name for _, rows in of("dp-se").hazards[0].groups for _, name in rows]
    assert len(every) == 8
    assert f"(4 can void the promise): {', '.join(every)}. 4 limits" in of("dp-se").following


def html_of_first_screen(record):
    page = render(Record.of(record), drawn=False)
    return page[: page.index("</section>")]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], ("", "")),
        (
            ["one name that is longer than all of the room"],
            ("one name that is longer than all of the room", ""),
        ),
        (["a b c", "d e f"], ("a b c, d e f", "")),
        (["a b c", "d e f", "g"], ("a b c, d e f", "and 1 more")),
    ],
)
def test_names_that_fit(names, shown):
    assert strength.few(names) == shown


def test_no_verdict_in_favour_hides_a_variant_that_was_missed():
    """Of a small leak, which leaves the audit strong, too. Control: with none missed nothing is added."""
    record = load("dp-se")
    table = record["kill_table"]
    small = {"origin": "operators", "outcome": "survived", "at_least": 1.1, "true_epsilon": 1.1}
    other = load("dp-robust-elimination")["kill_table"]["others"][0]
    table["others"] += [other | small | {"mutant": "a small leak"}]
    said = summary_card.of(reviewed(record))
    assert said.strength.state == "strong"
    assert said.headline.endswith("1 untested); but the tests missed 1 broken variant")
    assert dict(said.answers)["How strong"].endswith("But 1 broken variant missed (a small leak).")
    unbounded = summary_card.headline(Record.of(record | {"epsilon_upper": None}))
    assert unbounded.startswith("No leak found, none excluded: epsilon is at least 1, promised 1")
    assert unbounded.endswith("; but the tests missed 1 broken variant")
    assert "missed" not in of("dp-se").headline + dict(of("dp-se").answers)["How strong"]


@pytest.mark.parametrize("name", ["tree-sum", "dp-nas"])
def test_what_plays_nothing_has_no_regret(name):
    """Control: a bandit's theorem is about regret."""
    read = shown(name)[0]
    assert "best arm" not in read
    assert "on errors and rounds." in read
    first = read[: read.index("In plain words")].lower()
    assert "reward" not in first
    assert "regret" not in first
    assert "each value enters only one block" in first
    assert "each reward enters only one block" in shown("dp-se")[0]
    assert "No claim is about regret; we measured errors or numbers of rounds instead" in read
    assert (of(name).measured, of("dp-se").measured) == ("Utility", "Regret")
    assert "## Utility" in to_markdown(Record.of(load(name)))
    assert "(the reward lost by not always playing the best arm) agrees with the claims" in shown("dp-se")[0]


def test_the_epsilon_that_a_baseline_is_held_against_is_not_its_claim():
    for text in (shown("ucb1")[1], to_markdown(Record.of(load("ucb1")))):
        assert "What the audit tests it against" in text
        assert not re.search(r"The claim\b|What is promised|person who ran", text)
        assert "We measure it against a yardstick, epsilon 1" in html.unescape(text)
        assert "held against 1" not in text
        assert "10.69, claimed 1" not in text
    assert "The claim</h2>" in shown("dp-se")[1]


def test_parameters_are_shown_once_before_the_folds():
    for name in ("dp-robust-elimination", "shuffled-linear"):
        page = shown(name)[1]
        assert page[: page.index('<section id="evidence"')].count("horizon = ") == 1
        assert page.index("Seed, plan, versions") < page.index('<th scope="row">Parameters</th>')
        head = to_markdown(Record.of(load(name))).partition("## Evidence")[0]
        assert head.count("horizon = ") == 1
        assert "4.76837158203125e-07" not in head


def test_paths_break_after_a_separator():
    """On a phone a long path broke within a word. Control: a name without one stays whole."""
    record = load("dp-se")
    record["target"]["name"] = "bandits/my_long<b>/play.py:Upper"
    page = render(Record.of(record), drawn=False)
    assert "<h1><bdi>bandits/<wbr/>my_<wbr/>long&lt;b&gt;/<wbr/>play.<wbr/>py:<wbr/>Upper</bdi></h1>" in page
    assert "<h1><bdi>ucb1</bdi></h1>" in shown("ucb1")[1]


# ---------------------------------------------------------------- what a fourth reading found


def test_open_hazards_are_parted_by_who_can_close_them_and_come_gravest_first():
    """Control: where nothing is promised, or the claim is false, there is nothing to void."""
    yours, left = of("dp-se").hazards
    for part in (yours, left):
        bears = [what.lower() for what in nist.BEARS]
        assert [what for what, _ in part.groups] == [what for what in bears if what in dict(part.groups)]
    void = "can void the promise"
    assert {"trust", "access control"} <= {name for _, name in dict(yours.groups)[void]}
    assert {name for _, name in dict(left.groups)[void]} == {
        "production sampler",
        "floating point and timing",
    }
    assert "people with several rounds" in yours.words
    assert "systemic bias" in left.words
    assert yours.words.startswith(
        "8 hazards for your team to settle in a declaration (verifiable-dp declare). Can void the promise: "
        "other releases, trust, "
    )
    assert left.words.startswith(f"4 {LIMITS}. Can void ")
    assert f"4 {LIMITS}. " in shown("dp-se")[0]
    assert of("dp-se").following == (
        "Answer 8 questions (4 can void the promise): other releases, trust, data security, access control, "
        "unit of privacy, people with several rounds, clipping, data minimisation. 4 limits remain, 2 "
        "of which can void the promise: production sampler, floating point and timing."
    )
    for name in ("ucb1", "dp-linear-printed"):
        assert (of(name).hazards, of(name).open) == ((), "")
        assert "<dt>Open hazards" not in shown(name)[1]
    assert "We decided which hazards can void the promise; NIST does not rank them" in shown("dp-se")[0]


def test_where_all_is_declared_the_limits_are_left():
    """Control: one declaration that is missing is asked for."""
    record = Record.of(load("dp-se"))
    rows = blocks.of(record)["hazards"]
    closed = {h.id for h in nist.HAZARDS if h.declarable}
    for missing, said in (
        (None, "Consider the hazards that no declaration settles: 4 limits "),
        ("NIST-H20", "Answer 1 question (1 "),
    ):
        changed = [r | {"status": "declared"} if r["id"] in closed - {missing} else r for r in rows]
        assert following.following(nist.Reviewed.with_blocks(record, {"hazards": changed})).startswith(said)


def test_what_could_pass_does_not_look_like_what_is_caught():
    """Hatched in another colour, and said so. Control: a full meter has nothing hatched."""
    style = resources.files("verifiable_dp.render").joinpath("templates/card.css").read_text("utf-8")
    assert "linear-gradient(to left, var(--good) var(--full), transparent var(--full))" in style
    assert "repeating-linear-gradient(135deg, var(--passes)" in style
    assert not re.search(r"\.meter\.weak i {[^}]*background", style)
    assert 'class="meter weak part"' in shown("dp-nas")[1]
    assert 'class="meter strong"' in shown("dp-se")[1]


def test_a_trusted_shuffler_is_a_caveat():
    """Control: without shuffling nobody speaks of it."""
    assert ("The shuffler was trusted, not tested", "premises") in of("shuffled-linear").caveats
    assert not any("shuffler" in line for line, _ in of("dp-linear").caveats)


def test_a_baseline_says_that_it_names_neither_unit_nor_adversary():
    assert of("ucb1").promise == (
        "None: no epsilon, no unit, no adversary. As a yardstick, the audit tests epsilon 1 for changing one "
        "reward of one round, against anyone who sees the sequence of actions."
    )


def test_a_sum_is_spoken_of_as_a_mechanism_on_a_stream():
    """Neither rewards nor regret. Control: a bandit keeps its words."""
    found = of("tree-sum")
    assert found.promise.startswith("Epsilon 1 for changing one value of the stream, against")
    assert dict(found.audited)["Target"] == "tree-sum (mechanism on a stream, central model)"
    assert "event: one value of the stream" in shown("tree-sum")[0]
    star = '<abbr title="errors and rounds, not regret">*</abbr>'
    assert star in render_index([Record.of(load("tree-sum"))], ["x.html"])
    assert star not in render_index([Record.of(load("dp-se"))], ["x.html"])
    assert dict(of("dp-se").audited)["Target"] == "dp-se (algorithm, central model)"
    assert "here: one value" not in shown("dp-se")[0]


# ---------------------------------------------------------------- what a fifth reading found


def test_theorems_are_those_of_a_paper():
    """Control: claims of a paper."""
    assert "agree with our derivations" in regrets.sentence(Record.of(load("dp-lin-ucb")))
    assert "agree with the stated bounds (6 of these 7 are partly our own)" in regrets.sentence(
        Record.of(load("dp-se"))
    )
    assert "agree with the theorems" in regrets.sentence(Record.of(load("dp-nas")))


def test_a_promise_says_that_it_is_not_about_a_person():
    """Control: one about several events is about more, a false one never did, a pair is no person."""
    assert of("dp-se").promise.endswith("It protects one round, not a person.")
    assert of("tree-sum").promise.endswith("It protects one value, not a person.")
    several = load("dp-se")["claim"] | {"relation": {"kind": "group", "size": 3}}
    for name, changes in (("dp-se", {"claim": several}), ("ucb1", {})):
        assert "not a person" not in of(name, **changes).promise
    assert of("dp-linear-printed").promise.endswith("It was meant to protect one round, not a person.")
    given = mechanism("pairs")
    assert "not a person" not in of("dp-se", **given).promise


def test_a_ceiling_beside_weak_tests_says_what_to_report():
    """Control: a strong audit has nothing to choose from."""
    assert of("dp-nas").strength.words.endswith(
        "If the premises hold, epsilon is at most 2; the tests alone would only have caught 8 or more."
    )
    assert "Report" not in of("dp-se").strength.words
    record = load("dp-nas") | {"epsilon_upper": None}
    assert "Report" not in strength.strength(Record.of(record)).words


def test_a_refutation_by_samples_says_how_often_those_are_wrong():
    """Control: a loss that was computed is not a matter of chance."""
    said = "it comes from sampled runs, which reject a true claim at most once in 1,000,000 audits."
    assert of("ucb1").strength.words == f"Not relevant here: a counterexample decides; {said}"
    for name in ("dp-linear-printed", "shuffled-linear-printed"):
        assert of(name).strength.words == "Not relevant here: a counterexample decides."


def test_what_a_large_delta_means_is_said():
    """Control: a small one is no caveat."""
    said = "Delta 0.001 is above 1e-05 (NIST's draft guidance): the probability of any event may be "
    said += "0.001 higher than epsilon allows"
    assert of("dp-lin-ucb").caveats[0] == (said, "guarantee")
    assert not any("guidance" in line for line, _ in of("shuffled-linear").caveats)


def test_what_stands_under_the_verdict_is_no_caveat():
    """Control: without an upper bound that sentence does not stand there."""
    lines = [line for line, _ in of("dp-nas").caveats]
    assert not any("side channels" in line or "floating-point" in line for line in lines)
    assert any("side channels" in line for line, _ in of("ucb1").caveats)


# ---------------------------------------------------------------- what a look from outside found


def renderings_of(record):
    """What is read in every rendering that has the card."""
    pages = [render(Record.of(record), drawn=False), render_pack(Record.of(record))]
    pages = [re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL) for page in pages]
    found = [
        *pages,
        to_markdown(Record.of(record)).replace("\\", ""),
        to_dpia(Record.of(record)).replace("\\", ""),
    ]
    return [" ".join(html.unescape(text).split()) for text in found]


@pytest.mark.parametrize("rounds", [3, 100_000])
def test_a_declared_number_of_rounds_replaces_the_example_everywhere(rounds):
    """Control: where nothing is declared, the example is named as one."""
    declared = {"contribution": {"max_rounds_per_user": rounds}}
    for text in renderings_of(load("dp-se") | {"declarations": declared}):
        assert f"a person with {rounds} rounds (as declared) has less protection: epsilon {rounds}" in text
        assert "our example" not in text
        assert "person with 10 " not in text
        assert "person with 2 " not in text
    for text in renderings_of(load("dp-se")):
        assert "a person with 10 rounds (our example) has less protection: epsilon 10" in text
    row = f"a person with {rounds} rounds (as declared)"
    assert row in render_index([Record.of(load("dp-se") | {"declarations": declared})], ["x.html"])
    annex = renderings_of(load("dp-se") | {"declarations": declared})[3]
    assert f"| A person with {rounds} rounds (as declared) | epsilon" in annex
    assert "A person with 5 rounds" not in annex
    shown = [
        re.findall(
            r'<tr><th scope="row" class="number">(\d+)( \(as declared\))?<', render(found, drawn=False)
        )
        for found in (Record.of(load("dp-se") | {"declarations": declared}), Record.of(load("dp-se")))
    ]
    assert shown[0] == [("1", ""), (str(rounds), " (as declared)")]
    assert shown[1] == [(str(size), "") for size in (1, 2, 5, 10, 100)]
    one = load("dp-se") | {"declarations": {"contribution": {"max_rounds_per_user": 1}}}
    assert not any("add up" in text for text in renderings_of(one))


def test_the_commit_of_the_tool_is_not_that_of_the_audited_code():
    """Control: where the repository of the audited file is known, its commit is named."""
    record = load("dp-se")
    facts = record["provenance"] | {"commit": "a" * 40, "dirty": False}
    sha = record["target"]["source"]["sha256"][:12]
    for place, said in (
        ({"repository": "", "commit": "", "dirty": False}, "commit unknown"),
        (
            {"repository": "", "commit": "b" * 40, "dirty": True},
            f"commit {'b' * 12}, with uncommitted changes",
        ),
    ):
        shown = record | {"provenance": facts | {"target": place}}
        rows = dict(summary_card.of(reviewed(shown)).audited)
        assert rows["Code"] == f"verifiable_dp/algorithms/dp_se.py, SHA-256 {sha}…, {said}"
        assert f"(tool commit {'a' * 12})" in rows["Audited with"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", rows["When"])
        for text in renderings_of(shown):
            assert f"…, {said}" in text
            assert set(re.findall(r"(\w+ \w+) \W*a{12,}", text)) <= {"tool commit", "the tool"}
    bare = record | {
        "target": record["target"] | {"source": record["target"]["source"] | {"sha256": "", "path": ""}}
    }
    assert dict(summary_card.of(reviewed(bare)).audited)["Code"].startswith(
        "file unknown, digest unknown, commit"
    )


def test_names_that_a_user_chose_are_printed_as_they_are():
    """Control: parameters of the catalogue are told in words."""
    target = load("dp-se")["target"] | {
        "kind": "play",
        "parameters": {"n_jobs": 2, "budget": 3, "my_rate": 0.5},
    }
    assert (
        of("dp-se", target=target, regret=None).instance
        == "Only this instance: n_jobs = 2, budget = 3, my_rate = 0.5."
    )
    assert "split of epsilon" in of("tree-sum").instance
    mutant = Record.of(load("dp-se")).mutants[0]
    of_regret = replace(mutant, decided_by="my_check on C_1", breaks="regret")
    assert words.decided_by(of_regret) == "my_check on C_1"
    assert words.decided_by(replace(mutant, decided_by="black_box", breaks="privacy")) == "black box"


@pytest.mark.parametrize(
    ("spent", "here"),
    [
        (None, False),
        ([], False),
        ([[1, 0.5, 1.0]], True),
        ([[1, 0.5, -1.0]], True),
        ([[1, 0.5, 1.0], [2, 0.5, 0.9]], False),
        ([[1, 0.5, 1 - 0.9e-6]], True),
        ([[1, 0.5, 1 - 1.1e-6]], False),
    ],
)
def test_whether_a_recorded_course_has_the_bound(spent, here, monkeypatch):
    """The last place of a course is what it spent in all; the least of all upper bounds is 1."""
    monkeypatch.setattr(bounds.words, "least", lambda record: 1.0)
    checks = [SimpleNamespace(statistics={} if spent is None else {"spent": spent})]
    assert bounds._here(SimpleNamespace(of_kind=lambda kind: checks)) is here
    assert bounds._here(SimpleNamespace(of_kind=lambda kind: [])) is False


# ---------------------------------------------------------------- what misled a reader


def test_samples_count_where_no_upper_bound_covers_other_inputs():
    """Broken variants: replays of some runs as power for all inputs; a loss at the event as less noise."""
    record = load("gaussian-ts") | UNBOUNDED
    power, claim = record["power"], record["claim"]["epsilon"]
    assert (power["by"], record["epsilon_upper"]) == ("alignment", None)
    least = power["black_box"]["smallest_epsilon"]
    assert decision(Record.of(record)).ratio == pytest.approx(least / claim)
    assert f"would have caught {least:.4g} from less noise" in words.interval(Record.of(record))
    unmeasured = Record.of(record | {"power": None})
    seen = f"{record['detectable']:.4g}"
    assert f"would have caught {seen} at the tested event" in words.interval(unmeasured)
    mark = strength.strength(unmeasured).mark
    assert mark == f"a loss at the tested event is caught at epsilon {seen} or more"
    bounded = record | {"epsilon_upper": load("dp-se")["epsilon_upper"]}
    assert decision(Record.of(bounded)).ratio == pytest.approx(1)


def test_who_is_protected_is_said_as_declared():
    """Control: with two rounds a person is not protected as a whole."""
    declared = "one round; a person, if the declaration is true."
    for rounds, said in ((1, declared), (2, "one round, not a person.")):
        record = load("dp-se") | {"declarations": {"contribution": {"max_rounds_per_user": rounds}}}
        assert promised.promise(Record.of(record)).endswith(f"It protects {said}")


@pytest.mark.parametrize(("name", "who"), [("ldp-linear", True), ("ldp-lin-ucb", True), ("dp-se", False)])
def test_nobody_is_trusted_in_the_local_model(name, who):
    said = of(name).promise
    assert ("report that leaves a" in said) == who
    assert ("the operator is trusted" in said) != who


def test_who_may_not_see_a_users_own_action_is_one_statement():
    """Control: elsewhere the operator of a local model is part of whom it is against."""
    said = dict(of("ldp-lin-ucb").answers)
    assert "all actions but the user's own; not an operator who sees that action. " in said["Promised"]
    assert "even the operator" not in " ".join(said.values())
    assert "own action" not in said["Not looked at"]
    assert said["Do next"].startswith("Keep users' actions from the operator. ")
    assert (
        "anyone who sees it together with the actions of the others may learn more about this user"
        in shown("ldp-lin-ucb")[0]
    )
    other = dict(of("ldp-linear").answers)
    assert "against anyone, even the operator, who sees" in other["Promised"]
    assert "from the operator" not in other["Do next"]
    assert dict(of("dp-lin-ucb").answers)["Not looked at"].startswith("The user's own action, ")


@pytest.mark.parametrize(
    ("name", "large"),
    [
        ("dp-exponential-nas", "Epsilon 4 (large) for"),
        ("shuffled-se", "Epsilon 4 (large) and delta 1e-06 for"),
        ("adac-ucb", "epsilon 1.183 and delta 0.001 (both large) for"),
        ("dp-lin-ucb", "Epsilon 1 and delta 0.001 (large) for"),
        ("dp-se", "Epsilon 1 for"),
    ],
)
def test_what_guidance_calls_large_is_called_so(name, large):
    assert large in of(name).promise


def test_checks_of_another_setting_are_counted_apart():
    """Control: what has no such setting, and what was audited with the other one."""
    apart = (
        "5 of 5 checks agree; 4 of 4 meet a bound that we fitted but did not prove, "
        "4 of them for another base (tsallis-inf)"
    )
    record = load("dp-adversarial")
    assert regrets.agreeing(Record.of(record)) == apart
    record["target"]["parameters"]["base"] = "tsallis-inf"
    assert regrets.agreeing(Record.of(record)).endswith("5 of them for another base (exp3)")
    assert "another" not in regrets.agreeing(Record.of(load("dp-se")))


def test_counts_of_what_is_open_agree_on_a_page():
    """Control: without holes none is counted."""
    told = {"data_security": {"encrypted": False}, "contribution": {"max_rounds_per_user": 400}}
    text, page = rendered("dp-se", declarations=told)
    whole = reviewed(load("dp-se") | {"declarations": told})
    states = [row["status"] for row in whole.blocks["hazards"]]
    holes, still = states.count("hole"), states.count("open")
    assert holes == 2
    assert f" {holes} holes, {still} open, " in text
    assert f"<summary>{still} open hazards, {holes} holes</summary>" in page
    every = questions.answers(whole)
    missing = sum(not one.given for one in every)
    assert f"{len(every)} questions: {missing} not answered, {holes} holes" in text
    assert " holes</summary>" not in shown("dp-se")[1]
    assert re.search(r"<summary>\d+ open hazards</summary>", shown("dp-se")[1])


def test_numbers_of_an_undecided_claim_are_conditional():
    """Control: a claim against which nothing was found has no such condition."""
    said = "The audit could not decide on the claim: these numbers hold if it is true."
    assert said in rendered("dp-se", verdict="inconclusive", reason="weak")[0]
    assert said not in shown("dp-se")[0]


def test_what_was_not_tried_is_not_looked_at():
    """Control: with broken variants and regret, neither is named."""
    for name in ("dp-se", "ldp-robust-se-printed"):
        left = dict(of(name, mutants=[], kill_table=None, regret=None).answers)["Not looked at"]
        assert "roken variants, regret, " in left
    assert "broken variants" not in dict(of("dp-se").answers)["Not looked at"]


def test_a_headline_names_the_calls_that_its_bound_covers():
    """Control: a bound for single runs names none."""
    record = load("dp-se")
    (bound,) = [c for c in record["checks"] if c["kind"] == "upper_bound"]
    record["epsilon_upper"] |= {"scope": "every path"}
    held = "If 4 assumptions hold (1 untested), it holds on every"
    assert summary_card.headline(Record.of(record)).startswith(f"{held} code path: ")
    bound["statistics"]["certificate"]["calls"] = [1, 2]
    said = f"{held} path of calls for 1 or 2 runs: "
    assert summary_card.headline(Record.of(record)).startswith(said)
    for premise in bound["statistics"]["premises"]:
        premise["tested_by"] = ""
    said = "If 4 untested assumptions hold, it holds on every path of calls"
    assert summary_card.headline(Record.of(record)).startswith(said)


def test_the_counterexample_that_shows_the_bound_leads():
    """Though one of samples shows a little more. Control: without it the larger one leads."""
    record = load("dp-linear-printed")
    first, second = limits.strongest_first(Record.of(record))
    assert words.least(Record.of(record)) == pytest.approx(2)
    assert (limits.shown(first, 1.0), second.event is None) == (pytest.approx(2), False)
    assert limits.shown(second, 1.0) > 2
    record["counterexamples"] += [record["counterexamples"][0] | {"epsilon_lower": 1.5, "event": "rare"}]
    shown_ones = [limits.shown(one, 1.0) for one in limits.strongest_first(Record.of(record))[1:]]
    assert shown_ones == sorted(shown_ones, reverse=True)


def made_check(kind, verdict="not_refuted", **statistics):
    return SimpleNamespace(kind=kind, verdict=verdict, statistics=statistics, form=kind_of(kind))


def test_tracing_finds_no_violation_where_only_actions_are_seen():
    """Control: where reports are seen, it does; nor does an upper bound find one."""
    others = [made_check("black_box"), made_check("upper_bound")]
    for attained, able in ((False, "Sampling"), (True, "Tracing and sampling")):
        checks = [made_check("tracing", attained=attained), *others]
        found = words.counted(SimpleNamespace(claim=None, checks=checks, epsilon_upper=None, reason=""))
        assert found == f"{able} found no violation."
    hidden = [made_check("alignment", visible=False), others[1]]
    hidden = SimpleNamespace(claim=None, checks=hidden, epsilon_upper=None, reason="")
    assert words.counted(hidden) == "No check could find a violation."


def test_tests_that_saw_no_output_change_show_nothing():
    """Control: where something changed, what they could miss is said."""
    changed = {"verdict": "inconclusive", "power": None, "epsilon_upper": None, "detectable": 2.0}
    said = {
        reason: dict(of("tree-sum", reason=reason, **changed).answers) for reason in ("unsearched", "weak")
    }
    assert said["unsearched"]["How strong"] == "Weak: sampling shows nothing."
    assert [said[reason]["Held?"].partition(" found no")[0] for reason in ("unsearched", "weak")] == [
        "Replayed runs",
        "Replayed runs and sampling",
    ]
    assert (
        "samples alone could miss up to 2 times the claim, and larger leaks of other kinds"
        in said["weak"]["How strong"]
    )


@pytest.mark.parametrize(
    ("k0", "k1", "expected"),
    [
        (9, 8, "The tested event happened in every run, so sampling shows nothing."),
        (0, 0, "The tested event happened in no run, so sampling shows nothing."),
        (9, 7, "Sampling shows no difference between the inputs that we tried."),
    ],
)
def test_what_no_sample_shows_is_not_said_of_the_outputs(k0, k1, expected):
    record = load("tree-sum")
    (tested,) = (c for c in record["checks"] if c["kind"] == "black_box")
    tested["statistics"] |= {"k0": k0, "n0": 9, "k1": k1, "n1": 8}
    undecided = {"verdict": "inconclusive", "reason": "unsearched", "epsilon_upper": None}
    assert expected in dict(of("tree-sum", checks=record["checks"], **undecided).answers)["Held?"]


@pytest.mark.parametrize(("k1", "state"), [(8, "weak"), (7, "strong")])
def test_an_event_without_a_contrary_makes_no_audit_strong(k1, state):
    """It happened in each of 9 and of 8 runs: whatever loss it would have shown, it shows nothing."""
    record = load("tree-sum") | {"power": None, "detectable": 1.1, "kill_table": None}
    (tested,) = (c for c in record["checks"] if c["kind"] == "black_box")
    tested["statistics"] |= {"k0": 9, "n0": 9, "k1": k1, "n1": 8}
    made = Record.of(record)
    assert decision(made).strength == state
    assert ("We know of no leak, however large" in strength.brief(made)) == (state == "weak")
    assert ("happened in every run" in power_words.detected(made)) == (state == "weak")


@pytest.mark.parametrize(("rho", "said"), [(0.1, "rho 0.1, as promised"), (0.12, "promised rho 0.12")])
def test_a_promise_of_rho_is_compared_as_rho(rho, said):
    made = PrivacyClaim.normal(rho, 1e-3)
    claim = load("adac-ucb")["claim"] | {"rho": rho, "mu": made.mu, "epsilon": made.epsilon}
    assert of("adac-ucb", claim=claim).headline.startswith(
        f"Holds for this instance: {said}; epsilon = 1.183 at delta 0.001 ("
    )
    page = shown("adac-ucb")[0]
    assert "more noise than needed" not in page
    assert "more noise than needed" in shown("adaptive-tree")[0]  # control: a promise of epsilon


def test_a_premise_of_which_some_cases_were_looked_at_says_so():
    page = render(Record.of(load("dp-lin-ucb")), drawn=False)
    assert "we examined no others.</td><td>only the cases named</td>" in page
    assert "exact normal distributions.</td><td>no check</td>" in page


def test_the_questions_to_answer_are_marked_among_the_hazards():
    """Those that the first screen counts; control: none of a claim that is false."""
    for name, count in (("dp-se", 8), ("dp-linear-printed", 0)):
        assert render(Record.of(load(name)), drawn=False).count('<b class="asked">Question:</b>') == count


def test_instance_and_code_are_on_the_first_screen():
    screen = html_of_first_screen(load("dp-se"))
    assert f"<br>Horizon 6000, commit {load('dp-se')['provenance']['target']['commit'][:12]}</p>" in screen
    unknown = load("dp-se")
    unknown["provenance"]["target"]["commit"] = ""
    assert f"<br>Horizon 6000, code {unknown['target']['source']['sha256'][:12]}</p>" in (
        html_of_first_screen(unknown)
    )


def test_what_ends_a_bound_is_called_the_first_obstacle():
    """Control: where no line ended it, more runs are advised."""
    undecided = {"verdict": "inconclusive", "reason": "weak", "epsilon_upper": None}
    ended = {"what": "raw rewards are converted to text", "file": "a.py", "line": 3}
    first = "First obstacle to an upper bound: a.py:3 (raw rewards are converted to text). More runs"
    assert first in of("dp-nas", unbounded=ended, **undecided).following
    assert "Audit again with more runs" in of("dp-nas", **undecided).following


def test_variants_without_an_epsilon_state_none():
    """Control: where theirs is nominal, the audit is as strong as the epsilon that it catches."""
    record = load("dp-nas")
    claim, sampled = record["claim"]["epsilon"], record["power"]["black_box"]
    sampled |= {"smallest_epsilon": 1.25 * claim, "noise_divided_by": 3.0}
    for stated, state, known in (("nominal", "strong", True), ("event", "weak", False)):
        variant = {"of": "generator", "parameter": "", "stated": stated}
        power = record["power"] | {"variant": variant, "smallest_epsilon": 1.25 * claim}
        made = Record.of(record | {"power": power, "kill_table": None})
        found = of("dp-nas", power=power, kill_table=None)
        assert (found.strength.state, math.isfinite(decision(made).ratio)) == (state, known)
        said = (dict(found.answers)["How strong"], found.strength.words, strength.brief(made))
        assert ["times the claim" in one for one in said] == [known] * 3
        assert ["noise of the generator divided by 3" in one for one in said] == [not known] * 3
        assert (words.catches(made)[1] == power_words.KIND) == known
        assert power_words.power(made).startswith("Samples alone would detect epsilon") == known


def test_what_refuted_is_named_apart_from_what_could_not():
    """Kinds that came out both ways refuted: looks of one test, or one adversary of several."""
    checks = [made_check("black_box", "refuted"), made_check("black_box"), made_check("exact")]
    checks.append(made_check("alignment", "inconclusive", visible=True))
    assert words.counted(SimpleNamespace(checks=checks, claim=None, epsilon_upper=None, reason="")) == (
        "Sampling refuted the yardstick. The exact distribution found no violation. Replayed runs could not "
        "decide."
    )


def test_batch_sizes_and_other_inputs_rest_on_the_upper_bound_where_there_is_one():
    """Control: without the bound both are left out."""
    record, left = load("shuffled-se"), load("dp-se")
    assert "other batch sizes" not in words.not_looked_at(Record.of(record))
    assert any(
        "batch sizes" in line and "only the upper bound" in line
        for line in words.not_covered(Record.of(record))
    )
    assert "Only the upper bound covers other inputs." in power_words.power(Record.of(left))
    for one in (record, left):
        one["checks"] = [c for c in one["checks"] if c["kind"] != "upper_bound"]
    assert "other batch sizes" in words.not_looked_at(Record.of(record))
    assert "Other inputs were not examined." in power_words.power(Record.of(left))


def test_the_table_of_a_person_says_where_it_bounds_no_guess():
    """Where delta is 1. Control: in the other rows of the same table it is a share."""
    read = shown("ldp-lin-ucb")[0]
    assert promised.guesses({"epsilon": "3", "delta": "1"}) == "no limit"
    assert promised.guesses({"epsilon": "1", "delta": "0.001"}) == "73 %"
    assert "no limit" in read
    assert "73 %" in read


def test_a_page_says_who_is_trusted_and_what_no_check_notices():
    """Control: in the local model nobody is trusted; without broken variants none is spoken of."""
    trusted = {"shuffled-se": "only the shuffler is trusted", "dp-se": "the operator is trusted"}
    for name, words_of in trusted.items():
        assert words_of in of(name).promise
    assert "trusted" not in of("ldp-lin-ucb").promise
    said = "only a signature exposes changed words, dates and declarations"
    assert said in shown("dp-se")[0]
    beyond = "broken variants should lie beyond it"
    assert beyond in render(Record.of(load("dp-se")))
    assert beyond not in render(Record.of(load("ucb1")))


# ---------------------------------------------------------------- what readers of twelve pages signed for


def measured(name, *, promise=None, **parameters):
    """A record whose regret was measured with these parameters, and what was promised there."""
    record = load(name)
    regret = record["regret"] | {"parameters": record["target"]["parameters"] | parameters}
    regret.pop("promise", None)
    return record | {"regret": regret | ({"promise": promise} if promise else {})}


def test_regret_at_another_epsilon_is_on_the_first_screen():
    """Control: measured with the audited parameters, at the audited horizon, it says nothing of others."""
    record = measured("ldp-lin-ucb", epsilon=50.0, delta=0.05, n_arms=5)
    found = summary_card.of(reviewed(record))
    assert found.instance.endswith(
        "Regret was measured with different parameters: epsilon 50 (audited: 1), delta 0.05 (0.001), "
        "arms 5 (2), horizon 400 to 2000 (64), unless a check states its own. "
        "This says nothing about the audited parameters."
    )
    assert dict(found.answers)["Held?"].endswith(" Regret was checked at epsilon 50.")
    assert "agrees with the claims. The checks used epsilon 50, not 1." in " ".join(
        plainly.summary(Record.of(record))
    )
    same = measured("ldp-lin-ucb")
    for check in same["regret"]["checks"]:
        check["statistics"]["horizon"] = 64
    found = summary_card.of(reviewed(same))
    assert "other parameters" not in found.instance
    assert "Regret" not in dict(found.answers)["Held?"]
    assert "It was measured" not in " ".join(plainly.summary(Record.of(same)))


def test_regret_that_a_check_measures_elsewhere_is_named_beside_the_rest():
    """Control: where one of them is the audited value, nothing is said."""
    record = measured("adac-oful", rho=1.0, delta=1e-5)
    for check in record["regret"]["checks"]:
        check["statistics"]["instance"] = "two unit vectors, gap .04, rho = 10000"
    assert " Regret was checked at rho 1/10000." in dict(summary_card.of(reviewed(record)).answers)["Held?"]
    for check in record["regret"]["checks"]:
        check["statistics"]["instance"] = "two unit vectors, gap .04, rho = 0.1"
    assert "Regret was checked at" not in dict(summary_card.of(reviewed(record)).answers)["Held?"]


def test_regret_names_a_promise_that_no_parameter_states():
    """Mu of gaussian-ts follows from its first pulls and the rounds. Control: without it, its parameters."""
    promise = {"epsilon": 931.7, "delta": 1e-6, "mu": 38.7}
    given = {"first": 1, "delta": 1e-6, "horizon": 3000}
    found = summary_card.of(reviewed(measured("gaussian-ts", promise=promise, **given)))
    said = "parameters: mu 38.7 at 3000 rounds (audited: 0.7559), delta 1e-06 (0.001), first 1 (20), "
    assert said in found.instance
    assert "Regret was checked at mu 38.7." in dict(found.answers)["Held?"]
    found = summary_card.of(reviewed(measured("gaussian-ts", **given)))
    assert "parameters: delta 1e-06 (audited: 0.001), first 1 (20), " in found.instance
    assert "mu 38.7" not in dict(found.answers)["Held?"]


def test_lemmas_and_bounds_that_were_chosen_to_fit_are_no_checks_of_regret():
    """Control: as the claims were recorded, all of them agree with what was derived."""
    record = load("ldp-lin-ucb")
    claims = {claim["name"]: claim for claim in record["regret"]["claims"]}
    for claim in claims.values():
        claim["about"] = "regret"
        claim["source"]["basis"] = "ours"
    assert regrets.sentence(Record.of(record)) == "3 of 3 checks agree with our derivations."
    claims["learns"]["source"]["basis"] = "chosen"
    assert regrets.sentence(Record.of(record)) == (
        "2 of 2 checks agree with our derivations; 1 of 1 meets a bound that we fitted but did not prove."
    )
    claims["definite"]["about"] = "lemma"
    assert regrets.agreeing(Record.of(record)) == (
        "1 of 1 check on regret and 1 of 1 on lemmas agree; 1 of 1 meets a bound that we fitted but did not "
        "prove"
    )
    claims["ellipsoid"]["about"] = "lemma"
    assert regrets.agreeing(Record.of(record)).startswith("2 of 2 checks on lemmas agree; 1 of 1 meets")
    record["regret"]["checks"] = record["regret"]["checks"][2:]
    assert regrets.sentence(Record.of(record)) == (
        "1 of 1 check meets a bound that we fitted but did not prove."
    )
    record["regret"]["checks"][0]["result"]["verdict"] = "vacuous"
    assert regrets.sentence(Record.of(record)).startswith("0 of 0 checks that can fail agree with ")


def test_what_is_cut_from_the_first_screen_is_named_below():
    """Control: where all fits, nothing is said twice."""
    assert "<summary>In short<" not in shown("dp-se")[0]
    record = load("dp-se")
    record["target"]["name"] = " ".join(["long"] * 60)
    said = dict(summary_card.of(reviewed(record)).answers)["Not looked at"]
    assert re.search(r" and \d more\.$", said)
    every = ", ".join(words.not_looked_at(Record.of(record)))
    assert f"<summary>In short</summary><p>{every}.</p>" in render(Record.of(record))


def test_holes_are_part_of_what_a_team_has_to_settle():
    """Control: without a hole."""
    record = load("dp-se") | {"declarations": {"data_security": {"encrypted": False}}}
    yours = summary_card.of(reviewed(record)).hazards[0]
    assert yours.head.startswith(
        "8 hazards for your team to settle in a declaration (verifiable-dp declare), 1 of "
    )
    assert yours.head.endswith(" of them declared as a hole")
    assert of("dp-se").hazards[0].head.endswith("(verifiable-dp declare)")
