"""Pages: a record as one self-contained HTML file, and an index over many."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from typing import TYPE_CHECKING

from verifiable_dp.compliance import blocks, nist
from verifiable_dp.core.tapes import Divergence
from verifiable_dp.core.validate import Function, Json, JsonDict, JsonValue, on_one_line, printable
from verifiable_dp.evidence import premises, upper
from verifiable_dp.evidence.check import Check, Column, Kind, in_words, kind_of
from verifiable_dp.evidence.regret import readings
from verifiable_dp.evidence.regret.linear_in_log import claimed_slope
from verifiable_dp.evidence.words import digits, p_value
from verifiable_dp.record import excerpts, kills, power_words, questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.record.signing import SignatureState
from verifiable_dp.registry.errata import REGISTERS, excerpt
from verifiable_dp.render import (
    audited,
    bounds,
    figures,
    following,
    forest,
    limits,
    parameters,
    plainly,
    plots,
    prices,
    promised,
    strength,
    strips,
    summary_card,
    tables,
    timelines,
)
from verifiable_dp.render.findings import Finding, told
from verifiable_dp.render.rendering import Rendering

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def _number(value: JsonValue) -> str:
    """As `digits`, with the sign of infinity: tables have little room."""
    return digits(value, "∞")


def _words(value: object) -> str:
    return str(value).replace("_", " ")


def _counts(verdicts: Sequence[str]) -> str:
    """How often which verdict was drawn, such as ``3 consistent, 1 vacuous``."""
    return ", ".join(f"{verdicts.count(verdict)} {_words(verdict)}" for verdict in dict.fromkeys(verdicts))


def of_claim(checks: Sequence[Check], name: str) -> str:
    """Verdicts of the checks of one claim; says so if there is none."""
    return _counts([c.verdict for c in checks if c.statistics.get("claim") == name]) or "no check"


def _by_kind(checks: Sequence[Check]) -> list[tuple[Kind, list[Check]]]:
    """Checks by their kind, in the order in which a page shows the kinds."""
    found: dict[str, list[Check]] = {}
    for check in checks:
        found.setdefault(check.kind, []).append(check)
    kinds = sorted(map(kind_of, found), key=lambda kind: (kind.rank, kind.name))
    return [(kind, found[kind.name]) for kind in kinds]


def _read(check: Check | Json) -> Check:
    """A check of a record, or one of another data file."""
    return check if isinstance(check, Check) else Check.read(check)


def _cell(column: Column, check: Check) -> str:
    """What stands in a column of a kind."""
    value = column.value(check.statistics, check.result)
    return digits(value) if isinstance(value, float) else str(value)


def _seen(value: object) -> object:
    """Texts of a record without characters that are not seen or turn the direction; ours stay as they are."""
    return printable(value) if type(value) is str else value


def _breaking(value: object) -> Markup:
    """A name or path that a short line breaks after a separator, not within a word."""
    from markupsafe import Markup, escape

    parts = re.sub(r"([/\\._:]+)(?=\w)", "\\1\n", on_one_line(str(value))).split("\n")
    return Markup("<bdi>{}</bdi>").format(Markup("<wbr/>").join(map(escape, parts)))


def _isolated(value: object) -> Markup:
    """A name, whose letters do not change the direction of what stands around it."""
    from markupsafe import Markup

    return Markup("<bdi>{}</bdi>").format(on_one_line(str(value)))


@functools.cache
def environment(finalize: Callable[[object], object] = _seen) -> Environment:
    """Of the templates, which are compiled once a process; `finalize` escapes what is shown."""
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.PackageLoader("verifiable_dp.render", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    found.globals |= {"policy": _policy, "uncounted": bounds.uncounted, "script": ""}
    found.filters |= {
        "number": _number,
        "name": _isolated,
        "breaking": _breaking,
        "p_value": p_value,
        "words": _words,
        "pairs": plainly.pairs,
        "bound": lambda checks: plots.bound([_read(check) for check in checks]),
        "limits": lambda check: limits.of(_read(check)),
        "of_claim": lambda checks, name: of_claim([_read(check) for check in checks], name),
        "counts": lambda rows: _counts([row["verdict"] for row in rows]),
        "rows": lambda table: readings.joined(table.statistics, table.result),
        "reading": readings.reading,
        "reached": lambda check: upper.reached(_read(check).statistics),
        "in_words": lambda check: in_words(_read(check)),
        "by_kind": _by_kind,
        "of_check": _cell,
        "premise": premises.in_words,
        "tested": premises.tested,
        "divergence": lambda found: Divergence(found).words if found else "",
        "claimed_slope": claimed_slope,
        "outcome": kills.OUTCOMES.get,
        "of_own": kills.of_own,
        "detected": power_words.detected,
        "power": power_words.power,
        "worth": lambda state: _WORTH.get(state, state),
        "certainty": promised.guesses,
    }
    return found


_WORTH = {"acceptable": "no objection"}  # a rule found none; readers took the other word for approval


def _policy(script: str = "") -> str:
    """What a page may load and run: its own styles and pictures, and this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"; script-src 'sha256-{digest}'" if script else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {_FORMS}{allowed}"


_FORMS = "base-uri 'none'; form-action 'none'"


def ours(text: str) -> Markup:
    """HTML that is not escaped: it is made here, and holds no text of a record that is not escaped."""
    from markupsafe import Markup

    return Markup(text)


def style(name: str = "style.css") -> Markup:
    """A style sheet or a script beside the templates."""
    return ours(resources.files("verifiable_dp.render").joinpath(f"templates/{name}").read_text("utf-8"))


_PLOTS: Mapping[str, Function[str | None]] = {
    "epsilon": plots.epsilon_bars,
    "curve": plots.hockey_stick,
    "regret": plots.regret_bounds,
    "time": timelines.over_time,
    "scaling": timelines.over_others,
    "prices": prices.prices,
    "course": timelines.loss_over_time,
    "budget": plots.budget,
    "spending": plots.spending,
    "certainty": forest.certainty,
}


_PLACED = 20  # counterexamples of a page that are drawn: each takes a quarter of a second


@functools.lru_cache(maxsize=40)
def _drawn(text: str) -> dict[str, str | None]:
    """The plots of a record by their names: a report is rendered again once its folder is complete."""
    record = Record.of(json.loads(text))
    return {name: _layouts(draw, record) for name, draw in _PLOTS.items()}


def layouts(draw: Function[str | None], *given: JsonValue) -> str | None:
    """A plot in the layouts of a desktop and of a phone, of which a page shows one; None without one."""
    return _kept(draw, json.dumps(given, sort_keys=True))


@functools.lru_cache(maxsize=400)
def _kept(draw: Function[str | None], given: str) -> str | None:
    return _layouts(draw, *json.loads(given))


def _layouts(draw: Function[str | None], *given: JsonValue) -> str | None:
    wide = draw(*given)
    if wide is None:
        return None
    return f'<div class="desk">{wide}</div><div class="phone">{draw(*given, narrow=True)}</div>'


def context(record: Record, around: summary_card.Around = summary_card.ALONE) -> JsonDict:
    """What the templates of a record are given, whatever they make of it."""
    whole = nist.Reviewed.with_blocks(record, blocks.of(record))
    first, baseline = summary_card.of(whole, around), words.is_baseline(record)
    return {
        "r": whole,
        "edition": nist.EDITION,
        "unsettled": nist.UNSETTLED,
        "card": first,
        "apart": parameters.apart(whole),
        "cut": [line.place for line in first.lines if line.more],
        "decision": decision(record),
        "interval": strips.of(record),
        "answers": questions.answers(record),
        "holes": questions.holes(record),
        "claimed": "What the audit tests it against" if baseline else "The claim",
        "around": around,
        "several": promised.several(record),
        "events": functools.partial(promised.several, record),
        "worlds": timelines.worlds,
        "tried": kills.tried(record),
        "terms": promised.terms(record) if record.claim else [],
        "check": words.check(record),
        "examples": limits.strongest_first(record),
        "said": words,
        "title": words.title(record),
        "paper": audited.origin(record),
        "audited": audited.briefly(record),
        "questions": {} if record.verdict == "refuted" else dict(following.parted(whole)[0].rows),
        "baseline": baseline,
        "plainly": plainly.summary(record),
        "findings": _findings(record),
        "leads": [line for check in record.checks for line in words.leads(check)],
        "facts": plainly.provenance(record),
    }


def _findings(record: Record) -> list[tuple[Finding, str]]:
    """Findings with what is said of each."""
    found = {(one.code, one.sentence): one for one in told(record)}.values()
    return [(one, f"{one.sentence.rstrip('.')}. To do: {one.advice}") for one in found]


def render(record: Record, *, drawn: bool = True, around: summary_card.Around = summary_card.ALONE) -> str:
    """The page of a record.

    Parameters
    ----------
    record
        A whole record; every text in it is escaped.
    drawn
        Whether there are plots; without them it takes a fraction of the time.
    around
        What lies next to the record; the page of a record alone says nothing of it.

    Returns
    -------
    str
        HTML without scripts and without external references; the same record gives the same bytes.
    """
    templates = environment()
    traced = plots.traced(record)
    page = templates.get_template("page.html.jinja").render(
        **context(record, around),
        style=style() + style("card.css") + (style("tracing.css") if traced else "") + style("hazards.css"),
        plots=_drawn(json.dumps(record.as_dict(), sort_keys=True)) if drawn else dict.fromkeys(_PLOTS),
        studied=layouts(figures.panels, around.prices["figure"]) if drawn and around.prices else None,
        unplotted=prices.missing(record),
        spent=timelines.spent(record),
        example=_example(templates, drawn, record),
        files=excerpts.files(traced, _number) if traced else [],
        costliest=max((float(row[2]) for row in traced["attribution"]), default=0.0) if traced else 0.0,
        infinity=float("inf"),
    )
    return tables.arranged(_with_contents(_with_words(page, bool(record.checks))))


def render_pack(record: Record, around: summary_card.Around = summary_card.ALONE) -> str:
    """Two pages to print: the card of a record, its open items with what is left to do, room to sign."""
    found = context(record, around)
    left = [row for row in found["r"].blocks["hazards"] if row["status"] in nist.UNSETTLED]
    return filled("pack.html.jinja", "card.css", "pack.css", **found, open=left)


def filled(template: str, *sheets: str, **given: JsonValue) -> str:
    """A page in the usual style and in these sheets, on which every row of a table is shown."""
    styled = ours("".join([style(), *map(style, sheets)]))
    return tables.arranged(environment().get_template(template).render(style=styled, **given), whole=True)


_SECTION = re.compile(r'<section id="([a-z-]+)">\s*<h2>(.*?)</h2>')


def _with_contents(page: str) -> str:
    """A page with a list of its sections; what a record says is escaped and begins none."""
    items = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in _SECTION.findall(page))
    return page.replace("<!--contents-->", f"<ul>{items}</ul>", 1)


def _with_words(page: str, explained: bool) -> str:
    """A page with the words explained that it uses; what a record says is escaped and has no marks."""
    from markupsafe import escape

    shown = page.partition("<!--words-->")[0]  # what follows is of the run, not of the audit
    found = plainly.terms(shown) if explained else []
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(said)}</dd>\n" for word, said in found)
    listed = f"<details><summary>{len(found)} terms</summary>\n<dl>\n{rows}</dl>\n</details>"
    section = f'<section id="words">\n<h2>Words</h2>\n{listed}\n</section>\n' if found else ""
    link = ' Terms are explained under <a href="#words">Words</a>.' if found else ""
    return page.replace("<!--words-->", section, 1).replace("<!--to words-->", link, 1)


def _example(templates: Environment, drawn: bool = True, record: Record | None = None) -> Function[Markup]:
    """Renders a counterexample."""
    from markupsafe import Markup

    part = templates.get_template("example.html.jinja")

    numbers = itertools.count(1)

    def example(
        found: Counterexample | Json, plot: bool = True, checks: Sequence[Check] | None = None
    ) -> Markup:
        known = Counterexample.of(found)
        pair = {"rows": [], "words": "", **known.pair}
        whole = {"event": "", "divergence": "", "releases": [], **known.as_dict(), "pair": pair}
        number = next(numbers)
        placement = None
        if plot and drawn and number <= _PLACED:
            shown = {"pair": pair, "event": whole["event"]}  # all that it shows
            placement = layouts(timelines.placement, shown, number)
        said: JsonDict = {
            "placed": timelines.placed(whole),
            "shown": words.counterexample(known, record),
            "another": "",
            "worlds": timelines.worlds(known.pair),
        }
        if record is not None and record.claim is not None:
            judged = checks or [c for c in record.checks if c.name == known.check]
            said["another"] = limits.another(known, judged, record.claimed.epsilon)
        return Markup(part.render(e=whole, drawn=placement, **said))

    return example


def render_errata(whole: Json) -> str:
    """The page of the errata's data file."""
    rows = whole["errata"]
    return filled(
        "errata.html.jinja",
        rows=rows,
        registers=REGISTERS,
        excerpt=excerpt,
        contradicted=sum(row["outcome"] == "confirmed" and row["register"] == "false" for row in rows),
        confirmed=sum(row["outcome"] == "confirmed" for row in rows),
        by_reading=sum(row["outcome"] == "by_reading" for row in rows),
        example=_example(environment()),
    )


def render_papers(rows: Sequence[Json]) -> str:
    """The page of the papers' items (`campaign.papers.rows`)."""
    papers = list(dict.fromkeys(row["paper"] for row in rows))
    return filled("papers.html.jinja", rows=rows, papers=papers)


def render_study(whole: Json) -> str:
    """The page of a study's data file; each figure is on a page of its own beside it."""
    return filled(
        "study.html.jinja", "card.css", w=whole, by_name={row["name"]: row for row in whole["statements"]}
    )


def render_figure(whole: Json, figure: Json, shown: str, before: str, after: str) -> str:
    """The page of a figure of a study, `shown` as inline SVG, with links to those before and after it."""
    return filled(
        "figure.html.jinja",
        w=whole,
        figure=figure,
        shown=ours(shown),
        before=before,
        after=after,
        title=f"{whole['study']}: {_words(figure['name']).replace('-', ' ')}",
        by_name={row["name"]: row for row in whole["statements"]},
    )


@dataclass(frozen=True)
class Beside:
    """What lies next to the records that an index lists.

    Attributes
    ----------
    errata
        Rows of the errata's data file.
    mutants
        Summary of the kill table; None without one.
    studies
        Relative address and data file of each study.
    pages
        Relative addresses of the errata and of the kill table.
    papers
        Relative address of the page of the papers' items; empty without one.
    schema
        Relative address of the JSON Schema of records; empty without one.
    """

    errata: Sequence[Json] = ()
    mutants: Json | None = None
    studies: Sequence[tuple[str, Json]] = ()
    pages: tuple[str, str] = ("", "")
    papers: str = ""
    schema: str = ""


def render_index(
    records: Sequence[Record],
    links: Sequence[str],
    beside: Beside = Beside(),
    *,
    paths: Sequence[str] = (),
    broken: Sequence[tuple[str, str]] = (),
    signatures: Sequence[SignatureState | None] = (),
) -> str:
    """The page over many records: a plain table, which a script in the page filters.

    Parameters
    ----------
    records
        Whole records.
    links
        Relative address of the page of each.
    beside
        What else the page leads to.
    paths
        Of each record's JSON file, as it is shown; none if empty. Of files with one digest each but the first
        is said to be the same record.
    broken
        Files that do not hold, and why.
    signatures
        What is known of the signature file beside each record; None where nobody looked.

    Returns
    -------
    str
        HTML without external references; the same records give the same bytes.
    """
    rows: list[JsonDict] = []
    seen: dict[str, str] = {}
    empty = [""] * len(records)
    known = signatures or [None] * len(records)
    for record, link, path, signed in zip(records, links, paths or empty, known, strict=True):
        same = seen.get(record.digest, "") if path else ""
        rows.append({**_row(record), "link": link, "path": path, "same_as": same, "signature": signed})
        seen.setdefault(record.digest, path)
    rows = _registered(rows)
    counts = Counter(row["state"] for row in rows)
    return filled(
        "index.html.jinja",
        "portfolio.css",
        **{field.name: getattr(beside, field.name) for field in fields(beside)},
        rows=rows,
        states={state: counts[state] for state in _STATES if counts[state]},
        said=words,
        undecided=kills.UNDECIDED,
        room=_ROOM,
        script=style("portfolio.js") if rows else "",
        options={name: Counter(row["facets"][name] for row in rows) for name in _FACETS},
        broken=broken,
        example=shlex.quote(paths[0]) if paths else "RECORD",
    )


_ROOM = 900  # words of records that an index shows before it folds the others
_STATES = ("refuted", "hole", "undecided", "weak", "holds", "unaudited", "baseline")


def _state(record: Record) -> str:
    """What a register sorts by: one of `_STATES`, what asks for an action first."""
    decided = decision(record)
    if decided.holes:
        return "hole"
    if words.is_baseline(record):
        return "baseline"
    if decided.weak:
        return "weak"
    if decided.short:
        return "undecided"
    known = {"refuted": "refuted", "inconclusive": "undecided", "not_refuted": "holds"}
    return known.get(decided.privacy or "", "unaudited")


def _registered(rows: Sequence[JsonDict]) -> list[JsonDict]:
    """Rows as a register has them: refuted first, each with the earlier records of its target."""
    for row in rows:
        others = [one for one in rows if one["title"] == row["title"] and one["date"] < row["date"]]
        earlier = sorted((one["date"], one["state"], one["link"]) for one in others if not one["same_as"])
        row["before"] = earlier[::-1]
    return sorted(rows, key=lambda row: _STATES.index(row["state"]))


def _flags(whole: nist.Reviewed) -> list[str]:
    """What guidance flags of a claim: for one round, and for a person with several."""
    if not words.promises(whole):
        return []
    flags = [str(row["words"]) for row in whole.blocks["guarantee"]["guidance"]]
    return [*flags, *promised.of_a_person(whole)]


def _row(record: Record) -> JsonDict:
    """What an index shows of a record."""
    whole = nist.Reviewed.with_blocks(record, blocks.of(record))
    asked = following.open_hazards(whole)
    return {
        "r": record,
        "state": _state(record),
        "holes": questions.holes(record),
        "interval": strips.of(record),
        "unit": words.changed(record) if words.promises(record) else "",
        "horizon": record.target.parameters.get("horizon") or "",
        "open": sum(part.count for part in asked),
        "grave": sum(part.grave for part in asked),
        "date": str(record.provenance.finished)[:10],
        "authors": record.declared.get("administrative", {}).get("authors", []),
        "facets": _facets(record),
        "baseline": words.is_baseline(record),
        "printed": words.is_printed(record),
        "title": words.title(record),
        "paper": audited.origin(record),
        "strength": strength.strength(record),
        "tier": record.declared.get("administrative", {}).get("tier"),
        "tried": kills.counted(record),
        "missed": kills.missed(record),
        "undecided": kills.undecided(record),
        "flags": _flags(whole),
    }


_FACETS = ("verdict", "regret", "model", "paper")


def _facets(record: Record) -> dict[str, str]:
    """What a record is filtered by, in words."""
    verdict = _words(record.verdict) if record.checks else "not checked"
    return {
        "verdict": "baseline" if words.is_baseline(record) else verdict,
        "regret": _words(record.regret.verdict) if record.regret else "not checked",
        "model": record.target.model,
        "paper": record.target.paper or "none named",
    }


HTML = Rendering("html", lambda shown: render(shown.record, around=shown.around), linked=True, ending=".html")
PACK = Rendering("pack", lambda shown: render_pack(shown.record, shown.around))
