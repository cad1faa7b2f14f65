"""Programs that are told contexts: data that stand for all users whose contexts lie in a ball."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.symbolic.answers import Position
from verifiable_dp.evidence.symbolic.atoms import Atom
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.boxes import Box, objects
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.users import Number, Vector
from verifiable_dp.evidence.symbolic.world import World


@dataclass(frozen=True)
class Crowd(Program):
    """A program whose data are a table of rewards and contexts; a unit is a user.

    Parameters
    ----------
    form
        Of the contexts.
    joint
        Whether nobody sees a user's own action.
    reward
        Whether only rewards change.
    """

    form: Contexts | None = None
    joint: bool = False
    reward: bool = False

    def data(self, world: World, values: FloatArray) -> Foreign:
        """See `Program.data`."""
        form, made = self.form, []
        assert form is not None
        low, high = self.bounds
        world.joint = self.joint
        for unit, row in enumerate(values.tolist()):
            moved = {unit: (low - high, high - low)}
            owner = Number(unit, high - low, max(abs(low), abs(high)))
            for value in row[: form.n_arms]:
                atom = Atom(value, low, high, lambda moved=moved: moved, of=owner)  # type: ignore[misc]
                made.append(Term(world, 0.0, {atom: 1.0}, {}))
            rest = row[form.n_arms :]
            for start in range(0, len(rest), form.dimension):
                vector = Vector(unit, form.norm, form.dimension, not self.reward)
                made += vector.entries(world, rest[start : start + form.dimension])
        return Box(world, objects(made, values.shape), "f")

    def values(self, number: int) -> FloatArray:
        """See `Program.values`."""
        form = self.form
        assert form is not None
        rng = np.random.default_rng([20260103, number])
        low, high = self.bounds
        rewards = low + (high - low) * rng.random((self.shape[0], form.n_arms))
        contexts = rng.standard_normal((self.shape[0], *form.shape))
        lengths = (1 - 0.5 * rng.random(contexts.shape[:-1]))[..., None] * (1 - 1e-9)  # equal ones would tie
        contexts *= lengths * form.norm / np.linalg.norm(contexts, axis=-1, keepdims=True)
        return form.table(contexts, rewards)

    def neighbours(self, values: FloatArray, number: int, most: int) -> Iterator[FloatArray]:
        """See `Program.neighbours`: none, for what a user's own choice is worth is no shift."""
        return iter(())

    def seen(self, value: Foreign) -> Foreign:
        """What is returned, a user's own choice being seen by nobody else."""
        if not self.joint or not isinstance(value, Box | list | tuple) or len(value) != self.shape[0]:
            return value
        given = value.data.tolist() if type(value) is Box and value.ndim == 1 else list(value)
        return [v.value if type(v) is Position and v.moved <= {i} else v for i, v in enumerate(given)]
