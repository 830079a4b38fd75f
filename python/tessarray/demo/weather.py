"""A weather-like cube in netCDF-4: temperatures with seasons, moving waves and noise, packed as weather services do.

Hourly maps on a latitude-longitude grid, int16 with scale and offset, one map a chunk, shuffle and deflate level 4:
the usual layout of such files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray.conversion.sources.base import LIBRARY_LOCK, need
from tessarray.demo.errors import DemoError

# hours, latitudes, longitudes
SIZES = {"tiny": (48, 37, 72), "small": (240, 91, 180), "medium": (960, 241, 480), "large": (2920, 361, 720)}
SCALE, OFFSET = 0.01, 273.15
DAYS_A_STEP = 0.25


def make_cube(path: Path, size: str) -> None:
    """Write the cube. Sizes in raw bytes: tiny 0.3 MB, small 8 MB, medium 222 MB, large 1.5 GB."""
    if size not in SIZES:
        raise DemoError(f"size: expected one of {', '.join(SIZES)}, found '{size}'")
    netcdf = need("netCDF4", "the demonstration")
    steps, height, width = SIZES[size]
    lat = np.linspace(90, -90, height, dtype=np.float32)
    lon = np.linspace(0, 360, width, endpoint=False, dtype=np.float32)
    partial = path.with_name(path.name + ".partial")
    with LIBRARY_LOCK, netcdf.Dataset(str(partial), "w", format="NETCDF4") as file:
        file.setncatts(
            {
                "Conventions": "CF-1.11",
                "title": "A made-up year of 2 m temperatures",
                "source": "tessarray demo",
            }
        )
        for name, extent in (("time", None), ("lat", height), ("lon", width)):
            file.createDimension(name, extent)
        _axis(
            file,
            "time",
            np.arange(steps) * 6.0,
            "hours since 2025-01-01 00:00:00",
            "time",
            calendar="standard",
        )
        _axis(file, "lat", lat, "degrees_north", "latitude")
        _axis(file, "lon", lon, "degrees_east", "longitude")
        cube = file.createVariable(
            "t2m", "i2", ("time", "lat", "lon"), compression="zlib", complevel=4, shuffle=True,
            chunksizes=(1, height, width), fill_value=np.int16(-32768),
        )  # fmt: skip
        cube.setncatts({"units": "K", "long_name": "2 m temperature", "standard_name": "air_temperature"})
        cube.setncatts({"scale_factor": SCALE, "add_offset": OFFSET, "cell_methods": "time: point"})
        cube.set_auto_maskandscale(False)
        fields = _Fields(lat, lon)
        for step in range(steps):
            cube[step] = np.round((fields.at(step) - OFFSET) / SCALE).astype(np.int16)
    partial.replace(path)


def _axis(file: Any, name: str, values: npt.NDArray[Any], units: str, standard: str, **attrs: str) -> None:
    variable = file.createVariable(name, values.dtype, (name,))
    variable.setncatts({"units": units, "standard_name": standard, **attrs})
    variable[:] = values


class _Fields:
    """Temperatures in kelvin of any step: climate by latitude and season, land and sea, waves that travel, noise."""

    def __init__(self, lat: npt.NDArray[np.float32], lon: npt.NDArray[np.float32]) -> None:
        random = np.random.default_rng(20250101)
        self._phi, self._lam = np.deg2rad(lat)[:, None], np.deg2rad(lon)[None, :]
        self._zonal = 300 - 52 * np.sin(np.abs(self._phi)) ** 2 - 8 / (1 + np.exp(12 * (self._phi + 1.1)))
        self._land = self._continents(random)
        # Rossby-like waves: wave number, latitude and width of its band, phase, speed (radians a day), amplitude.
        self._waves = [
            (k, sign * random.uniform(0.5, 1.1), random.uniform(0.2, 0.4), random.uniform(0, 6.3), s / k, a)
            for k, s, a in ((3, 0.25, 5.0), (5, 0.6, 4.5), (7, 1.1, 3.5), (11, 2.0, 2.0))
            for sign in (-1, 1)
        ]
        self._noise = [random.normal(0, 0.35, (lat.size, lon.size)).astype(np.float32) for _ in range(7)]

    def _continents(self, random: np.random.Generator) -> npt.NDArray[np.float32]:
        """A smooth mask, 0 over sea and 1 over land, of a few dozen low waves on the sphere."""
        field = np.zeros(np.broadcast_shapes(self._phi.shape, self._lam.shape))
        for k in range(1, 9):
            for m in range(1, 5):
                phase, turn = random.uniform(0, 6.3, 2)
                field += (
                    np.cos(k * self._lam + phase)
                    * np.sin(m * self._phi + turn)
                    * np.cos(self._phi)
                    / np.hypot(k, m)
                )
        return (1 / (1 + np.exp(-5 * field))).astype(np.float32)

    def at(self, step: int) -> npt.NDArray[np.float32]:
        day = step * DAYS_A_STEP
        season = -np.cos(2 * np.pi * (day - 15) / 365.25)
        # Land follows the sun and the season more than the sea does.
        yearly = 14 * season * np.sin(self._phi) * (0.45 + self._land)
        hour = 2 * np.pi * (day % 1) + self._lam
        daily = -5 * np.cos(hour) * np.cos(self._phi) * (0.15 + self._land)
        field = self._zonal + yearly + daily
        for k, centre, width, phase, speed, amplitude in self._waves:
            band = amplitude * np.exp(-(((self._phi - centre) / width) ** 2))
            tilt = 1.5 * (self._phi - centre)
            field = field + band * np.cos(k * (self._lam - speed * day) + phase + tilt)
        shift = (step * 13) % field.shape[1]
        return np.asarray(field + np.roll(self._noise[step % 7], shift, axis=1), np.float32)
