"""What an audit says nothing about: an id with values, which records hold, and its words.

Each says which later evidence would settle it, so that a reader of values knows whether it is still open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from verifiable_dp.core import validate
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.blackbox.trials import Tried
from verifiable_dp.evidence.words import one_of


class Left(StrEnum):
    """What can be left out."""

    PRIVACY = "privacy"
    TIMING = "timing"
    SAMPLER = "sampler"
    INPUTS = "inputs"
    BATCH_SIZES = "batch-sizes"
    LATER_ROUNDS = "later-rounds"
    OWN_CLASSES = "own-classes"
    NEIGHBOURS = "neighbours"
    REACTING_USERS = "reacting-users"
    CALL_SIZES = "call-sizes"
    UNTRACED_CODE = "untraced-code"
    UNSEEN_CODE = "unseen-code"
    DATA_SIZES = "data-sizes"
    REFUSED_SIZES = "refused-sizes"
    REFUSED_VALUES = "refused-values"
    OTHER_DATA = "other-data"
    DATA_TYPES = "data-types"
    OTHER_REPORTS = "other-reports"
    OTHER_INSTANCES = "other-instances"


class Implied(StrEnum):
    """What a record leaves out by what it claims and checks, without a row that says so."""

    SHUFFLER = "shuffler"
    OWN_ACTION = "own-action"
    REACTIONS = "reactions"
    DEPLOYMENT = "deployment"
    UNSEEN_FILES = "unseen-files"
    VARIABLES = "variables"


IMPLIED: Mapping[Implied, tuple[str, str]] = {  # in full, and for the first screen
    Implied.SHUFFLER: ("the shuffler: it was trusted, not tested", "the shuffler"),
    Implied.OWN_ACTION: (
        "the user's own action: anyone who sees it together with the actions of the others may learn more "
        "about this user",
        "the user's own action",
    ),
    Implied.REACTIONS: (
        "data that adapt to earlier outputs: none of our runs used such data",
        "adaptive data",
    ),
    Implied.DEPLOYMENT: ("the deployment: declarations about it are copied, not checked", "your deployment"),
    Implied.UNSEEN_FILES: (
        "files that other programs, worker processes or compiled libraries read for the code, and what the "
        "code can ask about files without opening them (names, sizes, permissions, dates, where links "
        "lead): comparisons with a commit or with source files do not cover these",
        "files read elsewhere",
    ),
    Implied.VARIABLES: (
        "other environment variables: the code asked for {variables}, and may behave differently where these "
        "have other values; the record holds only digests of the values, and comparisons with a commit or "
        "with source files do not cover them",
        "other environment variables",
    ),
}


@dataclass(frozen=True)
class Exclusion:
    """Something that an audit says nothing about.

    Parameters
    ----------
    id
        What it is.
    values
        What its words need: plain JSON values.
    """

    id: Left
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate.choice("exclusion", self.id, tuple(Left))

    def as_dict(self) -> JsonDict:
        """Plain values, as they stand in a record; ``settled_by`` names the kind of check that closes it."""
        return {"id": str(self.id), "values": dict(self.values), "settled_by": settles(self.id)}


def in_words(left: Left, values: Json, settled: bool = False) -> str:
    """A recorded exclusion in words; of one that is `settled`, what it rests on."""
    if settled and left in _RESTING:
        return _RESTING[left]
    said = _WORDS[left]
    return said(values) if callable(said) else said.format(**values)


def settles(left: str) -> str | None:
    """The kind of check that settles an exclusion, also of an older record; None if none does."""
    return SETTLED_BY.get(Left(left))


def briefly(left: Left) -> str:
    """A recorded exclusion in a few words, for the first screen."""
    return _BRIEF[left]


# Kinds of checks that settle one.
SETTLED_BY = {Left.SAMPLER: "numerics", Left.INPUTS: "upper_bound", Left.BATCH_SIZES: "upper_bound"}
_RESTING = {
    Left.BATCH_SIZES: "batch sizes beyond the smallest and the largest: only the upper bound covers them",
    Left.INPUTS: "inputs, events and sample sizes beyond those stated here: only the upper bound covers them",
}


def _reacting(values: Json) -> str:
    said = "adversaries that choose contexts after seeing outputs"
    return f"{said}: {values['why']}" if values.get("why") else said


_WORDS: Mapping[Left, str | Callable[[Json], str]] = {
    Left.PRIVACY: "privacy: only regret was checked",
    Left.TIMING: "timing and other side channels",
    Left.SAMPLER: "the last bits of floating-point noise, treated as real numbers",
    Left.INPUTS: "inputs, events and sample sizes beyond those stated here: an audit cannot prove privacy",
    Left.BATCH_SIZES: "batch sizes other than the smallest and the largest that we found",
    Left.LATER_ROUNDS: "rounds after the first {played} of {horizon}",
    Left.OWN_CLASSES: "classes defined in the code, on outputs or data that we did not try: they have no "
    "certificate",
    Left.NEIGHBOURS: lambda values: (
        f"pairs of inputs other than those that our search tried: {Tried(**values).describe()}"
    ),
    Left.REACTING_USERS: _reacting,
    Left.CALL_SIZES: lambda values: (
        f"calls for numbers of runs other than {one_of(values['sizes'])}; we compared runs by their "
        "position only in calls for these numbers"
    ),
    Left.UNTRACED_CODE: "code that tracing could not follow: we saw only its outputs",
    Left.UNSEEN_CODE: "the code itself: we saw only its outputs",
    Left.DATA_SIZES: lambda values: (
        f"data of sizes other than those that we used ({one_of(values['sizes'])} entries); in our data, the "
        "entry that is added, removed or changed has a unique value or the same value as all others"
    ),
    Left.REFUSED_SIZES: lambda values: (
        f"data of {one_of(values['sizes'])} entries, which the code refuses: anyone who sees the refusal "
        "learns the size"
    ),
    Left.REFUSED_VALUES: "data strictly between the bounds, which the code refuses: anyone who sees the "
    "refusal learns that they are not at the bounds",
    Left.OTHER_DATA: "neighbouring data other than those that were given",
    Left.DATA_TYPES: "data of types other than floats, such as whole numbers: code can tell them apart",
    Left.OTHER_REPORTS: "everything that leaves a user except the first noisy value of each reward",
    Left.OTHER_INSTANCES: "instances, horizons and parameters other than those stated here",
}
_BRIEF: Mapping[Left, str] = {
    Left.PRIVACY: "privacy",
    Left.TIMING: "side channels",
    Left.SAMPLER: "production noise",
    Left.INPUTS: "other inputs",
    Left.BATCH_SIZES: "other batch sizes",
    Left.LATER_ROUNDS: "later rounds",
    Left.OWN_CLASSES: "its own classes",
    Left.NEIGHBOURS: "other neighbours",
    Left.REACTING_USERS: "adaptive users",
    Left.CALL_SIZES: "other call sizes",
    Left.UNTRACED_CODE: "code that tracing could not follow",
    Left.UNSEEN_CODE: "the code itself",
    Left.DATA_SIZES: "other sizes of data",
    Left.REFUSED_SIZES: "sizes that are refused",
    Left.REFUSED_VALUES: "values that are refused",
    Left.OTHER_DATA: "other data",
    Left.DATA_TYPES: "other types of data",
    Left.OTHER_REPORTS: "other reports",
    Left.OTHER_INSTANCES: "other instances",
}
EVERY = (Exclusion(Left.TIMING), Exclusion(Left.SAMPLER), Exclusion(Left.INPUTS))  # of every audit of privacy


def of_regret(*more: Left) -> list[JsonDict]:
    """What a check of regret alone says nothing about, as it stands in a record."""
    return [Exclusion(left).as_dict() for left in (Left.PRIVACY, *more, Left.INPUTS)]
