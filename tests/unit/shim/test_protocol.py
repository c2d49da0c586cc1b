"""Frames: what is written is read back, and hostile bytes end in Malformed and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shim.protocol import (
    MAX_ARGUMENTS,
    MAX_FRAME,
    STATUSES,
    Answer,
    Asked,
    Ended,
    Malformed,
    Refuse,
    Run,
    Wait,
    Watch,
    decode_answer,
    decode_ended,
    decode_request,
    encode_answer,
    encode_ended,
    encode_request,
    payload_in,
)

# Any bytes but NUL can be an argument; file-system decoding gives surrogates for what is not UTF-8.
texts = st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"").decode("utf-8", "surrogateescape"))
words = texts.filter(bool)
names = words.filter(lambda name: "=" not in name)
requests = st.builds(
    Asked,
    argv=st.lists(texts, max_size=8).flatmap(lambda rest: words.map(lambda name: (name, *rest))),
    cwd=texts.map(lambda text: "/" + text),
    tool=st.one_of(st.just(""), texts.map(lambda text: "/" + text)),
    environment=st.lists(st.tuples(names, texts), max_size=4).map(tuple),
)
answers: st.SearchStrategy[Answer] = st.one_of(
    st.just(Run()),
    st.just(Watch()),
    st.builds(
        Refuse,
        status=st.sampled_from(sorted(STATUSES)),
        text=st.text(max_size=50).map(lambda t: t.replace("\0", "")),
    ),
    st.builds(Wait, seconds=st.integers(1, 86_400), text=st.just("a person is asked")),
)


def payload(frame: bytes) -> bytes:
    found = payload_in(frame)
    assert found is not None
    assert found[1] == b""
    return found[0]


@given(requests)
def test_a_request_is_read_as_it_was_written(asked: Asked) -> None:
    assert decode_request(payload(encode_request(asked))) == asked


@given(st.integers(0, 255), texts)
def test_a_report_is_read_as_it_was_written(status: int, output: str) -> None:
    ended = Ended(status=status, output=output)
    assert decode_ended(payload(encode_ended(ended))) == ended


@pytest.mark.parametrize("data", [b"1\0ended\0", b"1\0ended\0256\0x\0", b"1\0run\0", b"1\0ended\0-1\0x\0"])
def test_what_is_no_report_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_ended(data)


@given(answers.filter(lambda answer: not isinstance(answer, Refuse) or answer.text.isprintable()))
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    assert decode_answer(payload(encode_answer(answer))) == answer


@given(st.binary(max_size=300))
def test_hostile_bytes_are_a_frame_incomplete_or_malformed(data: bytes) -> None:
    try:
        found = payload_in(data)
    except Malformed:
        return
    if found is not None:
        assert data == b"%d:%s," % (len(found[0]), found[0]) + found[1]


@given(st.binary(max_size=300))
def test_hostile_payloads_are_requests_or_malformed(data: bytes) -> None:
    for text in (data, data + b"\0", b"1\0exec\0" + data + b"\0"):
        try:
            asked = decode_request(text)
        except Malformed:
            continue
        assert asked.cwd.startswith("/")
        assert asked.argv
        assert asked.argv[0]


@given(st.binary(max_size=300))
def test_hostile_payloads_are_answers_or_malformed(data: bytes) -> None:
    for text in (data, data + b"\0", b"1\0refuse\0" + data + b"\0"):
        try:
            decode_answer(text)
        except Malformed:
            continue


@given(requests, st.data())
def test_a_frame_cut_anywhere_is_incomplete(asked: Asked, data: st.DataObject) -> None:
    frame = encode_request(asked)
    assert payload_in(frame[: data.draw(st.integers(0, len(frame) - 1))]) is None


@pytest.mark.parametrize(
    "received",
    [b"x", b":", b"-1:a,", b"+5:hello,", b" 5:hello,", b"05:hello,", b"5:hello;", b"99999999", b"1048577:",
     "٣:abc,".encode(), b"1e3:a,"],
)  # fmt: skip
def test_a_bad_length_is_refused_at_once(received: bytes) -> None:
    with pytest.raises(Malformed):
        payload_in(received)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"1\0exec\0",
        b"2\0exec\0\0/w\0001\0git\0000\0",  # another version
        b"1\0exec\0\0/w\0000\0000\0",  # no command
        b"1\0exec\0\0/w\0002\0git\0000\0",  # fewer arguments than said
        b"1\0exec\0\0/w\0001\0git\0push\0000\0",  # more
        b"1\0exec\0\0w\0001\0git\0000\0",  # a relative directory
        b"1\0exec\0git\0/w\0001\0git\0000\0",  # a relative program
        b"1\0exec\0\0/w\0001\0git\0001\0=x\0",  # a variable without a name
        b"1\0exec\0\0/w\0001\0git\0000",  # the end is missing
        b"1\0exec\0\0/w\00010001\0git\0000\0",  # too many arguments
    ],
)
def test_a_request_that_contradicts_itself_is_refused(text: bytes) -> None:
    with pytest.raises(Malformed):
        decode_request(text)


@pytest.mark.parametrize(
    "asked",
    [
        Asked(argv=(), cwd="/"),
        Asked(argv=("a",) * (MAX_ARGUMENTS + 1), cwd="/"),
        Asked(argv=("a", "b" * MAX_FRAME), cwd="/"),
        Asked(argv=("a", "b\0c"), cwd="/"),
        Asked(argv=("a", "\ud800"), cwd="/"),
    ],
)
def test_what_is_past_a_limit_is_not_sent(asked: Asked) -> None:
    with pytest.raises(Malformed):
        encode_request(asked)


def test_an_answer_names_only_statuses_of_refusals() -> None:
    with pytest.raises(Malformed):
        encode_answer(Refuse(status=0, text="ok"))
    with pytest.raises(Malformed):
        decode_answer(b"1\0refuse\0000\0ok\0")
