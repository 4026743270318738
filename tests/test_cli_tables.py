"""Tables as they come: separators, encodings, decimal commas, outcomes, and what becomes of the columns."""

import datetime

import numpy as np
import pandas as pd
import pytest

from dipolar.cli.messages import UserError
from dipolar.cli.model import Model
from dipolar.cli.outcome import find_outcome
from dipolar.cli.preparation import ColumnChoice, apply_encoder
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

    return Table("data.csv", pd.DataFrame({name: cells(values) for name, values in columns.items()}))


def learn(table, **choice):
    """Fit the encoder of a table as `dipolar fit` does."""
    choice = ColumnChoice(**choice)
    choice.check(table)
    covariates = choice.covariates(table, find_outcome(table, time="time").columns.names)
    return choice.encoder(covariates, "most_common").fit(covariates)


def features(encoder):
    return encoder.get_feature_names_out().tolist()


def reasons(encoder):
    return {decision.column: decision.done for decision in encoder.decisions_ if decision.kind == "left out"}


# Reading.


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_told_from_the_text(tmp_path, separator):
    text = "\n".join(separator.join(row) for row in (("time", "event", "x"), ("1", "0", "a b"), ("2", "1", "c")))
    table = read_table(write(tmp_path, text))
    assert list(table.columns) == ["time", "event", "x"]
    assert table.cells("x").tolist() == ["a b", "c"]


def test_decimal_commas_are_numbers_between_semicolons_and_text_between_commas(tmp_path):
    table = read_table(write(tmp_path, "time;x;y\n1,5;1.234,5;a,b\n2;-3;7\n"))
    assert table.cells("time").tolist() == ["1.5", "2"]
    assert table.cells("x").tolist() == ["1234.5", "-3"]
    assert table.cells("y").tolist() == ["a,b", "7"]
    assert "numbers with a decimal comma" in table.notes
    table = read_table(write(tmp_path, 'time,x\n1,"1,234"\n'))
    assert table.cells("x").tolist() == ["1,234"] and table.notes == []


@pytest.mark.parametrize(
    ("encoding", "note"), [("utf-8", None), ("utf-8-sig", None), ("latin-1", "Latin-1"), ("utf-16", "UTF-16")]
)
def test_encodings(tmp_path, encoding, note):
    table = read_table(write(tmp_path, "time,größe\n1,süß\n", encoding=encoding))
    assert list(table.columns) == ["time", "größe"] and table.cells("größe").tolist() == ["süß"]
    assert [note in text for text in table.notes] == ([True] if note else [])


def test_quotes_blank_lines_line_ends_and_blanks(tmp_path):
    table = read_table(write(tmp_path, 'time, name \r\n1," Doe, J. "\r\n\r\n,\r\n2,"say ""x"""\r\n'))
    assert list(table.columns) == ["time", "name"]
    assert table.cells("name").tolist() == ["Doe, J.", 'say "x"']


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", ".", "?", "-", "null", "missing"])
def test_words_for_missing(tmp_path, word):
    assert read_table(write(tmp_path, f"time,x\n1,{word}\n")).cells("x").tolist() == [None]


def test_none_is_a_category(tmp_path):
    assert read_table(write(tmp_path, "time,illness\n1,none\n")).cells("illness").tolist() == ["none"]


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
    assert [table.cells(name).dtype.kind for name in table.columns] == ["f", "f", "f", "O", "M"]
    assert table.cells("event").tolist() == [1.0, 0.0, 1.0]
    assert table.cells("sex").tolist() == ["m", None, "f"]
    assert as_text(table.cells("seen")).tolist() == ["2020-01-02", None, "2020-03-04"]


def test_excel_reads_the_first_sheet_and_mixed_columns(tmp_path):
    path = tmp_path / "data.xlsx"
    with pd.ExcelWriter(path) as book:
        day = [datetime.date(2020, 1, 2), None, None]
        frame = pd.DataFrame({"time": [1, 2, None], "code": [1, "2a", "None"], "day": day, "x": [3, "NA", None]})
        frame.to_excel(book, sheet_name="patients", index=False)
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="legend", index=False)
    table = read_table(str(path))
    assert table.cells("code").tolist() == ["1", "2a", "None"]
    assert table.cells("x").tolist()[0] == 3.0 and np.isnan(table.cells("x")[1:]).all()
    assert table.cells("day").dtype.kind == "M"
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
    prepared = apply_encoder(learn(table), table)
    assert prepared.X["x"].tolist() == [1, 2, 3] and "'inf'" in prepared.odd[0]


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
    assert (found.columns.time, found.columns.event) == (time, event)


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
    assert find_outcome(table, time="weeks", event="outcome2").columns.event == "Outcome2"
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
    encoder = learn(table)
    assert features(encoder) == ["age", "slips", "sex=f", "stage=I", "stage=III"]
    why = reasons(encoder)
    assert set(why) == {"patient_id", "running", "site", "empty", "admitted", "pfs_time"}
    assert "identifier" in why["running"] and "date" in why["admitted"] and "outcome" in why["pfs_time"]
    prepared = apply_encoder(encoder, table)
    assert not prepared.X.isna().any().any()
    assert prepared.X["age"].iloc[-1] == np.median([50 + i % 7 for i in range(n - 1)])
    assert prepared.X["slips"].iloc[-1] == 2.5
    assert prepared.X["sex=f"].tolist() == [0, 1] * 9 + [0, 0]
    assert prepared.X["stage=I"].tolist() == [1, 0, 0, 0] * 5
    assert any("'<1'" in note for note in prepared.odd)


def test_dates_as_days():
    dates = ["03.01.2020", "01.01.2020", None, "11.01.2020"]
    table = table_of(**outcome_columns(4), admitted=dates)
    encoder = learn(table, dates="days")
    assert apply_encoder(encoder, table).X["admitted [days]"].tolist() == [2, 0, 2, 10]
    later = table_of(**outcome_columns(4), admitted=["31.01.2020", "2020-01-01", None, "01.01.2020"])
    prepared = apply_encoder(encoder, later)
    assert prepared.X["admitted [days]"].tolist() == [30, 2, 2, 0]
    assert any("'2020-01-01'" in note for note in prepared.odd)


def test_choices_of_the_user():
    table = table_of(**outcome_columns(4), a=[1, 2, 3, 3], b=[4, 5, 6, 6], code=[1, 2, 3, 3])
    assert features(learn(table, drop=["a"])) == ["b", "code"]
    assert features(learn(table, only=["a"])) == ["a"]
    assert features(learn(table, category=["code"])) == ["a", "b", "code=1", "code=2"]
    for option in ("only", "drop", "category"):
        with pytest.raises(UserError, match=f"--{option}: .* 'aa'"):
            learn(table, **{option: ["aa"]})
    with pytest.raises(ValueError, match="no covariate is left"):
        learn(table, drop=["a", "b", "code"])


def test_new_rows_go_through_the_same():
    table = table_of(**outcome_columns(6), stage=["I", "II", "III", "II", "I", "II"], x=["1", "2", "3", "4", "5", None])
    encoder = learn(table)
    new = table_of(extra=["u", "v"], x=["7", "?!"], stage=["IV", None])
    prepared = apply_encoder(encoder, new)
    assert prepared.X.to_dict("list") == {"stage=I": [0, 0], "stage=III": [0, 0], "x": [7, 3]}
    assert Model(None, encoder).unused(new) == ["extra"]
    short = table_of(x=["7", "8"])
    with pytest.raises(UserError, match=r"no column 'stage'.*--fill-columns"):
        apply_encoder(encoder, short)
    filled = apply_encoder(encoder, short, fill_columns=True)
    assert filled.X["stage=I"].tolist() == [0, 0] and "stage: 2 missing values set to 'II'" in filled.filled[0]


def test_numbers_of_an_excel_file_meet_the_text_of_a_csv_file():
    csv = table_of(**outcome_columns(4), code=["1", "2", "3a", "2"])
    excel = table_of(code=[2.0, 1.0])
    assert apply_encoder(learn(csv), excel).X["code=1"].tolist() == [0, 1]


# Times between dates.


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (["01.02.2020", "03.02.2020", None], ["11.02.2020", "13.03.2020", "01.01.2021"]),
        # Only the second column tells that the month comes first.
        (["02/01/2020", "02/03/2020", None], ["02/11/2020", "03/13/2020", "01/01/2021"]),
        (["2020-02-01", "2020-02-03", None], ["11.02.2020", "13.03.2020", "01.01.2021"]),
        ([5, 3, None], [15, 42, 7]),
    ],
)
def test_times_between_two_columns(start, stop):
    table = table_of(age=[1, 2, 3], entry=start, exit=stop, status=[0, 1, 1])
    outcome = find_outcome(table, start="entry", stop="Exit")
    y, rows, notes = outcome.read(table)
    assert y["time"].tolist() == [10, 39] and rows.tolist() == [0, 1] and "1 row" in notes[0]
    assert outcome.columns.names == ("entry", "exit", "status")
    assert outcome.time_unit == (None if start[0] == 5 else "days")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "entry"}, "--start and --stop. Give either"),
        ({"start": "entry", "stop": "exit", "time": "age"}, "--start and --stop. Give either"),
        ({"start": "enter", "stop": "exit"}, "--start: .* Did you mean 'entry'"),
        ({"start": "exit", "stop": "entry"}, "'entry' is before 'exit' in 2 rows.*--start, --stop"),
        ({"start": "entry", "stop": "note"}, "is no column of dates: it has 2 cells .*'01.02.2020'"),
        ({"start": "entry", "stop": "entry"}, "the same column"),
        ({"start": "entry", "stop": "exit", "time_unit": "months"}, "--time-unit months: .* in days"),
    ],
)
def test_times_between_two_columns_that_are_refused(options, message):
    dates = {"entry": ["01.02.2020", "03.02.2020"], "exit": ["11.02.2020", "13.03.2020"]}
    table = table_of(age=[1, 2], status=[0, 1], note=["1", "soon"], **dates)
    with pytest.raises(UserError, match=message):
        find_outcome(table, **options).read(table)


@pytest.mark.parametrize(
    ("codes", "events"),
    [
        (["0:LIVING", "1:DECEASED"], [False, True]),
        (["0:DiseaseFree", "1:Recurred/Progressed"], [False, True]),
        (["0: alive", "1=dead"], [False, True]),
    ],
)
def test_codes_that_say_what_they_mean(codes, events):
    table = table_of(age=[1, 2], time=[3, 4], os_status=codes)
    assert find_outcome(table).read(table)[0]["event"].tolist() == events


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("status", ["0:DECEASED", "1:LIVING"]),
        ("status", ["1:a", "2:b"]),
        ("censored", ["0:no", "1:yes"]),
        ("censored", ["0:here", "1:gone"]),
    ],
)
def test_codes_that_contradict_themselves_are_asked_for(name, codes):
    table = table_of(age=[1, 2], time=[3, 4], **{name: codes})
    with pytest.raises(UserError, match="--event-value"):
        find_outcome(table)
    chosen = find_outcome(table, event_values=codes[:1]).read(table)[0]
    assert chosen["event"].tolist() == [True, False]


# Encodings that are told.


def test_an_encoding_may_be_told(tmp_path):
    path = write(tmp_path, "time,größe\n1,süß\n", encoding="cp850")
    table = read_table(path, encoding="cp850")
    assert table.columns == ["time", "größe"] and table.cells("größe").tolist() == ["süß"]
    assert table.notes == ["text in cp850, as told"]
    with_mark = write(tmp_path, "time,x\n1,2\n", encoding="utf-8-sig")
    assert read_table(with_mark, encoding="utf-8").columns == ["time", "x"]


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-8", "is no text in utf-8: 'utf-8' codec can't decode byte 0xf6"),
        ("latin1x", r"no encoding 'latin1x' of text. Did you mean 'latin-1'\?"),
        ("rot13", "no encoding 'rot13' of text. Common ones are utf-8"),
        ("a\0b", "no encoding"),
    ],
)
def test_encodings_that_do_not_fit(tmp_path, encoding, message):
    path = write(tmp_path, "time,größe\n1,2\n", encoding="latin-1")
    with pytest.raises(UserError, match=message):
        read_table(path, encoding=encoding)


def test_only_text_has_an_encoding(tmp_path):
    pd.DataFrame({"time": [1]}).to_parquet(tmp_path / "a.parquet")
    for data in (str(tmp_path / "a.parquet"), "remission"):
        with pytest.raises(UserError, match="--encoding says how the text of a CSV file"):
            read_table(data, encoding="utf-8")


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
