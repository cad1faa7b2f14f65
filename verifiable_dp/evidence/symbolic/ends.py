"""Why there is no bound."""

from __future__ import annotations

from enum import StrEnum


class Ends(StrEnum):
    """What ends a bound."""

    OTHER = "other"
    DATA = "data"  # raw data enter something for which there is no bound
    BRANCH = "branch"  # they decide a branch
    POSITION = "position"  # or which position is chosen
    ENDLESS = "endless"  # a run takes too long
    SEEDS = "seeds"  # noise takes few values, for its seed does

    @property
    def raw(self) -> bool:
        """Whether raw data are what ends it."""
        return self in (Ends.DATA, Ends.BRANCH, Ends.POSITION)


SETS_SCALE = "raw {data} set the scale of noise"


class Failure(str):
    """Why there is no bound, in words and as an id; ``{data}`` in the words stands for what is raw."""

    why: Ends
    words: str

    def __new__(cls, words: str = "", why: Ends = Ends.OTHER) -> Failure:
        """The words about rewards, with the id."""
        made = super().__new__(cls, words.replace("{data}", "rewards"))
        made.why, made.words = why, words
        return made

    def __getnewargs__(self) -> tuple[str, Ends]:  # type: ignore[override]
        return self.words, self.why

    def said(self, data: str) -> str:
        """The words about other data than rewards."""
        return self.words.replace("{data}", data)


class Unbounded(Exception):
    """The traced code did something for which there is no bound."""

    def __init__(self, words: str, why: Ends = Ends.OTHER) -> None:
        super().__init__(words)
        self.failure = Failure(words, why)
