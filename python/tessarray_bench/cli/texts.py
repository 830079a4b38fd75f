"""The help texts, with examples. `\\b` keeps the lines of a paragraph apart."""

BENCH = """Compare array stores: the same work on every library, every answer verified.

Without a command: a short tour of every suite at a small scale.

\b
  tessarray bench                              the tour
  tessarray bench systems                      which libraries are here, what they can do
  tessarray bench install                      bring the others, in environments of their own
  tessarray bench run planes write --scale 0.1 --json out.json
  tessarray bench report out.json -o page.html
"""

RUN = """Run suites, or a workload file of yours, and keep the results in a JSON file.

SUITE is a suite's name, `all`, or a .toml file. --list shows the workloads and runs nothing.

\b
Examples:
  tessarray bench run planes --scale 0.1
  tessarray bench run write append --systems tessarray,tensorstore,zarr-python --repeats 7 --workdir /fast/disk
  tessarray bench run all --scale 0.01 --json out.json --resume
  tessarray bench run planes --workloads 'planes/2d/*' --systems blosc2,h5py --baseline h5py
  tessarray bench run mine.toml --json mine.json
"""

SYSTEMS = """List the systems: version, what each can do, and how to bring the absent ones.

\b
Example:
  tessarray bench systems --json
"""

INSTALL = """Make the environments that hold the systems, from lock files: `peers`, and `atlas` apart from them.

\b
Examples:
  tessarray bench install
  tessarray bench install peers
"""

REPORT = """Make one self-contained page of one or more results files; figures and CSV too.

\b
Examples:
  tessarray bench report out.json -o page.html
  tessarray bench report laptop.json server.json -o both.html --figures figures/ --csv tables/
"""

SHOW = """Print the tables of a results file.

\b
Example:
  tessarray bench show out.json
"""

COMPARE = """Say what changed between two results files beyond noise. Exit code 1 if something got worse.

\b
Example:
  tessarray bench compare before.json after.json
"""
