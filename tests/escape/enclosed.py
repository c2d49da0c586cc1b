"""Who launches in an escape test: this process, and when that is root an ordinary user too."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.needs import needs
from tests.support.unprivileged import ordinary_user

marks = [pytest.mark.unthreaded, pytest.mark.sandbox, needs("bwrap", "python3", "setsid", "prlimit")]
Call = Callable[..., Any]


def callers(param: str) -> Iterator[Call]:
    """For a fixture over `WHO`: a function that calls another one as that user."""
    if param == "self":
        yield lambda function, *args: function(*args)
    else:
        with ordinary_user() as user:
            yield user.call


WHO = ["self", "ordinary user"] if os.geteuid() == 0 else ["self"]
