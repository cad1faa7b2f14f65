"""Runs of a user's bandit."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.core.contexts import Unfolding
from verifiable_dp.core.neighbours import ContextGame, TablePair
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.outputs import arms
from verifiable_dp.core.validate import FloatArray, Foreign, Function, IntArray
from verifiable_dp.evidence.blackbox.events import Observation, action_columns, action_summaries
from verifiable_dp.evidence.blackbox.scores import Score
from verifiable_dp.evidence.blackbox.test import FEW_PAIRS, TUNE
from verifiable_dp.targets.far import is_process, there
from verifiable_dp.targets.line import EndedError
from verifiable_dp.targets.randomness import ReadGenerator, Run, alone, follower_of, generator, scaled_seeds
from verifiable_dp.targets.sampling import (
    ANOTHER_FORM,
    FORM,
    Both,
    SeenRuns,
    call_target,
    is_table,
    process_seeds,
    read_rows,
    turns,
)


@dataclass(frozen=True)
class PlaySampler(SeenRuns):
    """Samples a user's bandit; only actions are seen, and their types.

    Parameters
    ----------
    function
        `play(rewards, rng)`, or `play_many(rewards, n_runs, rng)` if `many`, or a process.
    n_arms, horizon
        K and T; rewards are handed over as a fresh array (T, K).
    seed
        Of the audit.
    factor
        Of the noise, for mutants.
    shard
        Runs of one task.
    rows
        Runs that one call of `play_many` makes; None for all of a task.
    timeout
        Seconds that a run may take.
    followed
        Whether it draws from elsewhere than the generator it is given, too: see `randomness.Follower`.
    joint
        Whether the action of the round that differs is not seen.
    taught
        Learns a score of a pair from something else than plays; None if nothing does.
    """

    function: Function[Foreign]
    many: bool
    n_arms: int
    horizon: int
    seed: int
    factor: float = 1.0
    shard: int = 1024
    rows: int | None = None
    timeout: float = math.inf
    followed: bool = False
    joint: bool = False
    taught: Callable[[Foreign], Score | None] | None = None
    beside: ClassVar[int] = 4  # bytes of the number of their types and shapes
    boosted_from: ClassVar[int] = 500  # runs a side; of fewer, trees learn little in a quarter of a second
    probed_once: ClassVar[int] = FEW_PAIRS

    @property
    def together(self) -> bool:
        """Whether a call makes several runs, so that they may depend on each other."""
        return self.many and self.rows is None

    @property
    def _what(self) -> str:
        return "play_many" if self.many else "play"

    def actions(self, table: FloatArray | Unfolding, path: tuple[int, ...], runs: IntArray) -> Foreign:
        """Arms (n, T) of runs with numbers `runs` on `table`.

        Raises
        ------
        InputError
            If the function raises, or does not return T arms in 0 .. K - 1 for each run.
        """
        return self.typed(table, path, None, runs)[:, : self.horizon]

    @there(read_rows)
    def typed(
        self, table: FloatArray | Unfolding, path: tuple[int, ...], hidden: int | None, runs: IntArray
    ) -> Foreign:
        """As `actions`, with columns more, which number types and shapes but for those of a hidden round."""
        if is_process(self.function):
            given = self.function.play(
                np.asarray(table), process_seeds(key_of(self.seed, path), runs), self.factor
            )
            made = np.empty((len(runs), self.horizon + self.beside), self.small)
            self._write(made, given, hidden)
            return made
        size = (self.rows or max(len(runs), 1)) if self.many else 1
        turns = [(0, at, size) for at in range(0, len(runs), size)]
        return self._made([(table, path, runs)], turns, hidden)[0]

    @property
    def small(self) -> type[np.int8] | type[np.int64]:
        """What arms are kept in."""
        return np.int8 if self.n_arms <= 127 else np.int64

    @property
    def in_turn(self) -> bool:
        """Whether each run is a call of its own, so that runs of both worlds can take turns."""
        return not is_process(self.function) and (not self.many or self.rows == 1)

    def _made(
        self,
        worlds: Sequence[tuple[FloatArray | Unfolding, tuple[int, ...], IntArray]],
        turns: Sequence[tuple[int, int, int]],
        hidden: int | None,
    ) -> list[Foreign]:
        """As `typed` of tables, each with a path; a turn is a world, its first run and how many."""
        out = [np.empty((len(runs), self.horizon + self.beside), self.small) for _, _, runs in worlds]
        keys = [key_of(self.seed, path) for _, path, _ in worlds]

        def make(run: Run) -> Foreign:
            for world, at, size in turns:
                table, _, runs = worlds[world]
                part = runs[at : at + size]

                def call(rng: ReadGenerator, table: Foreign = table, count: int = len(part)) -> Foreign:
                    data = table.copy()
                    given = (data, count, rng) if self.many else (data, rng)
                    made = call_target(self._what, self.function, *given, runs=count, timeout=self.timeout)
                    if isinstance(data, Unfolding):
                        data.check(made)
                    return made

                result = run(functools.partial(generator, keys[world], int(part[0]), self.factor), call)
                self._write(out[world][at : at + size] if self.many else out[world][at], result, hidden)
            return out

        with scaled_seeds(self.function, self.factor):
            return follower_of(self.function).batch(make) if self.followed else alone(make)

    def draws(self, data: Foreign, runs: IntArray) -> Foreign:
        """Arms as `actions` gives them, by streams of their own."""
        return self.actions(data, (TUNE, 0), runs)

    def _write(self, row: Foreign, result: Foreign, hidden: int | None) -> None:
        """Put arms into a row, or rows, and what numbers their types and shapes beside them."""
        shape = (*row.shape[:-1], self.horizon)
        row[..., : self.horizon], forms = arms(result, self._what, shape, self.n_arms, hidden)
        beside = np.array(forms, "<u4").view(np.int8).reshape(-1, self.beside)
        row[..., self.horizon :] = beside if row.ndim > 1 else beside[0]

    @there(read_rows)
    def raw(self, pair: Foreign, world: int, stage: int, number: int, runs: IntArray) -> Foreign:
        """See `SeenRuns.raw`: arms (n, T), and what numbers their types and shapes."""
        return self.typed(self._table(pair, world), (stage, number, world), self._hidden(pair), runs)

    @there(read_rows)
    def raw_mixed(self, pair: Foreign, stage: int, number: int, runs: Both, order: IntArray) -> list[Foreign]:
        """See `SeenRuns.raw_mixed`."""
        worlds = [(self._table(pair, w), (stage, number, w), runs[w]) for w in (0, 1)]
        return self._made(worlds, [(w, at, 1) for w, at in turns(order)], self._hidden(pair))

    def _hidden(self, pair: Foreign) -> int | None:
        """The round of which the action is not seen."""
        return pair.round if self.joint else None

    def check_rows(self, rows: Foreign, runs: int) -> None:
        """See `SeenRuns.check_rows`: arms (n, T)."""
        if not is_table(rows, self.small, runs) or rows.shape[1] != self.horizon + self.beside:
            raise EndedError(ANOTHER_FORM)
        arms = rows[:, : self.horizon]
        if arms.size and not (arms.min() >= 0 and arms.max() < self.n_arms):
            raise EndedError("target: its process sent arms that do not exist")

    def _table(self, pair: Foreign, world: int) -> Foreign:
        game = isinstance(pair, ContextGame)
        return pair.unfolding(world, joint=self.joint) if game else pair.worlds()[world]

    def seen(self, pair: Foreign, made: Foreign) -> Observation:
        """See `SeenRuns.seen`."""
        actions = made[:, : self.horizon]
        forms = np.ascontiguousarray(made[:, self.horizon :].astype(np.int8)).view("<u4")[:, 0]
        if self.joint:
            actions = np.delete(actions, pair.round, axis=1)
        discrete, numeric = action_summaries(actions, self.n_arms)
        columns = action_columns(actions, "other user" if self.joint else "round")
        # Runs that do not play a table's one changed reward are the same in both worlds.
        known = isinstance(pair, TablePair) and pair.arm is not None and not self.joint
        change = (pair.round, pair.arm, self.n_arms) if known else None
        seen = {**columns, **discrete, FORM: forms.astype(np.int64)}
        return Observation(len(actions), seen, numeric, actions=actions, change=change)
