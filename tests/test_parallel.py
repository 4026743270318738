"""Tasks through joblib: none waits for a slower neighbour, and those of a lost worker are sent again."""

import time

import pytest
from joblib import delayed

from dipolar.parallel import run_unordered


def wait_for(path, seconds=120):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, "nobody made the file"
        time.sleep(0.01)


def test_a_slow_task_does_not_hold_back_the_others(tmp_path):
    """The first task ends only once the result of another has been handed out."""
    finished = []
    for number, _ in run_unordered([delayed(wait_for)(tmp_path / "go"), delayed(abs)(1), delayed(abs)(2)], n_jobs=2):
        finished.append(number)
        (tmp_path / "go").touch()
    assert sorted(finished) == [0, 1, 2] and finished[0] != 0


class LostOnce:
    """A task whose worker is lost the first time."""

    def __init__(self, value):
        self.value, self.lost = value, False

    def __call__(self):
        if not self.lost:
            self.lost = True
            raise ConnectionError("the worker is gone")
        return self.value


def test_tasks_of_a_lost_worker_are_sent_again_and_the_others_are_not(monkeypatch):
    calls = []
    tasks = [delayed(calls.append)(1), delayed(LostOnce(7))(), delayed(calls.append)(2)]
    with pytest.raises(ConnectionError):
        list(run_unordered(tasks))
    calls.clear()
    monkeypatch.setattr("dipolar.parallel._lost_worker_errors", lambda: (ConnectionError,))
    tasks[1] = delayed(LostOnce(7))()
    assert sorted(run_unordered(tasks), key=lambda pair: pair[0]) == [(0, None), (1, 7), (2, None)]
    assert calls == [1, 2]
