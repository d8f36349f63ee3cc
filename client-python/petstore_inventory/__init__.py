"""The Python client of the Petstore Inventory service."""

from .client import Availabilities, Petstore, UpsertResult
from .errors import PetstoreError
from .events import Event, EventPage
from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, WriteOptions, etag_of
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "Availabilities",
    "CallOptions",
    "ConditionalCallOptions",
    "ConditionalWriteOptions",
    "Event",
    "EventPage",
    "Petstore",
    "PetstoreError",
    "UpsertResult",
    "WebhookEvent",
    "WriteOptions",
    "etag_of",
    "verify_webhook",
]
