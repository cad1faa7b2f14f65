"""Doubts about where code takes its randomness from: whoever reads it may know the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import Recorded, Text, Verdict, said

KIND = "sources"
ELSEWHERE = (
    "some counted runs gave different results in a fresh process, with the same seeds and inputs: the code "
    "behaves differently between processes, or draws from a source that we cannot follow"
)

PUBLIC = (
    "two fresh starts of the program gave the same outputs with different seeds, so anyone who starts it "
    "knows its noise; take all randomness from the seeds in the requests, or from the system"
)


class SourcesStatistics(Recorded, frozen=True):
    """Doubts."""

    doubts: Annotated[tuple[Text, ...], said("Why readers of the code may know its noise.")]


class SourcesResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict


SOURCES = Kind(
    KIND,
    "privacy",
    "comparison of the states of generators after imports in another process",
    short="the comparison of generators",
    rank=110,
    caption="Where the code gets its randomness",
    counts=True,
    statistics=SourcesStatistics,
    result=SourcesResult,
)


# Names of checks.
SEEDS, DECIDED, FAILED = "sources of randomness", "decisions based on raw data", "runs that failed"
_NO_BUDGET = "a larger --budget cannot help"
ADVICE = {
    SEEDS: f"draw from the rng that we pass, or seed from the system (default_rng()); {_NO_BUDGET}; if a "
    "library such as OpenDP draws by itself and you trust the code, use --in-process",
    DECIDED: "let only released values decide, or add noise to the value that decides here and release it; "
    f"{_NO_BUDGET}",
    FAILED: f"treat all data of one form and size alike: accept all or refuse all; {_NO_BUDGET}",
}
NAMED = f"remove the cause named here; {_NO_BUDGET}"  # of other doubts


def check(doubts: Sequence[str]) -> Check:
    """A check that says why what was found does not speak for the claim."""
    return Check.of(SEEDS, KIND, {"doubts": list(doubts)})


def unlike_elsewhere() -> Check:
    """A check that says that runs came out differently in another process."""
    return Check.of("runs asked again", KIND, {"doubts": [ELSEWHERE]})


def public_noise() -> Check:
    """A check that says that a program's noise does not depend on seeds that are secret."""
    return Check.of("noise of fresh starts", KIND, {"doubts": [PUBLIC]})


def _first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


WRITABLE = "?mode=rw"  # ends the name of a database that the code opened to write, as SQLite's addresses do
_READ_ONLY = "open a database that is only read with sqlite3.connect('file:NAME?mode=ro', uri=True), "


def refused_by_cage(what: Sequence[str]) -> Check:
    """A check that says what a cage refused to the code, which may go on otherwise without it."""
    named = _first_of([*map(repr, what)])
    database = _READ_ONLY if any(name.endswith(WRITABLE) for name in what) else ""
    doubt = (
        f"the code asked for something that its cage denies ({named}), and may behave differently without a "
        f"cage; {database}remove that from the code, or audit it without a cage (--cage none)"
    )
    return Check.of("refused by the cage", KIND, {"doubts": [doubt]})


def withheld(names: Sequence[str]) -> Check:
    """A check that says which variables the code asked for and did not get."""
    named = _first_of(names)
    doubt = (
        f"the code asked for variables that we hide from it ({named}), because they look like secrets or "
        "control a job, and may behave differently where it gets them; give them other names, or unset them "
        "for the audit if they do not exist in production (env -u NAME)"
    )
    return Check.of("hidden variables", KIND, {"doubts": [doubt]})


def unloaded(names: Sequence[str]) -> Check:
    """A check that says which modules the code imports and goes on without."""
    named = _first_of(names)
    doubt = (
        f"the code imports modules that exist but could not be loaded ({named}), continues without them, and "
        "may behave differently where they can be loaded; install what they need, fix them, or remove the "
        "imports"
    )
    return Check.of("modules that were not loaded", KIND, {"doubts": [doubt]})


def beside_program(names: Sequence[str]) -> Check:
    """A check that says what the code looks for beside the program that was started, which here is ours."""
    named = _first_of(names)
    doubt = (
        f"the code looks for {named} next to the program that was started (sys.argv[0], sys.path[0], "
        "__main__); here that program is verifiable-dp, and in production the code may find a different "
        "file; look next to __file__ instead"
    )
    return Check.of("files beside the program", KIND, {"doubts": [doubt]})


def decided_by_data(what: str, line: int) -> Check:
    """A check that says what raw data decide, of which no sample shows what it does on other data."""
    doubt = f"{what} (line {line}), and samples show its effect only on the data that we tried"
    return Check.of(DECIDED, KIND, {"doubts": [doubt]})


def failures(doubts: Sequence[str]) -> Check:
    """A check that says which runs failed where others did not."""
    return Check.of(FAILED, KIND, {"doubts": list(doubts)})


def unlike_counts(doubts: Sequence[str]) -> Check:
    """A check that says why runs that were counted do not speak for the claim."""
    return Check.of("runs counted", KIND, {"doubts": list(doubts)})


@SOURCES.judged_by()
def _judge(statistics: Json) -> JsonDict:
    """Inconclusive where there is a doubt: runs were made with seeds that nobody knows."""
    return {"verdict": "inconclusive" if statistics["doubts"] else "not_refuted"}


@SOURCES.worded_by
def in_words(numbers: Json, result: Json) -> str:
    """All doubts."""
    del result
    return "; ".join(numbers["doubts"]) or "we know of no seed that is public"
