"""The Python client of the Petstore Inventory service."""

from .client import BookingOptions, CountLine, Petstore, StockLine
from .errors import PetstoreError
from .events import Event
from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, WriteOptions, etag_of
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "BookingOptions",
    "CallOptions",
    "ConditionalCallOptions",
    "ConditionalWriteOptions",
    "CountLine",
    "Event",
    "Petstore",
    "PetstoreError",
    "StockLine",
    "WebhookEvent",
    "WriteOptions",
    "etag_of",
    "verify_webhook",
]
