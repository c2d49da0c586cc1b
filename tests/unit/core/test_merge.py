"""Layers: what loosens, what tightens, what is locked."""

from typing import Any

import pytest

from sekisho.core.load import from_tree, parse
from sekisho.core.merge import merge
from sekisho.core.policy import BUILTIN, Policy


def project(text: str) -> Policy:
    return parse("version = 1\n" + text, "sekisho.toml")


def person(text: str) -> Policy:
    return parse("version = 1\n" + text, "config.toml", person=True)


def value(policy: Policy, key: str) -> Any:
    found: Any = policy
    for name in key.split("."):
        found = getattr(found, name)
    return found


def test_no_layer_is_the_built_in_one() -> None:
    assert merge() == BUILTIN


def test_later_layers_decide() -> None:
    options = from_tree({"network": {"default": "listed"}}, "options")
    own, theirs = person("[network]\ndefault = 'gated'"), project("[network]\ndefault = 'read'")
    assert merge(own).network.default == "gated"
    assert merge(own, theirs).network.default == "read"
    assert merge(own, theirs, options).network.default == "listed"


def test_what_a_layer_does_not_set_stays() -> None:
    merged = merge(person("[sandbox.limits]\nmemory = '1G'"), project("[sandbox.limits]\npids = 5"))
    assert (merged.sandbox.limits.memory, merged.sandbox.limits.pids) == (1 << 30, 5)
    assert merged.given["sandbox.limits.pids"] == "sekisho.toml:3"


@pytest.mark.parametrize(
    "section, key, own, theirs, locked",
    [
        ("network", "default", "'listed'", "'read'", "listed"),
        ("network", "default", "'listed'", "'gated'", "gated"),
        ("network", "budget", "'1K'", "'2K'", 1024),
        ("network", "ca", "'mine.pem'", "'theirs.pem'", "mine.pem"),
        ("sandbox", "destructive", "'human'", "'checkpoint'", "human"),
        ("sandbox", "destructive", "'human'", "'deny'", "deny"),
        ("sandbox", "backend", "'bwrap'", "'docker'", "bwrap"),
        ("sandbox", "carry", "['a', 'b']", "['b', 'c']", ("b",)),
        ("sandbox", "hide_paths", "['a']", "['b']", ("a", "b")),
        ("sandbox.tools", "only", "['git']", "['git', 'ssh']", ("git",)),
        ("sandbox.limits", "time", "'1h'", "'2h'", 3600.0),
        ("project", "protected", "['main']", "['trunk']", ("main", "trunk")),
        ("approval", "expires", "'1h'", "'2h'", 3600.0),
        ("audit", "read_sample", "0.5", "0.1", 0.5),
    ],
)
def test_locked_key_only_tightens(section: str, key: str, own: str, theirs: str, locked: Any) -> None:
    lock = f"[locked]\nkeys = ['{section}.{key}']\n"
    merged = merge(person(f"{lock}[{section}]\n{key} = {own}"), project(f"[{section}]\n{key} = {theirs}"))
    assert value(merged, f"{section}.{key}") == locked


def test_lock_on_an_unset_key_keeps_the_built_in_value() -> None:
    merged = merge(person("[locked]\nkeys = ['approval']"), project("[approval]\nexpires = '5h'"))
    assert merged.approval.expires == BUILTIN.approval.expires
    assert (
        merge(
            person("[locked]\nkeys = ['sandbox']"), project("[sandbox.limits]\npids = 5")
        ).sandbox.limits.pids
        == 5
    )


def test_options_cannot_loosen_what_is_locked() -> None:
    options = from_tree({"network": {"default": "read"}}, "options")
    assert (
        merge(
            person("[locked]\nkeys = ['network']\n[network]\ndefault = 'gated'"), None, options
        ).network.default
        == "gated"
    )


def test_environments_of_both_layers_count() -> None:
    merged = merge(
        person("[project.environments]\nproduction = ['a.example']"),
        project("[project.environments]\nproduction = ['b.example']\nstaging = ['c.example']"),
    )
    assert merged.project.environments == {
        "production": ("a.example", "b.example"),
        "staging": ("c.example",),
    }


def test_protected_refs_of_a_person_stay_beside_the_project_s() -> None:
    merged = merge(person("[project]\nprotected = ['mine']"), project("[project]\nprotected = ['theirs']"))
    assert merged.project.protected == ("mine", "theirs")
    assert merge(None, project("[project]\nprotected = ['theirs']")).project.protected == ("theirs",)


def test_rules_add_up_and_keep_their_place() -> None:
    rule = "[[network.host]]\nhost = '{}'"
    merged = merge(person(rule.format("a")), project(rule.format("b")))
    assert [entry.source for entry in merged.network.host] == ["config.toml:2", "sekisho.toml:2"]


def test_locked_credentials_are_the_person_s_alone() -> None:
    login = "[[network.credential]]\nhost = '{}'\nvalue = 'env:A'\n"
    merged = merge(
        person("[locked]\nkeys = ['network.credential']\n" + login.format("a")), project(login.format("b"))
    )
    assert [entry.host for entry in merged.network.credential] == ["a"]


def test_allow_and_locked_come_from_the_person_alone() -> None:
    forged = from_tree({}, "options")
    merged = merge(person("[allow]\nforce_push = ['main']"), project(""), forged)
    assert merged.allow.force_push == ("main",)
    assert merge(None, person("[allow]\nforce_push = ['main']")).allow.force_push == ()
