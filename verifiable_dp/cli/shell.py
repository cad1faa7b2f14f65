"""What all commands share: how errors, progress and results are said, and options that many of them take.

Results go to stdout, progress to stderr. Exit status: 0 not refuted, 1 refuted, 2 unusable input,
3 inconclusive, 70 an error of this program.
"""

from __future__ import annotations

import functools
import os
import shlex
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from verifiable_dp._links import check_links
from verifiable_dp.core.crash import crashed
from verifiable_dp.core.steering import start_again_without

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from verifiable_dp.core.validate import Function, Given
    from verifiable_dp.record.requests import RequestEntry
    from verifiable_dp.report import Report

YOURS, RECORDS, CATALOGUE = "Audit your code", "Work with records", "Published algorithms and self-tests"
SECTIONS = (YOURS, RECORDS, CATALOGUE)  # of commands, in the order of `--help`
_COLOURS = {0: "green", 1: "red", 3: "yellow"}  # of a verdict on a terminal, by its exit status
_PATIENCE = 2.0  # seconds before progress is shown
_PAUSE = 5.0  # seconds between lines of one stage in a log


class _NoReader(Exception):
    """The output pipe was closed."""


class Option(click.Option):
    """An option that `--help` shows under a heading; see `grouped`."""

    def __init__(self, *names: Given, heading: str = "", **more: Given) -> None:
        super().__init__(*names, **more)
        self.heading = heading


def grouped(heading: str) -> Function[Callable[[Function[None]], Function[None]]]:
    """As `click.option`, of options that `--help` shows under `heading`."""
    return functools.partial(click.option, cls=Option, heading=heading)


class _Command(click.Command):
    """A command with a `section` of the list of commands, and `examples`, which end its help."""

    def __init__(
        self, *given: Given, section: str = "", examples: tuple[str, ...] = (), **more: Given
    ) -> None:
        super().__init__(*given, **more)
        self.section, self.examples = section, examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; an empty value is refused, as it would switch off what the option asks for."""
        typed = {} if ctx.resilient_parsing else self.make_parser(ctx).parse_args([*args])[0]
        for one in self.get_params(ctx):
            given = typed.get(str(one.name))
            if "" in (given if isinstance(given, list | tuple) else [given]):
                name = one.opts[-1] if isinstance(one, click.Option) else one.human_readable_name
                raise click.UsageError(f"{name} must not be empty; give a value, or leave it out")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's, under the headings of the options."""
        found: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            row = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if row is not None:
                found.setdefault(getattr(one, "heading", ""), []).append(row)
        rest = found.pop("", [])
        for heading, rows in (*found.items(), ("Other options" if found else "Options", rest)):
            with formatter.section(heading):
                formatter.write_dl(rows)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}verifiable-dp {line}\n")


class _Group(click.Group):
    """Turns unusable input into one line on stderr and exit status 2, and what is not expected into 70."""

    command_class = _Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's, by the sections of the commands."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, one in self.commands.items():
            limit = formatter.width - 6 - max(map(len, self.commands))
            found.setdefault(getattr(one, "section", ""), []).append((name, one.get_short_help_str(limit)))
        for section in SECTIONS:
            with formatter.section(section):
                formatter.write_dl(found.pop(section))
        assert not found, "each command has one of the sections"
        with formatter.section("Words"):
            from verifiable_dp.render import glossary

            formatter.write_dl(
                [(term["word"], term.get("short") or term["said"]) for term in glossary.read()]
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; without a command it shows the help and exits with 2, as click does from 8.2 on."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        ctx.obj = shlex.join(["verifiable-dp", *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """As click's, which would exit with 1, "refuted", if nobody reads the output any more."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _NoReader from None

    def main(self, *args: Given, **kwargs: Given) -> NoReturn:
        """As click's, without usage text and tracebacks."""
        from verifiable_dp.core.validate import InputError

        if not (args or "args" in kwargs) and os.name == "posix":  # as the program that was started
            start_again_without()
        kwargs["standalone_mode"] = False
        if sys.stdout is None:  # closed by whoever started this; the verdict is in the exit status
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        try:
            sys.exit(super().main(*args, **kwargs))
        except SystemExit as error:
            _check_own(error)
            raise
        except click.ClickException as error:
            _fail(error.format_message(), 2)
        except InputError as error:
            _fail(str(error), 2)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted; nothing was written", 130)
        except (_NoReader, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)  # as shells say of a program that SIGPIPE ended
        except Exception as error:  # Python's own status would be 1, refuted
            _check_output(error)
            crashed(error)


def _check_output(error: Exception) -> None:
    """End with one line if results cannot be written, as on a disk that is full: click itself writes them."""
    *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
    if (
        isinstance(error, OSError)
        and Path(innermost.f_code.co_filename).parent == Path(click.__file__).parent
    ):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"the output cannot be written: {error.strerror}", 2)


def _check_own(error: SystemExit) -> None:
    """Refuse an exit that code of the target asked for: its status is not a verdict.

    Our commands exit, and click where it completes one for a shell; nothing else is called then.
    """
    frames = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    ours = (Path(__file__).parent, Path(click.__file__).parent)
    if not all(Path(file).parent in ours for file in frames):
        from verifiable_dp.targets.guard import ended

        _fail(ended(error), 2)


def say(line: str) -> None:
    """Say a line of results; whatever it says of a record or a target, it stays one line."""
    from verifiable_dp.core.validate import on_one_line

    click.echo(on_one_line(line))


def aside(line: str) -> None:
    """As `say`, on stderr."""
    from verifiable_dp.core.validate import on_one_line

    click.echo(on_one_line(line), err=True)


def _fail(message: str, status: int) -> NoReturn:
    aside(f"verifiable-dp: {' '.join(message.split())}")
    sys.exit(status)


@contextmanager
def _results_apart() -> Iterator[None]:
    """What is written to the descriptor of stdout meanwhile, as by C code, goes to stderr."""
    import ctypes

    sys.stdout.flush()
    try:
        ours = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # closed
        yield
        return
    try:
        yield
    finally:
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).fflush(None)
        os.dup2(ours, 1)
        os.close(ours)


@contextmanager
def progressing(scheduler: str | None = None, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A spinner with the current stage on stderr, from the third second on; work goes to the scheduler.

    If `quiet`, nothing is shown.

    A log gets the first line of a stage, which its first word tells from others, then few, and the last.
    An interrupt that some library underneath loses is raised again at the next stage.
    """
    from verifiable_dp.core import engine
    from verifiable_dp.core.validate import on_one_line

    start, shown, interrupted = time.monotonic(), False, False
    stage, said, waiting = "", 0.0, ""

    @functools.cache
    def console() -> Console:
        from rich.console import Console  # most commands end before there is anything to show

        return Console(stderr=True, quiet=quiet)

    @functools.cache
    def status() -> Status:
        return console().status("")

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    def show(message: str) -> None:
        nonlocal shown, stage, said, waiting
        if interrupted:
            raise KeyboardInterrupt
        now = time.monotonic()
        if now - start <= _PATIENCE:
            return
        from rich.markup import escape

        from verifiable_dp.targets.guard import MARK

        line = f"{escape(on_one_line(message))} … {now - start:.0f} s"
        words = message.removeprefix(MARK).split(maxsplit=1)
        if console().is_terminal:
            if not shown:
                status().start()
            status().update(line)
        elif words[:1] != [stage] or now - said >= _PAUSE:
            log(line)
            stage, said, waiting = words[0] if words else "", now, ""
        else:
            waiting = line
        shown = True

    def log(line: str) -> None:
        console().print(line, highlight=False, soft_wrap=True)

    ours = threading.current_thread() is threading.main_thread()  # others cannot set handlers
    before = signal.signal(signal.SIGINT, interrupt) if ours else None
    try:
        with _results_apart(), engine.on(scheduler):
            yield show
        if interrupted:
            raise KeyboardInterrupt
        if waiting:
            log(waiting)
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        if shown and console().is_terminal:
            status().stop()


def seeded(function: Function[None]) -> Function[None]:
    """Add --seed and --workers."""
    options = [
        click.option(
            "--seed",
            type=int,
            default=0,
            show_default=True,
            help="The same seed gives the same counts.",
        ),
        click.option(
            "--workers",
            type=int,
            default=1,
            show_default=True,
            help="Number of worker processes; does not change the results.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def scheduler_option(function: Function[None]) -> Function[None]:
    """Add --scheduler."""
    return click.option(
        "--scheduler", metavar="ADDRESS", help="Use the workers of the Dask scheduler at this address."
    )(function)


PATH = click.Path(dir_okay=False, path_type=Path)
FILE = click.Path(path_type=Path)  # what is wrong with it is said by whoever reads it


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="verifiable-dp")
def main() -> None:
    """Test the privacy and regret claims of bandits and other randomised algorithms.

    Start with `verifiable-dp demo`. Exit status: 0 not refuted, 1 refuted, 2 unusable input, 3 inconclusive,
    70 an error in this program.
    """
    check_links(Path(__file__).parents[1])


@dataclass(frozen=True)
class Outputs:
    """The files that a report is written to, each in its form."""

    json_path: Path | None = None
    html_path: Path | None = None
    sarif_path: Path | None = None
    verbose: bool = False
    quiet: bool = False

    def check(self) -> None:
        """Refuse unwritable paths before any work is done, and remove what an earlier audit wrote there."""
        from verifiable_dp.core.files import remove

        paths = (self.json_path, self.html_path, self.sarif_path)
        check_outputs(*paths)
        remove("path", *(path for path in paths if path is not None))

    def write(self, report: Report) -> None:
        """Write the report in each form for which there is a path."""
        from verifiable_dp.core.files import write_text

        if self.json_path is not None:
            write_text(self.json_path, report.to_json())
        if self.html_path is not None:
            write_text(self.html_path, report.to_html())
        if self.sarif_path is not None:
            from verifiable_dp.render.sarif import to_sarif

            write_text(self.sarif_path, to_sarif(report.parsed))

    def conclude(self, report: Report) -> None:
        """Write the report and show it, if its record holds as it is read again.

        Raises
        ------
        RuntimeError
            If it does not: that is a fault of ours.
        InputError
            If somebody else wrote to its file meanwhile.
        """
        from verifiable_dp.core.validate import InputError
        from verifiable_dp.record import verify

        written = report.to_json()
        try:
            verify.verify(verify.parsed("the report", written.encode()))
        except InputError as error:
            raise RuntimeError(f"the new record is invalid: {error}") from error
        self.write(report)
        if self.json_path is not None and self.json_path.read_text("utf-8") != written:
            raise InputError(
                f"json: {str(self.json_path)!r} no longer contains the record that we wrote to it"
            )
        again = None if self.json_path else click.get_current_context().obj
        shown = report.summary if self.verbose else report.brief
        said = report.line() if self.quiet else shown(self.json_path, again=again)
        first, newline, rest = said.partition("\n")
        if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            first = click.style(first, fg=_COLOURS[report.decision.exit_code])
        click.echo(first + newline + rest)


def output_options(function: Function[None]) -> Function[None]:
    """Add the files that a report is written to, as one argument `outputs`."""

    @functools.wraps(function)
    def command(
        json_path: Path | None,
        html_path: Path | None,
        sarif_path: Path | None,
        verbose: bool,
        quiet: bool,
        **given: Given,
    ) -> None:
        function(outputs=Outputs(json_path, html_path, sarif_path, verbose, quiet), **given)

    option = grouped("Output")

    shown: Function[None] = command
    for added in (
        option("-q", "--quiet", is_flag=True, help="Show a single line and no progress."),
        option("-v", "--verbose", is_flag=True, help="Show every check, finding and note."),
        option("--sarif", "sarif_path", type=PATH, help="Write findings to this file (SARIF 2.1.0)."),
        option("--html", "html_path", type=PATH, help="Write a self-contained page to this file."),
        option("--json", "json_path", type=PATH, help="Write the record to this file."),
    ):
        shown = added(shown)
    return shown


def declarations_option(function: Function[None]) -> Function[None]:
    """Add --declarations."""
    return click.option(
        "--declarations",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="TOML file that describes your deployment; `init` writes a template.",
    )(function)


def check_outputs(*paths: Path | None) -> None:
    """Make the folders of outputs, and refuse unwritable paths before any work is done."""
    from verifiable_dp.core.files import check_writable, make_folder

    for path in paths:
        if path is not None:
            make_folder("path", path.parent)
            check_writable(path)


checkpoint_option = click.option(
    "--checkpoint",
    type=PATH,
    metavar="FILE",
    help="Save finished steps in FILE so that an interrupted command can continue.",
)


def request_options(function: Function[None]) -> Function[None]:
    """Add --ask and --request."""
    for option in (
        click.option(
            "--request",
            type=PATH,
            metavar="FILE",
            help="Answer the request in FILE; if FILE does not exist, write it before any code runs.",
        ),
        click.option(
            "--ask",
            type=PATH,
            metavar="FILE",
            help="Write the request to FILE and stop without running any code.",
        ),
    ):
        function = option(function)
    return function


key_option = click.option(
    "--key",
    type=FILE,
    multiple=True,
    metavar="NAME.pub|FOLDER",
    help="Check signatures with this Ed25519 public key, or with the keys in a folder.",
)


def origin_options(function: Function[None]) -> Function[None]:
    """Add --source, --commit and --max-age."""
    for option in (
        click.option("--max-age", default="", metavar="30d", help="Accept only records at most this old."),
        click.option(
            "--commit",
            default="",
            metavar="SHA",
            help="Accept only records made from this commit, with no uncommitted changes.",
        ),
        click.option(
            "--source",
            type=click.Path(path_type=Path),
            metavar="FOLDER",
            help="Accept only records whose code matches the files in FOLDER; no code is run.",
        ),
    ):
        function = option(function)
    return function


def write_request(new: RequestEntry, path: Path) -> None:
    """Write a request and say its digest.

    Raises
    ------
    InputError
        If it cannot be written, or is there already.
    """
    from verifiable_dp.core.files import write_text
    from verifiable_dp.core.validate import InputError

    if os.path.lexists(path):
        raise InputError(f"ask: {str(path)!r} already exists; we do not overwrite it")
    write_text(path, new.written())
    say(f"{new.digest}  {path}")


require_option = click.option(
    "--require",
    type=click.Choice(["detectable", "tested-paths", "every-path", "certified"]),  # `passing.REQUIRED`
    default="detectable",
    show_default=True,
    help="Weakest evidence that gives exit status 0: samples (detectable), or an upper bound with the named "
    "scope.",
)


def falls_short(report: Report, *requires: str) -> bool:
    """Whether what is not refuted rests on less than any requires; then that is said, and the status is 3."""
    from verifiable_dp.record import passing

    require = passing.strictest(*requires)
    short = report.decision.short_of(require)
    if short:
        is_open = report.decision.ground is None
        what = "is undecided" if is_open else f"is not refuted, but the evidence is only {short}"
        aside(f"not enough evidence: {report.name} {what}; {require} is required")
    return bool(short)


def lack_privacy(reports: Iterable[Report], require: str) -> bool:
    """Whether evidence on privacy is required and no report has any; that is said, and the status is 3."""
    from verifiable_dp.record import passing

    lacking = passing.without_privacy((one.decision for one in reports), require)
    if lacking:
        aside(f"not enough evidence: no record is about privacy; {require} is required")
    return lacking


in_process_option = click.option(
    "--in-process",
    is_flag=True,
    help="Run your code in this process, for debugging; it can then end the audit.",
)


cage_option = click.option(
    "--cage",
    type=click.Choice(["required", "best", "none"]),
    default="none",
    show_default=True,
    help="Run your code without access to the network, other processes or files (Linux only). If the system "
    "cannot do this, fail (required) or do what is possible (best).",
)


def forget(checkpoint: Path | None) -> None:
    """Remove a checkpoint whose result is saved."""
    if checkpoint is not None:
        from verifiable_dp.auditing import resume

        resume.forget(checkpoint)
