"""docs/troubleshooting.md lists every code of what is stopped, with the reason that is given."""

from sekisho.core.texts import TEXTS
from tests.docs.pages import page

ROWS = list(page("docs/troubleshooting.md").rows("code"))


def test_every_code_is_listed_once_with_its_reason() -> None:
    assert [(row[0].strip("`"), row[1]) for row in ROWS] == [(code, text.why) for code, text in TEXTS.items()]


def test_every_code_says_what_a_person_can_do() -> None:
    assert [row[0] for row in ROWS if len(row) != 3 or not row[2]] == []
