"""Settings for all tests: generated inputs are the same on every run, and compiling is not a time-out."""

from hypothesis import HealthCheck, settings

settings.register_profile("dipolar", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dipolar")
