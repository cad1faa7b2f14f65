"""Phrases that a native reader stumbles over stay out of the docs, pages, `--help` and messages."""

import ast
import re
from pathlib import Path

import click
import pytest
import yaml

from verifiable_dp.cli import main

ROOT = Path(__file__).parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PAGES = sorted((ROOT / "reports").rglob("*.html"))
BANNED = (
    r"\bgoes with\b",
    r"\bat (their|its) word\b",
    r"\bas (it is|they are)(?=[.,;:)]|$)",
    r"\b(code|package|machine|environment|algorithm)s? of (yours|ours)\b",
    r"\blikewise\b",
    r"\b[Ww]hoever\b",
    r"\bhas become of\b",
    r"\bspeaks? of\b",
    r"\banew\b",
    r"\blikelier\b",
    r"\bhas no say\b",
    r"\ba stranger\b",
    r"\b(reason|sentence|fault)s? stands?\b",
    r"\bagain and again\b",
    r"\bfor who\b",
    r"\bis content\b",
    r"\bNone where\b",
    r"\bis of (a|another)\b",
    r"\b(mak|comput|judg|simulat|sampl)e[sd]? (\w+ ){1,3}again\b",
    r"\b(one|many) (draw|run|check|row|arm|node|round)s? an? (arm|batch|call|check|node|round|run)\b",
    r"\b(booked|held against|at the price of|spoken of)\b",
    r"\b(missed|caught) whose\b",
    r"\bstays? outside\b",
    r"\bof production\b",
    r"\bas far as (it|they|its|their|the)\b",
    r"\blives? in (a|the) file\b",
    r"\b(said|says?|knows?|stated|declared) of (it|them|the|a|its)\b",
    r"\bover (that of|regret without)\b",
    r"\bno code of\b",
    r"\bready adversar",
    r"\b(of|on) what is (right|printed)\b",
    r"\b(for half of it|ours in part|tests at work|two times|at hand)\b",
    r", so that\b",  # a result is ", so"
    r"\b(some|any|no)thing else than\b",
    r"\b(an)?other (\w+) than\b",
    r"\b(is|are|be) told (?!apart)",
    r"\b(bound|theorem|lemma|rate|it)s? stands?\b",
    r"\bwhat (it|they) (has|have) to be\b",
    r"\btaken for\b",
    r"\ball the same\b",
    r"\b(the others|all else) being\b",
    r"\bbeside (that|those) of\b",
    r"\bthat there (is|are) not\b",
    r"\bis open whether noise\b",
    r"\bwith \S+ for \d",
    r"\bspeaks? against\b",
    r"\b(code|bandit|program) needs it\b",
    r"(?:^|[.!?] )On [A-Z][^.]{0,60}, see\b",
    r"\b[Rr]ight (program|bandit|mechanism)s?\b",
    r"\b(by (day|night)|tests of the day)\b",
    r"\b(ends? (the|its) bound|bound ends)\b",
    r"\b(names? the run|but for)\b",
    r"\bsome (hundred|thousand)s?\b",
    r"\brequired is\b",
    r"\btells? the (value|data)\b",
    r"\bvariants of this audit\b",
    r"\b(upper|lower) bounds alone\b",
    r"\bin or near\b",
    r"\bhas a part in\b",
    r", for the (paper|code|claim) (has|is)\b",
    r"\b[Rr]eplac(e|es|ed|ing) (it|them|text|[A-Z/]+) by\b",
    r"\b(the gravest|exists already|once only|must stand|asked was)\b",
    r"\b[Tt]he line of (a|an|the)\b",
    r"\b(are|is) fixed since\b|\b[Ss]ince then, \w+ (of \w+ )?(has|have|is|are) (?!been|had)",
    r"\b(read|whether) .{0,40}\bwe cannot say\b|: whether [^.]{0,60} we cannot\b",
    r"\bwithin (its|their) claim\b",
    r"\b(is|are|was|were) (not )?(believed|acquitted)\b",
    r"(?:^|[.!?:] )Who (edits|sees|reads|knows)\b",
    r"\bother (\w+ ){2,3}than\b",
    r"\bruns a side\b",
    r"\b(gamma|beta|bound|width) of our own\b",
    r"\breaders? of (the judge|that rule)\b",
    r"\bwhat production runs\b",
)
PHRASE = re.compile("|".join(BANNED), re.MULTILINE)
CODE = re.compile(r"```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
UNSEEN = re.compile(r"<(blockquote|style|script|svg)\b.*?</\1>|<[^>]+>", re.DOTALL)  # quotations are verbatim


def found(text):
    """Banned phrases of a text, code left out."""
    return [match[0] for match in PHRASE.finditer(CODE.sub("`code`", text))]


def messages(source):
    """Literal parts of what a module of the command line says: of `say`, `aside` and errors."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if name in ("say", "aside", "InputError", "UsageError"):
            parts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            yield " ".join(part for part in parts if isinstance(part, str))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_docs_have_no_banned_phrase(path):
    assert found(path.read_text("utf-8")) == []


def test_committed_pages_have_no_banned_phrase():
    shown = {path: found(UNSEEN.sub("", path.read_text("utf-8"))) for path in PAGES}
    assert len(shown) > 40
    assert {str(path): said for path, said in shown.items() if said} == {}
    assert found(UNSEEN.sub("", "<blockquote>anew</blockquote><p>An <b>epoch</b> is one draw an arm</p>"))


@pytest.mark.parametrize("name", main.commands)
def test_help_has_no_banned_phrase(name):
    command = main.commands[name]
    said = command.get_help(click.Context(command, info_name=name))
    assert found(" ".join(said.split())) == []


def test_messages_of_the_command_line_have_no_banned_phrase():
    said = [
        text
        for path in (ROOT / "verifiable_dp" / "cli").glob("*.py")
        for text in messages(path.read_text("utf-8"))
    ]
    assert len(said) > 80
    assert [text for text in said if found(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "x goes with y",
        "rewards are taken at their word",
        "Bandits are audited as they are.",
        "code of yours",
        "Whoever knows it",
        "the records are sealed anew",
        "died again and again",
        "the reason stands there",
        "None where none was proved",
        "it is of another record",
        "it makes the table again",
        "an epoch is one draw an arm",
        "rewards are booked twice",
        "a variant is missed whose epsilon is 2",
        "side channels stay outside",
        "the sampler of production",
        "as far as it may",
        "a session that lives in a file",
        "what a record says of them",
        "regret of the rival over that of ours",
        "no code of the target is run",
        "a ready adversary",
        "checks of what is right",
        "the same sums two times",
        "an arm gets the same noise, so that differences are exact",
        "a run returns something else than before",
        "it has another digest than the request",
        "the algorithm is told alpha",
        "the lemma stands",
        "half of what it has to be",
        "rewards are taken for costs",
        "gamma holds all the same",
        "with the others being fixed",
        "regret beside that of the rival",
        "arms that there are not",
        "it is open whether noise hides it",
        "printed with 4 for 4.5",
        "what speaks against the claim",
        "number of arms; your own code needs it",
        "On Article 72, see the records",
        "no right program was refuted",
        "it is compared by night",
        "what ends the bound",
        "the same but for the run",
        "within some thousand plays",
        "it rests on samples; required is a proof",
        "the last bits tell the value",
        "broken variants of this audit",
        "upper bounds alone were measured",
        "false as printed, in or near the proof",
        "a draw has a part in it",
        "a beta of ours, for the paper has none",
        "the audit replaces it by its own",
        "changes, the gravest first",
        "The line of an inconclusive rate says why",
        "Since then, none of them has a bound",
        "Both are fixed since",
        "a clause: whether a record meets it we cannot say",
        "a leak has a bound within its claim",
        "a state folder from an archive is believed",
        "Who edits a record can write a digest",
        "other pairs of inputs than the search tried",
        "ten points of 400 runs a side",
        "we check a gamma of our own",
        "a leak by a reader of the judge",
        "neither notices what production runs",
    ],
)
def test_banned_phrases_are_seen(text):
    assert len(found(text)) == 1
    assert len(found(f"`{text}`")) == 0  # code is left alone
    assert next(messages(f"raise InputError(f'{text} {{x}}')")).startswith(text)


# ---------------------------------------------------------------- conventions


def test_the_changelog_is_one_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\]( - \d{4}-\d\d-\d\d)?", head) for head in heads[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {*re.findall(r"^### (.*)$", text, re.MULTILINE)} <= kinds
    assert len(text.splitlines()) < 100


def test_issue_forms_ask_for_the_record():
    forms = [path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert len(forms) >= 2
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert {"name", "description", "body"} <= form.keys()
        required = [one["id"] for one in form["body"] if one.get("validations", {}).get("required")]
        assert "record" in required, path.name


def test_the_citation_has_the_version_of_the_package():
    import verifiable_dp

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == verifiable_dp.__version__
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
