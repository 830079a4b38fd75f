"""Data types."""

from typing import Any

import numpy as np

def numpy_dtype(dtype: Any) -> np.dtype[Any]: ...
