"""`tessarray info` and `tessarray tree`."""

from __future__ import annotations

from typing import Any

from tessarray.cli.address import open_node
from tessarray.cli.output import console, print_json
from tessarray.display.units import byte_text
from tessarray.errors import TessarrayError
from tessarray.summary import lengths_text


def describe(array: Any) -> dict[str, Any]:
    """One array as JSON-ready values; sizes in bytes."""
    dims = array.dimension_names
    return {
        "kind": "array",
        "path": array.path,
        "zarr_format": array.zarr_format,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "dimension_names": list(dims) if dims is not None else None,
        **_cut(array),
        "codecs": list(array.codecs),
        "fill_value": _python(array.fill_value),
        "nbytes": int(array.nbytes),
        "nbytes_stored": int(array.nbytes_stored()),
        "attributes": dict(array.attrs),
    }


def _cut(array: Any) -> dict[str, Any]:
    """Chunks and shards: one length an axis, or a list where they are unequal, in the metadata's form."""
    stored, sharded = array._chunk_lengths, array._is_sharded
    return {
        "chunks": list(array.chunks) if sharded else stored,
        "shards": stored if sharded else None,
    }


def _python(value: Any) -> Any:
    """A NumPy scalar as the Python value that prints without its type."""
    return value.item() if hasattr(value, "item") and value.dtype.kind in "biufc" else value


def info(address: str, as_json: bool) -> None:
    """Describe one array in full, or a group by a table of its arrays."""
    node = open_node(address)
    if hasattr(node, "shape"):
        about = describe(node)
        if as_json:
            print_json(about)
        else:
            _show_array(about)
        return
    below = walk(node)
    rows = [describe(child) for _, child in below if hasattr(child, "shape")]
    damaged = {path: str(child) for path, child in below if isinstance(child, TessarrayError)}
    if as_json:
        about = {"kind": "group", "path": node.path, "attributes": dict(node.attrs), "arrays": rows}
        print_json(about | ({"damaged": damaged} if damaged else {}))
    else:
        _show_group(address, dict(node.attrs), rows)
        for path, why in damaged.items():
            console().print(_plain(f"{path}: cannot be opened: {why}"), style="red")


def walk(group: Any) -> list[tuple[str, Any]]:
    """Every node below a group, parents first, by path relative to it; its exception where one cannot be opened."""
    return sorted(group.look(None), key=lambda found: found[0].split("/"))


def _extents(values: list[Any] | None, times: str = " × ") -> str:
    if values is not None and not all(isinstance(value, int) for value in values):
        return lengths_text(values)
    return "-" if values is None else times.join(str(value) for value in values) or "scalar"


def _codec_line(codecs: list[Any]) -> str:
    return ", ".join(_codec_text(codec) for codec in codecs)


def _codec_text(codec: dict[str, Any]) -> str:
    """A codec's name; of a sharding codec also the chain of its inner chunks, of a compressor its kind and level."""
    settings = codec.get("configuration", {})
    if codec["name"] == "sharding_indexed":
        return f"shards of ({_codec_line(settings['codecs'])})"
    about = [
        str(settings[key]) for key in ("cname", "clevel", "level", "shuffle", "order") if key in settings
    ]
    return ":".join([codec["name"], *about])


def _show_array(about: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    ratio = about["nbytes"] / max(about["nbytes_stored"], 1)
    rows = {
        "array": f"/{about['path'].strip('/')} (Zarr v{about['zarr_format']})",
        "shape": _extents(about["shape"]),
        "dimensions": ", ".join(map(str, about["dimension_names"])) if about["dimension_names"] else "-",
        "type": about["dtype"],
        "chunks": _extents(about["chunks"]),
        "shards": _extents(about["shards"]),
        "codecs": _codec_line(about["codecs"]),
        "fill value": repr(about["fill_value"]),
        "size": f"{byte_text(about['nbytes'])}, stored in {byte_text(about['nbytes_stored'])} ({ratio:.1f} to 1)",
    }
    for name, text in rows.items():
        table.add_row(name, _plain(str(text)))
    for name, value in about["attributes"].items():
        table.add_row(f"  {name}", _plain(str(value)[:200]))
    console().print(table)


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def _show_group(address: str, attrs: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(
        title=f"{address}: {len(rows)} arrays",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    for name in ("array", "shape", "dimensions", "type", "chunks", "shards", "size", "stored"):
        table.add_column(
            name, justify="right" if name in ("size", "stored") else "left", no_wrap=name != "dimensions"
        )
    for row in rows:
        table.add_row(
            _plain(row["path"].strip("/")),
            _extents(row["shape"], "×"),
            _plain(", ".join(map(str, row["dimension_names"] or ["-"]))),
            row["dtype"], _extents(row["chunks"], "×"), _extents(row["shards"], "×"), byte_text(row["nbytes"]),
            byte_text(row["nbytes_stored"]),
        )  # fmt: skip
    out = console()
    out.print(table)
    shown = [(name, value) for name, value in attrs.items() if not name.startswith("_nc")]
    for name, value in shown:
        out.print(_plain(f"{name}: {str(value)[:200]}"))


def tree(address: str, as_json: bool) -> None:
    """The hierarchy, as a tree or as a JSON list of paths with kinds."""
    node = open_node(address)
    below = [] if hasattr(node, "shape") else walk(node)
    if as_json:
        kinds = [("", node), *below]
        print_json([{"path": path, **_brief(n)} for path, n in kinds])
        return
    from rich.tree import Tree

    root = Tree(_label(address, node))
    branches = {"": root}
    for path, child in below:
        parent, _, name = path.rpartition("/")
        branches[path] = branches[parent].add(_label(name, child))
    console().print(root)


def _brief(node: Any) -> dict[str, Any]:
    if isinstance(node, TessarrayError):
        return {"kind": "damaged", "error": str(node)}
    if not hasattr(node, "shape"):
        return {"kind": "group"}
    return {"kind": "array", "shape": list(node.shape), "dtype": str(node.dtype)}


def _label(name: str, node: Any) -> Any:
    from rich.text import Text

    if isinstance(node, TessarrayError):
        return Text(f"{name}  cannot be opened: {node}", style="red")
    if not hasattr(node, "shape"):
        return Text(f"{name}/", style="bold blue")
    return Text.assemble((name, "bold"), f"  {node.dtype}  ({', '.join(map(str, node.shape))})")
