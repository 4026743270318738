"""Settings for all tests: generated inputs are the same on every run, compiling is not a time-out; and a browser."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dipolar", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dipolar")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A running Chromium; a test that needs it is skipped where there is none, and fails in CI."""
    from tests.browser import CHROMIUM, DRIVER, Page

    if CHROMIUM is None or DRIVER is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium and chromedriver are needed: apt-get install chromium chromium-driver")
        pytest.skip("needs chromium and chromedriver")
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.driver.quit()


@pytest.fixture
def page(browser):
    """The browser, whose console has to stay silent."""
    yield browser
    assert browser.complaints() == []
