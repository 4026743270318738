"""The results file: whatever ends the writing, what was finished is there, and what is broken is named."""

import errno
import gzip
import json
import zlib

import pytest

from dipolar.studies.journal import Journal, Recorded, read_journal
from dipolar.studies.unit import StudyError, Unit, seed_of

HEADER = {"study": "toy", "seed": 0, "settings": {"models": {"linear": {"alpha": 2.8}}, "folds": 5}}
UNITS = [Unit("plane", number, model) for number in range(3) for model in ("linear", "truth")]


def result(unit):
    return {"value": unit.replicate + 0.5, "name": "Ürümqi", "seconds": {"tuning": 1.0}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.jsonl"


@pytest.fixture
def written(path):
    with Journal.create(path, HEADER) as journal:
        journal.add_session({"dipolar": "1"})
        for unit in UNITS:
            journal.add_unit(unit, result(unit))
    return path


def test_what_was_written_is_read(written):
    recorded = read_journal(written)
    assert list(recorded.units) == UNITS
    assert all(recorded.units[unit]["value"] == unit.replicate + 0.5 for unit in UNITS)
    assert recorded.units[UNITS[0]]["name"] == "Ürümqi" and recorded.units[UNITS[0]]["session"] == 0
    assert recorded.header["settings"] == HEADER["settings"] and recorded.sessions == [{"dipolar": "1"}]
    assert not recorded.notes and recorded.n_bytes == written.stat().st_size


def test_the_open_file_knows_what_it_holds(written):
    with Journal.resume(written, HEADER) as journal:
        extra = Unit("plane", 9, "linear")
        journal.add_unit(extra, result(extra))
        assert journal.recorded.units.keys() == read_journal(written).units.keys() == {*UNITS, extra}
        assert journal.recorded.units[extra]["value"] == 9.5


def test_packed_results_are_read(written, tmp_path):
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(written.read_bytes()))
    assert read_journal(packed).units == read_journal(written).units
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(StudyError, match="cannot be read"):
        read_journal(packed)


def test_cut_off_anywhere_it_goes_on_from_there(written, tmp_path):
    """A kill may leave any number of bytes: every complete line counts, and nothing is glued to the torn one."""
    content = written.read_bytes()
    for length in range(1, len(content), 11):
        cut = tmp_path / f"cut{length}.jsonl"
        cut.write_bytes(content[:length])
        complete = content[:length].count(b"\n")
        with Journal.resume(cut, HEADER) as journal:
            assert list(journal.recorded.units) == UNITS[: max(0, complete - 2)]
            torn = not content[:length].endswith(b"\n")
            assert len(journal.recorded.notes) == torn
            if torn:
                assert journal.recorded.notes[0].startswith(f"line {complete + 1} breaks off")
            for unit in UNITS:
                if unit not in journal.recorded.units:
                    journal.add_unit(unit, result(unit))
        again = read_journal(cut)
        assert not again.notes and list(again.units) == UNITS and again.header["study"] == "toy"


def checked(document):
    """A line with its checksum."""
    body = json.dumps(document).encode()
    return body[:-1] + f',"crc":{zlib.crc32(body)}}}'.encode()


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b'{"unit": ["plane", 0, "lin', "Unterminated string"),
        (b'{"unit": ["plane", 0, "linear"], "value": NaN}', "NaN is not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b"\xff\xfe\x00", "not text"),
        (b"", "Expecting value"),
        (b'{"unit": ["plane", 0, "linear"]}', "its checksum is wrong"),
        (b'{"unit": ["plane", 0, "linear"], "crc": "x"}', "its checksum is wrong"),
        (checked({"unit": ["plane", 0.5, "linear"]}), "does not name a unit"),
        (checked({"value": 1}), "'unit'"),
    ],
)
def test_a_broken_line_is_told_by_its_number_and_costs_its_own_unit(written, broken, why):
    lines = written.read_bytes().splitlines()
    lines[4] = broken
    written.write_bytes(b"\n".join(lines) + b"\n")
    recorded = read_journal(written)
    assert list(recorded.units) == [unit for unit in UNITS if unit != UNITS[2]]
    assert len(recorded.notes) == 1 and recorded.notes[0].startswith("line 5 ") and why in recorded.notes[0]


def test_no_changed_byte_goes_unnoticed(written):
    lines = written.read_bytes().splitlines(keepends=True)
    for place in range(len(lines[5]) - 1):
        changed = bytearray(lines[5])
        changed[place] ^= 1
        recorded = Recorded(header={"version": 2})
        recorded.add_line(6, bytes(changed[:-1]))
        assert not recorded.units and recorded.notes


def test_files_without_checksums_are_read_and_continued(written):
    lines = [json.loads(line) for line in written.read_bytes().splitlines()]
    lines[0]["version"] = 1
    old = [json.dumps({name: value for name, value in line.items() if name != "crc"}) for line in lines]
    written.write_text("\n".join(old) + "\n")
    with Journal.resume(written, HEADER) as journal:
        assert list(journal.recorded.units) == UNITS and not journal.recorded.notes
        journal.add_unit(Unit("plane", 9, "truth"), {"seconds": {}})
    assert len(read_journal(written).units) == len(UNITS) + 1


def test_of_a_repeated_unit_the_first_counts(written):
    with open(written, "ab") as stream:
        stream.write(checked({"unit": ["plane", 0, "linear"], "value": 77, "seconds": {}}) + b"\n")
    recorded = read_journal(written)
    assert recorded.units[UNITS[0]]["value"] == 0.5
    assert recorded.notes == ["line 9 repeats the unit plane 0 linear; the first one counts"]


def test_a_failure_is_forgotten_once_its_unit_succeeds(path):
    with Journal.create(path, HEADER) as journal:
        journal.add_failure(UNITS[0], "ValueError: too small")
        journal.add_failure(UNITS[1], "ValueError: too large")
        journal.add_unit(UNITS[0], result(UNITS[0]))
        assert journal.recorded.failures == {UNITS[1]: "ValueError: too large"}
    assert read_journal(path).failures == {UNITS[1]: "ValueError: too large"}


def test_other_settings_are_refused_by_name(written):
    other = {**HEADER, "settings": {"models": {"linear": {"alpha": 4.0}}, "folds": 5}}
    with pytest.raises(StudyError, match=r"settings\.models\.linear\.alpha is 2\.8 there and 4\.0 now"):
        Journal.resume(written, other)
    with pytest.raises(StudyError, match="seed is 0 there and 1 now"):
        Journal.resume(written, {**HEADER, "seed": 1})
    with pytest.raises(StudyError, match=r"settings\.new is None there and 3 now"):
        Journal.resume(written, {**HEADER, "settings": {**HEADER["settings"], "new": 3}})
    Journal.resume(written, HEADER).close()


@pytest.mark.parametrize(
    "content", [b"time,event\n1,1\n", b'{"format": "other"}\n', b'{"format": "dipolar-study", "version": 9}\n']
)
def test_foreign_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(StudyError, match="line 1 is not the first line of a results file"):
        Journal.resume(path, HEADER)
    assert path.read_bytes() == content


def test_empty_and_absent_files_are_refused(path):
    with pytest.raises(StudyError, match="cannot be opened"):
        Journal.resume(path, HEADER)
    path.write_bytes(b"")
    with pytest.raises(StudyError, match="is empty"):
        Journal.resume(path, HEADER)


def test_two_runs_cannot_write_to_one_file(written):
    pytest.importorskip("fcntl")
    with Journal.resume(written, HEADER), pytest.raises(StudyError, match="being written by another run"):
        Journal.resume(written, HEADER)
    Journal.resume(written, HEADER).close()


class FullDisk:
    """A stream with room for so many more bytes."""

    def __init__(self, stream, room):
        self.stream, self.room = stream, room

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        n_written = self.stream.write(data[: self.room])
        self.room -= n_written
        return n_written

    def __getattr__(self, name):
        return getattr(self.stream, name)


@pytest.mark.parametrize("room", [0, 1, 40])
def test_a_full_disk_takes_no_finished_unit_with_it(written, room):
    before = written.read_bytes()
    journal = Journal.resume(written, HEADER)
    journal._stream = FullDisk(journal._stream, room)
    unit = Unit("plane", 7, "linear")
    with pytest.raises(StudyError, match=r"No space left on device.*--resume"):
        journal.add_unit(unit, result(unit))
    journal.close()
    assert written.read_bytes() == before
    assert unit not in journal.recorded.units


def test_a_result_that_is_not_json_is_an_error(path):
    with Journal.create(path, HEADER) as journal, pytest.raises(ValueError, match="Out of range float"):
        journal.add_unit(UNITS[0], {"value": float("nan")})
    assert not read_journal(path).units


def test_seeds_depend_on_names_alone():
    seeds = {seed_of(name, number, base) for name in ("a", "b") for number in range(50) for base in (0, 1)}
    assert len(seeds) == 200 and max(seeds) < 2**53
    # Written down: results files of today stay those of tomorrow.
    assert seed_of("planar-2", 0) == 312995420257
