"""What a promise speaks of: its unit, what neighbouring inputs are, what is seen, what is protected, of what.

Each is an id that records hold and code decides by; its words stand here too and are only shown.
"""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """The unit of privacy: what may change between neighbouring inputs."""

    REWARD = "reward"
    ENTRY = "entry"  # of a mechanism's data
    CLIENT = "client"  # of the shuffle model, who holds a round
    CONTEXT = "context"  # of one user, with the rewards of the round
    ROUND = "round"  # the rewards of one user with a public context
    GROUP = "group"
    USER = "user"  # with several rounds
    PAIRS = "pairs"  # as a mechanism's neighbouring data say

    @property
    def several(self) -> bool:
        """Whether it is about more than one event."""
        return self in (Unit.GROUP, Unit.USER)

    @property
    def of_rounds(self) -> bool:
        """Whether all rewards of a round are one."""
        return self in (Unit.CLIENT, Unit.CONTEXT, Unit.ROUND, Unit.USER)

    def words(self, size: int = 1) -> str:
        """For a report; `size` is that of a group or a user."""
        return _UNITS[self][0].format(size)

    def changed(self, size: int = 1) -> str:
        """The same, to follow `changing`."""
        return _UNITS[self][1].format(size)


# In words, after `changing`, and what differs between inputs of equal length.
_UNITS = {
    Unit.REWARD: ("event: one reward of one round", "one reward of one round", "one reward differs"),
    Unit.ENTRY: ("one entry of the data", "one entry of the data", "one entry of the data differs"),
    Unit.CLIENT: (
        "one client: the rewards of one round, whichever action is played",
        "the rewards of one round (whichever action is played)",
        "the rewards of one round differ",
    ),
    Unit.CONTEXT: (
        "one round of a user: the context and the rewards",
        "the context and the rewards of one round",
        "one user's context and rewards differ",
    ),
    Unit.ROUND: (
        "one round of a user: the rewards",
        "the rewards of one round",
        "one user's rewards differ",
    ),
    Unit.GROUP: ("group: {} rewards", "{} rewards", "up to {} rewards differ"),
    Unit.USER: (
        "user: all rewards of one user, at most {}",
        "all rewards of one user (at most {})",
        "the rewards of one user differ",
    ),
    Unit.PAIRS: ("not named: pairs of data", "the data to a neighbour that was tested", "the data differ"),
}


class Adjacency(StrEnum):
    """What neighbouring inputs are."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"
    ZERO_OUT = "zero-out"
    PAIRS = "pairs"  # as a mechanism's neighbouring data say

    def words(self, unit: Unit, size: int = 1) -> str:
        """For a report; `size` is that of a group or a user."""
        if self is Adjacency.PAIRS:
            return "the pairs of data tested"
        of_data = unit is Unit.ENTRY
        if self is Adjacency.ADD_REMOVE:
            more = "the data have one entry more or less"
            fewer = "one round is left out, so later ones move up by one"
            return f"add or remove one: {more if of_data else fewer}"
        if self is Adjacency.ZERO_OUT:
            one = "entry of the data" if of_data else "reward"
            return f"zero out one: equal length, one {one} is 0 instead"
        return f"{'' if unit.several else 'replace one: '}equal length, {_UNITS[unit][2].format(size)}"


# Those that can be asked for.
ADJACENCIES = (Adjacency.REPLACE, Adjacency.ADD_REMOVE, Adjacency.ZERO_OUT)


class Observed(StrEnum):
    """What the adversary sees."""

    ACTIONS = "actions"
    RELEASES = "releases"  # with the actions
    REPORTS = "reports"
    SHUFFLED = "shuffled"

    @property
    def words(self) -> str:
        """For a report."""
        return {
            Observed.ACTIONS: "the sequence of actions",
            Observed.RELEASES: "the actions and every noisy statistic",
            Observed.REPORTS: "every report that leaves a client",
            Observed.SHUFFLED: "each batch of reports in shuffled order",
        }[self]


class TrustModel(StrEnum):
    """Who is trusted with raw rewards: a curator, nobody, or a shuffler with none of them."""

    CENTRAL = "central"
    LOCAL = "local"
    SHUFFLE = "shuffle"


class Protected(StrEnum):
    """Which data of a user with a context is protected, and from whom."""

    CONTEXT_JOINT = "context-joint"
    CONTEXT_CENTRAL = "context-central"
    REWARD_JOINT = "reward-joint"
    REWARD_CENTRAL = "reward-central"

    @classmethod
    def of(cls, what: str, model: str) -> Protected:
        """The id of ``context`` (with the reward) or ``reward`` in the model ``joint`` or ``central``."""
        return cls(f"{what}-{model}")

    @property
    def what(self) -> str:
        """``context`` (with the reward) or ``reward``."""
        return self.value.split("-")[0]

    @property
    def model(self) -> str:
        """``joint``: from everybody who sees the actions of all others; ``central``: who sees all actions."""
        return self.value.split("-")[1]

    @property
    def words(self) -> str:
        """For a report."""
        what = "the context and reward" if self.what == "context" else "the reward"
        seen = "the actions of all other users" if self.model == "joint" else "all actions"
        return f"{what} of one user, from everybody who sees {seen}"


class Role(StrEnum):
    """What a target is to its audit."""

    PROMISE = "promise"  # an algorithm of the framework's form, held to its own promise
    PRINTED = "printed"  # a listing as printed, which the default variant corrects
    BASELINE = "baseline"  # an algorithm that promises nothing
    USER = "user"  # anyone's code, held to what its auditor asks


class Plays(StrEnum):
    """What a target is played with."""

    ARMS = "arms"
    STREAM = "stream"  # of values, as a stopping rule or a sum
    DATA = "data"
