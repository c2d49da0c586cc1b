"""GETs that act, by their shape alone, and pages that only resemble them."""

import pytest

from netpolicy.world import World
from sekisho.core.action import Effect
from tests.unit.netpolicy.requests import judged

R, X, U = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN


@pytest.mark.parametrize(
    "url, expected",
    [
        ("/update?hostname=a.example&myip=1.2.3.4", X),
        ("/?hostname=a.example&MYIP=1.2.3.4", X),
        ("/v3/update?hostname=a.example&token=x", X),
        ("/update/?h=a&k=b&auto", X),
        ("/dynupdate.php?domain=a&pass=b", X),
        ("/api/dynamicURL/?q=abc", X),
        ("/update?product=x&version=1", R),
        ("/update?host=linux&version=1", R),
        ("/updates/latest?host=a&key=b", R),
        ("/api/update?token=x", R),
        ("/forms/d/e/x/formResponse?entry.1=a", X),
        ("/forms/d/e/x/viewform", R),
        ("/admin/users/7/ban", U),
        ("/orders/12/refund/", U),
        ("/users/7/bans", R),
        ("/docs/ban", R),
        ("/index.php?title=X&action=rollback", U),
        ("/index.php?title=X&action=history", R),
    ],
)
def test_a_get_acts_by_its_shape(url: str, expected: Effect) -> None:
    assert judged(f"GET https://a.example{url}", World()).effect is expected
