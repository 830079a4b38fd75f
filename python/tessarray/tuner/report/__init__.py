"""The report of a tuning run: one self-contained HTML page, drawn here, with nothing to load and little to run."""
