"""Groups: mappings of arrays and further groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray import _native
from tessarray._native import GroupCore, Node, Store
from tessarray.array_arguments import array_arguments, shape_of
from tessarray.arrays import Array
from tessarray.configuring import Verify, configure
from tessarray.errors import (
    ExistsError,
    InvalidArgumentError,
    NotFoundError,
    TessarrayError,
    WrongNodeError,
)
from tessarray.stored_node import StoredNode
from tessarray.summary import Info, Tree

__all__ = ["Group", "node_of"]


class Group(StoredNode, GroupCore, MutableMapping[str, Any]):
    """A group in a store. Made by `create_group`, `open_group` and `group[name]`.

    A mapping from names to arrays and groups; paths with slashes reach further down. Listing costs one listing of
    the store and one read a member; on stores that are not local, nothing where the metadata were consolidated.

    >>> import numpy as np, tessarray
    >>> group = tessarray.create_group({})
    >>> a = group.create_array("ocean/temperature", data=np.zeros((2, 3)))
    >>> group["depth"] = np.arange(3)
    >>> sorted(group), "ocean/temperature" in group
    (['depth', 'ocean'], True)
    >>> print(group.tree())
    /
    ├── depth (3,) int64
    └── ocean
        └── temperature (2, 3) float64
    """

    def configured(self, verify: Verify | None = None, config: Mapping[str, Any] | None = None) -> Group:
        """Another handle of the group, whose arrays are read and written so; see `tessarray.open_array`."""
        return type(self)(configure(self._node(), verify, config), self.store)

    # The mapping.

    def __getitem__(self, path: str) -> Array | Group:
        node = self._get(_relative(path))
        if node is None:
            full = f"{self.path}/{path}".strip("/")
            raise NotFoundError(f"{self.store.describe()}: no array or group at {full!r}", path=full)
        return node_of(node, self.store)

    def __setitem__(self, path: str, value: npt.ArrayLike) -> None:
        """Create an array from an array-like, or replace the one that is there."""
        self.create_array(path, data=value, overwrite=True)

    def __delitem__(self, path: str) -> None:
        if not self._delete(_relative(path)):
            full = f"{self.path}/{path}".strip("/")
            raise NotFoundError(f"{self.store.describe()}: no array or group at {full!r}", path=full)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._get(_relative(path)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self.members()])

    def __len__(self) -> int:
        return len(self.members())

    def __eq__(self, other: object) -> bool:
        """Whether both are handles of the same group, with the same attributes; members are not compared."""
        if not isinstance(other, Group):
            return NotImplemented
        return self is other or (
            self.path == other.path and self.store == other.store and self._documents() == other._documents()
        )

    def __hash__(self) -> int:
        return hash((self.store, self.path))

    def look(self, max_depth: int | None = 0) -> tuple[tuple[str, Array | Group | TessarrayError], ...]:
        """As `members`, with the exception in the place of a member that cannot be opened: its metadata are damaged, or
        need what this release does not have. So that the others can be reached beside it.

        >>> group = tessarray.create_group({})
        >>> _ = group.create_array("t", data=[1, 2])
        >>> [(name, node) for name, node in group.look() if isinstance(node, tessarray.errors.TessarrayError)]
        []
        """
        found = self._look() if max_depth == 0 else self._look_below()
        if max_depth is not None:
            found = [(path, node) for path, node in found if path.count("/") <= max_depth]
        return tuple(
            (path, node if isinstance(node, TessarrayError) else node_of(node, self.store))
            for path, node in found
        )

    def members(self, max_depth: int | None = 0) -> tuple[tuple[str, Array | Group], ...]:
        """Names and members, sorted; with `max_depth` also what is below, by path, `None` for all of it."""
        return tuple((path, _sound(node)) for path, node in self.look(max_depth))

    def nmembers(self, max_depth: int | None = 0) -> int:
        """How many members there are."""
        return len(self.members(max_depth))

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Names and arrays directly in the group."""
        return ((name, node) for name, node in self.members() if isinstance(node, Array))

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Names and groups directly in the group."""
        return ((name, node) for name, node in self.members() if isinstance(node, Group))

    def array_keys(self) -> Iterator[str]:
        """Names of the arrays directly in the group."""
        return (name for name, node in self.members() if isinstance(node, Array))

    def group_keys(self) -> Iterator[str]:
        """Names of the groups directly in the group."""
        return (name for name, node in self.members() if isinstance(node, Group))

    def array_values(self) -> Iterator[Array]:
        """The arrays directly in the group."""
        return (array for _, array in self.arrays())

    def group_values(self) -> Iterator[Group]:
        """The groups directly in the group."""
        return (group for _, group in self.groups())

    def get_array(self, path: str) -> Array:
        """The array at a path; a group there is a `WrongNodeError`, nothing a `NotFoundError`."""
        found = self[path]
        if not isinstance(found, Array):
            raise WrongNodeError(f"{found.path!r} is a group, expected an array", path=found.path)
        return found

    def get_group(self, path: str) -> Group:
        """The group at a path; an array there is a `WrongNodeError`, nothing a `NotFoundError`."""
        found = self[path]
        if not isinstance(found, Group):
            raise WrongNodeError(f"{found.path!r} is an array, expected a group", path=found.path)
        return found

    # Creation.

    def create_array(self, name: str, *, overwrite: bool = False, **arguments: Any) -> Array:
        """Create an array; arguments are those of `tessarray.create_array`. Groups on the way are created too."""
        arguments.setdefault("zarr_format", self.zarr_format)
        ours = _options(arguments)
        plain, data = array_arguments(**arguments)
        node = self._create_array(_relative(name), plain, overwrite)
        array = Array(configure(node, **ours), self.store)
        if data is not None:
            array[...] = data
        return array

    def create_group(
        self, name: str, *, attributes: Mapping[str, Any] | None = None, overwrite: bool = False
    ) -> Group:
        """Create a group, and the groups on the way to it."""
        return Group(self._create_group(_relative(name), attributes, overwrite), self.store)

    def require_group(self, name: str, *, attributes: Mapping[str, Any] | None = None) -> Group:
        """The group of this name, created where there is none."""
        node = self._get(_relative(name))
        if node is None:
            try:
                return self.create_group(name, attributes=attributes)
            except ExistsError:
                # Another process was first.
                node = self._get(_relative(name))
        found = None if node is None else node_of(node, self.store)
        if not isinstance(found, Group):
            raise WrongNodeError(f"{name!r} is an array, expected a group", path=name)
        return found

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """The groups of these names, each created where there is none."""
        return tuple(self.require_group(name) for name in names)

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Create arrays and groups below this one from their metadata; see `tessarray.create_hierarchy`."""
        from tessarray.hierarchy import create_hierarchy

        if "" in {path.strip("/") for path in nodes}:
            raise InvalidArgumentError("nodes: the empty path is this group, which is there already")
        below = {f"{self.path}/{path.strip('/')}".strip("/"): node for path, node in nodes.items()}
        formats = {getattr(node, "zarr_format", None) or node["zarr_format"] for node in below.values()}
        if formats - {self.zarr_format}:
            raise InvalidArgumentError(
                f"nodes: expected zarr_format {self.zarr_format}, which the group has, found {sorted(formats)}"
            )
        self._look_directly()
        at = f"{self.path}/" if self.path else ""
        made = create_hierarchy(self.store, below, overwrite=overwrite)
        return ((path.removeprefix(at), node) for path, node in made if path.startswith(at) and path)

    def zeros(self, name: str, shape: Any, **arguments: Any) -> Array:
        """Create an array of zeros; arguments are those of `create_array`."""
        given: dict[str, Any] = {"dtype": "float64"} | arguments
        return self.create_array(name, shape=shape, **given)

    def ones(self, name: str, shape: Any, **arguments: Any) -> Array:
        """Create an array of ones."""
        given: dict[str, Any] = {"dtype": "float64", "fill_value": 1} | arguments
        return self.create_array(name, shape=shape, **given)

    def empty(self, name: str, shape: Any, **arguments: Any) -> Array:
        """Create an array with nothing written to it: it holds the fill value."""
        return self.create_array(name, shape=shape, **{"dtype": "float64"} | arguments)

    def full(self, name: str, shape: Any, fill_value: Any, **arguments: Any) -> Array:
        """Create an array of one value; `dtype` is the value's where left out."""
        given: dict[str, Any] = {"dtype": np.asarray(fill_value).dtype} | arguments
        return self.create_array(name, shape=shape, **given, fill_value=fill_value)

    def zeros_like(self, name: str, data: Any, **arguments: Any) -> Array:
        """`zeros` with the shape, dtype and layout of another array."""
        return self._like(name, data, {"fill_value": None} | arguments)

    def ones_like(self, name: str, data: Any, **arguments: Any) -> Array:
        """`ones` with the shape, dtype and layout of another array."""
        return self._like(name, data, {"fill_value": 1} | arguments)

    def empty_like(self, name: str, data: Any, **arguments: Any) -> Array:
        """`empty` with the shape, dtype, layout and fill value of another array."""
        return self._like(name, data, arguments)

    def full_like(self, name: str, data: Any, fill_value: Any = None, **arguments: Any) -> Array:
        """`full` with the shape, dtype and layout of another array, and its fill value where none is given."""
        given = {} if fill_value is None else {"fill_value": fill_value}
        return self._like(name, data, given | arguments)

    def _like(self, name: str, data: Any, arguments: dict[str, Any]) -> Array:
        from tessarray.filled import like

        return self.create_array(name, **like(data) | {"zarr_format": self.zarr_format} | arguments)

    def require_array(
        self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **arguments: Any
    ) -> Array:
        """The array of this name, created where there is none.

        One that is there must have this shape, and a dtype to which this one can be cast (`exact`: the same); of the
        `arguments`, which are those of `create_array`, `verify`, `config` and `write_empty_chunks` count for it too.

        Raises `InvalidArgumentError` for another shape or dtype, `WrongNodeError` for a group of this name, and
        `InvalidTypeError` for an unknown argument.
        """
        from tessarray.existing import require_known

        require_known("require_array", arguments)
        node = self._get(_relative(name))
        if node is None:
            return self.create_array(name, shape=shape, dtype=dtype, **arguments)
        array = node_of(configure(node, **_options(arguments)), self.store)
        if not isinstance(array, Array):
            raise WrongNodeError(f"{name!r} is a group, expected an array", path=name)
        wanted = shape_of(shape, "shape")
        if array.shape != wanted:
            raise InvalidArgumentError(f"{name!r} has shape {array.shape}, expected {wanted}", path=name)
        if dtype is not None:
            asked = _native.numpy_dtype(dtype)
            if not (asked == array.dtype if exact else np.can_cast(asked, array.dtype)):
                raise InvalidArgumentError(f"{name!r} has dtype {array.dtype}, expected {asked}", path=name)
        return array

    def consolidate_metadata(self) -> Group:
        """Copy the metadata of everything below into this group's document, so that opening reads one object."""
        self._consolidate()
        return self

    # For people.

    def tree(self, level: int | None = None) -> Tree:
        """The hierarchy with shapes and dtypes, `level` levels deep; prints as text, and draws in notebooks."""
        nodes = []
        for path, found in self.look(None):
            depth = path.count("/") + 1
            if level is None or depth <= level:
                what = f"{found.shape} {found.data_type}" if isinstance(found, Array) else ""
                if isinstance(found, TessarrayError):
                    what = f"(cannot be opened: {found})"
                nodes.append((depth, path.rpartition("/")[2], what))
        return Tree(self.name, tuple(nodes))

    @property
    def info(self) -> Info:
        """A readable summary."""
        members = self.look()
        arrays = sum(isinstance(node, Array) for _, node in members)
        damaged = [(name, node) for name, node in members if isinstance(node, TessarrayError)]
        return Info(
            f"Group {self.name}",
            (
                ("arrays", str(arrays)),
                ("groups", str(len(members) - arrays - len(damaged))),
                *(("cannot be opened", f"{name}: {error}") for name, error in damaged),
                ("attributes", str(len(self.attrs))),
                ("format", f"Zarr v{self.zarr_format}"),
                ("store", self.store.describe() + (", read-only" if self.read_only else "")),
            ),
        )

    def __repr__(self) -> str:
        return f"<Group {self.name} in {self.store.describe()}>"

    def _repr_html_(self) -> str:
        return self.info._repr_html_() + self.tree()._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_group_from_pickle, (type(self), self.store, self.path, self._options))


def _relative(path: str) -> str:
    return path.strip("/")


def _sound(node: Array | Group | TessarrayError) -> Array | Group:
    """The member, or its error."""
    if isinstance(node, TessarrayError):
        node.add_note(
            "`group.look()` gives the other members; `group.tree()` shows all that cannot be opened"
        )
        raise node
    return node


def _options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Takes what is said of the handle out of the arguments of `create_array`."""
    return {key: arguments.pop(key) for key in ("verify", "config", "write_empty_chunks") if key in arguments}


def node_of(node: Node, store: Store) -> Array | Group:
    """The array or group that the engine opened."""
    return Array(node, store) if node.is_array else Group(node, store)


def _group_from_pickle(cls: type[Group], store: Store, path: str, options: tuple[bool, bool, bool]) -> Group:
    """Opens the group again."""
    return cls(_native.open_node(store, path, "group").configured(options), store)
