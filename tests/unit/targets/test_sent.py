"""Data in the form in which they are sent to another process."""

import json

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import sent

DATA = ["'a'", "b'a'", "True", "None", "(1, 'a')", "{'x': [0.5, None]}", "np.array(['a', 2.5], object)"]


@pytest.mark.parametrize("data", [*DATA, "np.float32(0.1)", "np.array(['a', 'bc'])", "[np.eye(2), 1 << 70]"])
def test_data_of_every_kind_are_sent(data):
    """They come out as they were, types included. Control: what is not data is not sent."""
    data = eval(data, {"np": np})
    again = sent.of_json(json.loads(json.dumps(sent.as_json(data))))
    assert (type(again), repr(again)) == (type(data), repr(data))
    assert getattr(again, "dtype", None) == getattr(data, "dtype", None)
    assert sent.as_json({"x": [data, object()]}) is sent.as_json(np.zeros(1 << 21)) is None


@pytest.mark.parametrize("told", [{}, {"value2": 1}, {"of": "V8", "shape": [1], "values": [0]}, {"bytes": 1}])
def test_data_in_another_form_are_refused(told):
    with pytest.raises(InputError, match="described data"):
        sent.of_json(told)
