"""What a check of kind ``tracing`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from verifiable_dp.evidence.fields import (
    AtLeastOne,
    Count,
    Loss,
    OpenProbability,
    PairEntry,
    Positive,
    Real,
    Recorded,
    Text,
    Verdict,
    said,
)
from verifiable_dp.evidence.tracing.ledger import NoteKind


class LeftAt(Recorded, frozen=True):
    """Why a replay left the recorded run, and where."""

    what: Text
    file: str
    line: Count


class TracedLead(Recorded, frozen=True):
    """A line at which raw or unknown data may decide."""

    what: str
    words: str
    file: str
    line: Count
    source: str
    count: Count
    open: Annotated[bool, said("Whether no pair of runs showed it to be harmless.")]


class TracedNote(Recorded, frozen=True):
    """What tracing could not follow."""

    kind: NoteKind
    what: str
    file: str
    line: Count


class LineShare(Recorded, frozen=True):
    """What the releases of a line cost."""

    file: str
    line: Count
    releases: Count
    cost: Real


class FlowStep(Recorded, frozen=True):
    """A line through which rewards reach releases and actions."""

    file: str
    line: AtLeastOne
    role: Literal["reward", "release", "raw", "action"]
    words: str
    source: str
    count: Count
    cost: Annotated[Real | UnsetType, said("Of the releases on this line together.")] = UNSET


class SourceExcerpt(Recorded, frozen=True):
    """Consecutive lines of a file."""

    file: str
    first: AtLeastOne
    lines: Annotated[tuple[str, ...], Meta(min_length=1)]


class TracingStatistics(Recorded, frozen=True):
    """What replaying runs of traced code showed."""

    epsilon: Positive
    examined: Annotated[Count, said("Pairs of runs: one recorded, one replayed with the same releases.")]
    failure: Annotated[str, said("Why tracing stopped; empty if it did not.")]
    releases: Annotated[Count, said("Of the costliest pair of runs, like the fields below.")]
    coins: Mapping[str, Count]
    draws: Count
    max_cost: Real
    loss: Real
    rho: Real
    divergence: Annotated[
        LeftAt | None,
        said("Why the replay left the recorded run, and where; null if it did not."),
    ]
    same_output: bool
    leads: tuple[TracedLead, ...]
    notes: tuple[TracedNote, ...]
    attribution: Annotated[
        tuple[tuple[Count, Count, Real], ...],
        said("[round, arm, cost] of single rewards on the costliest table."),
    ]
    shares: Annotated[tuple[LineShare, ...], said("Cost by line, largest first.")]
    pair: PairEntry | None
    seed: int
    delta: Annotated[
        OpenProbability | UnsetType,
        said("Delta of the claim, if it has one; normal noise is charged at this delta."),
    ] = UNSET
    attained: Annotated[
        bool | UnsetType,
        said(
            "For a claim in the local model: whether the largest cost is exactly that of the reports of one "
            "reward."
        ),
    ] = UNSET
    spent: Annotated[
        tuple[tuple[Count, Real], ...] | UnsetType,
        said("[releases so far, cost so far] of the costliest pair, where it grows."),
    ] = UNSET
    flow: Annotated[
        tuple[FlowStep, ...] | UnsetType,
        said("Lines of the user's files through which rewards reach releases and actions."),
    ] = UNSET
    excerpts: Annotated[
        tuple[SourceExcerpt, ...] | UnsetType,
        said("Consecutive lines of source around those of `flow`."),
    ] = UNSET


class TracingResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    holds: Annotated[bool, said("Whether the transcripts examined stay within the claim, with no lead open.")]
    epsilon_lower: Loss
    cost_over_epsilon: Real
    detectable: Loss | UnsetType = UNSET
