"""Pages: a record as one self-contained HTML file, and an index over many."""

from __future__ import annotations

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from verifiable_dp.reporting import courses, excerpts, plainly, plots, tables
from verifiable_dp.reporting.words import (
    found_on,
    is_baseline,
    is_lead_only,
    is_printed,
    p_value_in_words,
    title,
)

if TYPE_CHECKING:
    from jinja2 import Environment


def _number(value: Any) -> str:
    """Four significant digits; whole numbers whole; infinities as signs."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    number = float(value)
    if number != number:
        return "undefined"
    if number in (float("inf"), float("-inf")):
        return "∞" if number > 0 else "-∞"
    if number == int(number) and abs(number) < 1e7:
        return str(int(number))
    return f"{number:.4g}"


def _words(value: Any) -> str:
    return str(value).replace("_", " ")


def _bound(checks: Sequence[Mapping[str, Any]]) -> float:
    return max((float(c["result"].get("epsilon_lower", 0.0)) for c in checks), default=0.0)


def _counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many rows have which verdict, such as ``3 consistent, 1 vacuous``."""
    verdicts = [row["verdict"] for row in rows]
    return ", ".join(f"{verdicts.count(verdict)} {_words(verdict)}" for verdict in dict.fromkeys(verdicts))


def of_claim(checks: Sequence[Mapping[str, Any]], name: str) -> str:
    """Verdicts of the checks of one claim; says so if there is none."""
    found = [c["result"]["verdict"] for c in checks if c["statistics"].get("claim") == name]
    counts = {verdict: found.count(verdict) for verdict in dict.fromkeys(found)}
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "no check"


def measured(check: Mapping[str, Any]) -> str:
    """The numbers that a check of any kind comes down to, in a few words."""
    numbers, result = check["statistics"], check["result"]
    if check["kind"] == "statement":
        return f"{_number(numbers['value'])}, to be {numbers['relation']} {_number(numbers['limit'])}"
    if check["kind"] in ("tracing", "alignment"):
        lead = ": a lead only, as actions alone are seen" if is_lead_only(check) else ""
        return f"cost {_number(numbers['max_cost'])} against epsilon {_number(numbers['epsilon'])}{lead}"
    if check["kind"] in ("black_box", "numerics"):
        return (
            f"{numbers['k1']} of {numbers['n1']} against {numbers['k0']} of {numbers['n0']}: "
            f"{_bounded(check)}"
        )
    if check["kind"] == "exact":
        return (
            f"exact epsilon of the actions {_number(result['epsilon_lower'])} "
            f"against {_number(numbers['epsilon'])}"
        )
    if check["kind"] == "sequential":
        return f"{numbers['runs']} runs, {result['looks']} looks: {_bounded(check)}"
    if check["kind"] == "curve":
        return f"{len(numbers['points'])} points of {numbers['runs']} runs a side: {_bounded(check)}"
    if check["kind"] == "scaling":
        between = 2 * numbers["confidence"] - 1  # each limit holds with that confidence
        return (
            f"exponent {_number(result['slope'])}, {100 * between:g} % interval "
            f"[{_number(result['lower_limit'])}, "
            f"{_number(result['upper_limit'])}], claimed {_number(numbers['exponent'])}"
        )
    if check["kind"] == "mean_at_least":
        return (
            f"mean {_number(numbers['mean'])} of {numbers['n']} runs, 95 % interval "
            f"[{_number(result['lower'])}, {_number(result['upper'])}], "
            f"claimed at least {_number(numbers['bound'])}"
        )
    if check["kind"] == "linear_in_log":
        return (
            f"slope {_number(result['slope'])} in log x, 95 % interval [{_number(result['lower'])}, "
            f"{_number(result['upper'])}]{claimed_slope(numbers)}; "
            f"bend {_number(result['bend'])}, at most {_number(numbers['curvature'])} if straight"
        )
    if check["kind"] == "probability":
        return f"{numbers['failures']} of {numbers['n']}, claimed at most {_number(numbers['probability'])}"
    return ", ".join(f"{key} {_number(value)}" for key, value in result.items() if isinstance(value, float))


def _bounded(check: Mapping[str, Any]) -> str:
    """What a statistical check of privacy bounds."""
    numbers, result = check["statistics"], check["result"]
    return (
        f"epsilon at least {_number(result['epsilon_lower'])} against {_number(numbers['epsilon'])}, "
        f"p-value {p_value_in_words(result['p_value'])}"
    )


def claimed_slope(numbers: Mapping[str, Any]) -> str:
    """What is claimed of a leading constant, in words; empty if nothing is."""
    if numbers["most_slope"] is not None:
        return f", claimed at most {_number(numbers['most_slope'])} + {_number(numbers['margin'])}"
    if numbers["slope"] is not None:
        return f", claimed {_number(numbers['slope'])} ± {_number(numbers['margin'])}"
    return ""


def _environment() -> Environment:
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.PackageLoader("verifiable_dp.reporting", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "number": _number,
        "p_value": p_value_in_words,
        "words": _words,
        "pairs": plainly.pairs,
        "bound": _bound,
        "of_claim": of_claim,
        "counts": _counts,
        "rows": tables.joined,
        "reading": tables.reading,
        "measured": measured,
        "claimed_slope": claimed_slope,
    }
    return found


_SCROLLS = re.compile(r'<div class="scroll">(\s*<table[^>]*>\s*<caption>(.*?)</caption>)', re.DOTALL)


def reachable(page: str, *, apart: bool = False) -> str:
    """A page whose wide tables can be scrolled with the keyboard, each named as its caption.

    Its plots share their glyphs, unless they are to stand `apart`.
    """

    def region(found: re.Match[str]) -> str:
        # What a record says is escaped already, so that tags are the template's.
        name = " ".join(re.sub(r"<[^>]*>", "", found[2]).replace('"', "&#34;").split())
        return f'<div class="scroll" role="group" tabindex="0" aria-label="{name}">{found[1]}'

    page = _SCROLLS.sub(region, page)
    return page if apart else plots.share_glyphs(page)


def _style(name: str = "style.css") -> Any:
    from markupsafe import Markup

    text = resources.files("verifiable_dp.reporting").joinpath(f"templates/{name}").read_text("utf-8")
    return Markup(text)  # ours, not the record's


_PLOTS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "epsilon": plots.epsilon_bars,
    "curve": plots.hockey_stick,
    "regret": plots.regret_bounds,
    "growth": plots.growth,
    "constants": plots.constants,
    "scaling": courses.scaling_fit,
    "course": courses.loss_over_time,
    "budget": plots.budget,
    "spending": plots.spending,
}


def render(record: Mapping[str, Any], *, apart: bool = False, drawn: bool = True) -> str:
    """The page of a record.

    Parameters
    ----------
    record
        A whole record; every text in it is escaped.
    apart
        Whether every plot holds all that it draws, for programs that look at each by itself; otherwise
        plots share their glyphs, and the page is smaller.
    drawn
        Whether there are plots; without them it takes a fraction of the time.

    Returns
    -------
    str
        HTML without scripts and without external references; the same record gives the same bytes.
    """
    environment = _environment()
    traced = plots.traced(record)
    page = environment.get_template("page.html.jinja").render(
        r=record,
        style=_style()
        + (_style("tracing.css") if traced else "")
        + (_style("hazards.css") if "hazards" in record else ""),
        plots={name: draw(record) if drawn else None for name, draw in _PLOTS.items()},
        spent=courses.spent(record),
        baseline=is_baseline(record),
        printed=is_printed(record),
        title=title(record),
        example=_example(environment, drawn, record),
        files=excerpts.files(traced, _number) if traced else [],
        costliest=max((float(row[2]) for row in traced["attribution"]), default=0.0) if traced else 0.0,
        infinity=float("inf"),
        plainly=plainly.summary(record),
        facts=plainly.provenance(record),
    )
    return reachable(_with_words(page, bool(record["checks"])), apart=apart)


def _with_words(page: str, explained: bool) -> str:
    """A page with the words explained that it uses; what a record says is escaped and has no marks."""
    from markupsafe import escape

    shown = page.partition("<!--words-->")[0]  # what follows is of the run, not of the audit
    found = plainly.terms(shown) if explained else []
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(said)}</dd>\n" for word, said in found)
    section = f'<section id="words">\n<h2>Words</h2>\n<dl>\n{rows}</dl>\n</section>\n' if found else ""
    link = ' <a href="#words">Words</a> below explains the terms.' if found else ""
    return page.replace("<!--words-->", section, 1).replace("<!--to words-->", link, 1)


def _example(
    environment: Environment, drawn: bool = True, record: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Renders a counterexample."""
    from markupsafe import Markup

    part = environment.get_template("example.html.jinja")

    numbers = itertools.count(1)

    def example(found: Mapping[str, Any], plot: bool = True) -> Any:
        whole = {"event": "", "divergence": "", "releases": [], **found}
        whole["pair"] = {"rows": [], "words": "", **found.get("pair", {})}
        placement = courses.placement(found, next(numbers)) if plot and drawn else None
        said = {"placed": courses.placed(found), "place": found_on(found, record)}
        return Markup(part.render(e=whole, drawn=placement, **said))

    return example


def render_errata(whole: Mapping[str, Any]) -> str:
    """The page of the errata's data file."""
    environment, rows = _environment(), whole["errata"]
    return reachable(
        environment.get_template("errata.html.jinja").render(
            rows=rows,
            style=_style(),
            confirmed=sum(row["outcome"] == "confirmed" for row in rows),
            by_reading=sum(row["outcome"] == "by_reading" for row in rows),
            example=_example(environment),
        )
    )


def render_study(whole: Mapping[str, Any], shown: Mapping[str, str]) -> str:
    """The page of a study's data file; `shown` holds the inline SVG of its figures by name."""
    return reachable(
        _environment()
        .get_template("study.html.jinja")
        .render(
            w=whole,
            shown=shown,
            style=_style(),
            by_name={row["name"]: row for row in whole["statements"]},
        )
    )


def render_index(
    records: Sequence[Mapping[str, Any]],
    links: Sequence[str],
    errata: Sequence[Mapping[str, Any]] = (),
    mutants: Mapping[str, Any] | None = None,
    studies: Sequence[Mapping[str, Any]] = (),
    *,
    paths: Sequence[str] = (),
    broken: Sequence[tuple[str, str]] = (),
    base: str = "",
    schemas: bool = False,
) -> str:
    """The page over many records: a plain table, which a script in the page filters.

    Parameters
    ----------
    records
        Whole records.
    links
        Relative address of the page of each.
    errata
        Rows of the errata's data file.
    mutants
        Summary of the kill table; None without one.
    studies
        Data files of studies.
    paths
        Of each record's JSON file, as it is shown; none if empty. Of files with one digest each but the first
        is said to be the same record.
    broken
        Files that do not hold, and why.
    base
        Relative address of the folder of the errata, the mutation suite and the studies, such as ``../``.
    schemas
        Whether that folder has the JSON Schemas.

    Returns
    -------
    str
        HTML without external references; the same records give the same bytes.
    """
    rows: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for record, link, path in zip(records, links, paths or [""] * len(records), strict=True):
        checks = record["regret"]["checks"] if record["regret"] else []
        bounds = {c["statistics"].get("instance"): c for c in checks if c["kind"] == "mean_bound"}
        comparisons = [
            c
            for c in checks
            if c["statistics"].get("claim") == "section-5" and c["statistics"].get("instance") in bounds
        ]
        rows.append(
            {
                "r": record,
                "link": link,
                "path": path,
                "same_as": seen.get(record["digest"], "") if path else "",
                "facets": _facets(record),
                "baseline": is_baseline(record),
                "printed": is_printed(record),
                "title": title(record),
                "caught": sum(m["verdict"] in ("refuted", "contradicted") for m in record["mutants"]),
                "worse": [m for m in record["mutants"] if m["breaks"] == "regret"],
                "bounds": bounds,
                "comparisons": comparisons,
            }
        )
        seen.setdefault(record["digest"], path)
    return reachable(
        _environment()
        .get_template("index.html.jinja")
        .render(
            rows=rows,
            style=_style() + _style("portfolio.css"),
            script=_style("portfolio.js"),
            options={name: Counter(row["facets"][name] for row in rows) for name in _FACETS},
            errata=errata,
            mutants=mutants,
            studies=studies,
            broken=broken,
            base=base,
            schemas=schemas,
            example=shlex.quote(paths[0]) if paths else "RECORD",
        )
    )


_FACETS = ("verdict", "regret", "model", "paper")


def _facets(record: Mapping[str, Any]) -> dict[str, str]:
    """What a record is filtered by, in words."""
    verdict = _words(record["verdict"]) if record["checks"] else "not checked"
    return {
        "verdict": "baseline" if is_baseline(record) else verdict,
        "regret": _words(record["regret"]["verdict"]) if record["regret"] else "not checked",
        "model": str(record["target"]["model"]),
        "paper": str(record["target"]["paper"]) or "none named",
    }
