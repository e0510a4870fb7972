"""Values that have broken somebody's quoting, and strategies that mix them."""

from __future__ import annotations

from hypothesis import strategies as st

ATOMS = (
    *"'\"`;&|<>()[]{}$!#~*?%^=@,:/\\-+ \t\n\r",
    *("''", '""', "$(id)", "`id`", "${HOME}", "$1", "$$", "!!", "!x", "\\n", "\\'", "\\0101", "%s", "%PATH%", "%%"),
    *("\r\n", "\n\n", "\x1b[31m", "\x07", "\x7f", "\x85", "\x01", "\x08", "--", "-rf", "-", "/*", "*/", "-- ", "@file"),
    *(
        "{}",
        "{{7*7}}",
        "{Data1}",
        "{{",
        ":name",
        "?1",
        "?",
        "@x",
        ";DROP TABLE t;",
        "GO",
        "\ngo\n",
        "\n/\n",
        "\n.quit\n",
    ),
    *("é", "😀", "\u202e", "\u200b", "\u200f", "\ufeff", "\xa0", "\u2028", "\u2019", "a\u0301", "日本", "\U000e0041"),
    *("0", "007", "1e5", "-1", "NULL", "x", "word", "[0-9]*", "~root", "C:\\dir\\", "\ufffe", "\ue000"),
)

HOSTILE = st.one_of(
    st.sampled_from(ATOMS),
    st.lists(st.sampled_from(ATOMS), max_size=8).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12),
)
"""Any text that can be passed; the empty one too."""

GARBAGE = st.one_of(HOSTILE, st.text(max_size=20), st.none())
"""Any text, also such that can be stored nowhere, and null."""
