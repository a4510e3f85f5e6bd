"""Codec of dates, times and time zones."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .failures import MalformedError, MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,3}")
_MICROSECOND = timedelta(microseconds=1)


def write_zone(encoder: Encoder, zone: Any) -> Node:
    """Encode a time zone.

    Args:
        encoder: The encoder.
        zone: Any ``tzinfo``, or None.

    Returns:
        The name of a zone of the time zone database, else its offset in microseconds.

    Raises:
        TransferError: The zone has neither.
    """
    if zone is None:
        return None
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if type(name) is str and _ZONE.fullmatch(name):
        return name
    offset = zone.utcoffset(None)
    if offset is None:
        encoder.refuse(zone, "it has no name and no fixed offset: use zoneinfo.ZoneInfo")
    return offset // _MICROSECOND


def read_zone(node: Node) -> tzinfo | None:
    """Decode a time zone.

    Args:
        node: Result of `write_zone`.

    Returns:
        The zone.

    Raises:
        TransferError: The zone is unknown here.
    """
    if node is None:
        return None
    if type(node) is int:
        offset = timedelta(microseconds=node)
        return timezone(offset) if offset else UTC
    # trust: the name becomes part of the path of a file.
    if type(node) is not str or not _ZONE.fullmatch(node):
        raise MalformedError("a time zone of the encoded value has no proper name")
    try:
        return ZoneInfo(node)
    except ZoneInfoNotFoundError:
        raise MissingLibraryError("tzdata") from None


def _write_datetime(encoder: Encoder, value: datetime) -> Node:
    zone = write_zone(encoder, value.tzinfo)
    text = value.replace(tzinfo=None, fold=0).isoformat()
    return {"$": "datetime", "v": text, "z": zone, "f": value.fold}


def _read_datetime(decoder: Decoder, node: Node) -> datetime:
    moment = datetime.fromisoformat(node["v"])
    return moment.replace(tzinfo=read_zone(node["z"]), fold=node["f"])


def _write_time(encoder: Encoder, value: time) -> Node:
    zone = write_zone(encoder, value.tzinfo)
    text = value.replace(tzinfo=None, fold=0).isoformat()
    return {"$": "time", "v": text, "z": zone, "f": value.fold}


def _read_time(decoder: Decoder, node: Node) -> time:
    return time.fromisoformat(node["v"]).replace(tzinfo=read_zone(node["z"]), fold=node["f"])


def _write_timedelta(encoder: Encoder, value: timedelta) -> Node:
    return {"$": "timedelta", "v": [value.days, value.seconds, value.microseconds]}


def _read_timedelta(decoder: Decoder, node: Node) -> timedelta:
    days, seconds, microseconds = node["v"]
    return timedelta(days=days, seconds=seconds, microseconds=microseconds)


def _write_zone_itself(encoder: Encoder, value: tzinfo) -> Node:
    return {"$": "zone", "v": write_zone(encoder, value)}


ENCODERS: dict[type, Callable[[Any, Any], Any]] = {
    datetime: _write_datetime,
    date: lambda encoder, value: {"$": "date", "v": value.isoformat()},
    time: _write_time,
    timedelta: _write_timedelta,
    timezone: _write_zone_itself,
    ZoneInfo: _write_zone_itself,
}

DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "datetime": _read_datetime,
    "date": lambda decoder, node: date.fromisoformat(node["v"]),
    "time": _read_time,
    "timedelta": _read_timedelta,
    "zone": lambda decoder, node: read_zone(node["v"]),
}
