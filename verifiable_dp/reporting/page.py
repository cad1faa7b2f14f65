"""Pages: a record as one self-contained HTML file, and an index over many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from verifiable_dp.reporting import plots
from verifiable_dp.reporting.record import p_value_in_words

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


def _pairs(value: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {item}" for key, item in value.items())


def _bound(checks: Sequence[Mapping[str, Any]]) -> float:
    return max((float(c["result"].get("epsilon_lower", 0.0)) for c in checks), default=0.0)


def _of_claim(checks: Sequence[Mapping[str, Any]], name: str) -> str:
    """Verdicts of the checks of one claim; says so if there is none."""
    found = [c["result"]["verdict"] for c in checks if c["statistics"].get("claim") == name]
    counts = {verdict: found.count(verdict) for verdict in dict.fromkeys(found)}
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "no check"


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
        "pairs": _pairs,
        "bound": _bound,
        "of_claim": _of_claim,
    }
    return found


def _style() -> Any:
    from markupsafe import Markup

    text = resources.files("verifiable_dp.reporting").joinpath("templates/style.css").read_text("utf-8")
    return Markup(text)  # ours, not the record's


def _is_baseline(record: Mapping[str, Any]) -> bool:
    return str(record["target"]["note"]).startswith("non-private baseline")


def render(record: Mapping[str, Any]) -> str:
    """The page of a record.

    Parameters
    ----------
    record
        A whole record; every text in it is escaped.

    Returns
    -------
    str
        HTML without scripts and without external references; the same record gives the same bytes.
    """
    from markupsafe import Markup

    environment = _environment()
    part = environment.get_template("example.html.jinja")
    drawn = {
        "epsilon": plots.epsilon_bars(record),
        "regret": plots.regret_bounds(record),
        "growth": plots.growth(record),
    }

    def example(found: Mapping[str, Any]) -> Markup:
        whole = {"event": "", "divergence": "", "releases": [], **found}
        whole["pair"] = {"rows": [], "words": "", **found.get("pair", {})}
        return Markup(part.render(e=whole))

    return environment.get_template("page.html.jinja").render(
        r=record, style=_style(), plots=drawn, baseline=_is_baseline(record), example=example
    )


def render_index(records: Sequence[Mapping[str, Any]], links: Sequence[str]) -> str:
    """The index page.

    Parameters
    ----------
    records
        Whole records.
    links
        Relative address of the page of each.
    """
    rows = []
    for record, link in zip(records, links, strict=True):
        checks = record["regret"]["checks"] if record["regret"] else []
        bounds = {c["statistics"].get("instance"): c for c in checks if c["kind"] == "mean_bound"}
        comparisons = [
            c for c in checks if c["kind"] == "comparison" and c["statistics"].get("instance") in bounds
        ]
        rows.append(
            {
                "r": record,
                "link": link,
                "baseline": _is_baseline(record),
                "caught": sum(m["verdict"] in ("refuted", "contradicted") for m in record["mutants"]),
                "bounds": bounds,
                "comparisons": comparisons,
            }
        )
    return _environment().get_template("index.html.jinja").render(rows=rows, style=_style())
