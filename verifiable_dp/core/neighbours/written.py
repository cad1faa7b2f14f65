"""Reads a pair of neighbouring inputs from what its `as_dict` wrote."""

from __future__ import annotations

import numpy as np

from verifiable_dp.core.adversaries import Strategy
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours.games import AnyPair, ContextGame, ContextPair, InteractivePair
from verifiable_dp.core.neighbours.pairs import GroupPair, StreamPair, TablePair, UserPair
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.core.validate import InputError, Json, JsonValue


def _unrolled(rows: JsonValue) -> list[JsonValue]:
    """What `run_lengths` wrote, once for each repeat."""
    return [row for repeats, row in rows for _ in range(int(repeats))]


def _interactive_of(plain: Json) -> InteractivePair:
    name, limits = str(plain["adversary"]), (float(plain["bounds"][0]), float(plain["bounds"][1]))
    if "parameters" not in plain:
        raise InputError(
            f"pair: the adversary {name!r} is a Python function, and records cannot contain functions"
        )
    ready = Strategy(name, tuple(plain["parameters"]), limits)
    return InteractivePair(ready, plain["challenge"], plain["low"], plain["high"], limits)


def pair_of(plain: Json) -> AnyPair:
    """The pair that `as_dict` wrote.

    Raises
    ------
    InputError
        If it is malformed, or its adversary is a function of the user's, which cannot be read back.
    """
    try:
        if plain["type"] == "interactive":
            return _interactive_of(plain)
        rows = _unrolled(plain["rows"])
        limits = (float(plain["bounds"][0]), float(plain["bounds"][1]))
        if plain["type"] in ("context", "context_game"):
            arms, shape = len(plain["rewards"]), tuple(plain["shape"])
            form = Contexts(arms, shape, float(plain["norm"]), limits)
            given = np.array(_unrolled(plain["contexts"]), np.float64).reshape(len(rows), *shape)
            context = np.array(plain["context"], np.float64).reshape(shape)
            joint = bool(plain.get("joint", False))  # of a checkpoint
            pair = ContextPair(form, given, rows, plain["round"], context, plain["rewards"], joint)
            if plain["type"] == "context":
                return pair
            return ContextGame(pair, Reaction(str(plain["reaction"]), plain["spiteful"]))
        if plain["type"] == "group":
            return GroupPair(np.array(rows, np.float64), [(r, a, v) for r, a, v in plain["changes"]], limits)
        if plain["type"] == "user":
            users, values = _unrolled(plain["users"]), _unrolled(plain["values"])
            left, other = np.array(rows, np.float64), np.array(values, np.float64)
            return UserPair(left, np.array(users, np.int64), plain["user"], other, limits)
        if plain["type"] == "stream":
            flat = np.array(rows, dtype=np.float64)[:, 0]
            return StreamPair(flat, plain["round"], plain["value"], plain["n_arms"], limits)
        return TablePair(
            np.array(rows, dtype=np.float64), plain["round"], plain["arm"], plain["value"], limits
        )
    except (KeyError, TypeError, IndexError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"pair: not in the form that records use ({error})") from None
