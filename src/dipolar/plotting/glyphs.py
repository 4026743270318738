"""Which font draws a character, and what to write where none does.

A name may hold anything: emoji, Chinese, a dollar sign. Characters that the font of the figure lacks are taken from a
font for emoji or for another script where one is installed, and are spelled out elsewhere.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

__all__ = ["GLUE", "font_families", "legible"]

# Holds together on one line what is read together, where there is room for it.
GLUE = "\N{NO-BREAK SPACE}"

# Families with outlines for what most fonts lack, in order of preference. Emoji fonts of coloured pixels, which
# matplotlib cannot draw, are not among them.
FALLBACKS = (
    "Noto Emoji",
    "Symbola",
    "Segoe UI Emoji",
    "Segoe UI Symbol",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "IPAexGothic",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Hiragino Sans",
    "PingFang SC",
    "Arial Unicode MS",
    "DejaVu Sans",
)


def legible(text: str) -> str:
    """Return the text with every character that no font at hand has spelled out, and without mathematics.

    A symbol becomes its name (`:anatomical heart:`), a flag its letters, another character its code (`U+5E74`);
    joiners, variation selectors and skin tones disappear. A dollar sign stays a dollar sign.
    """
    families = _families()
    shown, last_word = "", ""
    for character in text:
        if character in " \n" or _family_of(character, families) is not None:
            shown, last_word = shown + character, ""
            continue
        word = _spelled(character)
        # Two words in a row are told apart, and a line may end between them; the two letters of a flag are one word.
        apart = " " if last_word and word and len(last_word + word) > 2 else ""
        shown, last_word = shown + apart + word, word or last_word
    return shown.replace("$", r"\$")


def font_families(text: str) -> list[str]:
    """Return the families to draw a legible text with: those of the figure, then those that it needs besides."""
    families = _families()
    needed = (_family_of(character, families) for character in text if not character.isspace())
    return list(dict.fromkeys([*families, *(family for family in needed if family is not None)]))


def _families() -> tuple[str, ...]:
    return tuple(FontProperties().get_family())


@lru_cache(maxsize=4096)
def _family_of(character: str, families: tuple[str, ...]) -> str | None:
    """The first family with a glyph for a character: of those of the figure, then of the fallbacks."""
    for family in (*families, *FALLBACKS):
        path = _font_file(family, family in families)
        if path is not None and get_font(path).get_char_index(ord(character)):
            return family
    return None


@lru_cache(maxsize=128)
def _font_file(family: str, may_be_generic: bool) -> str | None:
    """The file that matplotlib opens for a family; None where it is not installed."""
    if not may_be_generic and not any(font.name == family for font in fontManager.ttflist):
        return None
    try:
        return str(findfont(FontProperties(family=[family]), fallback_to_default=False))
    except ValueError:
        return None


def _spelled(character: str) -> str:
    code = f"U+{ord(character):04X}"
    category, name = unicodedata.category(character), unicodedata.name(character, code)
    if category in ("Cf", "Mn", "Me", "Cc") or name.startswith("EMOJI MODIFIER"):
        return ""
    if name.startswith("REGIONAL INDICATOR"):
        return name[-1]
    return f":{name.lower()}:".replace(" ", GLUE) if category.startswith("S") else code
