"""What an upper bound takes for granted: an id with values, which records hold, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from verifiable_dp.core import validate
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.words import one_of


class Taken(StrEnum):
    """What can be taken for granted."""

    POST_PROCESSING = "post-processing"
    POST_PROCESSING_OF_OTHERS = "post-processing-of-others"
    ENTERS_ONCE = "enters-once"
    STATED_NOISE = "stated-noise"
    STATED_NOISE_OF_ITEMS = "stated-noise-of-items"
    CLIPPED = "clipped"
    IDEAL_NOISE = "ideal-noise"
    IDEAL_NOISE_OF_CODE = "ideal-noise-of-code"
    SHUFFLED = "shuffled"
    NO_STATE = "no-state"
    ONE_AT_A_TIME = "one-at-a-time"
    NEVER_FORKED = "never-forked"
    GENERATOR_GIVEN = "generator-given"
    OTHER_PATHS = "other-paths"
    AS_TRACED = "as-traced"
    LIBRARIES = "libraries"
    CLOSED_BRANCHES = "closed-branches"
    RUNS_ALIKE = "runs-alike"
    RUNS_ALONE = "runs-alone"
    SIZES_OF_DATA = "sizes-of-data"
    STATED_DATA = "stated-data"


# What replaying runs on neighbouring inputs tests: of algorithms, and of those that release sums of items.
REPLAYED = (Taken.POST_PROCESSING, Taken.ENTERS_ONCE, Taken.STATED_NOISE)
REPLAYED_OF_USERS = (Taken.POST_PROCESSING_OF_OTHERS, Taken.STATED_NOISE_OF_ITEMS)


@dataclass(frozen=True)
class Premise:
    """Something that a bound takes for granted.

    Parameters
    ----------
    id
        What it is.
    values
        What its words need: plain JSON values.
    tested_by
        Name of the check of the same record that tests it: the bound counts only if that check holds. Empty
        for what no check of an audit can test, such as ideal noise.
    """

    id: Taken
    values: Mapping[str, object] = field(default_factory=dict)
    tested_by: str = ""

    def __post_init__(self) -> None:
        validate.choice("premise", self.id, tuple(Taken))

    def as_dict(self) -> JsonDict:
        """Plain values, as they stand in a record."""
        return {"id": str(self.id), "values": dict(self.values), "tested_by": self.tested_by}


def in_words(premise: Json) -> str:
    """A recorded premise as a sentence."""
    return _WORDS[Taken(premise["id"])][0](premise["values"])


def briefly(premise: Json, one: str = "reward") -> str:
    """A recorded premise in a few words without a comma; `one` is what changes between neighbours."""
    return _WORDS[Taken(premise["id"])][1]({**premise["values"], "one": one})


def tested(premise: Json) -> str:
    """Which check tests a recorded premise, or that only some cases, or none, were looked at."""
    some = premise["values"].get("users") or premise["values"].get("held")
    return str(premise["tested_by"]) or ("only the cases named" if some else "no check")


Words = Callable[[Json], str]


def _said(full: str, brief: str) -> tuple[Words, Words]:
    return (lambda values: full.format(**values)), (lambda values: brief.format(**values))


def _of_data(values: Json) -> str:
    shapes = sorted(values["shapes"], key=lambda shape: (len(shape), shape))
    sizes = [" x ".join(map(str, shape)) for shape in shapes if shape]
    entries = f"{one_of(sizes)} entr{'y' if sizes == ['1'] else 'ies'}" if sizes else ""
    size = one_of(filter(None, ("a number" if [] in shapes else "", entries)))
    return f"the data are {size}, each anywhere within the bounds, and one of them changes"


def _closed(values: Json) -> str:
    lines, one = values["lines"], values["branches"] == 1
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    way = "a condition always has the same outcome" if one else "conditions always have the same outcome"
    return f"{way} as in {values['runs']} plain runs ({where}; in other cases, the code raises an exception)"


def _as_traced(values: Json) -> str:
    held, missing = values["held"], values["open"]
    seen = f"{held} neighbours of its runs were replayed on it, with the same output" if held else "no replay"
    rest = f"; {missing} could not be replayed" if missing else ""
    return f"the plain code does the same as the traced code ({seen}{rest})"


_WORDS: Mapping[Taken, tuple[Words, Words]] = {
    Taken.POST_PROCESSING: _said(
        "Decisions and all published values depend only on the releases.",
        "outputs depend only on noisy statistics",
    ),
    Taken.POST_PROCESSING_OF_OTHERS: _said(
        "Everything that others see follows from the releases and from their own data.",
        "outputs depend only on noisy statistics",
    ),
    Taken.ENTERS_ONCE: _said(
        "Each reward enters the answer of only one block, and affects releases only through this answer (a "
        "tree may add it to several sums).",
        "each {one} enters only one block",
    ),
    Taken.STATED_NOISE: _said(
        "Each release has independent noise of the stated kind and scale; noise that is never published "
        "shifts as declared.",
        "the stated noise",
    ),
    Taken.STATED_NOISE_OF_ITEMS: _said(
        "Each item enters only releases with independent {noise} noise of the stated {parameter}.",
        "the stated {noise} noise",
    ),
    Taken.CLIPPED: _said(
        "Items are positive semidefinite matrices with clipped {norm}. This held for {users} users with "
        "context norms up to {farthest:g}; we examined no others.",
        "items are clipped",
    ),
    Taken.IDEAL_NOISE: _said(
        "Noise is drawn independently from exact {noise} distributions.", "ideal {noise} noise"
    ),
    Taken.IDEAL_NOISE_OF_CODE: _said("noise is ideal", "ideal noise"),
    Taken.SHUFFLED: _said(
        "The shuffler hides who sent which report of a batch.", "the shuffler hides who reported"
    ),
    Taken.NO_STATE: _said(
        "the code keeps no state between runs, nothing else (other functions, threads, options of libraries) "
        "changes what it reads after it is imported, and nobody knows the seeds of its generators",
        "no state between runs and secret seeds",
    ),
    Taken.ONE_AT_A_TIME: _said(
        "calls do not overlap, as they may in threads: a run temporarily changes what the code keeps",
        "calls do not overlap",
    ),
    Taken.NEVER_FORKED: _said(
        "no process is forked once the code has made the generators that it keeps, because copies of a "
        "generator draw the same noise",
        "no forked copies of generators",
    ),
    Taken.GENERATOR_GIVEN: _said(
        "each call passes a generator, or a secret seed that is one of at least 2^62: otherwise, others may "
        "know the noise",
        "each call passes a generator",
    ),
    Taken.OTHER_PATHS: _said(
        "other paths cost no more than those that were traced", "other paths cost no more"
    ),
    Taken.AS_TRACED: (_as_traced, lambda values: "the plain code behaves as traced"),
    Taken.LIBRARIES: _said(
        "the samplers of OpenDP and diffprivlib, and OpenDP's privacy maps, do what their documentation says",
        "the noise libraries are correct",
    ),
    Taken.CLOSED_BRANCHES: (_closed, lambda values: "untaken branches stay untaken"),
    Taken.RUNS_ALIKE: _said(
        "a call for several runs makes them independently, each with the distribution of a call for one run",
        "runs of larger calls are distributed alike",
    ),
    Taken.RUNS_ALONE: _said("each run is a separate call", "one run per call"),
    Taken.SIZES_OF_DATA: (_of_data, lambda values: "data of this size within the bounds"),
    Taken.STATED_DATA: _said("the data are among the given neighbours", "the stated neighbours"),
}
