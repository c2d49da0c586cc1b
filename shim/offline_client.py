"""The client's own decision for times without a gatekeeper, by the table that offline.py makes.

Loaded by client.py only then. Python 3.9, and nothing imported.
"""


def gated(table: bytes, name: bytes, arguments: "list[bytes]") -> bool:
    """True if the command may not run while nobody decides. A tool the table does not know is."""
    default, values, patterns, options = _entry(table, name)
    if default == b"":
        return True
    words, given = _words(arguments, values)
    best, verdict = -1, default == b"-"
    for mode, pattern in patterns:
        tokens = pattern.split(b" ")
        if len(tokens) > best and len(tokens) <= len(words) and all(map(_matches, tokens, words)):
            best, verdict = len(tokens), mode == b"g"
    if not words and not given:
        verdict = (b"g", b"-") in patterns or (verdict and (b"r", b"-") not in patterns)
    for verb, option in options:
        if words[:1] == [verb] and _given(option, given):
            return True
    return verdict


def _entry(
    table: bytes, name: bytes
) -> "tuple[bytes, list[bytes], list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]":
    default, values = b"", []  # type: tuple[bytes, list[bytes]]
    patterns, options = [], []  # type: tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]
    mine = False
    for line in table.split(b"\n"):
        kind, _, rest = line.partition(b" ")
        if kind == b"tool":
            tool, _, mode = rest.partition(b" ")
            mine = tool == name
            if mine:
                default = mode
        elif mine and kind == b"v":
            values.append(rest)
        elif mine and kind in (b"g", b"r"):
            patterns.append((kind, rest))
        elif mine and kind == b"o":
            verb, _, option = rest.partition(b" ")
            options.append((verb, option))
    patterns.sort(key=lambda entry: (-len(entry[1].split(b" ")), b"*" in entry[1], entry[0]))
    return default, values, patterns, options


def _words(arguments: "list[bytes]", values: "list[bytes]") -> "tuple[list[bytes], list[bytes]]":
    words, given = [], []  # type: tuple[list[bytes], list[bytes]]
    skip = False
    for position, word in enumerate(arguments):
        if skip:
            skip = False
        elif word == b"--":
            words += arguments[position + 1 :]
            break
        elif word.startswith(b"-") and len(word) > 1:
            given.append(word)
            skip = word in values
        else:
            words.append(word)
    return words, given


def _matches(token: bytes, word: bytes) -> bool:
    if b"*" not in token:
        return token == word
    before, _, after = token.partition(b"*")
    return len(word) >= len(before) + len(after) and word.startswith(before) and word.endswith(after)


def _given(option: bytes, given: "list[bytes]") -> bool:
    for word in given:
        name = word.split(b"=", 1)[0]
        if name == option or (len(name) > 3 and name.startswith(b"--") and option.startswith(name)):
            return True
        if len(option) == 2 and not word.startswith(b"--") and option[1:] in word:
            return True
    return False
