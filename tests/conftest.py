"""What the whole suite shares: no deadlines for properties (the machine is busy), strict checkpoints."""

import os

import hypothesis
import pytest
from trusting import trusting

from langgraph_evidence import models

# LangGraph reads it once, when it is imported, which the first test module does.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

hypothesis.settings.register_profile("suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _trusting_verifier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs trust their answers, except where a test is of the trained verifier itself (`real_verifier`)."""
    if "real_verifier" not in request.keywords:
        monkeypatch.setattr(models, "default_verifier", trusting)
