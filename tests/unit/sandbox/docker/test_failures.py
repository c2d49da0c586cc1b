"""What to do about an image that is missing depends on whose image it is."""

import pytest

from images.variants import VARIANTS
from sandbox.docker.choosing import DEFAULT_IMAGE
from sandbox.docker.failures import OURS, no_image


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.name)
def test_an_image_of_ours_is_made_by_the_command_that_makes_that_one(variant: object) -> None:
    name, tag = getattr(variant, "name", ""), getattr(variant, "tag", "")
    assert tag.startswith(OURS)
    for spelling in (tag, f"{tag}:latest"):
        told = no_image(spelling).instead
        assert f"`sekisho image build --variant {name} --from-packages`" in told
        assert "docker pull" not in told


def test_the_image_of_sessions_that_name_none_is_ours() -> None:
    assert "--variant base --from-packages" in no_image(DEFAULT_IMAGE).instead


def test_nobody_but_its_owner_can_make_another_image() -> None:
    told = no_image("nosuch").instead
    assert "sekisho image build" not in told
    assert "docker images" in told
    assert "docker pull nosuch" in told
