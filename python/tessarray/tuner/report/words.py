"""The sentences of the page."""

from __future__ import annotations

TABLE = (
    "Bold: the best of a column. Below a time: its interval, then the requests and bytes of one selection."
)
PARETO = (
    "Lower and further left is better. The star is the proposal, the square what there is now, diamonds are defaults, "
    "circles other candidates; hollow ones are predicted. The line joins those that nothing beats in time and size."
)
SHAPES = "Each axis is to scale, but long axes are drawn shortened, and what is too thin to be seen is drawn thicker."
CODECS = "On real blocks of the array, on one thread. Further right and higher is better; the chosen codec is bold."
EFFICIENCY = (
    "100 %: n workers are n times as fast as one. The star is the number proposed; labels are speed-ups."
)
MEMORY = (
    "By the formula, above the values themselves: reading takes workers × one chunk, writing workers × two stored "
    "objects (the values of one, and what they are encoded to)."
)
MODEL = "On the line the model was right; the dashed lines are 30 % off."

READING = {
    "A figure": "With its 95 % interval. A ~ marks what the model predicted and nobody measured. 1 kB is 1000 bytes.",
    "An access": "One selection of a query class, classes drawn as often as their weights say: the weighted mean of "
    "their times.",
    "Requests and bytes": "What one selection asks of the store, and what it gets. Bytes beyond the values asked for "
    "are the price of whole chunks.",
    "Nothing beats it": "No other layout here is at least as good in reading, writing and size, and better in one.",
    "Writes": "Bytes of values a second: encoding and storing whole objects.",
    "Defaults": "The automatic chunk shapes of zarr-python, h5py, netCDF-C and Blosc2 with the codec that each uses on "
    "its own, stored as Zarr and read by Tessarray: what is compared is the layout, not the library.",
    "Money": "A month of storage, requests and transfer at the prices given. List prices change: pass your own.",
}
