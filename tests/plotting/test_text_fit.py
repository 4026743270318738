"""Text in boxes: measured as it is drawn, wrapped at good places, and never inside a number."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar.plotting.glyphs import GLUE
from dipolar.plotting.text_fit import GOOD_BREAKS, Box, Ruler, fit_text
from tests.plotting.drawn import (
    NUMBER,
)

WRAPPING_RULER = Ruler(mpl.figure.Figure())


def test_text_is_set_smaller_before_a_word_is_broken_and_broken_before_it_is_cut():
    ruler = WRAPPING_RULER
    text = f"ycoord{GLUE}≤{GLUE}0.249724"
    width = ruler.width(text, 9)
    whole, smaller, broken = (
        fit_text(ruler, Box(0, 0, share * width, 0.4), [text, "short"], size=9, smallest=7) for share in (1, 0.9, 0.7)
    )
    assert whole.lines == smaller.lines == [text]
    assert whole.size == 9 > smaller.size >= 7
    assert broken.lines == ["ycoord", f"≤{GLUE}0.249724"] and broken.size == 9
    assert fit_text(ruler, Box(0, 0, 0.7 * width, 0.16), [text, "short"], size=9, smallest=7).lines == ["short"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("blood_pressure_lying", ["blood_", "pressure_", "lying"]),
        ("bloodPressureLying", ["blood", "Pressure", "Lying"]),
        ("blood.pressure-lying", ["blood.", "pressure-", "lying"]),
        (f"+{GLUE}0.1234{GLUE}pressure", [f"+{GLUE}0.1234", "pressure"]),
        (f"pressure{GLUE}<{GLUE}-1.2e-05", ["pressure", f"<{GLUE}-1.2e-05"]),
        ("年齢年齢年齢年齢年齢", ["年齢年齢年", "齢年齢年齢"]),
    ],
)
def test_words_are_broken_where_a_part_ends(text, lines):
    # As if all characters were equally wide: a line takes eleven, or five that are twice as wide.
    ruler = Ruler(mpl.figure.Figure())
    ruler._character = lambda character: 0.2 if character < "\u3000" else 0.4
    assert ruler.wrap(text, ruler.width("pressure_<<", 9), 9, GOOD_BREAKS) == lines


def test_the_ruler_measures_what_is_drawn():
    figure = plt.figure(dpi=100)
    ruler = Ruler(figure)
    for text in ("survival", "WWWWWW iiiiii", r"\$ 12.5 \$"):
        drawn = figure.text(0, 0, text, fontsize=11).get_window_extent().width / 100
        assert drawn <= ruler.width(text, 11) <= 1.12 * drawn


@given(st.text("ab $iW", max_size=60), st.floats(0.1, 3.0))
@settings(max_examples=40)
def test_wrapping_loses_nothing_and_stays_inside(text, width):
    ruler = WRAPPING_RULER
    lines = ruler.wrap(text.replace("$", r"\$"), width, 9)
    assert "".join(lines).replace(" ", "") == text.replace("$", r"\$").replace(" ", "")
    assert all(ruler.width(line, 9) <= width or len(line.replace("\\", "").strip()) <= 1 for line in lines)


PARTS = st.sampled_from(
    ["age", " ", GLUE, "_", "<", "-", "+", "0.249724", "-1.5e-07", "12", "1,234.5", "(57%)", "aB.c"]
)


@given(st.lists(PARTS, max_size=12), st.floats(0.1, 1.0))
@settings(max_examples=100)
def test_wrapping_breaks_no_number(parts, width):
    text = "".join(parts)
    lines = WRAPPING_RULER.wrap(text, width, 9)
    assert re.sub(rf"[ {GLUE}]", "", "".join(lines)) == re.sub(rf"[ {GLUE}]", "", text)
    whole = [number for word in text.split(" ") for number in NUMBER.findall(word)]
    assert [number for line in lines for number in NUMBER.findall(line.replace(" ", "\n"))] == whole
