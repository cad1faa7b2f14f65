"""No bound where the import of a file has taken something from its machine, its hour or its process.

Broken variant: all names count as settled, so that each of these programs has a bound of one process.
Control: what is set follows from the files alone.
"""

import importlib
import itertools
import sys

import pytest

from verifiable_dp.core import asked
from verifiable_dp.evidence.judge import flow, imports, language, libraries, values
from verifiable_dp.evidence.symbolic.paths import Program, explore

RELEASE = "def release(data, rng):\n    return data[0] + rng.laplace(0, {})\n"
NUMBERS = itertools.count()

# What is set, and the scale of the noise.
TAKEN = {
    "an entry": ("C = {'s': 2.0}\nC['s'] = float(os.environ.get('S', 2))", "C['s']"),
    "update": ("C = {'s': 2.0}\nC.update(s=float(os.environ.get('S', 2)))", "C['s']"),
    "an attribute": ("C = types.SimpleNamespace(s=2.0)\nC.s = float(os.environ.get('S', 2))", "C.s"),
    "global": ("C = 2.0\ndef set_it():\n    global C\n    C = float(os.environ.get('S', 2))\nset_it()", "C"),
    "a loop": ("C = {'s': 2.0}\nfor k in C:\n    C[k] = float(os.environ.get(k, C[k]))", "C['s']"),
    "append": ("C = []\nC.append(float(os.environ.get('S', 2)))", "C[0]"),
    "a class": ("class C:\n    s = 2.0\nC.s = float(os.environ.get('S', 2))", "C.s"),
    "an import that may fail": (
        "try:\n    import cupy\n    C = True\nexcept ImportError:\n    C = False",
        "0.0 if C else 2.0",
    ),
    "what could not be imported": (
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None",
        "2.0 if cupy is None else 0.0",
    ),
    "a program": ("C = {'s': 2.0}\nif __name__ == '__main__':\n    C['s'] = 0.0", "C['s']"),
    "a branch": ("C = {'s': 2.0}\nif os.environ.get('DEBUG'):\n    C['s'] = 0.0", "C['s']"),
    "clear": ("C = {'s': 2.0}\nif time.time() > 2.1e9:\n    C.clear()", "C.get('s', 0.0)"),
    "a method": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\n    def load(self):\n"
        "        self.s = float(os.environ.get('S', 2))\nC = K()\nC.load()",
        "C.s",
    ),
    "a class method": (
        "class K:\n    def __init__(self, s):\n        self.s = s\n    @classmethod\n    def load(cls):\n"
        "        return cls(float(os.environ.get('S', 2)))\nC = K.load()",
        "C.s",
    ),
    "an array": ("C = np.full(3, 2.0)\nC[0] = float(os.environ.get('S', 2))", "C[0]"),
    "an argument": (
        "C = {'s': 2.0}\ndef set_it(c):\n    c['s'] = float(os.environ.get('S', 2))\nset_it(C)",
        "C['s']",
    ),
    "setdefault": ("C = {}\nC.setdefault('s', 0.0 if os.environ.get('X') else 2.0)", "C['s']"),
    "one function of two": (
        "if sys.platform == 'win32':\n    def s():\n        return 0.0\n"
        "else:\n    def s():\n        return 2.0",
        "s()",
    ),
    "one class of two": (
        "if os.environ.get('X'):\n    class K:\n        s = 0.0\n"
        "else:\n    class K:\n        s = 2.0\nC = K()",
        "C.s",
    ),
    "an import of two": (
        "try:\n    from cupy import sqrt\nexcept ImportError:\n    from math import sqrt",
        "sqrt(4.0)",
    ),
    "insert": (
        "def a():\n    return 2.0\ndef b():\n    return 0.0\nC = [a]\n"
        "C.insert(0, b if os.environ.get('X') else a)",
        "C[0]()",
    ),
    "globals": ("C = 2.0\nglobals()['C'] = float(os.environ.get('S', 2))", "C"),
    "what globals gives": ("C = 2.0\nglobals().update(C=float(os.environ.get('S', 2)))", "C"),
    "its own module": ("C = 2.0\nsys.modules[__name__].C = float(os.environ.get('S', 2))", "C"),
    "a comprehension": (
        "C = [2.0]\n[C.append(float(v)) for v in os.environ.get('SCALES', '').split()]",
        "C[-1]",
    ),
    "another name": ("C = {'s': 2.0}\nD = C\nD['s'] = float(os.environ.get('S', 2))", "C['s']"),
    "what holds it": ("I = {'s': 2.0}\nC = {'i': I}\nI['s'] = float(os.environ.get('S', 2))", "C['i']['s']"),
    "copyto": ("C = np.full(3, 2.0)\nnp.copyto(C, float(os.environ.get('S', 2)))", "C[0]"),
    "a date of pandas": (
        "import pandas as pd\nC = 0.0 if pd.Timestamp('10:00').year > 9000 else 2.0",
        "C",
    ),
    "an assert": ("C = [0.0, 2.0]\nassert C.pop(0) == 0.0", "C[0]"),
    "setattr": ("class C:\n    s = 2.0\nsetattr(C, 's', float(os.environ.get('S', 2)))", "C.s"),
    "a draw": ("C = 0.0 if np.random.default_rng().random() < 1e-9 else 2.0", "C"),
    "a draw of a generator": ("R = np.random.default_rng()\nC = 0.0 if R.random() < 1e-9 else 2.0", "C"),
    "a part of a library by its name": (
        "from sys import platform\nC = 0.0 if platform == 'win32' else 2.0",
        "C",
    ),
    "a draw of a method": (
        "class K:\n    def __init__(self):\n        self.r = np.random.default_rng()\n"
        "        self.s = 0.0 if self.r.random() < 1e-9 else 2.0\nC = K()",
        "C.s",
    ),
    "a draw of a library": ("from scipy import stats\nC = 2.0 + (stats.norm.rvs() > 9)", "C"),
    "what a library draws by itself": (
        "from scipy import stats\nS = stats.bootstrap((np.arange(9.0),), np.mean, n_resamples=9)\n"
        "C = 2.0 + (S.standard_error > 9)",
        "C",
    ),
    "what a generator without seed begins with": (
        "import random\nC = 2.0 + (random.SystemRandom().random() > 9)",
        "C",
    ),
    "keys that two may have": (
        "def common(a, b):\n    return a & b\n"
        "C = {'a': 2.0, 'b': 2.0}[next(iter(common({'a': 1, 'b': 2}.keys(), ['b', 'a'])))]",
        "C",
    ),
    "what a generated method calls": (
        "import dataclasses\ndef later(how):\n    return dataclasses.field(default_factory=how)\n"
        "@dataclasses.dataclass\nclass K:\n    s: float = later(time.time)\nC = 2.0 + 0 * K().s",
        "C",
    ),
    "a draw of an inner function": (
        "R = np.random.default_rng()\ndef make():\n    def drawn():\n        return R.random()\n"
        "    return 0.0 if drawn() < 1e-9 else 2.0\nC = make()",
        "C",
    ),
    "a draw of a lambda": (
        "R = np.random.default_rng()\nC = 2.0 + (max([1], key=lambda _: R.random()) > 9)",
        "C",
    ),
    "a timer": (
        "import threading\nC = [2.0]\ndef later():\n    C[0] = 0.0\nTIMER = threading.Timer(9e9, later)",
        "C[0]",
    ),
    "a thread": (
        "import threading\nC = [2.0]\nclass K(threading.Thread):\n    def run(self):\n"
        "        C[0] = 0.0\nK()",
        "C[0]",
    ),
    "secrets": ("import secrets\nC = 2.0 if secrets.randbelow(10**9) else 0.0", "C"),
    "a chosen seed": ("C = (0.0, 2.0)[int(np.random.default_rng().integers(1, 2))]", "C"),
    "a list of a set": ("C = list({'a', 'b', 'c'})", "2.0 + 0.0 * C.index('a')"),
    "places of a set": ("C = {n: i for i, n in enumerate({'a', 'b', 'c'})}", "2.0 + C['a']"),
    "the first of a set": ("N = {'a', 'b', 'c'}\nC = next(iter(N))", "2.0 if C != 'd' else 0.0"),
    "what memory held": ("C = np.empty(3)\nC[:2] = 2.0", "2.0 + 0.0 * C[0]"),
    "an optional decorator": (
        "def plain(f):\n    return f\ndeco = plain if os.environ.get('X') else plain\n"
        "@deco\ndef s():\n    return 2.0",
        "s()",
    ),
    "a decorator that chooses": (
        "def maybe(f):\n    return f if not os.environ.get('X') else (lambda: 0.0)\n"
        "@maybe\ndef s():\n    return 2.0",
        "s()",
    ),
    "what a handler sets": (
        "C = {'s': 0.0}\ntry:\n    os.environ['EXACT']\nexcept KeyError:\n    C['s'] = 2.0",
        "C['s']",
    ),
    "a cell": (
        "def make(s):\n    def scale():\n        return s\n    return scale\n"
        "C = make(float(os.environ.get('S', 2)))",
        "C()",
    ),
    "a log level": ("import logging\nlog = logging.getLogger('payroll')", "0.0 if log.level else 2.0"),
    "a root logger": ("import logging", "0.0 if logging.root.level == 7 else 2.0"),
    "options": ("import pandas as pd", "0.0 if pd.options.display.precision == 7 else 2.0"),
    "a version": ("import sklearn", "0.0 if sklearn.__version__ == '7' else 2.0"),
}
RIGHT = {
    "an assert of a size": ("C = [2.0]\nassert len(C) == 1 and C[0] > 0.0", "C[0]"),
    "constants": ("C = {'s': 2.0}\nC['t'] = 1.0\nC.update(u=3.0)", "C['s']"),
    "a function": ("def made():\n    return {'s': math.sqrt(4.0)}\nC = made()", "C['s']"),
    "a generator": ("R = np.random.default_rng()\nC = 2.0", "C"),
    "functions by name": (
        "R = np.random.default_rng()\ndef other():\n    return R.laplace()\ndef two():\n    return 2.0\n"
        "T = {'a': other}\nC = {'s': two}",
        "C['s']()",
    ),
    "an object with its generator": (
        "class K:\n    def __init__(self, s):\n        self.s, self.r = s, np.random.default_rng()\n"
        "    def draw(self):\n        return self.r.laplace()\nC = K(2.0)",
        "C.s",
    ),
    "an object that is given functions": (
        "R = np.random.default_rng()\ndef two():\n    return 2.0 + 0 * len([R])\nclass K:\n"
        "    def __init__(self, rules):\n        self.rules = rules\nC = K([two])",
        "2.0 + 0 * len(C.rules)",
    ),
    "sorted names": ("C = sorted({'b', 'a'})\nN = len({'a', 'b'})", "2.0 + 0 * C.index('a')"),
    "a lock": ("import threading\nLOCK = threading.Lock()\nC = 2.0", "C"),
    "a set": ("C = {'a', 'b'}", "2.0 + 0 * ('a' in C)"),
    "what fails everywhere or nowhere": (
        "C = {'s': 0.0}\ntry:\n    C['t']\nexcept KeyError:\n    C['s'] = 2.0",
        "C['s']",
    ),
    "a decorator": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g():\n        return 2 * f()\n"
        "    return g\n@twice\ndef s():\n    return 1.0",
        "s()",
    ),
    "a file that has to be there": (
        "try:\n    import numpy\nexcept ImportError:\n    raise SystemExit('pip install numpy')\nC = 2.0",
        "C",
    ),
    "a main block": (
        "C = {'s': 2.0}\nif __name__ == '__main__':\n    print(C['s'], C.get('t'), sum(C.values()))\n"
        "    print(vars(types))\n"
        "    data = np.zeros(3)\n    data[0] = time.time()",
        "C['s']",
    ),
    "settings that others read": (
        "C = 2.0\nif os.environ.get('DEBUG'):\n    np.set_printoptions(precision=3)",
        "C",
    ),
    "an array": ("C = np.arange(4, dtype=float)\nC[0] = 2.0\nC.sort()", "2.0 + 0 * C[0]"),
}


@pytest.fixture
def bound(tmp_path, monkeypatch):
    """What the bound of a program is, whose files are written anew."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def of(**files):
        for name, text in files.items():
            head = "import math, os, sys, time, types\nimport numpy as np\n"
            (tmp_path / f"{name}.py").write_text(head + text)
        importlib.invalidate_caches()
        with asked.asked():
            module = importlib.import_module([*files][-1])
        return explore(Program(module.release, (1,), (0.0, 1.0)), 1, most=6)

    return of


def settled(monkeypatch):
    monkeypatch.setattr(imports.Settled, "_again", lambda self: False)
    monkeypatch.setattr(imports.Settled, "idle", lambda self, ran: None)
    monkeypatch.setattr(flow, "_taken_from_system", lambda tree: ())
    monkeypatch.setattr(values, "is_of_system", lambda module, name: False)


@pytest.mark.parametrize("name", TAKEN)
def test_what_an_import_takes_or_changes_ends_the_bound(name, bound, monkeypatch):
    text, scale = TAKEN[name]
    program = f"{text}\n{RELEASE.format(scale)}"
    assert bound(**{f"taken_{next(NUMBERS)}": program}).failure
    settled(monkeypatch)
    assert "may be different in production" not in str(bound(**{f"taken_{next(NUMBERS)}": program}).failure)


# What a function may change that no run calls, and the scale of the noise.
SWITCHED = {
    "global": ("C = 2.0\ndef exact():\n    global C\n    C = 0.0", "C"),
    "an entry": ("C = {'s': 2.0}\ndef exact():\n    C['s'] = 0.0", "C['s']"),
    "a method of a list": ("C = [2.0]\ndef exact():\n    C.insert(0, 0.0)", "C[0]"),
    "an attribute": ("class K:\n    s = 2.0\nC = K()\ndef exact():\n    C.s = 0.0", "C.s"),
    "an attribute of a class": ("class K:\n    s = 2.0\ndef exact():\n    K.s = 0.0", "K().s"),
    "a method": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\n    def exact(self):\n"
        "        self.s = 0.0\nC = K()",
        "C.s",
    ),
    "what a method calls that no run calls": (
        "C = [2.0]\ndef exact():\n    C.insert(0, 0.0)\nclass K:\n    def off(self):\n        exact()",
        "C[0]",
    ),
    "a part by another name": (
        "C = {'a': {'s': 2.0}}\ndef exact():\n    a = C['a']\n    a['s'] = 0.0",
        "C['a']['s']",
    ),
    "each of them": (
        "C = {'a': {'s': 2.0}}\ndef exact():\n    for a in C.values():\n        a['s'] *= 0.0",
        "C['a']['s']",
    ),
    "a default": ("C = {'s': 2.0}\ndef exact(c=C):\n    c.update(s=0.0)", "C['s']"),
    "classes in a list": (
        "class K:\n    s = 2.0\nC = [K]\ndef exact():\n    for k in C:\n        k.s = 0.0",
        "C[0].s",
    ),
    "what a function returns": (
        "C = {'s': 2.0}\ndef c():\n    return C\ndef exact():\n    c()['s'] = 0.0",
        "c()['s']",
    ),
    "what NumPy writes into": ("C = np.full(1, 2.0)\ndef exact():\n    np.multiply(C, 0.0, out=C)", "C[0]"),
    "a method of an array": ("C = np.full(1, 2.0)\ndef exact():\n    C.fill(0.0)", "C[0]"),
    "all attributes": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\n    def exact(self, **options):\n"
        "        vars(self).update(options)\nC = K()",
        "C.s",
    ),
    "an attribute by its name": (
        "class K:\n    s = 2.0\ndef exact(name):\n    setattr(K, name, 0.0)",
        "K.s",
    ),
    "the class of an object": (
        "class K:\n    s = 2.0\n    def exact(self):\n        type(self).s = 0.0\nC = K()",
        "C.s",
    ),
    "a table of an object": (
        "class K:\n    def __init__(self):\n        self.t = {'s': 2.0}\n    def exact(self):\n"
        "        self.t.update(s=0.0)\nC = K()",
        "C.t['s']",
    ),
    "an object that is given": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\nclass R:\n    def exact(self, k):\n"
        "        k.s = 0.0\nC = K()",
        "C.s",
    ),
    "all globals": ("C = 2.0\ndef exact(**options):\n    globals().update(options)", "C"),
    "a method that changes a class": (
        "class K:\n    s = 2.0\n    def exact(self):\n        self.s = 0.0\nC = [K()]",
        "C[0].s",
    ),
}
# What no text of the module says that it calls, or whose name it says elsewhere: heard as it runs.
HEARD = {
    "an import in a function": (
        "def f():\n    from os import environ\n    return float(environ.get('S', 2))\nC = f()",
        "C",
    ),
    "a part of a library in a function": (
        "def f():\n    from datetime import date\n    return date.today().year\n"
        "C = 2.0 if f() < 9000 else 0.0",
        "C",
    ),
    "an import in a class": (
        "class K:\n    from os import getenv\n    s = float(getenv('S', '2'))",
        "K.s",
    ),
    "a library that is looked for in a function": (
        "def f():\n    try:\n        import cupy\n        return True\n    except ImportError:\n"
        "        return False\n"
        "C = f()",
        "0.0 if C else 2.0",
    ),
    "a property": (
        "class K:\n    @property\n    def s(self):\n        return float(os.environ.get('S', 2))\nC = K().s",
        "C",
    ),
    "an attribute that is computed": (
        "class K:\n    def __getattr__(self, name):\n        return float(os.environ.get(name, 2))\n"
        "C = K().s",
        "C",
    ),
    "an entry that is computed": (
        "class K(dict):\n    def __missing__(self, name):\n        return float(os.environ.get(name, 2))\n"
        "C = K()['s']",
        "C",
    ),
    "a truth": (
        "class K:\n    def __bool__(self):\n        return 'X' in os.environ\nC = 0.0 if K() else 2.0",
        "C",
    ),
    "a sum": (
        "class K:\n    def __add__(self, other):\n        return other + len(os.environ.get('X', ''))\n"
        "C = K() + 2.0",
        "C",
    ),
    "a manager": (
        "class M:\n    def __enter__(self):\n        return float(os.environ.get('S', 2))\n"
        "    def __exit__(self, *given):\n        pass\nwith M() as C:\n    pass",
        "C",
    ),
    "the home folder": ("from pathlib import Path\nC = 0.0 if Path.home().name == 'x' else 2.0", "C"),
    "a file that is there": (
        "from pathlib import Path\nC = 0.0 if Path('/x/y').exists() else 2.0",
        "C",
    ),
    "a folder, beside a file": (
        "from pathlib import Path\n"
        "C = 2.0 * (Path.cwd().name != 'x') + 0 * len(Path(Path(__file__).resolve()).read_text())",
        "C",
    ),
    "where a link leads, beside a file": (
        "from pathlib import Path\n"
        "C = 2.0 * (Path('/tmp').resolve().name != 'x')\\\n"
        "    + 0 * len(Path(Path(__file__).resolve()).read_text())",
        "C",
    ),
    "a folder that a function of the code's own is given": (
        "from pathlib import Path\ndef read_text(name):\n    return float(name != 'x')\n"
        "C = 2.0 * read_text(Path.cwd().name)",
        "C",
    ),
    "an option of a library": ("C = 0.0 if np.get_printoptions()['precision'] == 3 else 2.0", "C"),
}

# Functions of the code that only the run of the import shows: they ask for what takes no call.
HEARD |= {
    "a descriptor": (
        "class O:\n    def __get__(self, instance, owner):\n        return 0.0 if '-f' in sys.argv else 2.0\n"
        "class K:\n    s = O()\nC = K.s",
        "C",
    ),
    "an order": (
        "class L:\n    def __init__(self, s):\n        self.s = s\n    def __lt__(self, other):\n"
        "        return ('-f' in sys.argv) == (self.s > other.s)\nC = sorted([L(0.0), L(2.0)])[-1].s",
        "C",
    ),
    "what setting an attribute does": (
        "class K:\n    s = 2.0\n    @property\n    def mode(self):\n        return None\n"
        "    @mode.setter\n    def mode(self, value):\n        if value in sys.argv:\n            K.s = 0.0\n"
        "K().mode = '-f'\nC = K.s",
        "C",
    ),
    "a guard of a later case": (
        "class K:\n    @property\n    def s(self):\n        return '-f' in sys.argv\nmatch 1:\n    case 2:\n"
        "        C = 1.0\n    case _ if K().s:\n        C = 0.0\n    case _:\n        C = 2.0",
        "C",
    ),
    "a lambda that a table holds": (
        "T = {'s': lambda: 0.0 if '-f' in sys.argv else 2.0}\nclass K:\n    def __pos__(self):\n"
        "        return T['s']()\nC = +K()",
        "C",
    ),
}
HEARD["a draw of a library by itself"] = (
    "import statistics\nC = 2.0 + (statistics.NormalDist().samples(1)[0] > 99)",
    "C",
)
# What a text says.
TAKEN |= {
    "one that may be missing": (
        "import contextlib\nC = 2.0\nwith contextlib.suppress(ImportError):\n    import cupy\n    C = 0.0",
        "C",
    ),
    "a class that is made": (
        "class B:\n    def __init_subclass__(cls):\n        cls.s = float(os.environ.get('S', 2))\n"
        "class K(B):\n    pass",
        "K.s",
    ),
    "a global that a property sets": (
        "C = 2.0\nclass K:\n    @property\n    def s(self):\n        global C\n"
        "        C = float(os.environ.get('S', 2))\nK().s",
        "C",
    ),
    "a date of NumPy": ("C = 0.0 if np.datetime64('today') > np.datetime64('2999-01-01') else 2.0", "C"),
    "where the file lies": ("C = 0.0 if __file__.startswith('/srv') else 2.0", "C"),
    "a class method that sets": (
        "class K:\n    s = 2.0\n    @classmethod\n    def load(cls):\n        if '-f' in sys.argv:\n"
        "            cls.s = 0.0\nK.load()",
        "K.s",
    ),
    "a function that sets any attribute": (
        "class K:\n    s = 2.0\ndef load(target, options):\n    for name, value in options.items():\n"
        "        setattr(target, name, value)\nload(K, {'s': 0.0} if '-f' in sys.argv else {})\nC = K.s",
        "C",
    ),
    "an entry of an enumeration": (
        "import enum\nclass K(enum.Enum):\n    S = 0.0 if '-f' in sys.argv else 2.0\nC = K['S'].value",
        "C",
    ),
    "the attributes of a class": (
        "class K:\n    s = 0.0 if '-f' in sys.argv else 2.0\nC = K.__dict__['s']",
        "C",
    ),
    "a method of another object that a loop reaches": (
        "S = {'s': 2.0}\nALL = (S,)\nif '-f' in sys.argv:\n    for one in ALL:\n"
        "        one['s'] = 0.0\nC = S['s']",
        "C",
    ),
    "a view": ("T = np.full(3, 2.0)\nV = T[:1]\nif '-f' in sys.argv:\n    V *= 0.0\nC = T[0]", "C"),
    "a table of a class": (
        "class K:\n    t = {'s': 2.0}\n    @classmethod\n    def add(cls, v):\n        cls.t['s'] = v\n"
        "K.add(0.0 if '-f' in sys.argv else 2.0)\nC = K.t['s']",
        "C",
    ),
    "a set that a class has": (
        "class K:\n    t = {'a', 'b'}\nC = {'a': 2.0, 'b': 2.0}[[*K.t][0]]",
        "C",
    ),
    "an entry of an enumeration in a run": (
        "import enum\nclass K(enum.Enum):\n    S = 0.0 if '-f' in sys.argv else 2.0",
        "K['S'].value",
    ),
    "an attribute by its name": (
        "class K:\n    s = 0.0 if '-f' in sys.argv else 2.0\nC = getattr(K, 's', 2.0)",
        "C",
    ),
    "a default of what is made": (
        "class K:\n    def __init__(self, s=0.0 if '-f' in sys.argv else 2.0):\n        self.s = s\nC = K()",
        "C.s",
    ),
    "which of two files is there": (
        "from pathlib import Path\nP = Path('/x/y') if Path('/x/y').exists() else Path(__file__)\n"
        "C = 2.0 + 0.0 * len(P.read_text())",
        "C",
    ),
    "the folder that it lies in": (
        "from pathlib import Path\nP = Path(__file__).resolve().parent\nC = 0.0 if P.name == 'live' else 2.0",
        "C",
    ),
    "an assert of a function": (
        "L = [0.0, 2.0]\ndef first():\n    assert L.pop(0) == 0.0\n    return L[0]\nC = first()",
        "C",
    ),
    "a thread's name": (
        "import threading\nC = 2.0 if threading.current_thread().name != 'x' else 0.0",
        "C",
    ),
    "the seed of a generator": ("C = 0.0 if np.random.SeedSequence().entropy % 1000 == 7 else 2.0", "C"),
    "a list of a set": ("C = {'a': 2.0, 'b': 0.0}[[*set(['a', 'b'])][0]]", "C"),
    "the longest of a set": ("C = {'a': 2.0, 'b': 0.0}[max(set(['a', 'b']), key=len)]", "C"),
    "keys of two": ("C = {'a': 2.0, 'b': 0.0}[list({'a': 1, 'b': 1}.keys() & {'a', 'b'})[0]]", "C"),
}
RIGHT |= {
    "a file beside it": (
        "from pathlib import Path\nP = Path(__file__).resolve().parent\n"
        "C = 0.0 * len((P / Path(__file__).name).read_text()) + 2.0",
        "C",
    ),
    "a file beside it, in one statement": (
        "from pathlib import Path\n"
        "C = 2.0 + 0.0 * len((Path(__file__).resolve().parent / Path(__file__).name).read_text())",
        "C",
    ),
    "settings in a file that is opened": (
        "import json\nwith open(__file__) as file:\n    C = 2.0 + 0.0 * len(json.dumps(file.read()))",
        "C",
    ),
    "a file beside it, in a function": (
        "def read():\n    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)),\n"
        "            os.path.basename(__file__))) as file:\n        return len(file.read())\n"
        "C = 2.0 + 0.0 * read()",
        "C",
    ),
    "a registry of functions": (
        "T = {}\ndef named(name):\n    def register(f):\n        T[name] = f\n        return f\n"
        "    return register\n"
        "@named('two')\ndef two():\n    return 2.0",
        "T['two']()",
    ),
    "a registry of classes": (
        "class B:\n    kinds = {}\n    def __init_subclass__(cls, **more):\n"
        "        super().__init_subclass__(**more)\n        B.kinds[cls.__name__] = cls\n"
        "class K(B):\n    s = 2.0",
        "B.kinds['K'].s",
    ),
    "a table beside it that NumPy reads": (
        "from pathlib import Path\n"
        "C = 2.0 + 0 * np.loadtxt(Path(__file__).resolve(), dtype=str, delimiter='~', max_rows=1).size",
        "C",
    ),
    "a named tuple": ("import collections\nC = collections.namedtuple('K', 's')(2.0)", "C.s"),
    "a set that is asked": ("A = set(['a', 'b'])\nC = 2.0 if 'a' in A else 0.0", "C"),
    "how many are in a set": ("C = float(len(set([1, 2])))", "C"),
    "an assert of a function that only looks": (
        "def two(s):\n    assert isinstance(s, float) and len([s]) > 0\n    return s\nC = two(2.0)",
        "C",
    ),
    "a property of constants": (
        "class K:\n    @property\n    def s(self):\n        return 2.0\nC = K().s",
        "C",
    ),
    "a named tuple and an enumeration": (
        "import collections, dataclasses, enum\nclass E(enum.Enum):\n    A = 2.0\n"
        "N = collections.namedtuple('N', 's')\n@dataclasses.dataclass(frozen=True)\nclass K:\n"
        "    s: float\nC = K(2.0)",
        "C.s",
    ),
    "a lock, and an import in the main block": (
        "import threading\nLOCK = threading.Lock()\nC = 2.0\nif __name__ == '__main__':\n    import argparse",
        "C",
    ),
}

UNSWITCHED = {
    "a function that the import calls": ("C = []\ndef fill():\n    C.append(2.0)\nfill()", "C[0]"),
    "what a function that runs fills": (
        "C = None\ndef table():\n    global C\n    C = C or [2.0]\n    return C",
        "table()[0]",
    ),
    "another name of what code finds in a table": (
        "def usual():\n    return 2.0\nALL = [usual]\nG = usual\ndef exact():\n    global G\n    G = None",
        "ALL[0]()",
    ),
    "what a function makes of it": (
        "C = {'s': 2.0}\ndef run(c):\n    return {'s': 0.0}\ndef main():\n"
        "    mine = dict(C)\n    mine['s'] = 0.0\n    got = run(C)\n    got['s'] = 1.0\n"
        "    table = np.asarray([C['s']]) * 2\n    table[0] = 1.0",
        "C['s']",
    ),
    "tables that it makes of its numbers": (
        "C, N = {'s': 2.0}, ['a', 'b']\ndef main(found):\n    mine = {**C, 'a': 1}\n    mine['s'] = 0.0\n"
        "    names = [*N, 'c']\n    names.append('d')\n    table = {k: v for k, v in C.items()}\n"
        "    table['s'] = 0.0\n    shown = {}\n    for n in N:\n        shown[n] = C['s']\n"
        "    shown[tuple(N)] = found",
        "C['s'] * len(N) / 2",
    ),
    "a list that it is given": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\nC = K()\n"
        "def count(found=[]):\n    found.append(1)\n    found[0] = len(found)",
        "C.s",
    ),
    "numbers of a tuple": (
        "C = (2.0, 1.0)\ndef main(found):\n    for one in C:\n"
        "        found[one] = [one]\n        one.add(found)",
        "C[0]",
    ),
    "an object that it makes": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\nC = K()\ndef main(*names):\n    one = K()\n"
        "    one.s = 0.0\n    setattr(one, 't', names)",
        "C.s",
    ),
    "a name of the function's own": ("C = 2.0\ndef main():\n    C = []\n    C.append(0.0)", "C"),
    "an attribute of objects of another class": (
        "class G:\n    s = 1.0\n    def set_it(self, s):\n        self.s = s\n"
        "class K:\n    def __init__(self):\n        self.s = 2.0\nC = K()",
        "C.s",
    ),
    "an object of a run": (
        "class K:\n    def __init__(self):\n        self.s = 2.0\n    def reset(self):\n        self.s = 0.0",
        "K().s",
    ),
}


@pytest.mark.parametrize("name", HEARD)
def test_what_an_import_is_heard_to_call_ends_the_bound(name, bound, monkeypatch):
    """Broken variant: only its text is read."""
    text, scale = HEARD[name]
    program = f"{text}\n{RELEASE.format(scale)}"
    assert "which may be different in production" in bound(**{f"heard_{next(NUMBERS)}": program}).failure
    monkeypatch.setattr(libraries, "calls_at", lambda *place: [])
    monkeypatch.setattr(imports, "functions_at", lambda *place: [])
    assert not bound(**{f"heard_{next(NUMBERS)}": program}).failure


@pytest.mark.parametrize("name", SWITCHED)
def test_what_another_function_may_change_is_no_constant(name, bound, monkeypatch):
    """Broken variant: what no run changes stays as it is."""
    text, scale = SWITCHED[name]
    program = f"{text}\n{RELEASE.format(scale)}"
    assert "which may be different in production" in bound(**{f"switched_{next(NUMBERS)}": program}).failure
    monkeypatch.setattr(imports.Settled, "idle", lambda self, ran: None)
    assert bound(**{f"switched_{next(NUMBERS)}": program}).epsilon() == pytest.approx(0.5)


@pytest.mark.parametrize("name", UNSWITCHED)
def test_what_no_other_function_may_change_is_one(name, bound):
    text, scale = UNSWITCHED[name]
    found = bound(**{f"constant_{next(NUMBERS)}": f"{text}\n{RELEASE.format(scale)}"})
    assert (found.words(), found.epsilon()) == ("", pytest.approx(0.5))


def test_what_another_function_may_replace_is_no_constant(bound, monkeypatch):
    """It is read by nothing that runs. Broken variant: only what is read counts."""
    program = (
        "def usual(data, rng):\n    return data[0] + rng.laplace(0, 2.0)\nrelease = usual\n"
        "def exact():\n    global release\n    release = sum\n"
    )
    why = "reads usual (by what says which one is made), which may be different in production"
    assert why in bound(**{f"replaced_{next(NUMBERS)}": program}).failure
    monkeypatch.setattr(language, "codes_of", lambda names, scope: set())
    assert bound(**{f"replaced_{next(NUMBERS)}": program}).epsilon() == pytest.approx(0.5)


CELLS = """
def make(scale):
    def release(data, rng):
        return data[0] + rng.laplace(0, scale)
    return release


release = make({})
"""


def test_a_default_that_was_drawn_has_no_bound(bound):
    """Broken variant: a number in the place of a default counts as fixed, whatever it was made of."""
    text = "def release(data, rng, s={}):\n    return data[0] + rng.laplace(0, s)\n"
    drawn = text.format("0.0 if np.random.default_rng().random() < 1e-9 else 2.0")
    assert "reads s, " in bound(**{f"default_{next(NUMBERS)}": drawn}).failure
    found = bound(**{f"default_{next(NUMBERS)}": text.format("math.sqrt(4.0)")})
    assert found.epsilon() == pytest.approx(0.5)


DECORATED = """
def private(scale):
    def wrap(f):
        def inner(data, rng):
            return f(data) + rng.laplace(0, scale)
        return inner
    return wrap


@private({})
def release(data):
    return data[0]
"""


@pytest.mark.parametrize("text", [CELLS, DECORATED])
def test_a_function_that_was_made_of_what_an_import_took_has_no_bound(text, bound):
    """Broken variant: what cells hold is a constant. Control: it is."""
    taken = text.format("float(os.environ.get('S', 2))")
    assert "which one is made" in bound(**{f"cell_{next(NUMBERS)}": taken}).failure
    assert bound(**{f"cell_{next(NUMBERS)}": text.format("2.0")}).epsilon() == pytest.approx(0.5)


@pytest.mark.parametrize("name", RIGHT)
def test_what_an_import_makes_of_files_alone_has_its_bound(name, bound):
    text, scale = RIGHT[name]
    found = bound(**{f"right_{next(NUMBERS)}": f"{text}\n{RELEASE.format(scale)}"})
    assert (found.words(), found.epsilon()) == ("", pytest.approx(0.5))


SETTINGS = """
C = {'s': 2.0}
S = float(os.environ.get('S', 2))
FIXED = LATE = 2.0


def load():
    global LATE
    LATE = float(os.environ.get('S', 2))
"""


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("from {0} import S", "S"),
        ("from {0} import S as T", "T"),
        ("from {0} import *", "S"),
        ("import {0} as settings", "settings.S"),
        ("import {0} as settings\nC = settings.S * 1.0", "C"),
        ("from {0} import C\nC['s'] = time.time()", "C['s']"),
        ("import {0} as settings\nsettings.C['s'] = time.time()", "settings.C['s']"),
        ("import {0} as settings\nsettings.C.update(s=time.time())", "settings.C['s']"),
        ("import {0} as settings\nsettings.load()", "settings.LATE"),
        ("import {0} as settings\nfrom {0} import load\nload()", "settings.LATE"),
    ],
)
def test_so_does_what_another_file_has_taken(text, scale, bound, monkeypatch):
    """Broken variant: only files of which a function ran are looked at."""
    other, mine = f"other_{next(NUMBERS)}", f"mine_{next(NUMBERS)}"
    program = f"{text.format(other)}\n{RELEASE.format(scale)}"
    assert "may be different in production" in bound(**{other: SETTINGS, mine: program}).failure
    for name in (other, mine):
        del sys.modules[name]
    monkeypatch.setattr(imports.Settled, "of", lambda self, module: None)
    if "time" not in text:  # which the file says itself
        assert not bound(**{other: SETTINGS, mine: program}).failure


@pytest.mark.parametrize(
    ("text", "scale"), [("from {0} import FIXED", "FIXED"), ("import {0} as s", "s.FIXED")]
)
def test_what_another_file_says_has_its_bound(text, scale, bound):
    other, mine = f"other_{next(NUMBERS)}", f"mine_{next(NUMBERS)}"
    found = bound(**{other: SETTINGS, mine: f"{text.format(other)}\n{RELEASE.format(scale)}"})
    assert (found.words(), found.epsilon()) == ("", pytest.approx(0.5))
