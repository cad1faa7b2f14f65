"""Neighbouring inputs: the pairs that a privacy promise is about, and Hypothesis strategies for them."""

from verifiable_dp.core.neighbours.games import AnyPair, ContextGame, ContextPair, InteractivePair
from verifiable_dp.core.neighbours.pairs import (
    GroupPair,
    Neighbours,
    Pair,
    StreamPair,
    TablePair,
    UserPair,
    neighbour,
)
from verifiable_dp.core.neighbours.strategies import contexts, groups, interactive, streams, tables, users
from verifiable_dp.core.neighbours.written import pair_of

__all__ = [
    "AnyPair",
    "ContextGame",
    "ContextPair",
    "GroupPair",
    "InteractivePair",
    "Neighbours",
    "Pair",
    "StreamPair",
    "TablePair",
    "UserPair",
    "contexts",
    "groups",
    "interactive",
    "neighbour",
    "pair_of",
    "streams",
    "tables",
    "users",
]
