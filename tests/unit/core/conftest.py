"""Fixtures of the tests of sessions."""

import pytest

from tests.live import quick_folder


@pytest.fixture
def quick(request):
    """A folder in memory where there is one."""
    with quick_folder() as folder:
        yield folder
