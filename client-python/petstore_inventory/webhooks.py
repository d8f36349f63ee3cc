from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from .errors import PetstoreError

TOLERANCE_SECONDS = 5 * 60


@dataclass(frozen=True)
class WebhookEvent:
    """A verified delivery. `id` is the same for every attempt to deliver it; `type` may be unknown to this client."""

    id: str
    type: str
    timestamp: str
    data: Dict[str, Any]


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Iterable[str]],
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """
    Returns the event of a delivery that the service has signed (Standard Webhooks).

    `body` is the body as it arrived, not parsed and written again. `secret` is the secret of the webhook; give both
    secrets while you rotate it. Raises PetstoreError with code `invalid_webhook` if no signature matches, or if the
    delivery was signed more than `tolerance` seconds ago: reply 400 and ignore the body.
    """
    keys = [key_of(text) for text in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("verify_webhook needs at least one secret")
    by_name = {name.lower(): value for name, value in headers.items()}
    message_id = require_header(by_name, "webhook-id")
    timestamp = require_header(by_name, "webhook-timestamp")
    signatures = signatures_of(require_header(by_name, "webhook-signature"))
    require_recent(timestamp, time.time() if now is None else now, tolerance)
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{message_id}.{timestamp}.".encode() + content
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    if not any(hmac.compare_digest(one, other) for one in expected for other in signatures):
        raise invalid("no signature matches: check the secret, and that the body is unchanged")
    try:
        payload = json.loads(content)
        return WebhookEvent(message_id, payload["type"], payload["timestamp"], payload["data"])
    except (ValueError, TypeError, KeyError) as error:
        raise invalid("the body has no type, timestamp and data") from error


def key_of(secret: str) -> bytes:
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if key == b"":
        raise ValueError('the secret must be "whsec_" and base64, as the service showed it')
    return key


def require_header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise invalid(f"the header {name} is missing")
    return value


def signatures_of(header: str) -> List[bytes]:
    signatures = []
    for part in header.split(" "):
        version, _, text = part.partition(",")
        try:
            if version == "v1":
                signatures.append(base64.b64decode(text, validate=True))
        except ValueError:
            continue
    return signatures


def require_recent(timestamp: str, now: float, tolerance: float) -> None:
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12):
        raise invalid("webhook-timestamp must be a time in seconds since 1970")
    age = now - int(timestamp)
    if abs(age) > tolerance:
        raise invalid(f"the delivery was signed {age:.0f} s ago, more than {tolerance:.0f} s from the time of this clock")


def invalid(message: str) -> PetstoreError:
    return PetstoreError("invalid_webhook", message)
