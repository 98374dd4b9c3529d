"""What several files about published evaluators share."""

from pathlib import Path

import pytest

from tests.tiny import clip


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny CLIP in OpenAI's format."""
    return clip.write_openai(tmp_path_factory.mktemp("tiny") / "openai.pt")
