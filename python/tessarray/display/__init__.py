"""How everything that Tessarray says looks: figures with units, colours, pages, charts, pictures. The lowest layer.

- `units`: numbers, times, sizes and speeds in words, with three digits; 1 kB is 1000 bytes.
- `palette`: the colours of pages and of pictures.
- `markup`: HTML elements as text, escaped.
- `page`: the frame of a self-contained HTML page: its style, its policy, light and dark, tips.
- `charts`: charts of such a page, described in Python or JavaScript and drawn by a vendored library.
- `pictures`: the style of matplotlib's figures.

It imports nothing of `tessarray` but its errors, so that every layer may use it, and `tessarray_bench` too.
"""
