"""Code that runs in another process: what an audit asks of it is asked there.

An audit runs where no code of its target does. What it calls with the target's code is marked by `there`: for
code of another process the same call is made in that process, and what it gives comes back as plain numbers
and texts, whose form is checked. Which calls are made, on which inputs, by which seeds and how often is
decided here, and so is all that follows from them.
"""

from __future__ import annotations

import functools
import io
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeGuard, TypeVar, cast

import msgspec
import numpy as np

from verifiable_dp.core import engine
from verifiable_dp.core.contexts import AheadError
from verifiable_dp.core.limits import LateError
from verifiable_dp.core.validate import Foreign, Function, Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.targets.child import Ask
from verifiable_dp.targets.line import EndedError, Frame, Questions, StoppedError
from verifiable_dp.targets.load import Elsewhere, is_known
from verifiable_dp.targets.process import ProcessTarget
from verifiable_dp.targets.sent import NUMBERS, as_json, of_json

Call = TypeVar("Call", bound=Function[object])
Read = Callable[[Foreign, Sequence[Given]], object]
Tell = Callable[[Foreign], object]
Heard = Function[None]  # is called with the sampler, the pair, the path, the sizes, the part and its rows
_MOST_ARRAYS = 2  # in an answer
_FACTS = ("one_at_a_time", "takes_contexts")  # attributes of functions that are told
OWN = "own_randomness"  # which a command declares
_ERRORS: dict[str, type[InputError]] = {"AheadError": AheadError, "LateError": LateError}
_UNREADABLE = "target: its process sent an answer that we cannot read"


def there(read: Read, tell: Tell | None = None) -> Callable[[Call], Call]:
    """Mark a call that is made where the code is that its first argument is, or samples.

    Parameters
    ----------
    read
        Makes of plain values, or of arrays, and of the arguments what the call returns; what is in no form
        for it raises.
    tell
        Makes plain values of what the call returns, where it is made; None where it returns such.
    """

    def marked(call: Call) -> Call:
        @functools.wraps(call)
        def made(*arguments: Given, **named: Given) -> Foreign:
            far = far_of(arguments[0])
            return call(*arguments, **named) if far is None else far.called(made, arguments, named)

        vars(made).update(read=read, tell=tell)
        return cast(Call, made)

    return marked


def exactly(kind: object) -> Read:
    """Reads values of one type, as msgspec knows them: nothing is converted."""
    return lambda told, arguments: msgspec.convert(told, kind)


def function(told: Foreign, arguments: Sequence[Given]) -> FarFunction:
    """Reads a function that stays where it is."""
    if not isinstance(told, FarFunction):
        raise TypeError
    return told


def far_of(thing: object) -> Far | None:
    """The process of a function, or of a sampler or another thing with a function; None: this one."""
    held = thing if isinstance(thing, FarFunction) else getattr(thing, "function", None)
    return held.far if isinstance(held, FarFunction) else None


def function_of_kind(told: Foreign, arguments: Sequence[Given]) -> tuple[str, FarFunction]:
    """Reads a function that stays where it is, and its kind."""
    kind, found = told
    return msgspec.convert(kind, str), function(found, arguments)


def is_process(function: object) -> TypeGuard[ProcessTarget]:
    """Whether code is a command, here or where it runs: it is not Python that can be followed."""
    return function.far.command if isinstance(function, FarFunction) else isinstance(function, ProcessTarget)


def draws_by_itself(function: object) -> bool:
    """Whether code is a command that declares to draw from the system, and not by the seeds it is given."""
    return is_process(function) and bool(function.own_randomness)


@dataclass(frozen=True)
class FarFunction(Elsewhere):
    """A function in another process.

    Attributes
    ----------
    far, number
        Of which, and which.
    facts
        What is known of it, as attributes.
    """

    far: Far = field(compare=False)
    number: int
    facts: Mapping[str, object] = field(compare=False)

    @property
    def own(self) -> bool:
        """Whether it is the target itself, which is told of first; variants of it come later."""
        return self.number == 0

    def __call__(self) -> None:
        """Call it there; for what it does, not for what it gives."""
        self.far.called(_do, (self,), {})

    def __getattr__(self, name: str) -> Foreign:
        """A fact."""
        if name.startswith("_") or name not in self.facts:
            raise AttributeError(name)
        return self.facts[name]

    def __reduce__(self) -> tuple[Function[Foreign], tuple[int]]:
        """Where it is, it is itself."""
        return _Served.function, (self.number,)


class _Served:
    """Functions of this process that another one speaks of."""

    known: ClassVar[list[Foreign]] = []

    @classmethod
    def function(cls, number: int) -> Foreign:
        return cls.known[number]

    @classmethod
    def number(cls, one: Foreign) -> int:
        found = next((i for i, known in enumerate(cls.known) if known is one), len(cls.known))
        cls.known += [one] * (found == len(cls.known))
        return found


@there(exactly(None))
def _do(one: Function[Foreign]) -> None:
    one()


# ---------------------------------------------------------------- where it is asked


@dataclass(eq=False)
class Far:
    """The process of a target, as an audit asks it.

    Parameters
    ----------
    questions
        To it.
    given
        Objects that it has, too: those that were given before it was made.
    command
        Whether the target is a command, and no Python.

    Attributes
    ----------
    heard
        Is called with the sampler, the pair, the path, the sizes, the part and the rows of each part of runs.
    """

    questions: Questions
    given: Sequence[Given] = ()
    command: bool = False
    heard: Heard | None = None

    def introduced(self) -> tuple[str, dict[str, FarFunction]]:
        """The kind of the target, and the functions that its process tells of first, by name."""
        try:
            told = self._raised(self.questions.ready)
            kind, functions = msgspec.convert(told["kind"], str), ("function", "again", "target")
            found = {name: self._named(told[name]) for name in functions if name in told}
            found["function"]
            return kind, found
        except (InputError, EndedError):
            raise
        except Exception:  # values of a stranger, in whatever form
            raise EndedError(_UNREADABLE) from None

    def _named(self, told: Json) -> FarFunction:
        """A function, as its process tells of it."""
        facts: JsonDict = {name: told["facts"].get(name) is True for name in (*_FACTS, OWN)}
        stated = told["facts"].get("neighbours")
        if stated is not None:
            facts["neighbours"] = [tuple(map(self._side, pair)) for pair in stated]
        return FarFunction(self, msgspec.convert(told["function"], int), facts)

    def _side(self, told: Json) -> Given:
        return msgspec.convert(told, FarData) if "held" in told else of_json(told)

    def called(self, call: Foreign, arguments: Sequence[Given], named: Mapping[str, Given]) -> Foreign:
        """What a call gives that is made there.

        Raises
        ------
        InputError
            If it raises it there.
        EndedError
            If it gives nothing that can be read.
        """
        answer = self._asked(("call", call, tuple(arguments), dict(named)), _MOST_ARRAYS)
        frames = list(self._frames())
        texts = getattr(arguments[0], "texts", None)
        try:
            if isinstance(texts, dict) and "texts" in answer:
                texts.update(msgspec.convert(answer["texts"], dict[int, str], strict=False))
            return call.read(self._told(answer, frames), arguments)
        except EndedError:
            raise
        except Exception:  # values of a stranger, in whatever form
            raise EndedError(_UNREADABLE) from None

    def rows(
        self,
        sampler: Given,
        pair: Given,
        path: tuple[int, int],
        sizes: tuple[int, int],
        starts: tuple[int, int],
        workers: int,
        parts: int,
    ) -> Iterator[tuple[int, Foreign]]:
        """What comes out of runs in so many parts, each with its number and as an array, in any order."""
        self._asked(("rows", sampler, pair, path, sizes, starts, workers), parts)
        said = engine.within_stage(parts)
        for done, (header, content) in enumerate(self._frames(), 1):
            try:
                place, width = (msgspec.convert(header[name], int) for name in ("part", "width"))
                rows = np.frombuffer(content, sampler.small).reshape(-1, width)
            except Exception:
                raise EndedError(_UNREADABLE) from None
            yield place, rows
            said(done)

    def _told(self, answer: Json, frames: Sequence[Frame]) -> Foreign:
        if "function" in answer:
            return self._named(answer)
        if "kind" in answer:
            return answer["kind"], self._named(answer["of"])
        if "arrays" not in answer:
            return answer["value"]
        found = [_array(header, content) for header, content in frames]
        return found if answer["arrays"] == "some" else found[0]

    def _asked(self, question: Given, most: int) -> Json:
        """The answer to a question, to which so many frames belong at most."""
        answer = self._raised(self.questions.ask(self.pickled(question)))
        if answer.get("frames", 0) > most:
            raise EndedError(_UNREADABLE)
        return answer

    def _raised(self, answer: JsonDict) -> JsonDict:
        """An answer that is no error."""
        if "refused" in answer:
            raise _ERRORS.get(str(answer.get("error")), InputError)(str(answer["refused"])[:2000])
        return answer

    def _frames(self) -> Iterator[Frame]:
        try:
            yield from self.questions.frames()
        except StoppedError:
            self._raised(self.questions.answer())
            raise EndedError(_UNREADABLE) from None

    def pickled(self, question: Given) -> bytes:
        """What is sent there: functions of the target, and objects that both have, as what they are there."""
        file = io.BytesIO()
        try:
            _Pickler(file, self.given).dump(question)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"pairs: we cannot send their data to the target's process ({error}); give numbers, "
                "arrays or objects that can be pickled, or set in_process=True"
            ) from None
        return file.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, given: Sequence[Given]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._known = {id(one): number for number, one in enumerate(given)}

    def persistent_id(self, one: Given) -> int | None:
        """Its number, of an object that is in both processes."""
        return self._known.get(id(one))


def _array(header: Json, content: bytes) -> Foreign:
    kind = np.dtype(str(header["of"]))
    if kind.kind not in NUMBERS:
        raise TypeError
    return np.frombuffer(content, kind).reshape(msgspec.convert(header["shape"], list[int]))


@dataclass(frozen=True)
class FarData:
    """Data in another process that have no form here.

    Attributes
    ----------
    held
        Which, of those that it holds.
    words
        In words.
    """

    held: int
    words: str

    def __array__(self, dtype: Given = None, copy: Given = None) -> Foreign:
        """Their words."""
        return np.array(self.words, dtype)

    def __reduce__(self) -> tuple[Function[Foreign], tuple[int]]:
        """Where they are, they are themselves."""
        return _Served.function, (self.held,)


# ---------------------------------------------------------------- where it runs


def introduced(target: Json) -> JsonDict:
    """What is told first: names and values; functions are told as such, and known by number from then on."""
    _Served.known = []
    return {name: one if isinstance(one, str) else _told_of(one) for name, one in target.items()}


def serve(target: Json, given: Sequence[Given], ask: Ask) -> JsonValue:
    """Make what calls are asked for, until nothing more is asked; what it took.

    Parameters
    ----------
    target
        See `introduced`.
    given
        See `Far`.
    ask
        Asks for the next question.
    """
    begun, message = time.process_time(), dict[str, Foreign]()
    frames: Iterator[Frame] = iter(())
    while True:
        try:
            question = ask(message or introduced(target), frames)
            if not question:
                return {"cpu_seconds": time.process_time() - begun}
            message, frames = _answer(unpickled(question, given))
        except InputError as error:
            message, frames = {"refused": str(error), "error": type(error).__name__}, iter(())


def unpickled(question: bytes, given: Sequence[Given]) -> Given:
    """What `Far.pickled` has pickled, where the code is."""
    return _Unpickler(io.BytesIO(question), given).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, given: Sequence[Given]) -> None:
        super().__init__(file)
        self._given = given

    def persistent_load(self, number: Given) -> Foreign:
        """The object of a number."""
        return self._given[number]


def _answer(question: Given) -> tuple[JsonDict, Iterator[Frame]]:
    kind, *more = question
    if kind == "rows":
        return _rows(*more)
    call, arguments, named = more
    found = call(*arguments, **named)
    texts = getattr(arguments[0], "texts", None)
    told = {"texts": texts} if texts else {}
    if isinstance(found, np.ndarray):
        return {"arrays": "one", "frames": 1, **told}, iter([_frame(found)])
    if isinstance(found, list) and found and all(isinstance(one, np.ndarray) for one in found):
        return {"arrays": "some", "frames": len(found), **told}, map(_frame, found)
    if call.tell is not None:
        return {"value": msgspec.to_builtins(call.tell(found))}, iter(())
    if callable(found):
        return _told_of(found), iter(())
    if isinstance(found, tuple) and len(found) == 2 and callable(found[1]):
        return {"kind": found[0], "of": _told_of(found[1])}, iter(())
    return {"value": msgspec.to_builtins(found)}, iter(())


def _frame(found: Foreign) -> Frame:
    return {"of": found.dtype.str, "shape": list(found.shape)}, np.ascontiguousarray(found).tobytes()


def _rows(
    sampler: Given,
    pair: Given,
    path: tuple[int, int],
    sizes: tuple[int, int],
    starts: tuple[int, int],
    workers: int,
) -> tuple[JsonDict, Iterator[Frame]]:
    parts, made = sampler.parts(pair, path, sizes, starts, workers)
    return {"frames": parts}, (
        ({"part": place, "width": rows.shape[1]}, np.ascontiguousarray(rows).tobytes())
        for place, rows in made
    )


def _told_of(one: Foreign) -> JsonDict:
    """A function, and what is known of it."""
    number = _Served.number(one)
    facts: JsonDict = {name: True for name in _FACTS if is_known(one, name)}
    facts |= {OWN: True} if draws_by_itself(one) else {}
    stated = getattr(one, "neighbours", None)
    if stated is not None:
        try:
            facts["neighbours"] = [[_side(side) for side in pair] for pair in stated]
        except TypeError:
            raise InputError(
                f"neighbours must be a list of pairs (left, right) of data, got {stated!r}"
            ) from None
    return {"function": number, "facts": facts}


def _side(data: Given) -> JsonDict:
    return as_json(data) or {"held": _Served.number(data), "words": str(data)[:80]}
