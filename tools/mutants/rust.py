"""Rust sources with every mutant in them, each behind a switch: one build holds them all.

A switch is a call of `on(number)`, which is true for the mutant that the environment names, so that a mutant costs a
run of some tests and no build. The kinds:

- a comparison turned round or off by one, `==` and `!=` swapped, `!` dropped, `&&` and `||` swapped;
- an arithmetic or bit operator swapped for another;
- a condition of `if`, or a guard of a match arm, that is no comparison, negated;
- a statement left out: a call, with or without `?`, or an assignment with an operator;
- a function that returns at once: nothing, true, false, 0, 1, an empty text or list, `None`, `Ok` of those.

What lies in constants, patterns, macros, attributes and tests is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*",
    "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|",
}  # fmt: skip
LEFT_ALONE = {
    "const_item", "static_item", "attribute_item", "inner_attribute_item", "macro_definition", "macro_invocation",
    "type_arguments", "array_type", "enum_variant",
}  # fmt: skip
SWITCH = "crate::__mutants::on"
MODULE = """
#[doc(hidden)]
#[allow(warnings, clippy::all)]
mod __mutants {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::OnceLock;
    const COUNT: usize = {count};
    static ACTIVE: OnceLock<Option<u32>> = OnceLock::new();
    static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    pub fn on(number: u32) -> bool {
        let active = *ACTIVE.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()));
        if active.is_none() && !SEEN[number as usize].swap(true, Ordering::Relaxed) {
            if let Ok(path) = std::env::var("MUTANTS_SEEN") {
                use std::io::Write;
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
                file.unwrap().write_all(format!("{number}\\n").as_bytes()).unwrap();
            }
        }
        active == Some(number)
    }
}
"""


@dataclass(frozen=True)
class Mutant:
    number: int
    path: Path
    line: int
    what: str


@dataclass(frozen=True)
class Span:
    """Where a mutant stands in the source that was made: bytes of its file."""

    number: int
    start: int
    end: int


class Source:
    """One file, and the mutants that it can have."""

    def __init__(self, path: Path, text: bytes, first: int, left_out: set[tuple[int, str]]) -> None:
        self.path, self.text, self.next, self.left_out = path, text, first, left_out
        self.mutants: list[Mutant] = []
        self.places: dict[int, tuple[int, str]] = {}  # where each stands in the file as it was

    def made(self) -> bytes:
        """The source with its switches."""
        return self.render(PARSER.parse(self.text).root_node)

    def number(self, node: Any, what: str) -> int | None:
        """A number for a mutant; None for one that does not compile."""
        line = node.start_point[0] + 1
        if (node.start_byte, what) in self.left_out:
            return None
        number = self.next
        self.next += 1
        self.mutants.append(Mutant(number, self.path, line, what))
        self.places[number] = (node.start_byte, what)
        return number

    def raw(self, node: Any) -> bytes:
        return self.text[node.start_byte : node.end_byte]

    def render(self, node: Any) -> bytes:
        if node.type in LEFT_ALONE or is_test(node, self.text):
            return self.raw(node)
        pieces, at = [], node.start_byte
        children = node.children
        if node.type == "match_pattern":
            children = list(filter(None, [node.child_by_field_name("condition")]))
        for child in children:
            pieces += [self.text[at : child.start_byte], self.render(child)]
            at = child.end_byte
        plain = b"".join(pieces) + self.text[at : node.end_byte]
        return self.mutate(node, plain)

    def mutate(self, node: Any, plain: bytes) -> bytes:
        kind = node.type
        if kind == "binary_expression":
            return self.binary(node, plain)
        if kind == "unary_expression" and self.text[node.start_byte : node.start_byte + 1] == b"!":
            return self.switched(node, "`!` dropped", lambda on: b"(%s ^ %s)" % (on, plain), plain)
        if is_condition(node):
            what = f"`{short(self.raw(node))}` negated"
            return self.switched(node, what, lambda on: b"(%s ^ %s)" % (on, plain), plain)
        if kind == "expression_statement" and is_effect(node):
            what = f"left out: `{short(self.raw(node))}`"
            return self.switched(node, what, lambda on: b"if !%s { %s }" % (on, plain), plain)
        if kind == "block" and node.parent is not None and node.parent.type == "function_item":
            return self.function(node, plain)
        return plain

    def switched(self, node: Any, what: str, made: Callable[[bytes], bytes], plain: bytes) -> bytes:
        number = self.number(node, what)
        return plain if number is None else made(f"{SWITCH}({number})".encode())

    def binary(self, node: Any, plain: bytes) -> bytes:
        operator = self.raw(node.child_by_field_name("operator")).decode()
        left, right = (self.raw(node.child_by_field_name(side)) for side in ("left", "right"))
        if operator in ("==", "!="):
            what = f"`{short(self.raw(node))}`: `{operator}` turned round"
            return self.switched(node, what, lambda on: b"(%s ^ (%s))" % (on, plain), plain)
        other = SWAPS.get(operator)
        if other is None or b"let " in self.raw(node):
            return plain
        changed = b"%s %s %s" % (left, other.encode(), right)
        what = f"`{short(self.raw(node))}`: `{operator}` to `{other}`"
        return self.switched(
            node, what, lambda on: b"(if %s { %s } else { %s })" % (on, changed, plain), plain
        )

    def function(self, node: Any, plain: bytes) -> bytes:
        function = node.parent
        returned = function.child_by_field_name("return_type")
        modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
        if modifiers is not None and b"const" in self.raw(modifiers):
            return self.raw(node)
        name = self.raw(function.child_by_field_name("name")).decode()
        head = b""
        for value in values_of(self.raw(returned).decode() if returned is not None else "()"):
            what = f"`{name}` returns `{value}` at once"
            number = self.number(node, what)
            if number is not None:
                head += f" if {SWITCH}({number}) {{ return {value}; }}".encode()
        return b"{" + head + plain[1:]


def values_of(kind: str) -> list[str]:
    """What a function of this type could return, if it did nothing."""
    kind = kind.strip()
    if kind == "()":
        return ["()"]
    if kind == "bool":
        return ["true", "false"]
    if re.fullmatch(r"[ui](8|16|32|64|128|size)", kind):
        return ["0", "1"]
    if kind == "String":
        return ["String::new()"]
    if kind.startswith("Vec<"):
        return ["Vec::new()"]
    if kind.startswith("Option<"):
        return ["None"]
    if match := re.fullmatch(r"(?:[\w:]*::)?Result<(.*)>", kind, re.DOTALL):
        inner = (
            match[1].rsplit(",", 1)[0]
            if match[1].count("<") == match[1].rsplit(",", 1)[0].count("<")
            else match[1]
        )
        return [f"Ok({value})" for value in values_of(inner)]
    return []


def is_condition(node: Any) -> bool:
    """A condition of `if`, or of a match arm, that is no comparison."""
    parent = node.parent
    plain = node.type in (
        "call_expression",
        "identifier",
        "field_expression",
        "await_expression",
        "macro_invocation",
    )
    if parent is None or not plain:
        return False
    if parent.type == "if_expression" and parent.child_by_field_name("condition") == node:
        return True
    return parent.type == "match_pattern" and parent.child_by_field_name("condition") == node


def is_effect(node: Any) -> bool:
    inner = node.children[0]
    if inner.type == "try_expression":
        inner = inner.children[0]
    return inner.type in ("call_expression", "compound_assignment_expr") and b"panic" not in inner.text


def is_test(node: Any, text: bytes) -> bool:
    """A module or a function under `#[cfg(test)]` or `#[test]`."""
    if node.type not in ("mod_item", "function_item"):
        return False
    before = node.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if b"test" in text[before.start_byte : before.end_byte] and before.type == "attribute_item":
            return True
        before = before.prev_sibling
    return False


def short(text: bytes) -> str:
    line = " ".join(text.decode().split())
    return line if len(line) < 70 else line[:67] + "..."


def spans_of(made: bytes) -> Iterator[Span]:
    """Of each switch in a source that was made, what it chooses between."""
    for found in re.finditer(rb"crate::__mutants::on\((\d+)\)", made):
        yield Span(int(found[1]), *around(made, found.start(), found.end()))


def around(text: bytes, start: int, end: int) -> tuple[int, int]:
    """From a switch to the end of what it chooses between: enough to tell whose error a compiler reports."""
    depth, at = 0, end
    while at < len(text):
        if text[at : at + 1] in b"({":
            depth += 1
        elif text[at : at + 1] in b")}":
            depth -= 1
            if depth <= 0 and not text[at + 1 :].startswith(b" else {"):
                break
        at += 1
    return start, at + 1
