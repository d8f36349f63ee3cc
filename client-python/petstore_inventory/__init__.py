"""The Python client of the Petstore Inventory service."""

from .client import Petstore, UpsertResult
from .errors import PetstoreError
from .events import Event
from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, WriteOptions, etag_of
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "CallOptions",
    "ConditionalCallOptions",
    "ConditionalWriteOptions",
    "Event",
    "Petstore",
    "PetstoreError",
    "UpsertResult",
    "WebhookEvent",
    "WriteOptions",
    "etag_of",
    "verify_webhook",
]
