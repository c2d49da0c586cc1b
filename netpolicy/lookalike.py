"""International names that a person would take for a known host. Pure."""

import unicodedata
from collections.abc import Container

INTERNATIONAL = "xn--"  # begins a label with other letters (RFC 5890); no host is disguised without
# Letters of other scripts that look like Latin ones (Unicode TR39, the common part).
_ALIKE = str.maketrans(
    "аеорсхуіјһԁѕԛԝьαοενρτυχικγбɡɩℓıłøđ",
    "aeopcxyijhdsqwbaoevptuxikyb" + "gililod",
)


def skeleton(host: str) -> str:
    """The plain-letter form that a host with `xn--` labels looks like."""
    try:
        shown = host.encode("ascii").decode("idna")
    except UnicodeError:
        return host
    folded = unicodedata.normalize("NFKD", shown).translate(_ALIKE)
    return "".join(char for char in folded if not unicodedata.combining(char))


def mixes_scripts(host: str) -> bool:
    """Whether a label has Latin letters beside Cyrillic or Greek ones, as no honest name does."""
    if INTERNATIONAL not in host:
        return False
    try:
        shown = host.encode("ascii").decode("idna")
    except UnicodeError:
        return True
    for label in shown.split("."):
        scripts = {unicodedata.name(char, "").partition(" ")[0] for char in label if char.isalpha()}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
            return True
    return False


def imitates(host: str, known: Container[str]) -> str | None:
    """The known host that an international name looks like, if any; its parent domains count, too."""
    if INTERNATIONAL not in host:
        return None
    plain = skeleton(host)
    while "." in plain:
        if plain in known:
            return plain
        plain = plain.partition(".")[2]
    return None
