"""Claims about anyone's algorithm are run: regret is measured and judged claim by claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verifiable_dp.auditing import rates, worst_instance_search
from verifiable_dp.auditing.bounds import largest_gap
from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.auditing.rates import Rate
from verifiable_dp.auditing.regret.claims import Claims
from verifiable_dp.auditing.regret.instances import called, default_instances, form_of
from verifiable_dp.auditing.regret.plan import Cells, ask_instances, ask_search, at, search_cell
from verifiable_dp.auditing.regret.record import draft
from verifiable_dp.auditing.regret.subject import RegretSubject
from verifiable_dp.core.environments import Environment, TwoPoint
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import FloatArray, InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.targets import players
from verifiable_dp.targets.players import Player, Setting

_FINALISTS = 3  # gaps that the search for the worst one looks at twice


def check_claims(
    subject: RegretSubject,
    claims: Claims,
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    progress: Progress = silent,
) -> JsonDict:
    """Measure regret where the claims speak of it; a draft of a record.

    Raises
    ------
    InputError
        If the code raises or returns no arms, or regret is 0 where a rate is claimed.
    """
    noted = players.notes(subject.player, subject.setting, claims.instances[0], seed)
    noted += worst_instance_search.notes(subject.player, subject.setting, claims.bound)
    cells = Cells(seed, workers)
    searched = [rate for rate in claims.rates if rate.worst]
    progress(_plan(claims, seed))
    progress("regret on instances")
    ask_instances(cells, subject, claims)
    for rate in searched:
        gaps = {x: rates.gaps(rate.at(x, subject.setting, 0.0)[0]) for x in rate.values}
        ask_search(cells, subject, rate, "first", gaps, max(8, claims.runs // 8))
    found = cells.run()
    checks = [
        *_bound_checks(subject, claims, found),
        *_tightest_check(cells, subject, claims, progress),
        *_comparison_checks(subject, claims, found),
    ]
    for rate in claims.rates:
        progress(f"regret over {rate.over}")
        worst = rate in searched
        where = (
            _worst_gaps(cells, subject, rate, found, claims.runs)
            if worst
            else [claims.gap] * len(rate.values)
        )
        checks.append(_rate_check(cells, subject, rate, where, claims))
    return draft(subject, claims, checks, noted, budget, seed)


def _plan(claims: Claims, seed: int) -> str:
    """What will be measured, in a line."""
    rates_ = [f"over {one.over} at {', '.join(f'{x:g}' for x in one.values)}" for one in claims.rates]
    parts = [f"{claims.runs} runs each", f"instances: {len(claims.instances)}", *rates_, f"seed {seed}"]
    return f"plan of the regret check: {'; '.join(parts)}"


def again(
    target: Json, stated: Json, *, budget: str, seed: int, workers: int = 1, progress: Progress = silent
) -> JsonDict:
    """Run the claims of a record again, which its target and its plan state; a draft.

    Raises
    ------
    InputError
        If its code can no longer be found, or has changed.
    """
    claims = Claims.read(stated)
    subject = RegretSubject.read(target, form_of(claims.instances))
    return check_claims(subject, claims, budget=budget, seed=seed, workers=workers, progress=progress)


def _worst_gaps(
    cells: Cells, subject: RegretSubject, rate: Rate, found: Mapping[str, FloatArray], runs: int
) -> list[float]:
    """At each x the gap with the largest mean regret: the best three of the first look get a second one."""
    left = {}
    for x in rate.values:
        tried = rates.gaps(rate.at(x, subject.setting, 0.0)[0])
        means = {gap: float(found[search_cell(rate, "first", x, gap)].mean()) for gap in tried}
        left[x] = sorted(tried, key=means.__getitem__)[-_FINALISTS:]
    ask_search(cells, subject, rate, "second", left, max(8, runs // 2))
    again = cells.run()
    return [
        max(left[x], key=lambda gap: again[search_cell(rate, "second", x, gap)].mean()) for x in rate.values
    ]


def _rate_check(
    cells: Cells, subject: RegretSubject, rate: Rate, gaps: Sequence[float], claims: Claims
) -> Check:
    population, runs = claims.population, claims.runs
    for x, gap in zip(rate.values, gaps, strict=True):
        setting, instance = at(subject, rate, x, gap, population)
        cells.ask(f"rate/{rate.over}/{x:.17g}", subject, setting, instance, runs)
    found = cells.run()
    points = [(x, found[f"rate/{rate.over}/{x:.17g}"]) for x in rate.values]
    silent_at = [x for x, values in points if not values.mean() > 0]
    if silent_at:
        raise InputError(
            f"scaling: regret must be above 0 at every {rate.over}, but it is 0 at {silent_at[0]:g}"
        )
    fixed: JsonDict = {"n_arms": subject.setting.n_arms, "horizon": subject.setting.horizon}
    fixed.pop({"T": "horizon", "K": "n_arms"}.get(rate.over, ""), None)
    if rate.over != "gap" and population is None:
        fixed["gaps"] = list(gaps)
    # Of the regret of uniform play: near 1 nothing has been learnt yet.
    fixed["shares"] = [
        round(float(values.mean()) / _uniform(*at(subject, rate, x, gap, population)), 6)
        for (x, values), gap in zip(points, gaps, strict=True)
    ]
    return scaling(
        rate.name,
        points,
        exponent=rate.exponent,
        log_power=rate.log_power,
        margin=rate.margin,
        at_most=population is not None and rate.over == "T",
        claim=rate.name,
        instance=_where(rate, population),
        over=rate.over,
        runs=runs,
        **fixed,
    )


def _where(rate: Rate, population: Population | None) -> str:
    if population is not None:
        return called(population)
    return "the worst gap at each" if rate.worst else "one arm better than the others"


def _uniform(setting: Setting, instance: TwoPoint | Population) -> float:
    if isinstance(instance, Population):
        return instance.uniform_regret(setting.horizon)
    return setting.horizon * float(instance.gaps.mean())


def _bound_checks(subject: RegretSubject, claims: Claims, found: Mapping[str, FloatArray]) -> Iterable[Check]:
    for instance in claims.instances if claims.bound is not None else ():
        values = found[f"instance/{called(instance)}"]
        yield _bound_check(subject.player, subject.setting, claims, instance, values)


def _bound_check(
    player: Player,
    setting: Setting,
    claims: Claims,
    instance: Environment | Population,
    values: FloatArray,
) -> Check:
    """The claimed bound against measured regrets."""
    bound, beta = claims.bound, claims.beta
    assert bound is not None
    limit = bound.at(instance, player, setting)
    largest = largest_gap(instance) * setting.horizon
    name = f"bound on {called(instance)}"
    common: JsonDict = {
        "least_horizon": bound.least_horizon(instance, player, setting),
        "claim": "bound",
        "instance": called(instance),
        "horizon": setting.horizon,
        "bound": limit,
        "largest": largest,
    }
    if beta is None:
        return mean_bound(name, values, **common)
    return probability(name, values > limit, probability=beta, vacuous=limit >= largest, **common)


def _tightest_check(
    cells: Cells, subject: RegretSubject, claims: Claims, progress: Progress
) -> Iterable[Check]:
    """The bound where pilot runs come nearest to it, unless the instances were given."""
    player, setting = subject.player, subject.setting
    usual = default_instances(setting.n_arms, subject.bounds)
    if claims.bound is None or list(claims.instances) != usual:
        return
    progress("where the bound is tightest")
    tried: list[tuple[float, worst_instance_search.SearchPoint]] = []
    for point in worst_instance_search.points(player, setting, claims.bound, subject.bounds):
        name = f"pilot/{point.instance.name}"
        try:
            cells.ask(name, subject, point.setting, point.instance, worst_instance_search.PILOTS)
            tried.append((float(cells.run()[name].mean()) / max(point.limit, 1e-300), point))
        except InputError:
            if not point.moved:
                raise
            cells.asked.clear()  # the code does not take this epsilon
    if not tried:
        return
    near, best = max(tried, key=lambda found: found[0])
    runs = claims.runs * (worst_instance_search.MORE if near > worst_instance_search.NEAR else 1)
    cells.ask("tightest", subject, best.setting, best.instance, runs)
    yield _bound_check(player, best.setting, claims, best.instance, cells.run()["tightest"])


def _comparison_checks(
    subject: RegretSubject, claims: Claims, found: Mapping[str, FloatArray]
) -> Iterable[Check]:
    if claims.rival is None:
        return
    for instance in claims.instances:
        yield comparison(
            f"comparison on {called(instance)}",
            found[f"instance/{called(instance)}"],
            found[f"rival/{called(instance)}"],
            factor=claims.factor,
            claim="comparison",
            instance=called(instance),
            rival=claims.rival.described,
            horizon=subject.setting.horizon,
        )
