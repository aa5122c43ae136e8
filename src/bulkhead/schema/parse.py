# SPDX-License-Identifier: Apache-2.0
"""Reads a layout file (`schema/manifest.yaml`) and refuses layouts that compilers could interpret
differently.

Called by the header generator and by `Layout`. Works on YAML nodes rather than on plain data, because plain
data lack lines, the notation of numbers and duplicate keys. Padding is never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from bulkhead.schema.model import (
    SCALAR_BYTES,
    Constant,
    Enum,
    Field,
    LayoutRegion,
    Member,
    Record,
    Schema,
    SchemaError,
)

# The parser in C, if the package has it: every command reads this file.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_TYPE = re.compile(r"(?P<base>[a-z][a-z0-9_]*)(?:\[(?P<length>[a-z0-9_]+)\])?\Z")
_SECTIONS = ("version", "constants", "enums", "regions", "records")
_REGION_KEYS = ("at", "bytes", "gic", "mapped", "guest_bytes", "guest_bytes_per_core")
_REGION_HEADER = "manifest_header"  # the record whose fields give the addresses of regions
_RECORD_MULTIPLE_BYTES = 8
_ENUM_MAX = 0x7FFFFFFF  # range of an `int` in C
# Words that a field or a record may not have as its name in C or C++.
_KEYWORD_TEXT = """
    auto bool break case char class const continue default delete do double else enum extern false float for
    friend goto if inline int long namespace new operator private protected public register return short
    signed sizeof static struct switch template this throw true try typedef union unsigned using virtual
    void volatile while
"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())


def parse_schema(text: str, name: str = "manifest.yaml") -> Schema:
    """The schema that `text` describes; `name` is the file's name in errors."""
    return _Parser(name, text).schema()


def read_schema(path: Path) -> Schema:
    return parse_schema(path.read_text(encoding="utf-8"), path.name)


@dataclass
class _Parser:
    name: str
    text: str

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def schema(self) -> Schema:
        try:
            root = yaml.compose(self.text, Loader=_LOADER)
        except yaml.YAMLError as error:
            raise SchemaError(f"{self.name}: not YAML: {error}") from error
        if root is None:
            raise SchemaError(f"{self.name}: empty")
        sections = {key.value: node for key, node in self._pairs(root)}
        for key, _ in self._pairs(root):
            if key.value not in _SECTIONS:
                raise self._error(key, f"unknown section '{key.value}' (allowed: {', '.join(_SECTIONS)})")
        if "version" not in sections:
            raise SchemaError(f"{self.name}: no 'version'")
        constants = self._constants(sections.get("constants"))
        enums = self._enums(sections.get("enums"))
        records = self._records(sections.get("records"), constants)
        regions = self._regions(sections.get("regions"), constants, enums, records)
        self._check_c_names(constants, enums, root)
        return Schema(self._integer(sections["version"]), constants, enums, records, regions)

    # --- sections -------------------------------------------------------------------------------------

    def _constants(self, node: yaml.Node | None) -> dict[str, Constant]:
        result: dict[str, Constant] = {}
        for key, value in self._pairs(node):
            name = self._name(key)
            number = self._integer(value)
            if not 0 <= number < 1 << 64:
                raise self._error(value, f"constant '{name}': {number} does not fit 64 bits")
            hexadecimal = str(value.value).lower().startswith("0x")
            result[name] = Constant(name, number, hexadecimal, self._comment(value))
        return result

    def _enums(self, node: yaml.Node | None) -> dict[str, Enum]:
        result: dict[str, Enum] = {}
        for key, body in self._pairs(node):
            name = self._name(key)
            members: list[Member] = []
            for member_key, value in self._pairs(body):
                member = self._name(member_key)
                number = self._integer(value)
                if not 0 <= number <= _ENUM_MAX:
                    raise self._error(value, f"enum '{name}.{member}': {number} is outside 0..{_ENUM_MAX}")
                if number in (m.value for m in members):
                    raise self._error(value, f"enum '{name}.{member}': value {number} is taken")
                members.append(Member(member, number, self._comment(value)))
            if not members:
                raise self._error(key, f"enum '{name}' has no members")
            result[name] = Enum(name, tuple(members), self._comment(key) or self._block(key))
        return result

    def _records(self, node: yaml.Node | None, constants: dict[str, Constant]) -> dict[str, Record]:
        """All records, each after those that it contains, as C requires; the file may have any order."""
        bodies: dict[str, tuple[yaml.Node, yaml.SequenceNode]] = {}
        for key, body in self._pairs(node):
            name = self._name(key)
            if name in SCALAR_BYTES or name == "char":
                raise self._error(key, f"record '{name}' has the name of a basic type")
            if not isinstance(body, yaml.SequenceNode):
                raise self._error(body, f"record '{name}' must be a list of '- field: type'")
            bodies[name] = (key, body)
        result: dict[str, Record] = {}
        open_records: list[str] = []

        def resolve(name: str, user: yaml.Node) -> Record:
            if name in open_records:
                chain = " > ".join([*open_records, name])
                raise self._error(user, f"record '{name}' contains itself ({chain})")
            if name not in result:
                open_records.append(name)
                key, body = bodies[name]
                result[name] = self._record(key, name, body, constants, bodies, resolve)
                open_records.pop()
            return result[name]

        for name, (key, _) in bodies.items():
            resolve(name, key)
        return result

    def _record(
        self,
        key: yaml.Node,
        name: str,
        body: yaml.SequenceNode,
        constants: dict[str, Constant],
        known: Collection[str],
        resolve: Callable[[str, yaml.Node], Record],
    ) -> Record:
        fields: list[Field] = []
        offset, record_align = 0, 1
        for item in body.value:
            pairs = list(self._pairs(item))
            if len(pairs) != 1:
                raise self._error(item, f"record '{name}': one field per list item")
            field_key, type_node = pairs[0]
            field_name = self._name(field_key)
            if field_name in (f.name for f in fields):
                raise self._error(field_key, f"record '{name}': duplicate field '{field_name}'")
            base, length, size, align = self._type(type_node, constants, known, resolve)
            if offset % align:
                gap = align - offset % align
                raise self._error(
                    field_key,
                    f"'{name}.{field_name}' at offset {offset} would leave a gap of {gap} bytes before it"
                    f" ({type_node.value} is aligned to {align}): add a 'reserved' field",
                )
            entry = Field(field_name, base, length, offset, size, self._comment(type_node))
            fields.append(entry)
            offset += entry.bytes
            record_align = max(record_align, align)
        if not fields:
            raise self._error(key, f"record '{name}' has no fields")
        if offset % _RECORD_MULTIPLE_BYTES:
            wanted = f"not a multiple of {_RECORD_MULTIPLE_BYTES}"
            raise self._error(key, f"record '{name}' has {offset} bytes, {wanted}")
        return Record(name, tuple(fields), offset, record_align, self._block(key))

    def _regions(
        self,
        node: yaml.Node | None,
        constants: dict[str, Constant],
        enums: dict[str, Enum],
        records: dict[str, Record],
    ) -> dict[str, LayoutRegion]:
        result: dict[str, LayoutRegion] = {}
        for key, body in self._pairs(node):
            name = self._name(key)
            cells = {str(cell.value): value for cell, value in self._pairs(body)}
            for cell in cells:
                if cell not in _REGION_KEYS:
                    allowed = ", ".join(_REGION_KEYS)
                    raise self._error(cells[cell], f"region '{name}': no key '{cell}' (allowed: {allowed})")
            for needed in ("at", "bytes", "mapped"):
                if needed not in cells:
                    raise self._error(key, f"region '{name}' has no '{needed}'")
            gic = str(cells["gic"].value) if "gic" in cells else None
            versions = (
                [member.name for member in enums["gic_version"].members] if "gic_version" in enums else []
            )
            if gic is not None and gic not in versions:
                raise self._error(cells["gic"], f"region '{name}': '{gic}' is not a gic_version")
            result[name] = LayoutRegion(
                name,
                self._header_path(cells["at"], records),
                self._header_path(cells["bytes"], records)
                if "." in cells["bytes"].value
                else self._size(cells["bytes"], constants),
                gic,
                self._truth(cells["mapped"]),
                self._size(cells["guest_bytes"], constants) if "guest_bytes" in cells else 0,
                self._size(cells["guest_bytes_per_core"], constants)
                if "guest_bytes_per_core" in cells
                else 0,
                self._comment(key),
            )
        return result

    def _size(self, node: yaml.Node, constants: dict[str, Constant]) -> int:
        """A number, or the constant that is named."""
        constant = constants.get(str(node.value))
        return self._integer(node) if constant is None else constant.value

    def _header_path(self, node: yaml.Node, records: dict[str, Record]) -> str:
        """The path of a field of the manifest's header that is a u64."""
        path, record = str(node.value), records.get(_REGION_HEADER)
        *steps, last = path.split(".")
        for step in steps:
            field = next((f for f in record.fields if f.name == step), None) if record else None
            record = records.get(field.type) if field is not None else None
        if record is None or not any(f.name == last and f.spelling == "u64" for f in record.fields):
            raise self._error(node, f"'{path}' is not a u64 of {_REGION_HEADER}")
        return path

    def _truth(self, node: yaml.Node) -> bool:
        if node.value not in ("true", "false"):
            raise self._error(node, f"'{node.value}' is neither true nor false")
        return bool(node.value == "true")

    def _type(
        self,
        node: yaml.Node,
        constants: dict[str, Constant],
        known: Collection[str],
        resolve: Callable[[str, yaml.Node], Record],
    ) -> tuple[str, int | None, int, int]:
        """(base type, array length or None, bytes of an element, alignment)."""
        match = _TYPE.match(str(node.value))
        base = match["base"] if match else ""
        if base in SCALAR_BYTES:
            size = align = SCALAR_BYTES[base]
        elif base == "char":
            size = align = 1
        elif base in known:
            inner = resolve(base, node)
            size, align = inner.bytes, inner.align
        else:
            allowed = ", ".join([*SCALAR_BYTES, "char[N]", *known])
            raise self._error(node, f"unknown type '{node.value}' (known: {allowed})")
        assert match is not None
        length = self._length(node, match["length"], constants)
        if base == "char" and length is None:
            raise self._error(node, "'char' needs a length: char[N]")
        return base, length, size, align

    def _length(self, node: yaml.Node, text: str | None, constants: dict[str, Constant]) -> int | None:
        if text is None:
            return None
        if text in constants:
            length = constants[text].value
        elif text.isdigit():
            length = int(text)
        else:
            raise self._error(node, f"array length '{text}' is neither a number nor a constant of this file")
        if not 1 <= length <= 1 << 16:
            raise self._error(node, f"array length {length} is outside 1..{1 << 16}")
        return length

    def _check_c_names(self, constants: dict[str, Constant], enums: dict[str, Enum], root: yaml.Node) -> None:
        """Constants and enumerators share one name space in C."""
        taken: dict[str, str] = {"BH_LAYOUT_HASH": "the layout hash", "BH_LAYOUT_VERSION": "the version"}
        named = [(f"BH_{c.upper()}", f"constant '{c}'") for c in constants]
        for enum in enums.values():
            names = [*(m.name for m in enum.members), "count"]
            named += [(f"BH_{enum.name.upper()}_{m.upper()}", f"enum '{enum.name}.{m}'") for m in names]
        for c_name, what in named:
            if c_name in taken:
                raise self._error(root, f"{what} and {taken[c_name]} have the same name in C: {c_name}")
            taken[c_name] = what

    # --- nodes ----------------------------------------------------------------------------------------

    def _pairs(self, node: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        if node is None:
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, "expected 'name: value' entries")
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                raise self._error(key, f"duplicate name '{key.value}'")
            seen.add(str(key.value))
            yield key, value

    def _name(self, node: yaml.Node) -> str:
        text = str(node.value)
        if not _NAME.match(text) or text in _KEYWORDS:
            rule = "lower case, digits, '_'; no C or C++ keyword"
            raise self._error(node, f"'{text}' is not a usable name ({rule})")
        return text

    def _integer(self, node: yaml.Node) -> int:
        try:
            if not isinstance(node, yaml.ScalarNode):
                raise ValueError
            return int(node.value, 0)
        except ValueError:
            raise self._error(node, f"'{node.value}' is not an integer") from None

    def _comment(self, node: yaml.Node) -> str:
        """The comment at the end of the node's line: it is documentation, so the header repeats it."""
        line = self._lines[node.start_mark.line]
        rest = line[node.start_mark.column :]
        if rest.count(":") and "{" in rest:  # a flow mapping: the comment describes the whole line
            return ""
        return rest.partition("#")[2].strip().replace("*/", "* /")

    def _block(self, node: yaml.Node) -> str:
        """The lines of comments directly above the node's line, as one."""
        found: list[str] = []
        for line in reversed(self._lines[: node.start_mark.line]):
            if not line.strip().startswith("#"):
                break
            found.insert(0, line.strip()[1:].strip())
        return " ".join(found).replace("*/", "* /")

    def _error(self, node: yaml.Node, message: str) -> SchemaError:
        return SchemaError(f"{self.name}:{node.start_mark.line + 1}: {message}")
