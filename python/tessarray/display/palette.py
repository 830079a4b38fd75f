"""Colours. Series have fourteen, told apart by the colour-blind; pages have them for light and for dark.

Contrast of text is 4.5:1 and more. On pages a colour is a CSS variable: `var(--ink)`, `var(--c0)`. Pictures, which
are printed, have the fourteen of `PRINTED`, after Okabe and Ito's and Tol's muted ones, and a marker with each.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["DARK", "INK", "LIGHT", "MARKERS", "PRINTED", "SOFT", "css", "series"]

LIGHT = {
    "paper": "#fdfdfb", "raised": "#f4f4f0", "line": "#dcdcd5", "ink": "#1c1f23", "soft": "#5b6168",
    "accent": "#0b5cad", "good": "#11652f", "bad": "#a1260d", "hint": "#7a5200", "chosen": "#e3edf8",
    "band": "#0b5cad1c", "warm": "#fff6e0",
}  # fmt: skip
DARK = {
    "paper": "#15181c", "raised": "#1e2227", "line": "#363c44", "ink": "#e8e8e4", "soft": "#a4abb3",
    "accent": "#82b8f2", "good": "#7fd598", "bad": "#ff9a84", "hint": "#ecc46b", "chosen": "#1f344b",
    "band": "#82b8f22b", "warm": "#2c2717",
}  # fmt: skip
SERIES_LIGHT = (
    *("#0072b2", "#d55e00", "#008f68", "#b8578e", "#8a6d00", "#2e8fc8", "#332288"),
    *("#882255", "#117733", "#aa4499", "#666666", "#7a3e00", "#1f8a83", "#7d7d22"),
)
SERIES_DARK = (
    *("#4ba3e3", "#ff8a3d", "#2fc79b", "#e79bc4", "#e6c229", "#8fd3ff", "#9a8cf0"),
    *("#e0709f", "#57c46f", "#d583cc", "#aaaaaa", "#c98b55", "#5fd0c6", "#c9c95a"),
)
PRINTED = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#555555"),
    *("#882255", "#999933", "#332288", "#44AA99", "#B8860B", "#AA4499", "#661100"),
)
MARKERS = "osD^vPX<>hp*d8"  # of matplotlib, as many as colours
INK, SOFT = LIGHT["ink"], LIGHT["soft"]


def series(number: int) -> str:
    """The colour of a page's series, as a CSS value; colours come again after fourteen."""
    return f"var(--c{number % len(SERIES_LIGHT)})"


def css() -> str:
    """The rules that define every colour: light, dark by choice, and dark by the system's setting."""
    dark = _rules(DARK, SERIES_DARK, "dark")
    return (
        f":root {{ {_rules(LIGHT, SERIES_LIGHT, 'light')} }}\n"
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
    )


def _rules(named: Mapping[str, str], numbered: tuple[str, ...], scheme: str) -> str:
    colours = {**named, **{f"c{number}": colour for number, colour in enumerate(numbered)}}
    return " ".join(
        [*(f"--{name}: {colour};" for name, colour in colours.items()), f"color-scheme: {scheme};"]
    )
