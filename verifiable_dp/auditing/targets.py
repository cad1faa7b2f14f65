"""What can be audited beside the catalogue: a user's `play`, `play_many` or `release`.

A target is named as an object, as ``file.py:name`` (its folder becomes importable) or as
``package.module:name``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, InputError, IntArray, one_line
from verifiable_dp.evidence.events import Observation, action_columns
from verifiable_dp.noise import key_of

DETERMINISTIC = "deterministic output: no noise was used"


class ScaledGenerator(np.random.Generator):
    """A generator whose additive noise is multiplied by `factor`: the noise mutants of a user's code.

    Uniforms, integers and choices pass through.
    """

    factor = 1.0

    def _scale(self, scale: Any) -> Any:
        return np.multiply(scale, self.factor)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As numpy's, with the scale multiplied."""
        return super().laplace(loc, self._scale(scale), size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As numpy's, with the scale multiplied."""
        return super().normal(loc, self._scale(scale), size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As numpy's, with the scale multiplied."""
        return super().gumbel(loc, self._scale(scale), size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As numpy's, with the scale multiplied."""
        return super().logistic(loc, self._scale(scale), size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """As numpy's, with the scale multiplied."""
        return super().exponential(self._scale(scale), size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """As numpy's, with the decay (1 - p) raised to 1 / factor: the discrete form of less noise."""
        return super().geometric(-np.expm1(np.log1p(-np.asarray(p)) / self.factor), size)

    def standard_normal(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's, multiplied."""
        return self._scale(super().standard_normal(*args, **kwargs))

    def standard_exponential(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's, multiplied."""
        return self._scale(super().standard_exponential(*args, **kwargs))


def generator(key: Any, number: int, factor: float = 1.0) -> np.random.Generator:
    """The generator of run or shard `number` under `key`; its noise is scaled unless `factor` is 1."""
    bits = np.random.Philox(counter=[0, 0, number, 0], key=key)
    if factor == 1.0:
        return np.random.Generator(bits)
    scaled = ScaledGenerator(bits)
    scaled.factor = factor
    return scaled


@dataclass(frozen=True)
class Source:
    """Where a target's code is.

    Attributes
    ----------
    name
        As given, or the qualified name of an object.
    path
        File, or empty if there is none: as the target names it, relative to the package's root for a
        module of a package, else absolute.
    line
        First line of the definition, or 0.
    sha256
        Digest of the file, or empty.
    """

    name: str
    path: str = ""
    line: int = 0
    sha256: str = ""

    @classmethod
    def of(cls, thing: Any, name: str) -> Source:
        """Look up file, line and digest of `thing`."""
        try:
            code = inspect.unwrap(thing) if callable(thing) else type(thing)
            path = inspect.getsourcefile(code) or ""
            line = inspect.getsourcelines(code)[1]
        except (TypeError, OSError):
            return cls(name)
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest() if Path(path).is_file() else ""
        return cls(name, _portable(path, str(getattr(code, "__module__", "")), name), line, digest)


def _portable(path: str, module: str, name: str) -> str:
    """A path that means the same in another checkout, where there is one."""
    given = name.rpartition(":")[0]
    if given.endswith(".py"):
        return Path(given).as_posix()
    inside = Path(*module.split(".")).with_suffix(".py").as_posix()
    if "." in module and Path(path).as_posix().endswith(inside):
        return inside
    return path


def load(reference: str) -> Any:
    """The object that ``file.py:name`` or ``package.module:name`` names.

    Raises
    ------
    InputError
        If the file, the module or the name does not exist, or importing it fails.
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise InputError(
            f"target must be a catalogue name, file.py:name or package.module:name, got {reference!r}"
        )
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    try:
        thing: Any = module
        for part in name.split("."):
            thing = getattr(thing, part)
    except AttributeError:
        raise InputError(f"target: {place} has no {name!r}") from None
    return thing


def _load_file(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"target: no file {str(path)!r}")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"target: {str(path)!r} cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    shadowed = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # worker processes and pickling look it up by name
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        if shadowed is not None:
            sys.modules[path.stem] = shadowed
        else:
            sys.modules.pop(path.stem, None)
        raise InputError(f"target: importing {str(path)!r} raised {one_line(error)}") from None
    return module


def _load_module(name: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise InputError(f"target: importing {name!r} raised {one_line(error)}") from None


def kind_of(function: Callable[..., Any]) -> str:
    """``play``, ``play_many`` or ``release``, from the parameters.

    Raises
    ------
    InputError
        If they fit none of play(rewards, rng), play_many(rewards, n_runs, rng), release(data, size, rng).
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) == 2:
        return "play"
    if len(needed) == 3:
        return "release" if needed[1] == "size" or needed[0] == "data" else "play_many"
    raise InputError(
        "target must be play(rewards, rng), play_many(rewards, n_runs, rng) or release(data, size, rng), "
        f"got parameters ({', '.join(needed)})"
    )


@dataclass(frozen=True)
class PlaySampler:
    """Samples a user's bandit; only actions are seen.

    Parameters
    ----------
    function
        `play(rewards, rng)` or, if `many`, `play_many(rewards, n_runs, rng)`.
    n_arms, horizon
        K and T; rewards are handed over as a fresh array (T, K).
    seed
        Of the audit.
    factor
        Of the noise, for mutants.
    """

    function: Callable[..., Any]
    many: bool
    n_arms: int
    horizon: int
    seed: int
    factor: float = 1.0
    shard: int = 1024

    @property
    def _what(self) -> str:
        return "play_many" if self.many else "play"

    def actions(self, table: FloatArray, path: tuple[int, ...], runs: IntArray) -> Any:
        """Arms (n, T) of runs with numbers `runs` on `table`.

        Raises
        ------
        InputError
            If the function raises, or does not return T arms in 0 .. K - 1 for each run.
        """
        key = key_of(self.seed, path)
        if self.many:
            rng = generator(key, int(runs[0]), self.factor)
            return self._checked(self._call(table.copy(), len(runs), rng), (len(runs), self.horizon))
        small = np.int8 if self.n_arms <= 127 else np.int64
        out = np.empty((len(runs), self.horizon), small)
        for i, run in enumerate(runs.tolist()):
            rng = generator(key, run, self.factor)
            out[i] = self._checked(self._call(table.copy(), rng), (self.horizon,))
        return out

    def _call(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except Exception as error:
            where = _last_line(error, self.function)
            raise InputError(f"{self._what} raised {one_line(error)}{where}") from error

    def _checked(self, result: Any, shape: tuple[int, ...]) -> Any:
        try:
            arms = np.asarray(result)
        except Exception:
            arms = np.empty(0, object)
        if arms.shape != shape:
            raise InputError(f"{self._what} must return arms of shape {shape}, got shape {arms.shape}")
        if arms.dtype.kind not in "iub":
            if arms.dtype.kind != "f" or not np.array_equal(arms, np.floor(arms)):
                raise InputError(f"{self._what} must return integer arms, got dtype {arms.dtype}")
            arms = arms.astype(np.int64)
        if arms.size and (arms.min() < 0 or arms.max() >= self.n_arms):
            raise InputError(
                f"{self._what} must return arms in 0 .. {self.n_arms - 1}, "
                f"got values in [{arms.min()}, {arms.max()}]"
            )
        return arms

    def sample(self, pair: Any, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `evidence.blackbox.Sampler.sample`."""
        actions = self.actions(pair.worlds()[world], (stage, number, world), runs)
        columns = action_columns(actions)
        counts = {
            f"pulls of arm {arm}": (actions == arm).sum(axis=1).astype(np.float64)
            for arm in range(min(self.n_arms, 8))
        }
        return Observation(len(runs), columns, counts)


def _last_line(error: BaseException, function: Callable[..., Any]) -> str:
    """` (file:line)` of the innermost frame in the function's own file."""
    try:
        own = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return ""
    place, frame = "", error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == own:
            place = f" ({own}:{frame.tb_lineno})"
        frame = frame.tb_next
    return place


@dataclass(frozen=True, eq=False)
class DataPair:
    """Two neighbouring data sets for a `release` mechanism."""

    left: Any
    right: Any

    def worlds(self) -> tuple[Any, Any]:
        """Both."""
        return self.left, self.right

    def describe(self) -> str:
        """In one line."""
        return f"data {_short(self.left)} against {_short(self.right)}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "type": "data",
            "left": np.asarray(self.left).tolist(),
            "right": np.asarray(self.right).tolist(),
            "words": self.describe(),
        }


def _short(value: Any) -> str:
    text = np.array2string(np.asarray(value), threshold=8, separator=", ")
    return " ".join(text.split())


@dataclass(frozen=True)
class ReleaseSampler:
    """Samples a mechanism `release(data, size, rng) -> (size, ...)`.

    Parameters
    ----------
    function
        The mechanism.
    seed
        Of the audit.
    factor
        Of the noise, for mutants.
    """

    function: Callable[..., Any]
    seed: int
    factor: float = 1.0
    shard: int = 1 << 17

    def values(self, data: Any, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs (n, m) as floats.

        Raises
        ------
        InputError
            If the function raises, or does not return numbers with a leading axis of `size`.
        """
        rng = generator(key_of(self.seed, path), int(runs[0]), self.factor)
        given = data.copy() if isinstance(data, np.ndarray) else data
        try:
            result = np.asarray(self.function(given, len(runs), rng))
        except Exception as error:
            where = _last_line(error, self.function)
            raise InputError(f"release raised {one_line(error)}{where}") from error
        if result.ndim < 1 or result.shape[0] != len(runs):
            raise InputError(
                f"release must return an array of shape (size, ...) with size {len(runs)}, got {result.shape}"
            )
        if result.dtype.kind not in "fiub":
            raise InputError(f"release must return numbers, got dtype {result.dtype}")
        return np.asarray(result, dtype=np.float64).reshape(len(runs), -1)

    def sample(self, pair: DataPair, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `evidence.blackbox.Sampler.sample`."""
        values = self.values(pair.worlds()[world], (stage, number, world), runs)
        numeric = {f"output {j + 1}": column for j, column in enumerate(values.T)}
        whole = np.nan_to_num(values, nan=-(2.0**40), posinf=2.0**41, neginf=-(2.0**41))
        if (whole == np.floor(whole)).all() and np.abs(whole).max(initial=0) < 2**62:
            return Observation(len(runs), action_columns(whole.astype(np.int64), "output"), numeric)
        return Observation(len(runs), {}, numeric)


@dataclass(frozen=True)
class Probe:
    """What a few runs tell about a user's target.

    Attributes
    ----------
    deterministic
        Whether every run on an input was alike.
    repeatable
        Whether the same generator gives the same output again.
    notes
        Lines for the record.
    """

    deterministic: bool
    repeatable: bool
    notes: tuple[str, ...] = field(default=())


def probe_play(sampler: PlaySampler, tables: Sequence[FloatArray], runs: int = 12) -> Probe:
    """Play some tables a few times: are runs alike, and does the generator decide all?"""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, table in enumerate(tables):
        first = sampler.actions(table, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        again = sampler.actions(table, (9, i), numbers)
        repeatable = repeatable and bool((first == again).all())
    return Probe(alike, repeatable, _notes(repeatable))


def probe_release(sampler: ReleaseSampler, data: Sequence[Any], runs: int = 64) -> Probe:
    """As `probe_play` for a mechanism."""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, item in enumerate(data):
        first = sampler.values(item, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        again = sampler.values(item, (9, i), numbers)
        repeatable = repeatable and np.array_equal(first, again, equal_nan=True)
    return Probe(alike, repeatable, _notes(repeatable))


def _notes(repeatable: bool) -> tuple[str, ...]:
    if repeatable:
        return ()
    return (
        "not repeatable: the same generator gave other outputs; the target keeps state between runs or "
        "draws from another source, so a re-run need not give the same counts",
    )
