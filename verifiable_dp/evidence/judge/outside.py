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
_SKIP = "loop a public number of times, and add 0 where an iteration is skipped (x if turn < n else 0.0)"
AT_A_PLACE = Construct("calls a table entry that a random draw selects", _BRANCH)
RETURNED = Construct("calls the result of another call, which may depend on a random draw", _BRANCH)
ONE_OF_TWO = Construct("calls one of two functions, and a random draw may decide which", _BRANCH)
FUNCTION = Construct("calls a function that a random draw chooses", _BRANCH)
CHOSEN = Construct("calls an object that a random draw chooses", _BRANCH)
PUT = Construct("calls a function that a random draw stores in {}", _BRANCH)
METHOD = Construct("calls {} of an object that a random draw chooses", _BRANCH)
UNKNOWN_CALL = Construct(
    "calls something that is known only when the code runs",
    "call a function of your file or of a library by name",
)
REFLECTION = Construct(
    "calls {}, so we cannot know in advance what runs", "write the name of what is called or read"
)
READS = Construct("reads {}, which may be different in production", "pass what the code needs as a parameter")
GIVEN = Construct(
    "passes {} data or noise, together with a number that may take a special value in rare draws",
    "compute that number from public values, or branch on it",
)
TAKEN = Construct(
    "reads data or noise from a table at an index that a random draw selects",
    "branch on the draw, and name the entry in each branch",
)
SLICED = Construct("reads an amount of data or noise that may depend on a random draw", _SKIP)
SURVIVES = Construct(
    "keeps data or noise only if none of many random draws replaces them",
    "choose again in each iteration, and start from the default value",
)
REPEATED = Construct("repeats data or noise, and a random draw may decide how often", _SKIP)
TURNS = Construct("the number of iterations of a loop may depend on a random draw", _SKIP)
RECURSION = Construct("how often it calls itself may depend on a random draw", _SKIP)
BY_PYTHON = Construct(
    "defines {}, which Python calls implicitly", "use an ordinary method, and call it by name"
)
STATEMENT = Construct(
    "is a statement that we cannot follow ({})", "use functions, loops, branches and assignments"
)
SETS = Construct(
    "sets the attribute {} of a module or function", "store the value in a local variable or in an object"
)
