"""Signatures, without the service."""

from __future__ import annotations

import base64
import hashlib
import hmac
import unittest

from petstore_inventory import PetstoreError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"type":"stock.imagined","timestamp":"2026-11-15T12:00:00.000Z","data":{"petId":9223372036854775807}}'
NOW = 1_794_744_000


def sign(body: bytes, timestamp: int = NOW, secret: str = SECRET) -> str:
    key = base64.b64decode(secret[len("whsec_") :])
    signed = f"evt_1.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(signature: str, timestamp: int = NOW) -> dict[str, str]:
    return {"Webhook-Id": "evt_1", "Webhook-Timestamp": str(timestamp), "Webhook-Signature": signature}


class VerifyWebhook(unittest.TestCase):
    def refused(self, signature: str, timestamp: int = NOW, body: bytes = BODY) -> str:
        with self.assertRaises(PetstoreError) as raised:
            verify_webhook(body, headers(signature, timestamp), SECRET, now=NOW)
        self.assertEqual(raised.exception.code, "invalid_webhook")
        return raised.exception.message

    def test_the_sample_of_the_standard(self) -> None:
        sample = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        # The signature is right: only the body is not one of this service.
        with self.assertRaises(PetstoreError) as raised:
            verify_webhook('{"test": 2432232314}', sample, SECRET, now=1614265330)
        self.assertIn("no type", raised.exception.message)

    def test_an_event_of_an_unknown_type_is_returned(self) -> None:
        event = verify_webhook(BODY, headers(sign(BODY)), SECRET, now=NOW)
        self.assertEqual((event.id, event.type, event.data), ("evt_1", "stock.imagined", {"petId": 2**63 - 1}))

    def test_one_of_several_signatures_is_enough(self) -> None:
        others = f"v1a,abc v1,AAAA v1,ü {sign(BODY)}"
        self.assertEqual(verify_webhook(BODY.decode(), headers(others), SECRET, now=NOW).id, "evt_1")
        self.assertIn("no signature", self.refused("v1,AAAA v2,AAAA"))

    def test_the_time_may_differ_by_five_minutes(self) -> None:
        for timestamp in (NOW - 300, NOW + 300):
            verify_webhook(BODY, headers(sign(BODY, timestamp), timestamp), SECRET, now=NOW)
        for timestamp in (NOW - 301, NOW + 301):
            self.assertIn("signed", self.refused(sign(BODY, timestamp), timestamp))
        verify_webhook(BODY, headers(sign(BODY, NOW - 900), NOW - 900), SECRET, now=NOW, tolerance=900)

    def test_a_changed_time_or_body_is_refused(self) -> None:
        self.refused(sign(BODY), NOW + 1)
        self.refused(sign(BODY), NOW, BODY.replace(b"imagined", b"changed"))

    def test_a_missing_header_is_named(self) -> None:
        with self.assertRaises(PetstoreError) as raised:
            verify_webhook(BODY, {"webhook-id": "evt_1"}, SECRET)
        self.assertIn("webhook-timestamp", raised.exception.message)

    def test_a_secret_that_is_none_is_a_mistake_of_the_caller(self) -> None:
        for bad in ("", "whsec_", "whsec_ü", "not base64!", []):
            with self.assertRaises(ValueError):
                verify_webhook(BODY, headers(sign(BODY)), bad)


if __name__ == "__main__":
    unittest.main()
