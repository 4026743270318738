"""Characters that a font lacks."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from dipolar import LogRankSurvivalTree
from dipolar.plotting import (
    glyphs,
    plot_importance,
    plot_tree,
)
from dipolar.plotting.glyphs import GLUE, font_families, legible
from dipolar.plotting.text_fit import Ruler
from tests.plotting.drawn import assert_tree_is_clear, words


def test_characters_that_the_font_lacks_are_spelled_out():
    assert legible("age ≥ 40 é") == "age ≥ 40 é"
    assert legible("🫀 rate") == f":anatomical{GLUE}heart: rate"
    assert legible("🩺💉") == ":stethoscope: :syringe:"
    assert legible("🇩🇪💉👍🏽") == f"DE :syringe: :thumbs{GLUE}up{GLUE}sign:"
    assert legible("年齢") == "U+5E74 U+9F62"
    assert legible("a\N{VARIATION SELECTOR-17}b") == "ab"
    assert legible("$x^2$") == r"\$x^2\$"
    figure = plt.figure()
    figure.text(0, 0, legible("🫀 年 $x^2$ $"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    assert not caught


def test_another_font_is_asked_for_its_own_characters():
    with mpl.rc_context({"font.family": ["no such font", "DejaVu Sans Mono"]}):
        assert legible("年 é") == "U+5E74 é"


@pytest.fixture
def emoji_font(tmp_path):
    """A font of the name that is looked for, with one glyph, as if it were installed."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    for step, corner in ((pen.moveTo, (0, 0)), (pen.lineTo, (0, 900)), (pen.lineTo, (900, 0))):
        step(corner)
    pen.closePath()
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "heart"])
    builder.setupCharacterMap({ord("🫀"): "heart"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "heart": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "heart": (1000, 0)})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": "Noto Emoji", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, usWinAscent=900, usWinDescent=100)
    builder.setupPost()
    builder.save(tmp_path / "NotoEmoji.ttf")
    manager = mpl.font_manager.fontManager
    installed = list(manager.ttflist)
    manager.addfont(tmp_path / "NotoEmoji.ttf")
    for cached in (glyphs._family_of, glyphs._font_file):
        cached.cache_clear()
    yield
    manager.ttflist = installed
    for cached in (glyphs._family_of, glyphs._font_file, manager._findfont_cached):
        cached.cache_clear()


def test_an_emoji_font_is_used_where_there_is_one(emoji_font, data, tmp_path):
    assert legible("🫀 rate 💊") == "🫀 rate :pill:"
    assert font_families("rate") == [*mpl.rcParams["font.family"]]
    assert font_families("🫀 rate") == [*mpl.rcParams["font.family"], "Noto Emoji"]
    assert Ruler(plt.figure()).width("🫀", 10) == pytest.approx(1.04 * 10 / 72, rel=0.05), "as wide as its glyph"
    X, y = data
    tree = LogRankSurvivalTree(max_leaf_nodes=4).fit(X.set_axis([f"🫀 {name}" for name in X], axis=1), y)
    ax = plot_tree(tree)
    assert_tree_is_clear(ax)
    assert "🫀" in words(ax)
    assert "🫀" in words(plot_importance(tree))
    for suffix in ("png", "pdf", "svg"):
        ax.figure.savefig(tmp_path / f"tree.{suffix}")  # a missing glyph would be a warning
