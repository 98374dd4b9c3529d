"""SHA-256 of a table's content: the same for the same values in the same order, whatever file holds them."""

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NUMPY = {pa.float64(): "<f8", pa.int32(): "<i4"}
"""Column type -> how its values are hashed; texts and truth values have a way of their own."""


def content_digest(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> tuple[int, str]:
    """Count the rows and hash their values, column by column.

    Of each column three streams are hashed: which values are null (a byte each), the values (little-endian; a null as
    0 or an empty text) and the lengths of texts in UTF-8 bytes. The digest is that of the columns' names and streams.

    Args:
        batches: rows, cut anywhere: where they are cut changes nothing.
        schema: their columns, of strings, float64, int32 and bool.

    Returns:
        Rows, and the digest in hexadecimal.
    """
    rows = 0
    streams = {name: (hashlib.sha256(), hashlib.sha256(), hashlib.sha256()) for name in schema.names}
    for batch in batches:
        rows += batch.num_rows
        for field in schema:
            nulls, values, lengths = streams[field.name]
            column = batch.column(field.name).cast(field.type)
            nulls.update(np.asarray(column.is_null()).astype(np.uint8).tobytes())
            if field.type == pa.string():
                data, sizes = _texts(column)
                values.update(data)
                lengths.update(sizes)
            else:
                values.update(_values(column, field.type))
    whole = hashlib.sha256()
    for name, each in streams.items():
        whole.update(name.encode() + b"\0" + b"".join(stream.digest() for stream in each))
    return rows, whole.hexdigest()


def _values(column: pa.Array, kind: pa.DataType) -> bytes:
    if kind == pa.bool_():
        return bytes(np.asarray(pc.fill_null(column, False)).astype(np.uint8).tobytes())
    return bytes(np.asarray(pc.fill_null(column, pa.scalar(0, kind))).astype(_NUMPY[kind]).tobytes())


def _texts(column: pa.Array) -> tuple[bytes, bytes]:
    """The texts one after the other, and their lengths."""
    filled = pc.fill_null(column, "")
    offsets = np.frombuffer(filled.buffers()[1], np.int32)[filled.offset : filled.offset + len(filled) + 1]
    data = filled.buffers()[2]
    held = b"" if data is None or not len(filled) else memoryview(data)[offsets[0] : offsets[-1]].tobytes()
    return held, np.diff(offsets).astype("<i4").tobytes()
