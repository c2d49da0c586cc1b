"""Long word lists, written as text."""


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
