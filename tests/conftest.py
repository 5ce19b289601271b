"""What the whole suite shares: no deadlines for properties (the machine is busy), strict checkpoints."""

import hypothesis

hypothesis.settings.register_profile("suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")
