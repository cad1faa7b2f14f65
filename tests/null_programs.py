"""The right programs in `tests/user_code/nulls`: their index, and how one is loaded and run."""

import csv
import importlib.util
import inspect
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "user_code" / "nulls"


@dataclass(frozen=True)
class Program:
    """One row of `index.csv`. A boundary program reaches its claim exactly; mechanisms have horizon 0."""

    name: str
    reference: str
    epsilon: float
    n_arms: int
    horizon: int
    kind: str
    source: str
    boundary: bool

    @property
    def target(self):
        """`FILE:name` as the command line takes it."""
        return f"{FOLDER / self.reference}"

    def load(self):
        """A fresh copy of the program's module, and the program in it."""
        file, name = self.reference.split(":")
        spec = importlib.util.spec_from_file_location(f"nulls_{Path(file).stem}", FOLDER / file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, name)


def index():
    """All programs, as they stand in `index.csv`."""
    with open(FOLDER / "index.csv", newline="") as file:
        return [
            Program(
                **{key: row[key] for key in ("name", "reference", "kind", "source")},
                epsilon=float(row["epsilon"]),
                n_arms=int(row["n_arms"] or 0),
                horizon=int(row["horizon"] or 0),
                boundary=row["boundary"] == "yes",
            )
            for row in csv.DictReader(file)
        ]


def run_class(cls, rewards, rng):
    """Actions of one object of a class over all rounds."""
    horizon, n_arms = rewards.shape
    known = {"n_arms": n_arms, "k": n_arms, "arms": list(range(n_arms)), "horizon": horizon, "rng": rng}
    parameters = inspect.signature(cls).parameters
    if "seed" in parameters:
        known["seed"] = int(rng.integers(2**32))
    bandit = cls(**{name: known[name] for name in parameters if name in known})
    pairs = ["select update", "select_arm update", "pull update", "choose update", "act update"]
    pairs.append("select_action update_params")
    choose, update = next(pair.split() for pair in pairs if all(hasattr(bandit, m) for m in pair.split()))
    actions = []
    for row in rewards:
        arm = getattr(bandit, choose)()
        getattr(bandit, update)(arm, row[arm])
        actions.append(arm)
    return actions


def outputs(program, code, given, rng, size):
    """Draw `size` independent outputs of a program, one row each.

    Where runs of a call share public randomness a call is asked for two, one of which is taken.
    """
    if program.kind == "play":
        return np.array([code(given, rng) for _ in range(size)])
    if program.kind == "class":
        return np.array([run_class(code, given, rng) for _ in range(size)])
    if program.kind == "release_one":
        return np.array([[code(given, rng)] for _ in range(size)])
    if program.reference.startswith(("shared", "public")):
        rows = rng.integers(2, size=size)
        drawn = [code(given, 2, rng)[row] for row in rows]
    else:
        drawn = code(given, size, rng)
    return np.asarray(drawn).reshape(size, -1)
