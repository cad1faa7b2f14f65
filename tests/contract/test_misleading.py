"""Sentences that misled readers of pages: none of their kinds is in any rendering of any committed record."""

import functools
import html
import re

import pytest

from tests.committed import NAMES, REPORTS, SIX
from verifiable_dp.evidence import upper
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import kills
from verifiable_dp.record.verify import verify
from verifiable_dp.render import page, parameters
from verifiable_dp.render.markdown import to_dpia, to_markdown

SHOWN = {
    "page": lambda record: page.render(record, drawn=False),
    "pack": page.render_pack,
    "markdown": to_markdown,
    "dpia": to_dpia,
}


@functools.cache
def record_of(name):
    return verify(REPORTS / name / "record.json").parsed


def read(text):
    """What is read of HTML or Markdown, in one line."""
    text = re.sub(r"<(style|script)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"</?(?:bdi|span|wbr|b|a)\b[^>]*>", "", text)
    text = html.unescape(re.sub(r"<[^>]*>", " . ", text)).replace("\\", "")
    return " ".join(text.split())


def sentences(text):
    return re.split(r"(?<=[.?!])\s+|\s\|\s", text)


def none_missed(record, text):
    """Nothing was missed, beside variants of which nobody knows."""
    names = kills.undecided(record)
    wrong = ["None was missed"] if names and "None was missed" in text else []
    return wrong + (["undecided unexplained"] if names and kills.UNDECIDED not in text else [])


def one_batch(record, text):
    """What exact computation catches, without saying that only less noise in all batches shows at once."""
    if not (record.power and record.power.every_batch_at):
        return []
    least = f"{record.power.smallest_epsilon:.4g}"
    said = (one for one in sentences(text) if re.search(rf"catche?s?.* {re.escape(least)}", one))
    return [one for one in said if "in all batches" not in one]


def every_run(record, text):
    """A number of states or paths that seems to be all that was looked at."""
    return re.findall(r"\d+ public states or paths were examined", text)


def counted(record, text):
    """A check that cannot fail, among those that agree or do not."""
    able = sum(check.verdict != "vacuous" for check in record.regret_checks)
    said = (one for one in sentences(text) if re.search(r"\d+ of \d+ checks?[a-z ]*? agree", one))
    of = {one: [int(n) for n in re.findall(r"\d+ of (\d+)(?: checks?| keep)", one)] for one in said}
    return [one for one, numbers in of.items() if able not in (sum(numbers), *numbers)]


def two_numbers(record, text):
    """The loss that one event has to show, as if a version with that epsilon were caught."""
    power, seen = record.power, record.detectable
    if power is None or seen is None or power.by == "alignment" or power.smallest_epsilon <= float(seen):
        return []
    least = rf"(?<![\d.]){re.escape(digits(seen))}(?![\d.])"
    said = (one for one in sentences(text) if re.search(rf"(caught|catch|detect|refute).*{least}", one))
    return [one for one in said if "event" not in one]


def unconditional(record, text):
    """An upper bound as a fact, without what it takes for granted."""
    said = re.compile(
        r"\bproved \(?(?:by|to be no)\b|certificate covers|\bepsilon (?:is )?at most \d|\bto be no more\b",
        re.IGNORECASE,
    )
    meant = re.compile(r"premises|assumption|promised|claim|noise is drawn as stated", re.I)
    return [one for one in sentences(text) if said.search(one) and not meant.search(one)]


def borrowed(record, text):
    """Authors above constants that are not theirs."""
    source = record.claim.source if record.claim else None
    unread = source is not None and source.basis == "unread"
    return [] if not unread or re.search(r"(own|our) version", text[:400], re.I) else [text[:100]]


def elsewhere(record, text):
    """Regret at other horizons "too", though it was measured at none but others."""
    return re.findall(r"measured at other horizons, too", text)


def not_theirs(record, text):
    """Theorems, though what was checked was derived here in part."""
    claims = record.regret.claims if record.regret else []
    ours = any(claim.source.note or claim.source.basis for claim in claims)
    return re.findall(r"agrees? with the theorems", text) if ours else []


def left_unsaid(record, text):
    """What the promise hangs on and no check saw, missing among what was not looked at."""
    found = re.search(r"Not looked at( \.)*(?P<said>.*?) \. (Do next|Held|How)", text)
    if not found:
        return []
    said = found["said"].lower()
    games = any({"adversary", "strategies"} & check.statistics.keys() for check in record.checks)
    lacking = {"shuffler": record.claimed.observe == "shuffled"}
    lacking["adaptive data"] = not games
    return [
        word
        for word, due in {**lacking, "your deployment": record.verdict != "refuted"}.items()
        if due and word not in said
    ]


def as_printed(record, text):
    """A budget that the paper splits, with no word on that."""
    per_arm = record.target.parameters.get("budget") == "per-arm"
    return [] if not per_arm or "Not as printed" in text else ["per-arm budget as if printed"]


def once(record, text):
    """A unit that enters several releases, as if it entered one."""
    return re.findall(r"each (?:reward|value) enters once", text)


def bins(record, text):
    """Arms that are fixed, as if there were no other bins where estimates have a histogram."""
    central = record.target.parameters.get("moments") == "central"
    return (
        []
        if not central
        else re.findall(r"the arms are a parameter, fixed before any reward is seen(?!;)", text)
    )


def noiseless(record, text):
    """A sampler of production where no noise is drawn."""
    said = re.findall(r"live session draws from OpenDP|last bits of the sampler", text)
    return said if record.target.kind == "algorithm" and record.target.model == "none" else []


def unable(record, text):
    """Checks none of which found a violation, where some could not have found one."""
    said = re.findall(r"All \d+ privacy checks ran; none found", text)
    hidden = (c for c in record.checks if c.kind == "alignment" and not c.statistics["visible"])
    return said if any(hidden) or record.of_kind("upper_bound") else []


def failing(record, text):
    """Delta as the chance that a loss exceeds epsilon, and a largest loss of normal noise."""
    if not record.claimed.delta:
        return []
    chance = r"chance of failing|chance that epsilon|except with probability"
    normal = "" if record.claimed.observe == "shuffled" else r"|privacy loss is exact|Largest loss"
    return re.findall(chance + normal, text)


def contexts(record, text):
    """No model of contexts in a contextual algorithm; users that are not people."""
    return (
        re.findall(r"no context model is trained|unit is events, not people", text)
        if record.claimed.protects
        else []
    )


def unclear(record, text):
    """Bad news that reads as good, a place that is nowhere, a number in the wrong place."""
    return re.findall(r"has only epsilon|see above|of one person \d+ is", text)


def at_another_privacy(record, text):
    """Regret at another epsilon, rho or mu than promised, with no word of that on the first screen."""
    private = parameters.at_other_privacy(record, brief=True)
    found = re.search(r"Held\?(?P<said>.*?) How strong", text)
    return [private] if private and found and private not in found["said"] else []


def repeated(record, text):
    """A rerun that is said to expose changed results of the suite, which it does not repeat."""
    said = re.findall(r"only --rerun exposes changed counts(?! of this audit)", text)
    return said if record.kill_table else []


def spent(record, text):
    """What one reward costs as if it were a budget that is gone."""
    return re.findall(r"used up its whole cost|none taken on trust", text)


def unstated(record, text):
    """No bound where one was computed, tests of what only restates the claim, bounds that are none."""
    denied = re.findall(r"No upper bound was found", text) if record.of_kind("upper_bound") else []
    return [*denied, *re.findall(r"tested \. only the audited output|\[-inf", text)]


RULES = [
    none_missed,
    one_batch,
    every_run,
    counted,
    two_numbers,
    unconditional,
    borrowed,
    elsewhere,
    not_theirs,
]
RULES += [left_unsaid, as_printed, once, bins, noiseless, unable, failing, contexts, unclear]
RULES += [at_another_privacy, repeated, spent, unstated]
OF_PAGES = (none_missed, borrowed, as_printed, at_another_privacy)  # what a short form has no room for
MISLED = [  # as pages had it, with a record of which it was said
    (none_missed, "ldp-ucb", f"40 caught, 1 open, 0 missed. None was missed. {kills.UNDECIDED}"),
    (none_missed, "ldp-ucb", "40 caught, 1 open, 0 missed."),
    (one_batch, "shuffled-se", "Exact computation catches epsilon 4.004 (too little noise)."),
    (every_run, "lazy-dp-ts", "Verdict: not refuted. 15 public states or paths were examined."),
    (counted, "dp-ucb", "Regret: 8 of 9 checks agree."),
    (two_numbers, "dp-exponential-nas", "It would have caught epsilon 4.469 with 95 % probability."),
    (unconditional, "dp-se", "Epsilon is exactly 1: observed, and proved to be no more (by this tool)."),
    (unconditional, "dp-se", "The observed lower bound equals the upper bound (proved by this tool)."),
    (unconditional, "dp-se", "No violation was found, and epsilon is at most 1."),
    (borrowed, "dp-imed", "dp-imed: audit record Azize et al. 2025"),
    (elsewhere, "ldp-ucb", "Regret was measured at other horizons, too: see each check."),
    (not_theirs, "lazy-dp-ts", "Consistent: 1 of 1 check agrees with the theorems."),
    (left_unsaid, "shuffled-se", "Not looked at . Timing and side channels, your deployment. . Do next"),
    (left_unsaid, "dp-nas", "Not looked at . Timing and side channels, your deployment. . Do next"),
    (left_unsaid, "dp-se", "Not looked at . Timing and side channels. . Do next"),
    (as_printed, "dp-ucb", "split of epsilon = per-arm"),
    (once, "dp-nas", "outputs depend only on noisy statistics, each value enters once"),
    (bins, "dp-robust-elimination", "the arms are a parameter, fixed before any reward is seen . Evidence"),
    (noiseless, "ucb1", "a live session draws from OpenDP unless it is given a seed"),
    (unable, "dp-nas", "All 3 privacy checks ran; none found a violation."),
    (failing, "dp-lin-ucb", "Epsilon 1 and delta 0.001 (a 1 in 1,000 chance of failing)"),
    (failing, "dp-lin-ucb", "Check . Transcripts . Largest cost . Largest loss"),
    (contexts, "lin-ucb-contextual", "not applicable . no context model is trained"),
    (contexts, "dp-lin-ucb", "the unit is events, not people"),
    (unclear, "dp-se", "Rounds add up: a person with 10 (our example) has only epsilon 10"),
    (at_another_privacy, "ldp-lin-ucb", "Held? . Regret (other settings): 3 of 3 checks agree. . How strong"),
    (repeated, "dp-robust-ucb", "An editor can: then only --rerun exposes changed counts, and only"),
    (
        spent,
        "dp-imed",
        "The costliest run has used up its whole cost, 1, by round 1.",
    ),
    (unstated, "adaptive-tree-printed", "No upper bound was found, so there are no premises to state."),
    (unstated, "dp-linear", "tested . only the audited output reveals the target's model of the rewards"),
    (unstated, "dp-robust-ucb", "the noise was checked against changes within [-inf, inf]"),
]


@pytest.mark.parametrize("name", NAMES)
def test_no_page_and_no_document_misleads(name):
    record = record_of(name)
    shown = SHOWN if name in SIX else {"page": SHOWN["page"]}
    found = {}
    for form, made in shown.items():
        text = read(made(record))
        rules = [rule for rule in RULES if form == "page" or rule not in OF_PAGES]
        found |= {(form, rule.__name__): rule(record, text) for rule in rules}
    assert len(found) == len(RULES) * len(shown) - len(OF_PAGES) * (len(shown) - 1)
    assert {where: said for where, said in found.items() if said} == {}


@pytest.mark.parametrize(("rule", "name", "text"), MISLED)
def test_what_misled_readers_would_be_found(rule, name, text):
    """Control: on the page as it is, the rule finds nothing."""
    assert rule(record_of(name), text)
    assert not rule(record_of(name), read(SHOWN["page"](record_of(name))))


UNBOUNDED = (
    "lin-ucb-contextual",
    "linear-elimination",
    "linucb",
    "nas",
    "robust-ucb",
    "se",
    "ucb1",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_bound_of_every_run_says_how_it_comes_to_cover_them(name):
    record = record_of(name)
    text = read(SHOWN["page"](record))
    checks = record.of_kind("upper_bound")
    assert bool(checks) == (name not in UNBOUNDED)
    for check in checks:
        said = upper.reached(check.statistics)
        assert said in text
        assert str(check.statistics["paths"]) in said
        if check.statistics["scope"] == "certified":
            assert "every input and run" in said or "no other input or run" in said


def test_the_index_has_what_is_refuted_first_in_its_only_table():
    """The listings as printed are refuted, and stood in a later section."""
    text = (REPORTS / "index.html").read_text("utf-8")
    states = re.findall(r'<tr[^>]* data-state="(\w+)"', text)
    assert len(states) == len(NAMES)
    assert states[0] == "refuted"
    assert states == sorted(states, key=page._STATES.index)
    assert states != sorted(states)
