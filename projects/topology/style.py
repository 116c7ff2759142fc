"""Colours of a drawing that stands alone, the page's tokens in short."""

_LIGHT = {
    "paper": "#fdfcfa",
    "raised": "#ffffff",
    "text": "#1c2024",
    "soft": "#4a4f54",
    "faint": "#5f6368",
    "line": "#8a867e",
    "accent": "#0e5e8c",
    "accent-soft": "#e4eff6",
    "ok": "#1b6f3c",
}
_DARK = {
    "paper": "#14181c",
    "raised": "#1b2025",
    "text": "#eceae5",
    "soft": "#b9bcbe",
    "faint": "#9aa0a4",
    "line": "#75808a",
    "accent": "#7fc1ea",
    "accent-soft": "#17303f",
    "ok": "#79cc94",
}
_RULES = """
text{font:10.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
fill:var(--f-faint);paint-order:stroke;stroke:var(--f-paper);stroke-width:4px;\
stroke-linejoin:round}
.tp-paper{fill:var(--f-paper)}
.tp-link{fill:none;stroke:var(--f-line);stroke-width:1.5}
.tp-link--off{stroke-dasharray:2 5}
.tp-shape{fill:var(--f-raised);stroke:var(--f-soft);stroke-width:1.4;\
stroke-linecap:round;stroke-linejoin:round}
.tp-name{fill:var(--f-text);font:600 12.5px "Segoe UI",Inter,Roboto,"Noto Sans",\
"Liberation Sans",Arial,sans-serif}
.tp-halo,.tp-ring,.tp-sel{display:none}
.tp-dot{fill:var(--f-ok);stroke:var(--f-paper);stroke-width:1.5}
.tp-dot--down{fill:var(--f-paper);stroke:var(--f-faint)}
.is-stopped .tp-shape{stroke:var(--f-line);stroke-dasharray:2.5 2.5}
.is-working .tp-shape{stroke:var(--f-accent);fill:var(--f-accent-soft)}
.is-working .tp-halo{display:inline;fill:var(--f-accent);opacity:.18}
"""


def _variables(colours: dict[str, str]) -> str:
    return ":root{" + ";".join(f"--f-{k}:{v}" for k, v in colours.items()) + "}"


def style_for(theme: str) -> str:
    """The `style` element's text: one theme, or both by the viewer's preference."""
    if theme == "light":
        return _variables(_LIGHT) + _RULES
    if theme == "dark":
        return _variables(_DARK) + _RULES
    dark = f"@media (prefers-color-scheme:dark){{{_variables(_DARK)}}}"
    return _variables(_LIGHT) + dark + _RULES
