"""Learning scores: counts, bins, a logistic regression and boosted trees, from selection runs.

Counts of rare values are shrunk towards the ratios that the column's values have in general, so that chance
does not put them first.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from threadpoolctl import ThreadpoolController

from verifiable_dp.core.validate import FloatArray, Given, IntArray, Numbers
from verifiable_dp.evidence.blackbox.observations import (
    Observation,
    OutputName,
    PrefixName,
    is_whole,
    weight_of,
)
from verifiable_dp.evidence.blackbox.scores import (
    MISSING,
    ORDER,
    Binned,
    Boosted,
    Codes,
    Departure,
    Feature,
    LogisticScore,
    MetScore,
    Rounds,
    Score,
    ValueOf,
    bin_of,
    column_of,
    terms_of,
)

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

_BINS = 64
_MOST_CODES = 4096
_MOST_GROUPS = 32
_MOST_COLUMNS = 8  # numeric columns that sums and extremes are taken of
_MOST_JOINT = 12  # numeric columns that joint models are made of
_MOST_DIFFERENCES = 5  # columns whose differences are all looked at
_FIT_ROWS = 25_000  # a side, that trees are grown on
_NEWTON_ROWS = 8_000  # a side, that a logistic regression is fitted to
_MOST_ROUNDS = 128  # slopes of rounds and arms that a logistic regression fits
_LEAST_MET = 8  # runs a side that a score of those that meet the change is learnt on
_CELLS = 16  # least number of fitted rows a bin of a joint model

# Log ratios that the prior of `log_ratios` is made of, and the steps that estimate it.
_STEP = 0.2
_GRID = np.arange(-70, 71) * _STEP
_EM_STEPS = 30


Recipe = Callable[[Observation, Observation], Score | None]


def recipes(left: Observation, right: Observation, boosted: bool = True) -> list[Recipe]:
    """What can be learnt from such runs: each makes a score of runs of world 0 and of world 1, or None.

    Where the reward that differs is known, the same is learnt from the runs that play it, of what they did
    before and after. Without `boosted` there are no boosted trees, which take longer than all others.
    """
    boosted = boosted and trees_grow()
    found = _plain(left, right, boosted)
    first = left.change is not None and left.change[0] == 0 and left.met.all() and right.met.all()
    if not first and min(left.met.sum(), right.met.sum()) >= _LEAST_MET:
        found += [partial(learn_met, recipe=recipe) for recipe in _plain(left.since, right.since, boosted)]
    return found


def learn_met(left: Observation, right: Observation, *, recipe: Recipe) -> MetScore | None:
    """What a recipe learns from the runs that have met the change; None if they are few."""
    if min(left.met.sum(), right.met.sum()) < _LEAST_MET:
        return None
    score = recipe(left.since, right.since)
    return None if score is None else MetScore(score)


def _plain(left: Observation, right: Observation, boosted: bool) -> list[Recipe]:
    names = discrete_columns(left, right)
    found: list[Recipe] = [partial(learn_codes, name) for name in names]
    if sum(isinstance(name, PrefixName) for name in left.discrete) >= 2:
        found.append(learn_departure)
    if left.actions is not None:
        found.append(learn_rounds)
    columns = features(left)
    own = [column for column in columns if column.kind == "value"]
    if not own:
        return found
    group = _finest(names)
    found.append(partial(learn_bins, columns=own))
    if group is not None:
        found.append(partial(learn_bins, columns=own, group=group))
    if len(columns) > 1:
        found.extend(partial(learn_bins, columns=[column]) for column in columns)
    # A single number with few values is counted: no model of it can tell more.
    counted = len(own) == 1 and (group is None or ValueOf(own[0].names[0]) in names)
    if len(own) <= _MOST_JOINT and not counted:
        found += [partial(learn_boosted, columns=own, group=group)] if boosted else []
        found.append(partial(learn_logistic, columns=own))
    return found


def _finest(names: Sequence[str]) -> str | None:
    """The column to group numbers by: whole sequences, else what is missing."""
    whole = [name for name in names if is_whole(name)]
    return whole[-1] if whole else MISSING if MISSING in names else None


def log_ratios(a: npt.ArrayLike, b: npt.ArrayLike, n_a: int, n_b: int) -> FloatArray:
    """Log ratio of the probabilities of each value in two worlds, from its counts a of n_a and b of n_b.

    An estimate by empirical Bayes: the values' log ratios are taken to be drawn from one law, which is
    estimated on a grid by maximum likelihood (EM); a value's ratio is that of its posterior means. Where the
    counts say more than the grid can hold, they are left to speak for themselves.

    Returns
    -------
    (m,) float

    Notes
    -----
    Whether a value belongs in the event depends on its probabilities linearly, so that the posterior means
    are what to sort by. Source of the estimator: Robbins, "An empirical Bayes approach to statistics", 1956.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    offset = np.log(max(n_a, 1)) - np.log(max(n_b, 1))
    plain = np.log(a + 0.5) - np.log(b + 0.5) - offset
    pairs, inverse, times = np.unique(
        np.stack([a, b], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    counts_a, counts_b = pairs.T
    shares = expit(_GRID + offset)
    fit = np.outer(counts_a, np.log(shares)) + np.outer(counts_b, np.log1p(-shares))
    fit = np.exp(fit - fit.max(axis=1, keepdims=True))
    prior = np.full(len(_GRID), 1 / len(_GRID))
    for _ in range(_EM_STEPS):
        # Sums, not matrix products: those are split among threads.
        of_value = np.einsum("ij,j->i", fit, prior)
        prior = prior * np.einsum("ij,i->j", fit, times / of_value) / times.sum()
    posterior = fit * prior
    mean = (posterior * shares).sum(axis=1) / posterior.sum(axis=1)
    shrunk = (logit(mean) - offset)[inverse.ravel()]
    variance = 1 / (a + 0.5) + 1 / (b + 0.5)
    trust = _STEP**2 / (variance + _STEP**2)
    # The last bits depend on how the sums were split.
    return np.asarray(np.round(trust * plain + (1 - trust) * shrunk, 9))


def features(seen: Observation) -> list[Feature]:
    """The numeric columns, and for some of them their differences, sum, maximum and minimum."""
    names = tuple(seen.numeric)
    found = [Feature("value", (name,)) for name in names]
    outputs = tuple(name for name in names if isinstance(name, OutputName))
    if 2 <= len(outputs) <= _MOST_COLUMNS:
        found += [Feature(kind, outputs) for kind in ("sum", "largest", "smallest")]
    if 2 <= len(outputs) <= _MOST_DIFFERENCES:
        found += [
            Feature("difference", (one, other)) for i, one in enumerate(outputs) for other in outputs[i + 1 :]
        ]
    return found


def digits(left: Observation, right: Observation) -> list[Feature]:
    """Rests of outputs after division that differ between the worlds: digits finer than the noise.

    Units are at most half of what the middle half of the values spans, where smooth noise hardly shows in
    the rest, and so large that rounding of floats does not. Rests that look alike in the first rows are not
    tried.
    """
    parts, found = [part.head(None if part.weight is not None else _DIGIT_ROWS) for part in (left, right)], []
    for name in (name for name in left.numeric if isinstance(name, OutputName)):
        shown = [_each(part, part.numeric[name]) for part in parts]
        if min(map(len, shown)) < _LEAST_DIGITS:
            continue
        both = np.concatenate(shown)
        places = _places(both)
        least = _ROUNDED * np.abs(both).max() if places is None else 2 * 10.0**-places
        most = min(float(np.subtract(*np.quantile(values, (0.75, 0.25)))) for values in shown) / 2
        tried = [Feature("rest", (name,), unit, places) for unit in _UNITS if least <= unit <= most]
        found += [one for one in tried if _differ(*(_each(part, one(part)) for part in parts))]
    return found


def _each(seen: Observation, column: FloatArray) -> FloatArray:
    """The finite values of a column, once for each run."""
    finite = np.isfinite(column)
    return np.repeat(column[finite], weight_of(seen)[finite])


_DIGIT_ROWS, _LEAST_DIGITS = 4000, 200
_UNITS = [float(f"{digit}e{power}") for power in range(-12, 13) for digit in (1, 2)]
_ROUNDED = 2.0**-26  # of the largest value
_UNLIKE = 15 + 8 * np.sqrt(30)  # chi-squared of sixteen cells: its mean and eight standard deviations


def _places(values: FloatArray) -> int | None:
    """The decimal places that all values have at most; None if that are more than nine."""
    for places in range(10):
        shifted = values * 10.0**places
        if (np.abs(shifted - np.rint(shifted)) <= np.abs(shifted) * 2.0**-49).all():
            return places if np.abs(shifted).max() < 2.0**52 else None
    return None


def _differ(left: FloatArray, right: FloatArray) -> bool:
    """Whether rests differ clearly, in sixteen equal cells."""
    counts = [np.histogram(part, bins=16, range=(0.0, 1.0))[0] for part in (left, right)]
    (one, other), both = (count.sum() for count in counts), counts[0] + counts[1]
    unlike = (counts[0] * other - counts[1] * one) ** 2 / (one * other * np.maximum(both, 1.0))
    return bool(unlike.sum() > _UNLIKE)


def _varies(left: IntArray, right: IntArray) -> bool:
    """Whether two columns together hold more than one value."""
    some = left[:1] if len(left) else right[:1]
    return bool((left != some).any() or (right != some).any())


def discrete_columns(left: Observation, right: Observation) -> list[str]:
    """Names for `column_of` that are worth counting."""
    names = [name for name in left.discrete if _varies(left.discrete[name], right.discrete[name])]
    numeric = list(left.numeric)
    if any(np.isnan(seen.numeric[name]).any() for seen in (left, right) for name in numeric):
        names.append(MISSING)
    outputs = [name for name in numeric if isinstance(name, OutputName)]
    if 2 <= len(numeric) == len(outputs) <= _MOST_DIFFERENCES:
        names.append(ORDER)
    for name in numeric:
        both = np.concatenate([o.numeric[name][:2000] for o in (left, right)])
        if len(np.unique(both)) <= max(8, len(both) // 4):
            names.append(ValueOf(name))
    return names


def learn_codes(name: str, left: Observation, right: Observation) -> Codes | None:
    """Log ratios of the values of a discrete column; None if all runs have the same or none is met twice.

    Values that were met once are taken together with those that were not met at all: of these the ratio is
    that of the values met once (Good, 1953).
    """
    both = np.concatenate([column_of(seen, name) for seen in (left, right)])
    values, inverse = np.unique(both, return_inverse=True)
    a, b = (
        np.bincount(part, weight_of(seen), len(values))
        for part, seen in ((inverse[: left.size], left), (inverse[left.size :], right))
    )
    kept = np.flatnonzero(a + b >= 2)
    if len(values) < 2 or not len(kept):
        return None
    if len(kept) > _MOST_CODES:
        kept = np.sort(kept[np.argsort((a + b)[kept], kind="stable")[-_MOST_CODES:]])
    rest = (left.runs - a[kept].sum(), right.runs - b[kept].sum())
    counts = (np.append(a[kept], rest[0]), np.append(b[kept], rest[1]))
    ratios = log_ratios(*counts, left.runs, right.runs)
    return Codes(name, values[kept], ratios[:-1], float(ratios[-1]))


def learn_departure(left: Observation, right: Observation) -> Departure | None:
    """Log ratios of the places at which the commonest path is left; None if there are no prefixes."""
    names = tuple(name for name in left.discrete if isinstance(name, PrefixName))
    if len(names) < 2:
        return None
    on = [np.ones(seen.size, bool) for seen in (left, right)]
    path = []
    for name in names:
        columns = [column_of(seen, name) for seen in (left, right)]
        codes = np.concatenate([column[o] for column, o in zip(columns, on, strict=True)])
        weight = np.concatenate([weight_of(s)[o] for s, o in zip((left, right), on, strict=True)])
        values, inverse = np.unique(codes, return_inverse=True)
        path.append(int(values[np.bincount(inverse, weight).argmax()]))
        on = [o & (column == path[-1]) for o, column in zip(on, columns, strict=True)]
    blank = Departure(names, np.array(path, np.int64), np.zeros(len(names) + 1))
    a, b = (np.bincount(blank.places(s), weight_of(s), len(names) + 1) for s in (left, right))
    return Departure(names, blank.path, log_ratios(a, b, left.runs, right.runs))


def _edges(values: FloatArray, bins: int) -> FloatArray:
    """Quantiles of the finite values; a value that recurs has a bin to itself."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.zeros(0)
    cuts = np.quantile(finite, np.linspace(0, 1, bins + 1)[1:-1], method="nearest")
    distinct, times = np.unique(cuts, return_counts=True)
    atoms = distinct[times > 1]
    ends = finite.min(), finite.max()
    return np.unique(np.concatenate([distinct, atoms, np.nextafter(atoms, np.inf), _outer(finite, *ends)]))


def _outer(finite: FloatArray, low: float, high: float) -> FloatArray:
    """Edges that part off the ends where many values lie just there, as after clipping."""
    marks = []
    if np.count_nonzero(finite == low) > 1:
        marks.append(np.nextafter(low, np.inf))
    if np.count_nonzero(finite == high) > 1:
        marks.append(high)
    return np.array(marks)


def learn_bins(
    left: Observation, right: Observation, *, columns: Sequence[Feature], group: str | None = None
) -> Binned | None:
    """Binned log ratios of the columns, by group if a discrete column is named."""
    keys: list[int] = [0]
    by = None if group is None else learn_codes(group, left, right)
    if by is not None:
        codes = [column_of(seen, by.name) for seen in (left, right)]
        values, inverse = np.unique(np.concatenate(codes), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([weight_of(left), weight_of(right)]))
        common = np.argsort(-counts, kind="stable")[:_MOST_GROUPS]
        keys = [int(values[i]) for i in common if counts[i] >= 100]
    edges, ratios = {}, {}
    seen_columns = [(column(left), column(right)) for column in columns]
    weights = weight_of(left), weight_of(right)
    for key in keys:
        picked = [
            np.ones(o.size, bool) if by is None else c == key
            for o, c in zip((left, right), codes if by is not None else (None, None), strict=True)
        ]
        w_a, w_b = (w[p] for w, p in zip(weights, picked, strict=True))
        n_a, n_b = int(w_a.sum()), int(w_b.sum())
        if not n_a or not n_b:
            continue
        for number, (whole_a, whole_b) in enumerate(seen_columns):
            a, b = whole_a[picked[0]], whole_b[picked[1]]
            both = np.concatenate([a, b])
            if (both == both[0]).all() or np.isnan(both).all():
                continue
            cuts = _edges(both, int(np.clip(len(both) // 200, 2, _BINS)))
            counts_a, counts_b = (
                np.bincount(bin_of(x, cuts), w, len(cuts) + 2) for x, w in ((a, w_a), (b, w_b))
            )
            edges[key, number] = cuts
            ratios[key, number] = log_ratios(counts_a, counts_b, n_a, n_b)
    return Binned(tuple(columns), by, edges, ratios) if edges else None


def learn_logistic(
    left: Observation, right: Observation, *, columns: Sequence[Feature]
) -> LogisticScore | None:
    """Logistic regression by Newton's method, a little ridge; None if the columns hold no numbers."""
    left, right = left.head(_NEWTON_ROWS), right.head(_NEWTON_ROWS)
    centre, width, terms, kept = [], [], [np.ones((left.size + right.size, 1))], []
    for column in columns:
        values = np.concatenate([column(left), column(right)])
        finite = values[np.isfinite(values)]
        if not len(finite):
            continue
        low, middle, high = np.quantile(finite, (0.25, 0.5, 0.75))
        kept.append(column)
        centre.append(float(middle))
        width.append(float(high - low) or 1.0)
        terms.append(terms_of(values, centre[-1], width[-1]))
    if not kept:
        return None
    slopes = _slopes(left, right, np.hstack(terms))
    return LogisticScore(tuple(kept), np.array(centre), np.array(width), slopes[1:].reshape(len(kept), 4))


def learn_rounds(left: Observation, right: Observation) -> Rounds | None:
    """Logistic regression on which arm is played in which round; None if all runs play the same.

    A leak that shows a little in every round adds up in it. Where there are too many rounds for a slope
    each, those that follow one another share theirs.
    """
    left, right = left.head(_NEWTON_ROWS), right.head(_NEWTON_ROWS)
    both = np.concatenate([left.actions, right.actions])
    rounds, n_arms = both.shape[1], int(both.max(initial=0)) + 1
    if both.min(initial=0) < 0 or not 2 <= n_arms <= _MOST_JOINT or (both == both[:1]).all():
        return None
    width = -(-rounds * (n_arms - 1) // _MOST_ROUNDS)
    starts = np.arange(0, rounds, width)
    counts = [np.add.reduceat(both == arm, starts, axis=1, dtype=np.float64) for arm in range(1, n_arms)]
    fitted = _slopes(left, right, np.hstack([np.ones((len(both), 1)), *counts]))[1:]
    slopes = np.zeros((rounds, n_arms))
    slopes[:, 1:] = np.repeat(fitted.reshape(n_arms - 1, -1).T, width, axis=0)[:rounds]
    return Rounds(slopes)


def _slopes(left: Observation, right: Observation, x: FloatArray) -> FloatArray:
    """Slopes of a logistic regression of the world on `x`, the rows of both worlds."""
    y = np.concatenate([np.ones(left.size), np.zeros(right.size)])
    sides = (weight_of(left) / max(left.runs, 1), weight_of(right) / max(right.runs, 1))
    weight = np.concatenate(sides) * (left.size + right.size) / 2
    with _pools(len(sys.modules)).limit(limits=1):
        return np.asarray(np.round(_newton(x, y, weight), 9))


@lru_cache(maxsize=1)
def _pools(modules: int) -> ThreadpoolController:
    """The pools of threads of what is loaded: found slowly, so again only where modules were loaded since."""
    return ThreadpoolController()


def _newton(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Slopes of a logistic regression with a ridge penalty of 1."""
    slopes = np.zeros(x.shape[1])
    for _ in range(12):
        p = expit(x @ slopes)
        gradient = x.T @ (weight * (y - p)) - slopes
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x + np.eye(x.shape[1])
        step = np.linalg.solve(curvature, gradient)
        slopes = slopes + step
        if np.abs(step).max() < 1e-6:
            break
    return slopes


def learn_boosted(
    left: Observation, right: Observation, *, columns: Sequence[Feature], group: str | None = None
) -> Boosted | None:
    """Gradient-boosted trees (scikit-learn's) on binned columns, turned into tables.

    Each branch of a tree is held to two columns, so that the model is a sum of functions of two bins:
    it is read off exactly by evaluating it on pairs of bins, and what is kept are tables. Trees are grown by
    one thread, as a sum's last bit could depend on their number otherwise.
    """
    left, right = left.head(_FIT_ROWS), right.head(_FIT_ROWS)
    most = int(np.clip((left.size + right.size) // (4 * _CELLS), 2, 48))
    edges = tuple(_edges(np.concatenate([c(left), c(right)]), most) for c in columns)
    values = np.zeros(0, np.int64)
    if group is not None:
        common, times = np.unique(
            np.concatenate([column_of(s, group) for s in (left, right)]), return_counts=True
        )
        values = np.sort(common[np.argsort(-times, kind="stable")[:most]])
    name = group or ""
    shape = [len(e) + 2 for e in edges] + ([len(values) + 1] if name else [])
    if len(shape) < 2 or max(shape) > 254:
        return None
    size = max(shape)
    blank = Boosted(
        tuple(columns),
        name,
        values,
        edges,
        np.zeros((len(shape), size)),
        np.zeros((0, 2), np.int64),
        np.zeros((0, size, size)),
    )
    model = _grown(np.hstack([blank.bins(left), blank.bins(right)]).T, left, right)
    return _tabled(blank, model, shape)


@lru_cache(maxsize=1)
def trees_grow() -> bool:
    """Whether there is what boosted trees are fitted with, the extra `learn`; without it there are none."""
    return importlib.util.find_spec("sklearn") is not None


def _grown(x: IntArray, left: Observation, right: Observation) -> HistGradientBoostingClassifier:
    """Fitted trees; the columns of `x` are bin numbers."""
    # Imported where it is used, as the command line has to start fast; and before pools of threads are looked
    # up, of which it brings one.
    from sklearn.ensemble import HistGradientBoostingClassifier

    y = np.concatenate([np.ones(left.size, np.int64), np.zeros(right.size, np.int64)])
    weight = np.concatenate([weight_of(s) / max(s.runs, 1) * len(y) / 2 for s in (left, right)])
    model = HistGradientBoostingClassifier(
        max_iter=48,
        learning_rate=0.2,
        max_leaf_nodes=6,
        min_samples_leaf=50,
        max_bins=255,
        interaction_cst="pairwise",
        early_stopping=False,
        random_state=0,
    )
    with _pools(len(sys.modules)).limit(limits=1):
        return model.fit(x.astype(np.float64), y, sample_weight=weight)


def _of_tree(
    nodes: Sequence[Given], fields: Sequence[str], shape: Sequence[int], *free: int | None
) -> Numbers:
    """What a tree adds, over the bins of the two `free` columns: along its axis each, if it is not None."""
    value, column, cut, left, right, leaf = map(
        fields.index, ("value", "feature_idx", "num_threshold", "left", "right", "is_leaf")
    )

    def below(node: Given) -> Numbers:
        if node[leaf]:
            return node[value]
        if node[column] not in free:
            return below(nodes[node[left if shape[node[column]] // 2 <= node[cut] else right]])
        is_left = np.arange(shape[node[column]]) <= node[cut]
        is_left = is_left[:, None] if node[column] == free[0] else is_left[None]
        return np.where(is_left, below(nodes[node[left]]), below(nodes[node[right]]))

    return below(nodes[0])


def _tabled(blank: Boosted, model: HistGradientBoostingClassifier, shape: Sequence[int]) -> Boosted:
    """The model's function as tables: of single columns, and what pairs of columns add to them.

    Trees are read, and added in their order: asking the model for each pair of bins took ten times as long.
    """
    n_columns, size = blank.single.shape
    trees = [tree.nodes for (tree,) in model._predictors]
    split = [set(nodes["feature_idx"][nodes["is_leaf"] == 0].tolist()) for nodes in trees]
    told = cache(
        lambda number, i, j: _of_tree(trees[number].tolist(), trees[number].dtype.names, shape, i, j)
    )

    def at(i: int | None = None, j: int | None = None) -> Numbers:
        """Over the bins of column i (rows) and of column j, the others being at their middle."""
        total = np.float64(np.ravel(model._baseline_prediction)[0])
        for number, columns in enumerate(split):
            total = total + told(number, i if i in columns else None, j if j in columns else None)
        return total

    origin = float(at())
    single = np.zeros((n_columns, size))
    for c, m in enumerate(shape):
        single[c, :m] = np.broadcast_to(at(c), (m, 1))[:, 0] - origin
    pairs = np.array([(i, j) for i in range(n_columns) for j in range(i + 1, n_columns)], np.int64)
    joint = np.zeros((len(pairs), size, size))
    for p, (i, j) in enumerate(pairs.tolist()):
        added = at(i, j) - origin
        joint[p, : shape[i], : shape[j]] = added - single[i, : shape[i], None] - single[j, None, : shape[j]]
    # The last bits are rounding errors of the differences.
    used = np.abs(joint).max(axis=(1, 2)) > 1e-9
    single[0] += origin
    return Boosted(
        blank.columns,
        blank.group,
        blank.values,
        blank.edges,
        np.round(single, 9),
        pairs[used],
        np.round(joint[used], 9),
    )
