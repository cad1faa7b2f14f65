"""What is traced: a bandit, who uses it, and whose actions are not seen."""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from verifiable_dp.core import outputs
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair, Pair, TablePair, contexts, tables
from verifiable_dp.core.validate import FloatArray, Foreign, Function, InputError
from verifiable_dp.evidence.tracing import flow
from verifiable_dp.evidence.tracing.arrays import is_tracked, settled, tainted
from verifiable_dp.evidence.tracing.foreign import sources
from verifiable_dp.evidence.tracing.ledger import Ledger, Place
from verifiable_dp.evidence.tracing.reach import functions_of, scopes_of
from verifiable_dp.evidence.tracing.trace import Traced, run, trace

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


_AGAIN = 4  # replays on the same input that show whether all that decides a run is known


@dataclass(frozen=True)
class TracedUsers:
    """Of a bandit that is told contexts.

    Parameters
    ----------
    form
        Of the contexts.
    joint
        Whether the action of the user whose data changes is not seen.
    reward_only
        Whether that user's context stays.
    """

    form: Contexts
    joint: bool = False
    reward_only: bool = False


@dataclass(frozen=True)
class Others:
    """A bandit of which the action in one round is not seen."""

    function: Function[Foreign]
    round: int

    @property
    def __wrapped__(self) -> Function[Foreign]:
        """Where the source is."""
        return self.function

    def __call__(self, table: Foreign, rng: Foreign) -> Foreign:
        """All other actions."""
        actions = self.function(table, rng)
        if is_tracked(actions):
            return actions[np.arange(len(actions)) != self.round]
        kept = [action for when, action in enumerate(actions) if when != self.round]
        return kept if isinstance(actions, list | tuple) else np.array(kept)


@dataclass(frozen=True)
class TracedBandit:
    """A bandit to be traced.

    Parameters
    ----------
    function
        `play(rewards, rng) -> actions`.
    n_arms, horizon, bounds
        K, T and the range of the rewards.
    files
        Files whose lines are named; the modules beside them are added.
    answers
        Functions whose results are actions; `function` itself if empty.
    users
        What is known of users where it is told contexts.
    """

    function: Function[Foreign]
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    files: frozenset[str]
    answers: tuple[Function[Foreign], ...] = ()
    users: TracedUsers | None = None

    @functools.cached_property
    def scopes(self) -> dict[str, dict[str, object]]:
        """Globals of the traced code, by file."""
        return scopes_of(self.function)

    @property
    def choosing(self) -> frozenset[Place]:
        """Lines of the methods that choose arms."""
        found: set[Place] = set()
        for function in self.answers:
            try:
                lines, first = inspect.getsourcelines(function)
            except (OSError, TypeError):
                continue
            file = function.__code__.co_filename
            found |= {Place(file, first + i) for i in range(len(lines))}
        return frozenset(found)

    @property
    def actions(self) -> tuple[Place, ...]:
        """Lines on which actions come out."""
        return flow.returns_of(self.answers or functions_of(self.function)[:1])

    def seen(self, pair: Pair) -> Function[Foreign]:
        """The bandit as far as its actions are seen."""
        return Others(self.function, pair.round) if self.users and self.users.joint else self.function

    def trace(self, pair: Pair, seed: int, *, watch: bool = False) -> Traced:
        """Record on the left table, replay on the right one; see `trace.run`."""
        left, right = pair.worlds()
        bits = functools.partial(np.random.Philox, seed)
        return trace(self.seen(pair), left, right, bits, self.files, self.scopes, watch=watch)

    def check_reports(self, pair: Pair, seed: int) -> None:
        """Refuse functions called `report` whose result holds more than what noise hides.

        Raises
        ------
        InputError
            If one does: only the first noisy value of a reward is judged.
        """
        refused: list[str] = []

        def watch(frame: FrameType, event: str, value: Foreign) -> None:
            code = frame.f_code
            if event != "return" or code.co_name != "report" or code.co_filename not in self.files or refused:
                return
            try:
                outputs.form(value, outputs.of_followed)
                odd = "raw rewards" if tainted(settled(value)) else ""
            except outputs.OddError as error:
                odd = str(error) if value is not None else ""
            if odd:
                refused.append(
                    f"target: report ({code.co_filename}:{frame.f_lineno}) must return noisy values only, "
                    f"got {odd}; return only what leaves the user, and nothing else"
                )

        outer, scopes = sys.getprofile(), self.scopes  # found out before every call is watched
        for world in pair.worlds():
            sys.setprofile(watch)
            try:
                run(self.seen(pair), world, np.random.Philox(seed), Ledger(self.files), scopes)
            finally:
                sys.setprofile(outer)
        if refused:
            raise InputError(refused[0])

    def repeats(self, pair: Pair, seed: int) -> bool:
        """Whether a replay on the very same input is the same run: all that decides a run is known."""
        bits = functools.partial(np.random.Philox, seed)
        function = self.seen(pair)
        for world in pair.worlds():
            drawn = sources(functools.partial(function, np.array(world)), bits())
            if any(name.endswith(("urandom", "getrandom")) for name in drawn):
                return False
            for _ in range(_AGAIN):
                loss = trace(function, world, world, bits, self.files, self.scopes).loss
                if loss.bound > 0 or not loss.same_output:
                    return False
        return True

    def far(self, table: FloatArray, t: int, arm: int) -> Pair:
        """The reward of an arm in round t, or all that this round's user brings, moved as far as may be."""
        low, high = self.bounds
        if self.users is None:
            value = low if table[t, arm] - low > high - table[t, arm] else high
            return TablePair(table, t, arm, value, self.bounds)
        row = table[t].copy()
        row[: self.n_arms] = np.where(row[: self.n_arms] - low > high - row[: self.n_arms], low, high)
        if not self.users.reward_only:
            form = self.users.form
            mine = row[self.n_arms :].reshape(form.shape)
            row[self.n_arms :] = np.ravel(form.apart(mine) if t % 2 else form.even())
        return ContextPair.of_tables(self.users.form, table, t, row)

    def strategy(self) -> SearchStrategy[Pair]:
        """Pairs to search among."""
        if self.users is None:
            return tables(n_arms=self.n_arms, horizon=self.horizon, bounds=self.bounds)
        return contexts(self.users.form, self.horizon, reward_only=self.users.reward_only)
