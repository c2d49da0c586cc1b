"""What may leave a container without a yes, and with whose login: the same attacks, the same outcome."""

import pytest

from tests.docker import lab
from tests.e2e.enclosing import DOCKER, chosen
from tests.escape.test_breaker_outgoing import (
    Make,
    asked,
    gated,
    leaking,
    logins,
    pushed,
    test_a_held_push_asks_no_foreign_host_and_offers_it_no_login,
    test_a_push_of_old_history_to_a_foreign_remote_shows_all_that_would_leave,
    test_a_remotes_login_goes_to_no_path_that_servers_read_differently,
    test_a_token_does_not_leave_by_looking_like_a_fetch,
    test_credentials_do_go_over_tls,
    test_no_credential_goes_over_plain_http,
    test_nothing_is_read_for_a_held_act_where_reads_are_held,
    test_opaque_data_does_not_leave_by_looking_like_a_fetch,
    test_push_options_are_shown_to_who_decides,
    world,
)

pytestmark = lab.marks


@pytest.fixture(scope="module")
def make() -> Make:
    """Worlds of whom has chosen containers."""
    return lambda folder, policy: chosen(DOCKER, folder, policy)


__all__ = [
    "asked",
    "gated",
    "leaking",
    "logins",
    "pushed",
    "test_a_held_push_asks_no_foreign_host_and_offers_it_no_login",
    "test_a_push_of_old_history_to_a_foreign_remote_shows_all_that_would_leave",
    "test_a_remotes_login_goes_to_no_path_that_servers_read_differently",
    "test_a_token_does_not_leave_by_looking_like_a_fetch",
    "test_credentials_do_go_over_tls",
    "test_no_credential_goes_over_plain_http",
    "test_nothing_is_read_for_a_held_act_where_reads_are_held",
    "test_opaque_data_does_not_leave_by_looking_like_a_fetch",
    "test_push_options_are_shown_to_who_decides",
    "world",
]
