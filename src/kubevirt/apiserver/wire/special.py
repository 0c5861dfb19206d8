"""Messages that are no objects in JSON, and what they are there."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from kubevirt.apiserver.schema import decoding
from kubevirt.apiserver.wire.messages import Malformed

Object = dict[str, Any]

TABLE: Final = """\
Unknown
   1 typeMeta                    TypeMeta!
   2 raw                         blob
TypeMeta
   1 apiVersion                  string
   2 kind                        string
int-or-string
   1 type                        int64
   2 intVal                      int32!
   3 strVal                      string!
quantity
   1 string                      string
raw
   1 raw                         blob
schema-or-array
   1 schema                      JSONSchemaProps?
   2 schemas                     [JSONSchemaProps]
schema-or-bool
   1 allows                      bool!
   2 schema                      JSONSchemaProps?
schema-or-strings
   1 schema                      JSONSchemaProps?
   2 strings                     [string]
strings
   1 items                       [string]
time
   1 seconds                     int64?
   2 nanos                       int32?
micro-time
   1 seconds                     int64?
   2 nanos                       int32?
"""
"""Beside those of the kinds. A blob is bytes as they are, where JSON would have them in base64."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _time(said: Object) -> str | None:
    """To the second, though more may be sent: JSON has no more either."""
    return _written(_moment(said), "seconds") if said else None


def _micro_time(said: Object) -> str | None:
    if not said:
        return None
    moment = _moment(said) + timedelta(microseconds=said.get("nanos", 0) // 1000)
    return _written(moment, "microseconds")


def _moment(said: Object) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=said.get("seconds", 0))
    except OverflowError as error:
        raise Malformed("time is out of range") from error


def _written(moment: datetime, to: str) -> str:
    return moment.isoformat(timespec=to).replace("+00:00", "Z")


def _int_or_string(said: Object) -> Any:
    match said.get("type", 0):
        case 0:
            return said["intVal"]
        case 1:
            return said["strVal"]
    raise Malformed("impossible IntOrString.Type")


def _raw(said: Object) -> Any:
    """JSON inside protobuf."""
    if "raw" not in said:
        return None
    try:
        return decoding.decode(said["raw"])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Malformed(f"json: {error}") from error


def _schema_or_array(said: Object) -> Any:
    return said["schemas"] if said.get("schemas") else said.get("schema")


def _schema_or_bool(said: Object) -> Any:
    return said.get("schema", said["allows"])


def _schema_or_strings(said: Object) -> Any:
    return said["strings"] if said.get("strings") else said.get("schema")


MEANINGS: Final[Mapping[str, Callable[[Object], Any]]] = {
    "int-or-string": _int_or_string,
    "micro-time": _micro_time,
    "quantity": lambda said: said.get("string", "0"),
    "raw": _raw,
    "schema-or-array": _schema_or_array,
    "schema-or-bool": _schema_or_bool,
    "schema-or-strings": _schema_or_strings,
    "strings": lambda said: said.get("items", []),
    "time": _time,
}
"""By type; None is null, which is as good as absent."""
