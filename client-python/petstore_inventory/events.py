from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from .errors import PetstoreError
from .transport import NEXT_PAGE, CallOptions, Query, Transport, back_off, describe

# The service sends a comment every 15 seconds.
IDLE_SECONDS = 60.0


@dataclass(frozen=True)
class Event:
    """An event of the stream. `type` is its name, also if this version of the client does not know it."""

    id: str
    type: str
    data: Dict[str, Any]


class EventPage(NamedTuple):
    events: List[Event]
    last_event_id: str
    """Where the next page starts, also if this one has no events."""
    has_more: bool
    """Whether more events may follow now."""


def read_event_page(transport: Transport, query: Query, options: CallOptions) -> EventPage:
    rows, headers = transport.call("GET", "/events", query=query, **options)
    events = [Event(row["id"], row["kind"], row.get(row["kind"], {})) for row in rows]
    return EventPage(events, event_id_of(headers), NEXT_PAGE.search(headers.get("Link") or "") is not None)


def event_id_of(headers: http.client.HTTPMessage) -> str:
    """Returns the position of a response among the events."""
    return headers["Event-Id"]


def follow_events(transport: Transport, query: Query, last_event_id: Optional[str], retries: int) -> Iterator[Event]:
    """
    Yields each event once and in order, over as many connections as needed. The first connection is tried `retries`
    times more. After that, only a refusal of the service ends the iterator, for example because the key was revoked.
    """
    failures = 0
    has_connected = False
    while True:
        headers = {"Accept": "text/event-stream"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        try:
            response, connection = transport.stream("/inventory/events", query, headers, IDLE_SECONDS)
            has_connected = True
            try:
                for event in read_events(response):
                    failures = 0
                    last_event_id = event.id
                    yield event
            finally:
                connection.close()
        except PetstoreError as error:
            if error.code not in ("rate_limit_exceeded", "service_unavailable"):
                raise
            if not has_connected and failures >= retries:
                raise
        except (OSError, http.client.HTTPException) as error:
            if not has_connected and failures >= retries:
                raise PetstoreError(
                    "connection_failed", describe(error), request="GET /inventory/events"
                ) from error
        failures += 1
        time.sleep(back_off(failures))


def read_events(response: http.client.HTTPResponse) -> Iterator[Event]:
    """Yields complete events only. An event that was cut off comes again after the stream is resumed."""
    event_type, event_id = "message", ""
    data: List[str] = []
    while True:
        line = response.readline()
        if not line.endswith(b"\n"):
            return
        text = line.decode().rstrip("\r\n")
        name, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if text == "":
            if data:
                yield Event(event_id, event_type, json.loads("\n".join(data)))
            event_type, data = "message", []
        elif name == "event":
            event_type = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            event_id = value
