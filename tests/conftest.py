"""What the whole suite shares: no deadlines for properties (the machine is busy), strict checkpoints."""

import os

import hypothesis

# LangGraph reads it once, when it is imported, which the first test module does.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

hypothesis.settings.register_profile("suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")
