"""A lab drawn as SVG: one renderer for page, admin and export."""
