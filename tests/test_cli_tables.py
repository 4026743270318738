"""Tables as they come: separators, encodings, decimal commas, outcomes, and what becomes of the columns."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from dipolar.cli.messages import UserError
from dipolar.cli.outcome import find_outcome
from dipolar.cli.preparation import ColumnChoice, Preparation
from dipolar.cli.recipes import CategoryColumn, DateColumn, NumberColumn
from dipolar.cli.table import Table, read_table
from dipolar.preparation.cells import as_text


def write(tmp_path, text, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return str(path)


def table_of(**columns):
    def cells(values):
        is_text = any(isinstance(value, str) for value in values)
        return np.array(values, dtype=object if is_text else np.float64)

    return Table("data.csv", {name: cells(values) for name, values in columns.items()})


def learn(table, **choice):
    return Preparation.learn(table, find_outcome(table, time="time"), ColumnChoice(**choice))


# Reading.


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_told_from_the_text(tmp_path, separator):
    text = "\n".join(separator.join(row) for row in (("time", "event", "x"), ("1", "0", "a b"), ("2", "1", "c")))
    table = read_table(write(tmp_path, text))
    assert list(table.columns) == ["time", "event", "x"]
    assert table.columns["x"].tolist() == ["a b", "c"]


def test_decimal_commas_are_numbers_between_semicolons_and_text_between_commas(tmp_path):
    table = read_table(write(tmp_path, "time;x;y\n1,5;1.234,5;a,b\n2;-3;7\n"))
    assert table.columns["time"].tolist() == ["1.5", "2"]
    assert table.columns["x"].tolist() == ["1234.5", "-3"]
    assert table.columns["y"].tolist() == ["a,b", "7"]
    assert "numbers with a decimal comma" in table.notes
    table = read_table(write(tmp_path, 'time,x\n1,"1,234"\n'))
    assert table.columns["x"].tolist() == ["1,234"] and table.notes == []


@pytest.mark.parametrize(
    ("encoding", "note"), [("utf-8", None), ("utf-8-sig", None), ("latin-1", "Latin-1"), ("utf-16", "UTF-16")]
)
def test_encodings(tmp_path, encoding, note):
    table = read_table(write(tmp_path, "time,größe\n1,süß\n", encoding=encoding))
    assert list(table.columns) == ["time", "größe"] and table.columns["größe"].tolist() == ["süß"]
    assert [note in text for text in table.notes] == ([True] if note else [])


def test_quotes_blank_lines_line_ends_and_blanks(tmp_path):
    table = read_table(write(tmp_path, 'time, name \r\n1," Doe, J. "\r\n\r\n,\r\n2,"say ""x"""\r\n'))
    assert list(table.columns) == ["time", "name"]
    assert table.columns["name"].tolist() == ["Doe, J.", 'say "x"']


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", ".", "?", "-", "null", "missing"])
def test_words_for_missing(tmp_path, word):
    assert read_table(write(tmp_path, f"time,x\n1,{word}\n")).columns["x"].tolist() == [None]


def test_none_is_a_category(tmp_path):
    assert read_table(write(tmp_path, "time,illness\n1,none\n")).columns["illness"].tolist() == ["none"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,event,x\n1,0\n", ["line 2", "2 cells", "3"]),
        ("time,event,x\n1,0,3\n1,0,3,4\n", ["line 3", "4 cells"]),
        ("time,time,x\n1,0,3\n", ["several columns", "'time'"]),
        ("time,event,x\n", ["no rows"]),
        ("\n\n", ["empty"]),
        ("", ["empty"]),
        ("a\0b,c\n", ["not a text file"]),
    ],
)
def test_texts_that_are_no_tables(tmp_path, text, words):
    with pytest.raises(UserError) as error:
        read_table(write(tmp_path, text))
    assert all(word in str(error.value) for word in words)


def test_columns_without_a_name_get_their_number(tmp_path):
    assert list(read_table(write(tmp_path, ",time\n1,2\n")).columns) == ["column 1", "time"]


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_files_with_types(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "time": [1, 2, 3],
            "event": [True, False, True],
            "x": [1.5, None, 3.0],
            "sex": ["m", None, "f"],
            "seen": pd.to_datetime(["2020-01-02", None, "2020-03-04"]),
        }
    )
    path = tmp_path / f"data.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_excel(path, index=False)
    table = read_table(str(path))
    assert [column.dtype.kind for column in table.columns.values()] == ["f", "f", "f", "O", "M"]
    assert table.columns["event"].tolist() == [1.0, 0.0, 1.0]
    assert table.columns["sex"].tolist() == ["m", None, "f"]
    assert as_text(table.columns["seen"]).tolist() == ["2020-01-02", None, "2020-03-04"]


def test_excel_reads_the_first_sheet_and_mixed_columns(tmp_path):
    path = tmp_path / "data.xlsx"
    with pd.ExcelWriter(path) as book:
        day = [datetime.date(2020, 1, 2), None, None]
        frame = pd.DataFrame({"time": [1, 2, None], "code": [1, "2a", "None"], "day": day, "x": [3, "NA", None]})
        frame.to_excel(book, sheet_name="patients", index=False)
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="legend", index=False)
    table = read_table(str(path))
    assert table.columns["code"].tolist() == ["1", "2a", "None"]
    assert table.columns["x"].tolist()[0] == 3.0 and np.isnan(table.columns["x"][1:]).all()
    assert table.columns["day"].dtype.kind == "M"
    assert any("'patients'" in note for note in table.notes)


@pytest.fixture
def book(tmp_path):
    """An Excel file of four sheets: notes, a table, one whose name is a number, and an empty one."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as file:
        pd.DataFrame({"note": ["read me"]}).to_excel(file, sheet_name="notes", index=False)
        pd.DataFrame({"time": [1, 2], "x": [3, 4]}).to_excel(file, sheet_name="patients", index=False)
        pd.DataFrame({"time": [5], "x": [6]}).to_excel(file, sheet_name="1", index=False)
        pd.DataFrame().to_excel(file, sheet_name="empty", index=False)
    return str(path)


@pytest.mark.parametrize(
    ("sheet", "columns", "note"),
    [
        (None, ["note"], "sheet 'notes', the first of 4; --sheet takes another"),
        ("patients", ["time", "x"], "sheet 'patients'"),
        ("2", ["time", "x"], "sheet 'patients'"),
        ("1", ["time", "x"], "sheet '1'"),
    ],
)
def test_sheets_by_name_and_number(book, sheet, columns, note):
    table = read_table(book, sheet=sheet)
    assert list(table.columns) == columns and table.notes == [note]
    assert len(table) == (2 if "patients" in note else 1)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ("patient", r"has no sheet 'patient'. Did you mean 'patients'\?"),
        ("5", "has no sheet '5'. It has 'notes', 'patients', '1', 'empty'"),
        ("0", "has no sheet '0'. It has"),
        ("empty", "the sheet 'empty' is empty. Name another one: --sheet 'notes'"),
    ],
)
def test_sheets_that_cannot_be_read(book, sheet, message):
    with pytest.raises(UserError, match=message):
        read_table(book, sheet=sheet)


def test_only_excel_files_have_sheets(tmp_path):
    for data in (write(tmp_path, "time,x\n1,2\n"), "remission"):
        with pytest.raises(UserError, match="--sheet chooses a sheet of an Excel file"):
            read_table(data, sheet="1")


def test_infinite_numbers_and_lists_of_a_parquet_file(tmp_path):
    frame = pd.DataFrame({"time": [1, 2, 3], "event": [0, 1, 1], "x": [1.0, np.inf, 3.0], "l": [[1], [2], None]})
    frame.to_parquet(tmp_path / "data.parquet")
    table = read_table(str(tmp_path / "data.parquet"))
    prepared = learn(table).apply(table)
    assert prepared.X["x"].tolist() == [1, 2, 3] and "'inf'" in prepared.notes[0]


@pytest.mark.parametrize("suffix", ["parquet", "xlsx", "xls"])
def test_damaged_files_with_types(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    path.write_bytes(b"PK\3\4 not really")
    with pytest.raises(UserError, match="Excel" if suffix.startswith("xls") else "Parquet"):
        read_table(str(path))


def test_bundled_sets_know_their_unit():
    assert read_table("remission").time_unit == "weeks" and read_table("mgus").time_unit == "days"
    assert set(read_table("whas500", "paper").columns) < set(read_table("whas500", "all").columns)


# Outcomes.


@pytest.mark.parametrize(
    ("time", "event"), [("time", "status"), ("FUtime", "Death"), ("OS.time", "OS_event"), ("survival time", "delta")]
)
def test_outcome_columns_are_found_by_their_names(time, event):
    table = table_of(age=[1, 2], **{time: [3, 4], event: [0, 1]})
    found = find_outcome(table)
    assert (found.time, found.event) == (time, event)


@pytest.mark.parametrize(
    ("codes", "events"),
    [
        (["0", "1"], [False, True]),
        (["0.0", "1.0"], [False, True]),
        (["1", "2"], [False, True]),
        (["alive", "Dead"], [False, True]),
        (["No", "YES"], [False, True]),
        (["False", "True"], [False, True]),
        (["censored", "relapse"], [False, True]),
        (["1", "1"], [True, True]),
    ],
)
def test_familiar_codes(codes, events):
    table = table_of(age=[1, 2], time=[3, 4], status=codes)
    y, rows, notes = find_outcome(table).read(table)
    assert y["event"].tolist() == events and y["time"].tolist() == [3, 4]
    assert rows.tolist() == [0, 1] and notes == []


@pytest.mark.parametrize(
    ("name", "codes", "listed"),
    [
        ("status", ["0", "1", "2"], "'0', '1', '2'"),
        ("status", ["A", "B", "B"], "'A', 'B'"),
        ("censored", ["0", "1", "1"], "'0', '1'"),
        ("alive", ["no", "yes", "yes"], "'no', 'yes'"),
    ],
)
def test_codes_in_doubt_are_asked_for(name, codes, listed):
    table = table_of(age=[1, 2, 3], time=[3, 4, 5], **{name: codes})
    with pytest.raises(UserError) as error:
        find_outcome(table, event=name)
    assert listed in str(error.value) and "--event-value" in str(error.value)
    y, _, _ = find_outcome(table, event=name, event_values=[codes[0].lower()]).read(table)
    assert y["event"].tolist() == [code == codes[0] for code in codes]


def test_words_leave_no_doubt_in_a_censoring_column():
    table = table_of(age=[1, 2], time=[3, 4], censored=["alive", "dead"])
    assert find_outcome(table).read(table)[0]["event"].tolist() == [False, True]


def test_event_values_that_never_occur():
    table = table_of(age=[1, 2], time=[3, 4], status=[0, 1])
    with pytest.raises(UserError, match="'3'"):
        find_outcome(table, event_values=["3"])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1], "b": [2], "event": [1]}, ["--time", "a, b, event"]),
        ({"time": [1], "b": [2], "c": [1]}, ["--event", "time, b, c"]),
        ({"os_time": [1], "pfs_time": [2], "event": [1]}, ["os_time, pfs_time", "--time"]),
        ({"time": [1], "dead": [2], "status": [1]}, ["dead, status", "--event"]),
        ({"time": [1]}, ["1 column", "covariate"]),
    ],
)
def test_outcomes_that_are_not_found(columns, words):
    with pytest.raises(UserError) as error:
        find_outcome(table_of(**columns))
    assert all(word in str(error.value) for word in words)


def test_named_columns_may_differ_in_case_and_slips_are_guessed():
    table = table_of(age=[1, 2], Weeks=[3, 4], Outcome2=[0, 1])
    assert find_outcome(table, time="weeks", event="outcome2").event == "Outcome2"
    with pytest.raises(UserError, match="Did you mean 'Weeks'"):
        find_outcome(table, time="Week")


def test_rows_without_outcome_are_left_out_and_bad_times_refused():
    table = table_of(age=["1", "2", "3"], time=["4", None, "6"], event=["1", "0", None])
    y, rows, notes = find_outcome(table).read(table)
    assert rows.tolist() == [0] and len(y) == 1 and "2 rows" in notes[0]
    for time, words in ((["4", "soon"], "'soon'"), (["4", "-1"], "negative")):
        bad = table_of(age=["1", "2"], time=time, event=["1", "0"])
        with pytest.raises(UserError, match=words):
            find_outcome(bad).read(bad)


def test_no_events_at_all():
    table = table_of(age=[1, 2], time=[3, 4], event=[0, 0])
    with pytest.raises(UserError, match="no row has an event"):
        find_outcome(table).read(table)


# Columns.


def outcome_columns(n):
    return {"time": list(range(1, n + 1)), "event": [0, 1] * (n // 2)}


def test_columns_become_numbers_categories_and_nothing():
    n = 20
    table = table_of(
        **outcome_columns(n),
        patient_id=[f"P{i}" for i in range(n)],
        running=list(range(100, 100 + n)),
        age=[str(50 + i % 7) for i in range(n - 1)] + [None],
        slips=["1.5", "2.5"] * 9 + ["3", "<1"],
        sex=["m", "f"] * 9 + ["m", None],
        stage=["I", "II", "III", "II"] * 5,
        site=["A"] * n,
        empty=[float("nan")] * n,
        admitted=[f"{i + 1:02d}.01.2020" for i in range(n)],
        pfs_time=list(range(n)),
    )
    preparation = learn(table)
    assert preparation.features == ["age", "slips", "sex=m", "stage=I", "stage=II", "stage=III"]
    reasons = dict(preparation.dropped)
    assert set(reasons) == {"patient_id", "running", "site", "empty", "admitted", "pfs_time"}
    assert "identifier" in reasons["running"] and "date" in reasons["admitted"] and "outcome" in reasons["pfs_time"]
    prepared = preparation.apply(table)
    assert not prepared.X.isna().any().any()
    assert prepared.X["age"].iloc[-1] == np.median([50 + i % 7 for i in range(n - 1)])
    assert prepared.X["slips"].iloc[-1] == 2.5
    assert prepared.X["sex=m"].tolist() == [1, 0] * 9 + [1, 1]
    assert prepared.X[["stage=I", "stage=II", "stage=III"]].sum(axis=1).tolist() == [1] * n
    assert any("'<1'" in note for note in prepared.notes)


def test_dates_as_days():
    dates = ["03.01.2020", "01.01.2020", None, "11.01.2020"]
    table = table_of(**outcome_columns(4), admitted=dates)
    preparation = learn(table, dates="days")
    assert preparation.apply(table).X["admitted [days]"].tolist() == [2, 0, 2, 10]
    later = table_of(**outcome_columns(4), admitted=["31.01.2020", "2020-01-01", None, "01.01.2020"])
    prepared = preparation.apply(later)
    assert prepared.X["admitted [days]"].tolist() == [30, 2, 2, 0]
    assert any("'2020-01-01'" in note for note in prepared.notes)


def test_choices_of_the_user():
    table = table_of(**outcome_columns(4), a=[1, 2, 3, 3], b=[4, 5, 6, 6], code=[1, 2, 3, 3])
    assert learn(table, drop=["a"]).features == ["b", "code"]
    assert learn(table, only=["a"]).features == ["a"]
    assert learn(table, category=["code"]).features == ["a", "b", "code=1", "code=2", "code=3"]
    for option in ("only", "drop", "category"):
        with pytest.raises(UserError, match=f"--{option}: .* 'aa'"):
            learn(table, **{option: ["aa"]})
    with pytest.raises(UserError, match="no covariate is left"):
        learn(table, drop=["a", "b", "code"])


def test_new_rows_go_through_the_same():
    table = table_of(**outcome_columns(6), stage=["I", "II", "III", "II", "I", "II"], x=["1", "2", "3", "4", "5", None])
    preparation = learn(table)
    new = table_of(extra=["u", "v"], x=["7", "?!"], stage=["IV", None])
    prepared = preparation.apply(new)
    assert prepared.X.to_dict("list") == {"stage=I": [0, 0], "stage=II": [1, 1], "stage=III": [0, 0], "x": [7, 3]}
    assert preparation.unused(new) == ["extra"]
    short = table_of(x=["7", "8"])
    with pytest.raises(UserError, match=r"no column 'stage'.*--fill-columns"):
        preparation.apply(short)
    assert preparation.apply(short, fill_columns=True).X["stage=II"].tolist() == [1, 1]


def test_numbers_of_an_excel_file_meet_the_text_of_a_csv_file():
    csv = table_of(**outcome_columns(4), code=["1", "2", "3a", "2"])
    excel = table_of(code=[2.0, 1.0])
    assert learn(csv).apply(excel).X["code=2"].tolist() == [1, 0]


def test_preparations_survive_json():
    table = table_of(
        **outcome_columns(4),
        x=["1", "2", "3", "3"],
        flag=["0", "1", "1", "0"],
        sex=["m", "f", "m", "m"],
        seen=["2020-01-01", "2020-01-02", None, "2020-01-09"],
    )
    preparation = learn(table, dates="days")
    assert [type(recipe) for recipe in preparation.recipes] == [NumberColumn, NumberColumn, CategoryColumn, DateColumn]
    assert Preparation.from_json(json.loads(json.dumps(preparation.to_json()))) == preparation


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"version": "1"},
        {"recipes": [{"kind": "script", "name": "x"}]},
        {"recipes": [{"kind": "number", "name": "x"}]},
        {"recipes": [{"kind": "date", "name": "x", "form": None, "origin": "tomorrow", "fill": 0.0}]},
        {"recipes": 3},
        {"outcome": ["time"]},
    ],
)
def test_damaged_preparations_are_refused(change):
    table = table_of(**outcome_columns(4), x=["1", "2", "3", "3"])
    record = learn(table).to_json() | change
    with pytest.raises(ValueError, match="preparation"):
        Preparation.from_json(record)


def test_what_parts_of_a_damaged_workbook_raise_when_deleted_is_not_shown(tmp_path, monkeypatch, capsys):
    class Part:
        def __del__(self):
            raise ValueError("a part that cannot be closed")

    def open_damaged(*_, **__):
        part = Part()
        raise KeyError(f"damaged beside {part}")

    monkeypatch.setattr("dipolar.cli.table.pd.ExcelFile", open_damaged)
    path = tmp_path / "rows.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(UserError, match="is not a complete Excel file"):
        read_table(str(path))
    assert capsys.readouterr().err == ""
