"""Runs of an algorithm of the catalogue's form on either input of a pair."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, play
from verifiable_dp.core.neighbours import AnyPair, InteractivePair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.evidence.alignment.twin import Twin
from verifiable_dp.evidence.blackbox.events import Observation, action_columns, join
from verifiable_dp.evidence.blackbox.machine import MOST_ARMS, Machine, UnsupportedError
from verifiable_dp.evidence.blackbox.observations import OutputName, action_summaries

_AFTER = 3  # rounds after a challenge that are looked at by themselves


_PLAYED = 1 << 14  # runs that are played together


@dataclass(frozen=True)
class AlgorithmSampler:
    """Samples an algorithm of the catalogue's form.

    Parameters
    ----------
    algorithm
        The target.
    observe
        ``actions`` or ``releases``.
    seed
        Of the audit.
    """

    algorithm: Algorithm
    observe: str
    seed: int

    @property
    def compared(self) -> bool:
        """Whether only comparisons of releases are seen, so that runs are walked and counted by path."""
        if self.observe != "actions" or self.algorithm.n_arms > MOST_ARMS:
            return False
        return self.algorithm.margin(self.algorithm.start(np.zeros(1, np.int64))) is not None

    @property
    def shard(self) -> int:
        """See `Sampler.shard`; every draw is addressed, so that nothing depends on it."""
        return 1 << 22 if self.compared else _PLAYED

    def _walked(self, pair: AnyPair, world: int, path: tuple[int, ...], runs: IntArray) -> Observation | None:
        """Counts of the paths that the runs take; None where the algorithm has to be played."""
        if not self.compared or isinstance(pair, InteractivePair):
            return None
        try:
            machine = _machine(self.algorithm, pair, world)
            found = machine.counts(self.seed, path, runs)
        except UnsupportedError:
            return None
        paths = self._columns(machine.paths(found))
        return Observation(len(runs), paths, weight=np.array(list(found.values()), np.int64))

    def _columns(self, actions: IntArray) -> dict[str, IntArray]:
        """What is counted of the blocks' active sets (n, s): prefixes and summaries."""
        summaries, _ = action_summaries(actions, self.algorithm.n_arms, sets=True)
        return {**action_columns(actions, "block"), **summaries}

    def sample(self, pair: AnyPair, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `Sampler.sample`."""
        walked = self._walked(pair, world, (stage, number, world), runs)
        if walked is not None:
            return walked
        parts = [runs[i : i + _PLAYED] for i in range(0, len(runs), _PLAYED)]
        return join([self.played(pair, world, (stage, number, world), part) for part in parts])

    def played(self, pair: AnyPair, world: int, path: tuple[int, ...], runs: IntArray) -> Observation:
        """What runs show that are played block by block."""
        noise = Seeded(self.seed, path)
        first = int(runs[0])
        data = worlds(pair, self.algorithm.n_arms, int(runs[-1]) + 1 - first, first)
        if self.observe == "actions":
            outcome = play(self.algorithm, data[world], noise, runs, keep=("actions",))
            columns = self._columns(outcome.actions)
            if isinstance(pair, InteractivePair) and outcome.actions.shape[1] == self.algorithm.horizon:
                columns |= _after(outcome.actions, pair.challenge)
            return Observation(len(runs), columns, _outputs(outcome.output))
        twin = Twin(self.algorithm, data[1 - world], len(runs))
        outcome = play(twin, data[world], noise, runs)
        codes = action_columns(outcome.actions, "block")
        if twin.known:
            return Observation(len(runs), codes, {}, _coarse(twin.loss if world == 0 else -twin.loss))
        released: dict[str, FloatArray] = {
            OutputName(f"release {j + 1}"): column for j, column in enumerate(outcome.released.T)
        }
        return Observation(len(runs), codes, {**released, **_outputs(outcome.output)})


def _after(actions: IntArray, challenge: int) -> dict[str, IntArray]:
    """Codes of what is played right after the challenge, where each block is a round."""
    code, columns = np.zeros(len(actions), np.int64), {}
    for number, place in enumerate(range(challenge + 1, min(challenge + 1 + _AFTER, actions.shape[1]))):
        code = code * 1_000_003 + actions[:, place]
        columns[f"round 1 to {number + 1} after the challenge"] = code
    return columns


@functools.lru_cache(maxsize=16)
def _machine(algorithm: Algorithm, pair: AnyPair, world: int) -> Machine:
    """The algorithm unfolded on one input of a pair."""
    return Machine(algorithm, worlds(pair, algorithm.n_arms, 1)[world])


def _coarse(ratio: FloatArray) -> FloatArray:
    """Log ratios on a grid of 1e-6, so that rounding errors at an atom (the largest loss) decide nothing.

    The last bits of a release depend on the input in floating point: that is a leak of the sampler, which
    is idealised here, and not of the algorithm.
    """
    return np.asarray(np.floor(ratio * 1e6 + 0.318) / 1e6)


def _outputs(output: FloatArray) -> dict[str, FloatArray]:
    return {OutputName(f"output {j + 1}"): column for j, column in enumerate(output.T)}
