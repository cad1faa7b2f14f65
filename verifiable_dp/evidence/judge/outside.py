"""Where the language ends: the constructs, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Outside(NamedTuple):
    """A construct for which paths that were not run are unknown."""

    file: str
    line: int
    words: str
    instead: str


class Construct(NamedTuple):
    """What ends the language, in words that may hold a name, and what to write instead."""

    words: str
    instead: str


_BRANCH = "branch on the draw with if and elif, and call one function in each branch"
_SKIP = "loop a public number of times, and skip iterations with an if inside the loop"
AT_A_PLACE = Construct("calls an entry of a table that a draw selects", _BRANCH)
RETURNED = Construct("calls what another call returns, which may depend on a draw", _BRANCH)
ONE_OF_TWO = Construct("calls one of two functions, and the choice may depend on a draw", _BRANCH)
FUNCTION = Construct("calls a function that a draw chooses", _BRANCH)
CHOSEN = Construct("calls what a draw chooses", _BRANCH)
PUT = Construct("calls what a draw puts in {}", _BRANCH)
METHOD = Construct("calls {} of what a draw chooses", _BRANCH)
UNKNOWN_CALL = Construct(
    "calls something that is known only when the code runs",
    "call a function of your file or of a library by its name",
)
REFLECTION = Construct("calls {}, so we cannot know in advance what runs", "name what is called or read")
READS = Construct(
    "reads {}, which may be different in production", "give the code what it needs as a parameter"
)
GIVEN = Construct(
    "gives {} data or noise together with a number that may take a special value in rare draws",
    "compute that number from public values, or branch on it",
)
TAKEN = Construct(
    "reads data or noise from a table at a place that a draw selects",
    "branch on the draw, and name the entry in each branch",
)
SLICED = Construct("takes an amount of data or noise that may depend on a draw", _SKIP)
SURVIVES = Construct(
    "keeps data or noise that survive only if none of many draws replaces them",
    "choose again in each iteration, and start from the value that is chosen otherwise",
)
REPEATED = Construct("repeats data or noise a number of times that may depend on a draw", _SKIP)
TURNS = Construct("the number of iterations of a loop may depend on a draw", _SKIP)
RECURSION = Construct("how often it calls itself may depend on a draw", _SKIP)
BY_PYTHON = Construct("defines {}, which Python calls by itself", "give the method a name, and call it")
STATEMENT = Construct(
    "is a statement that is not followed ({})", "use functions, loops, branches and assignments"
)
SETS = Construct("sets {} of a module or function", "keep it in a local name or in an object")
