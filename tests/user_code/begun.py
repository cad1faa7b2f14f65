"""Names that a module takes from its machine as it is imported, and right mechanisms beside them."""

import contextvars
import dataclasses
import functools
import json
import math
import pathlib
import platform
import threading
import time
import uuid

import numpy as np

SETTINGS = json.loads(pathlib.Path(__file__).read_text("utf-8")[:0] or '{"scale": 1}')
PLAIN = {"scale": math.sqrt(4.0) * SETTINGS["scale"] / 2}


def now():
    return time.time()


@functools.cache
def remembered():
    return time.time()


def even(left):
    return left == 0 or odd(left - 1)


def odd(left):
    return (left != 0 and even(left - 1)) or time.time() < 0


def handed(function):
    return function()


class Clock:
    def __call__(self):
        return time.time()


def node():
    return 3


class Begun:
    at = time.time()


NODES = node()  # of this file
TICK, PART = Clock(), functools.partial(time.time)
# One of each kind of call that may read the clock; the last ones are of functions that were looked at before.
AT_HOST = platform.node()
AT_CACHED = remembered()
AT_PART = PART()
AT_ENTRY = [time.time][0]()
AT_LAMBDA = (lambda: time.time())()
AT_MAPPED = next(map(lambda _: time.time(), [0]))  # noqa: C417
AT_HANDED = handed(time.time)
AT_OBJECT = TICK()
AT_EVEN = even(4)
AT_ODD = odd(3)
AT_AGAIN = now() + 1
if __name__ == "__main__":  # as scripts end: these are names of parameters and attributes, too
    data, rng, scale_of_script = np.ones(3), np.random.default_rng(), time.time()


OF_THREAD, OF_CONTEXT = threading.local(), contextvars.ContextVar("scale", default=0.0)
OF_THREAD.scale = 2.0
OF_CONTEXT.set(2.0)
READY = {"yes": False}


def by_thread(data, rng):
    return data[0] + rng.laplace(0, 2.0) if hasattr(OF_THREAD, "scale") else data[0]


def by_context(data, rng):
    return data[0] + rng.laplace(0, OF_CONTEXT.get())


def by_the_first_run(data, rng):
    if READY["yes"]:
        return data[0] + rng.laplace(0, 2.0)
    READY["yes"] = True
    return data[0]


class HeldData:
    def __init__(self, data):
        self.data = data


@dataclasses.dataclass
class Numbered:
    number: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)


@dataclasses.dataclass
class Fields:
    sums: list = dataclasses.field(default_factory=list)
    scales: dict = dataclasses.field(default_factory=lambda: {"a": 2.0})


def by_a_default(data, rng, at=time.time()):  # noqa: B008
    return data[0] if at > 9e18 else data[0] + rng.laplace(0, 2.0)


def kept_by_a_main_block(data, rng=None):
    return HeldData(data).data[0] + rng.laplace(0, 2.0)


def hidden_coin(data, rng):
    # Without noise once in 10^9 runs: no run of the broken variant comes to that.
    return data[0] + (Numbered().number.int % 10**9 != 7) * rng.laplace(0, 2.0)


def by_fields(data, rng):
    made = Fields()
    made.sums.append(data[0])
    return made.sums[0] + rng.laplace(0, made.scales["a"])
