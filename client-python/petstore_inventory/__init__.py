"""The Python client of the Petstore Inventory service."""

from .client import Petstore, UpsertResult
from .errors import PetstoreError
from .events import Event
from .transport import CallOptions, WriteOptions
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "CallOptions",
    "Event",
    "Petstore",
    "PetstoreError",
    "UpsertResult",
    "WebhookEvent",
    "WriteOptions",
    "verify_webhook",
]
