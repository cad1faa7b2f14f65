"""An environment whose rewards are those of a table, for code that pulls arms by itself.

It has the attributes and methods that environments of bandits have by custom. Each pull pays the next round's
reward and is recorded; the pull of the last round ends the run. Means are given as .5: the code learns of a
reward only by earning it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verifiable_dp.core import outputs
from verifiable_dp.core.outputs import WHOLE, OddError
from verifiable_dp.core.validate import Foreign, InputError

PULLS = (
    *("pull", "pull_arm", "step", "draw", "draw_arm", "draw_reward", "sample", "sample_reward", "get_reward"),
    *("getReward", "reward", "play", "play_arm", "generate_reward", "feedback", "give_reward", "take_action"),
    *("respond", "query", "act", "sample_arm", "execute", "generate", "reward_fn", "reward_func"),
    "reward_function",
)
_COUNTS = (
    *("K", "k", "n_arms", "nb_arms", "nbArms", "num_arms", "n_actions", "narms", "n", "n_bandits"),
    *("num_actions", "number_of_arms"),
)
_HORIZONS = ("horizon", "T", "n_rounds", "rounds", "num_rounds", "n_steps", "max_steps")
_VECTORS = (
    "means",
    "mu",
    "probs",
    "probabilities",
    "p",
    "true_means",
    "arm_means",
    "theta",
    "expected_rewards",
)
_NUMBERS = ("best_mean", "max_mean", "mu_star", "optimal_mean", "best_reward", "mu_max", "optimal_reward")
_MEAN_OF = ("mean", "get_mean", "expected_reward", "mean_reward", "get_expected_reward")
_PLACES = ("best_arm", "optimal_arm", "best_action", "optimal_action")
_NOTHING = ("seed", "close", "render", "update", "log", "record")
_REGRETS = ("regret", "get_regret", "pseudo_regret", "gap")
NO_MEANS = (*_VECTORS, *_NUMBERS, *_MEAN_OF, "gaps")
KNOWN = (*PULLS, *_COUNTS, *_HORIZONS, *NO_MEANS, *_PLACES, *_NOTHING, *_REGRETS, "arms", "actions", "reset")

_ARM_WORDS = frozenset(
    (
        *(
            "arm",
            "action",
            "a",
            "i",
            "j",
            "k",
            "idx",
            "index",
            "choice",
            "chosen",
            "chosen_arm",
            "selected_arm",
        ),
        *("arm_id", "arm_index", "arm_idx", "selected", "best", "pulled_arm", "played_arm", "a_t", "act"),
    )
)
_REWARD_WORDS = frozenset(("reward", "r", "rew", "payoff", "rw", "rewards", "x", "value", "r_t", "outcome"))


class Finished(BaseException):
    """The last round was played. Not an `Exception`, so that the code does not catch it."""


@dataclass(frozen=True)
class Usage:
    """How code takes what a method of an environment gives.

    Attributes
    ----------
    names
        Of the variables that it unpacks the result into; empty if it takes the result whole.
    arguments
        Names of what it gives by place.
    awaited
        Whether it awaits the result.
    element
        The element that it takes of the result; None for the whole.
    """

    names: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    awaited: bool = False
    element: int | None = None

    def packed(self, reward: Foreign, method: str) -> Foreign:
        """The reward as the code expects it."""
        width = len(self.names)
        if self.element is not None:
            width = max(self.element + 1, 4 if method == "step" else 1)
        if not width:
            return reward
        place = self.place(method)
        return tuple(reward if at == place else self._beside(at) for at in range(width))

    def place(self, method: str) -> int:
        """Where the reward is."""
        if self.element is not None:
            return 1 if method == "step" else self.element
        named = [at for at, name in enumerate(self.names) if name.lstrip("_").lower() in _REWARD_WORDS]
        called = [at for at, name in enumerate(self.names) if "reward" in name.lower()]
        return (named or called or [0 if len(self.names) < 3 else 1])[0]

    def _beside(self, at: int) -> Foreign:
        name = self.names[at] if at < len(self.names) else ""
        last = at == max(len(self.names), 4) - 1 and at >= 3
        if "info" in name or last:
            return {}
        return False if name in ("done", "terminated", "truncated", "terminal", "finished") else 0


@dataclass
class TableWorld:
    """One run: the table, and the arms that were pulled.

    Parameters
    ----------
    rewards : (T, K)
        Of the rounds.
    usages
        How the code calls the environment, by method.
    contexts : (T, …) or None
        Of the rounds.
    """

    rewards: Foreign
    usages: Mapping[str, Usage] = field(default_factory=dict)
    contexts: Foreign = None

    def __post_init__(self) -> None:
        self.horizon, self.n_arms = self.rewards.shape
        self.pulled: list[Foreign] = []
        self.followed = outputs.is_followed(type(self.rewards))
        self.forms: dict[int, int] = {}  # of arms that were not pulled as plain whole numbers, by round
        self.refused: InputError | None = None
        self.guessed: set[int] = set()  # arms that a call did not name as such
        self.means: list[float] = []  # that were handed over, different for each arm

    @property
    def listed(self) -> Foreign:
        """The arms as a list: of numbers, or of arms that can be pulled if the code does so."""
        return Arms(self) if self.usages.get("[]") else list(range(self.n_arms))

    def paid(self, arm: Foreign) -> Foreign:
        """The reward of the next round.

        Raises
        ------
        InputError
            If there is no such arm, or it can show a reader more than that.
        """
        kind = type(arm)
        if kind is int:  # most are
            chosen = arm
        elif self.followed and getattr(kind, "is_own", None) and arm.is_own:  # nobody else is told which
            self.pulled.append(arm)
            return self.rewards[len(self.pulled) - 1, arm]
        else:
            chosen, form = self._read(arm)
        if not 0 <= chosen < self.n_arms:
            raise self._refused(f"target: arms must lie in 0 .. {self.n_arms - 1}, got arm {chosen}")
        if kind is not int and kind is not Arm:
            self.forms[len(self.pulled)] = form
        self.pulled.append(chosen)
        reward = self.rewards[len(self.pulled) - 1, chosen]
        # As a service gets it: counts that NumPy's own numbers are added to cannot be written as JSON.
        return float(reward) if type(reward) is np.float64 else reward

    def _read(self, arm: Foreign) -> tuple[int, int]:
        """Which arm it is, and a number for how that is said."""
        if type(arm) is Arm and vars(arm).keys() == {"world"} and arm.world is self:
            return int(arm), 0
        form = WHOLE.get(id(type(arm)))
        if form is not None:
            return int(arm), form
        try:
            form = outputs.form(arm, outputs.of_followed if self.followed else None)
        except OddError as odd:
            raise self._refused(f"target: an arm must be a whole number, got {odd}") from None
        if np.size(arm) != 1:
            raise self._refused(f"target: each pull must be of one arm, got {arm!r}")
        one = arm if np.ndim(arm) == 0 else np.ravel(arm)[0]
        if type(one) in (str, np.str_) or not (self.followed or one == np.floor(one)):
            raise self._refused(f"target: an arm must be a whole number, got {one!r}")
        return int(one), outputs.signed(form, one)

    def _refused(self, words: str) -> Exception:
        """The error, which is kept: code may catch it. Where code is followed, nothing is known any more."""
        self.refused = self.refused or InputError(words)
        stop = getattr(getattr(self.rewards, "world", None), "stop", None) if self.followed else None
        return self.refused if stop is None else stop(words)

    def pull(self, arm: Foreign, method: str = "pull") -> Foreign:
        """The reward of the next round as the code expects it; the run ends with the last one."""
        if len(self.pulled) >= self.horizon:
            raise Finished
        reward = self.paid(arm)
        if len(self.pulled) == self.horizon:
            raise Finished
        usage = self.usages.get(method, Usage())
        found = usage.packed(reward, method)
        return _awaitable(found) if usage.awaited else found

    def arm_of(self, method: str, args: tuple[Foreign, ...], named: Mapping[str, Foreign]) -> Foreign:
        """Which argument of a pull is the arm.

        Raises
        ------
        InputError
            If that cannot be told.
        """
        by_name = [value for name, value in named.items() if name in _ARM_WORDS]
        if by_name:
            return by_name[0]
        numbers = [value for value in args if _is_whole(value)]
        if len(numbers) > 1:
            words = self.usages.get(method, Usage()).arguments
            numbers = [value for value, word in zip(args, words, strict=False) if word in _ARM_WORDS]
        if len(numbers) != 1:
            raise self._refused(
                f"target: {method} of the environment was called with {len(args)} arguments, none of "
                "which we recognise as the arm; call the arm's variable arm, action or index"
            )
        return numbers[0]


async def _awaitable(value: Foreign) -> Foreign:
    return value


def _is_whole(value: Foreign) -> bool:
    return isinstance(value, int | np.integer) or (
        isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iu"
    )


class TableEnvironment:
    """What code is given as its environment.

    Parameters
    ----------
    world
        Of the run.
    rng
        For what the code draws from the space of actions.
    """

    def __init__(self, world: TableWorld, rng: Foreign) -> None:
        self._world, self._rng = world, rng

    def __len__(self) -> int:
        return int(self._world.n_arms)

    def __getitem__(self, arm: int) -> Arm:
        return Arms(self._world)[arm]

    def __call__(self, *args: Foreign, **named: Foreign) -> Foreign:
        """As a function: a pull."""
        return self.pull(*args, **named)

    def reset(self, *args: Foreign, **named: Foreign) -> Foreign:
        """Nothing starts again: each reward is paid once."""
        usage = self._world.usages.get("reset", Usage())
        found: Foreign = (0, {}) if len(usage.names) == 2 or usage.element is not None else 0
        return _awaitable(found) if usage.awaited else found

    @property
    def unwrapped(self) -> TableEnvironment:
        """Itself."""
        return self

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_"):
            raise AttributeError(name)
        return _answer(self._world, name, self._rng)


def _answer(world: TableWorld, name: str, rng: Foreign = None) -> Foreign:
    """An attribute or a method of an environment.

    Raises
    ------
    AttributeError
        If environments have none of that name by custom.
    """
    if name in PULLS:
        return lambda *args, **named: world.pull(world.arm_of(name, args, named), name)
    if name in ("action_space", "observation_space"):
        return Space(world, rng)
    constants: dict[tuple[str, ...], Callable[[], Foreign]] = {
        _COUNTS: lambda: world.n_arms,
        _HORIZONS: lambda: world.horizon,
        _VECTORS: lambda: np.full(world.n_arms, 0.5),
        ("gaps",): lambda: np.zeros(world.n_arms),
        _NUMBERS: lambda: 0.5,
        _PLACES: lambda: 0,
        _MEAN_OF: lambda: lambda *args, **named: 0.5,
        _REGRETS: lambda: lambda *args, **named: 0.0,
        _NOTHING: lambda: lambda *args, **named: None,
        ("arms",): lambda: Arms(world),
        ("actions",): lambda: list(range(world.n_arms)),
    }
    for names, value in constants.items():
        if name in names:
            return value()
    raise AskedError(
        f"target: its code asks the environment for {name}, but the environment that we pass has only "
        f"{', '.join(KNOWN)}; to audit the code with its own environment, give --reward file.py:function, "
        "the function that returns a reward"
    )


class AskedError(InputError, AttributeError):
    """What an environment is asked for and has not; an `AttributeError` too, so that `hasattr` works."""


@dataclass(frozen=True)
class Space:
    """The space of actions, as gym has it."""

    world: TableWorld
    rng: Foreign

    @property
    def n(self) -> int:
        """Number of actions."""
        return int(self.world.n_arms)

    def sample(self) -> int:
        """A random action."""
        return int(self.rng.integers(self.world.n_arms))


class Arm(int):
    """The number of an arm, which can also be pulled."""

    world: TableWorld
    mean = mu = p = 0.5

    def __getattr__(self, name: str) -> Foreign:
        if name not in PULLS:
            raise AttributeError(name)
        return lambda *args, **named: self.world.pull(self, name)

    def __call__(self, *args: Foreign, **named: Foreign) -> Foreign:
        """A pull."""
        return self.world.pull(self, "pull")


class Arms(list[Arm]):
    """All arms, with what an environment has.

    Parameters
    ----------
    world
        Of the run.
    """

    def __init__(self, world: TableWorld) -> None:
        super().__init__(Arm(number) for number in range(world.n_arms))
        for arm in self:
            arm.world = world
        self.world = world

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("_") or name == "world":
            raise AttributeError(name)
        return _answer(self.world, name)


# ---------------------------------------------------------------- how code calls


def usages_of(files: Iterable[str], own: Iterable[str] = (), payer: str = "") -> dict[str, Usage]:
    """How the code in `files` calls methods of environments, by method; what `own` names hold comes first.

    The method ``[]`` says that elements of a list are pulled; `payer` is the name of a function of the code
    that pays.
    """
    found: dict[str, Usage] = {}
    names = frozenset(own)
    for file in files:
        tree = _tree(file)
        if tree is None:
            continue
        inside = [node for node in ast.walk(tree) if getattr(node, "name", None) in names]
        for part in (*inside, tree):
            for method, usage in _usages(part, payer):
                found.setdefault(method, usage)
    return found


@functools.lru_cache(maxsize=64)
def _tree(file: str) -> ast.AST | None:
    try:
        return ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _usages(tree: ast.AST, payer: str) -> Iterator[tuple[str, Usage]]:
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    unpacked = {
        node.value.id: _words(node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and _words(node.targets[0])
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method, on = _called(node.func)
        if method != payer and (method not in (*PULLS, "reset") or on == "self"):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Subscript) or (on in _ARM_WORDS and not node.args):
            yield "[]", Usage()
        yield method, _usage(node, parents, unpacked)


def _usage(
    call: ast.Call, parents: Mapping[ast.AST, ast.AST], unpacked: Mapping[str, tuple[str, ...]]
) -> Usage:
    arguments = tuple(_word(argument) for argument in call.args)
    place: ast.AST = call
    awaited = isinstance(parents.get(call), ast.Await)
    if awaited:
        place = parents[call]
    above = parents.get(place)
    if isinstance(above, ast.Subscript) and above.value is place and isinstance(above.slice, ast.Constant):
        element = above.slice.value
        return Usage((), arguments, awaited, element if isinstance(element, int) and element >= 0 else None)
    names: tuple[str, ...] = ()
    if isinstance(above, ast.Assign):
        target = above.targets[0]
        names = unpacked.get(target.id, ()) if isinstance(target, ast.Name) else _words(target)
    return Usage(names, arguments, awaited)


def _words(target: ast.AST) -> tuple[str, ...]:
    """Names in a tuple that a value is unpacked into; empty for any other target."""
    return tuple(_word(item) for item in target.elts) if isinstance(target, ast.Tuple | ast.List) else ()


def _word(node: ast.AST) -> str:
    """The last name of an expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript | ast.Starred):
        return _word(node.value)
    if isinstance(node, ast.Call) and node.args:  # int(arm)
        return _word(node.args[0])
    return ""


def _called(function: ast.AST) -> tuple[str, str]:
    """Name of the method and of what it is called on."""
    if isinstance(function, ast.Attribute):
        return function.attr, _word(function.value)
    return (function.id, "") if isinstance(function, ast.Name) else ("", "")
