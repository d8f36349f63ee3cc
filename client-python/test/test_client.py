"""Runs against the service at PETSTORE_URL with PETSTORE_KEY; PETSTORE_SMALL_KEY allows few requests."""

from __future__ import annotations

import http.server
import itertools
import os
import queue
import random
import threading
import time
import unittest

from petstore_inventory import Petstore, PetstoreError, etag_of, verify_webhook
from proxies import FATES, CuttingProxy, LossyProxy

URL = os.environ["PETSTORE_URL"]
KEY = os.environ["PETSTORE_KEY"]
LARGEST_ID = 2**63 - 1
ODD_ID = 2**53 + 1

client = Petstore(URL, KEY)


def line(pet: int, quantity: int) -> dict:
    return {"petId": pet, "quantity": quantity}


def new_pet(quantity: int = 0) -> int:
    return client.pets.create({"name": "Rex", "categoryId": 1, "quantity": quantity})["id"]


class Records(unittest.TestCase):
    def test_ids_are_exact(self) -> None:
        listed = [item["petId"] for item in client.inventory.list()]
        self.assertIn(ODD_ID, listed)
        self.assertIn(LARGEST_ID, listed)
        self.assertEqual(client.inventory.get(ODD_ID)["petId"], ODD_ID)
        self.assertEqual(client.inventory.set(LARGEST_ID, {"quantity": 9})["petId"], LARGEST_ID)
        self.assertEqual(client.pets.get(LARGEST_ID)["id"], LARGEST_ID)

    def test_an_id_that_is_not_an_int_is_refused_before_it_is_sent(self) -> None:
        for bad in (1.0, "1", True, None):
            with self.assertRaises(TypeError):
                client.inventory.get(bad)  # type: ignore

    def test_stock(self) -> None:
        pet = new_pet(10)
        other = new_pet(1)
        sold = client.inventory.sell([line(pet, 2), line(other, 1)], reference="till 4")
        self.assertEqual([item["quantity"] for item in sold["items"]], [8, 0])
        self.assertEqual(client.inventory.receive(line(pet, 5))["items"][0]["quantity"], 13)
        counted = client.inventory.count({**line(pet, 12), "expected": 13})
        self.assertEqual(counted["items"][0]["quantity"], 12)
        self.assertEqual(client.inventory.set(pet, {"quantity": 3})["quantity"], 3)
        damaged = client.inventory.adjust({"reason": "damaged", "changes": [{"petId": pet, "delta": -1}]})
        self.assertEqual([item["quantity"] for item in damaged["items"]], [2])
        reasons = [change.get("reason") for change in client.inventory.history(pet)]
        self.assertEqual(reasons[:5], ["damaged", None, "counted", "received", "sold"])
        self.assertEqual(client.adjustments.reverse(sold["id"])["items"][1]["quantity"], 1)
        self.assertEqual(len(client.adjustments.get(sold["id"])["reversedBy"]), 1)
        recent = list(itertools.islice(client.inventory.changes(reference="till 4"), 2))
        self.assertIn(recent[0]["petId"], {pet, other})
        with self.assertRaises(PetstoreError) as raised:
            client.inventory.count({**line(pet, 1), "expected": 99})
        self.assertEqual(raised.exception.code, "precondition_failed")

    def test_reports(self) -> None:
        pet = new_pet(10)
        client.inventory.receive({"petId": pet, "quantity": 5})
        client.inventory.sell({"petId": pet, "quantity": 2})
        report = client.reports.movements(by="pet")
        row = next(row for row in report["rows"] if row.get("petId") == pet)
        self.assertEqual([row["received"], row["sold"], row["countedUp"], row["change"]], [5, 2, 10, 13])

    def test_orders(self) -> None:
        pet = new_pet(10)
        order = client.orders.create({"lines": [line(pet, 4), line(new_pet(1), 1)], "holdSeconds": 900})
        self.assertEqual(client.inventory.availability(pet)["available"], 6)
        with self.assertRaises(PetstoreError) as raised:
            client.inventory.sell(line(pet, 7))
        self.assertEqual(raised.exception.code, "insufficient_stock")
        client.orders.update(order["id"], {"lines": [line(pet, 3)], "holdSeconds": None})
        complete = client.orders.complete(order["id"], only_if_open=True)
        client.adjustments.reverse(complete["adjustmentId"], {"lines": [line(pet, 1)], "reason": "returned"})
        self.assertEqual(client.orders.get(order["id"])["lines"], [{**line(pet, 3), "returned": 1}])
        other = client.orders.create({"petId": pet, "quantity": 1})
        self.assertIsNone(client.orders.cancel(other["id"]))
        cancelled = [row["id"] for row in client.orders.list(pet_id=pet, state="cancelled")]
        self.assertEqual(cancelled, [other["id"]])

    def test_events_are_read_in_pages(self) -> None:
        pet = new_pet(10)
        rows = client.inventory.availabilities(pet_ids=[pet, LARGEST_ID, 404])
        self.assertEqual([row["petId"] for row in rows], [pet, LARGEST_ID])
        stream = client.events(kinds=["change"], pet_id=pet)
        start = next(stream).id
        client.inventory.set(pet, {"quantity": 7})
        client.inventory.set(pet, {"quantity": 6})
        events = [*client.inventory.read_events(after=start, kinds=["change"], pet_id=pet, page_size=1)]
        self.assertEqual([event["change"]["after"] for event in events], [7, 6])

    def test_pets_and_categories(self) -> None:
        category = client.categories.create({"name": "Birds", "lowStockAt": 3})
        pet = client.pets.create({"name": "Kiki", "categoryId": category["id"], "lowStockAt": 1})
        self.assertNotIn("lowStockAt", client.pets.update(pet["id"], {"lowStockAt": None}))
        self.assertEqual([row["petId"] for row in client.inventory.search(q="kiki", low=True)], [pet["id"]])
        client.pets.remove(pet["id"])
        edits = [edit["change"] for edit in client.pets.history(pet_id=pet["id"], page_size=1)]
        self.assertEqual(edits, ["removed", "changed", "created"])
        self.assertEqual(client.categories.update(category["id"], {"name": "Parrots"})["name"], "Parrots")
        client.categories.remove(category["id"])
        self.assertNotIn(category["id"], [row["id"] for row in client.categories.list()])

    def test_a_record_is_changed_only_in_the_state_that_was_read(self) -> None:
        pet = client.pets.get(new_pet())
        changed = client.pets.update(pet["id"], {"name": "Max"}, if_match=etag_of(pet))
        with self.assertRaises(PetstoreError) as raised:
            client.pets.remove(pet["id"], if_match=etag_of(pet))
        self.assertEqual(raised.exception.code, "precondition_failed")
        client.pets.remove(pet["id"], if_match=etag_of(changed))
        self.assertIsNone(etag_of(next(client.categories.list())))

    def test_lists_request_each_page_when_it_is_needed(self) -> None:
        with LossyProxy(URL, lambda: "pass") as proxy, Petstore(proxy.base_url, KEY) as paged:
            pets = paged.catalog.list(page_size=2)
            self.assertEqual(proxy.requests, 0)
            first = [pet["petId"] for pet in itertools.islice(pets, 3)]
            self.assertEqual(proxy.requests, 2)
            rest = [pet["petId"] for pet in pets]
        self.assertEqual(first + rest, [pet["petId"] for pet in client.catalog.list()])

    def test_limits(self) -> None:
        self.assertEqual(client.limits.get()["plan"], "enterprise")

    def test_several_pets_are_created_and_updated_at_once(self) -> None:
        pets = [{"id": number, "name": f"Pet {number}", "categoryId": 1} for number in (500_000, 500_001)]
        self.assertEqual(client.pets.upsert({"pets": pets})["created"], 2)
        self.assertEqual(client.pets.upsert({"pets": [{"id": 500_001, "name": "Rex"}]})["updated"], 1)
        self.assertEqual(client.pets.get(500_001)["name"], "Rex")


class Keys(unittest.TestCase):
    def test_are_created_rotated_and_revoked(self) -> None:
        created = client.keys.create({"name": "Till", "plan": "pro", "permissions": ["stock"]})
        key_id = created["key"]["id"]
        with Petstore(URL, created["secret"]) as till:
            self.assertEqual(till.limits.get()["key"]["id"], key_id)
        self.assertEqual(client.keys.update(key_id, {"name": "Till 2"})["name"], "Till 2")
        self.assertNotEqual(client.keys.rotate(key_id, {"graceSeconds": 0})["secret"], created["secret"])
        self.assertIn("code", client.keys.create_pairing_code(key_id))
        client.keys.revoke(key_id)
        self.assertEqual(client.keys.get(key_id)["name"], "Till 2")
        self.assertIn(key_id, [key["id"] for key in client.keys.list()])
        actions = [entry["action"] for entry in client.keys.audit(key_id, page_size=2)]
        self.assertEqual(actions, ["revoke", "create pairing code", "rotate", "change", "create"])


class Errors(unittest.TestCase):
    def test_carry_what_the_service_sent(self) -> None:
        with self.assertRaises(PetstoreError) as raised:
            client.pets.create({"name": "Rex", "categoryId": 1, "lowStockAt": -1})
        error = raised.exception
        self.assertEqual((error.code, error.status, error.field), ("invalid_request", 400, "lowStockAt"))
        self.assertIn("lowStockAt", error.message)
        self.assertIsNotNone(error.request_id)
        self.assertFalse(error.may_have_been_made)
        self.assertTrue(str(error).startswith(f"POST /pets: 400 invalid_request: {error.message}"))

    def test_list_every_part_that_failed(self) -> None:
        pet = new_pet(1)
        with self.assertRaises(PetstoreError) as raised:
            client.inventory.sell([line(pet, 2), line(LARGEST_ID - 1, 1)])
        self.assertEqual([detail["index"] for detail in raised.exception.details], [0, 1])

    def test_an_unknown_key_is_not_tried_again(self) -> None:
        with LossyProxy(URL, lambda: "pass") as proxy, Petstore(proxy.base_url, "pst_live_unknown") as stranger:
            with self.assertRaises(PetstoreError) as raised:
                stranger.limits.get()
        self.assertEqual(raised.exception.code, "unauthorized")
        self.assertEqual(proxy.requests, 1)


class Retries(unittest.TestCase):
    def test_every_change_is_made_exactly_once(self) -> None:
        pet = new_pet()
        drawn = random.Random(7)
        fates = lambda: drawn.choice(FATES[1:]) if drawn.random() < 0.45 else "pass"
        with LossyProxy(URL, fates) as proxy, Petstore(proxy.base_url, KEY, retries=30, max_wait=600) as till:
            quantities = [till.inventory.receive(line(pet, 1))["items"][0]["quantity"] for _ in range(25)]
        self.assertEqual(quantities, [*range(1, 26)])
        self.assertGreater(proxy.requests, 35)
        self.assertEqual(client.inventory.get(pet)["quantity"], 25)

    def test_an_error_says_if_the_change_may_have_been_made(self) -> None:
        pet = new_pet()
        with LossyProxy(URL, lambda: "lose the response") as proxy, Petstore(proxy.base_url, KEY) as till:
            with self.assertRaises(PetstoreError) as raised:
                till.inventory.receive(line(pet, 1), retries=0)
        error = raised.exception
        self.assertEqual((error.code, error.status, error.may_have_been_made), ("connection_failed", None, True))
        # The same call tells, and makes the change once at most.
        again = client.inventory.receive(line(pet, 1), idempotency_key=str(error.idempotency_key))
        self.assertEqual(again["items"][0]["quantity"], 1)
        self.assertEqual(client.inventory.get(pet)["quantity"], 1)

    def test_a_change_without_an_idempotency_key_is_sent_once(self) -> None:
        with LossyProxy(URL, lambda: "lose the request") as proxy, Petstore(proxy.base_url, KEY) as till:
            with self.assertRaises(PetstoreError) as raised:
                till.webhooks.test(1)
        self.assertEqual((raised.exception.may_have_been_made, proxy.requests), (True, 1))

    def test_nothing_was_made_if_nothing_could_be_sent(self) -> None:
        with LossyProxy(URL, lambda: "pass") as proxy:
            closed = proxy.base_url
        with self.assertRaises(PetstoreError) as raised, Petstore(closed, KEY, retries=1) as till:
            till.inventory.set(1, {"quantity": 1})
        self.assertEqual(raised.exception.code, "connection_failed")
        self.assertIn("refused", raised.exception.message)
        self.assertFalse(raised.exception.may_have_been_made)

    def test_a_pause_is_as_long_as_the_service_asks_for(self) -> None:
        body = b'{"code": "service_unavailable", "message": "stopping", "status": 503}'
        refusal = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for status in (b"503 Service Unavailable", b"429 Too Many Requests"):
            fates = iter([refusal.replace(b"503 Service Unavailable", status)])
            with LossyProxy(URL, lambda: next(fates, "pass")) as proxy, Petstore(proxy.base_url, KEY) as patient:
                began = time.monotonic()
                patient.limits.get()
                self.assertGreaterEqual(time.monotonic() - began, 1)
                self.assertEqual(proxy.requests, 2)

    def test_a_key_over_its_limit_sends_nothing_more(self) -> None:
        with LossyProxy(URL, lambda: "pass") as proxy:
            small = Petstore(proxy.base_url, os.environ["PETSTORE_SMALL_KEY"], max_wait=0)
            with self.assertRaises(PetstoreError) as raised:
                while True:
                    small.inventory.get(1)
            self.assertEqual((raised.exception.status, raised.exception.code), (429, "rate_limit_exceeded"))
            sent = proxy.requests
            with self.assertRaises(PetstoreError) as raised:
                small.inventory.get(1)
            self.assertEqual((raised.exception.status, raised.exception.code), (None, "rate_limit_exceeded"))
            self.assertEqual(proxy.requests, sent)

    def test_threads_share_a_client(self) -> None:
        pet = new_pet()
        threads = [threading.Thread(target=client.inventory.receive, args=(line(pet, 1),)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(client.inventory.get(pet)["quantity"], 20)


class Events(unittest.TestCase):
    def test_resume_without_a_gap_and_without_a_repeat(self) -> None:
        pet = new_pet()
        with CuttingProxy(URL, 11) as proxy:
            events = Petstore(proxy.base_url, KEY).events()
            self.assertEqual(next(events).type, "ready")
            for quantity in range(1, 31):
                client.inventory.set(pet, {"quantity": quantity})
            own = (event.data["after"] for event in events if event.data.get("petId") == pet)
            self.assertEqual([*itertools.islice(own, 30)], [*range(1, 31)])
            self.assertGreater(proxy.cuts, 3)

    def test_begin_after_a_known_event(self) -> None:
        pet = new_pet()
        events = client.events()
        start = next(events).id
        client.inventory.set(pet, {"quantity": 1})
        first = next(client.events(start, kinds=["change", "order"], pet_id=pet))
        self.assertEqual((first.type, first.data["after"]), ("change", 1))
        client.inventory.set(pet, {"quantity": 2})
        second = next(event for event in client.events(first.id) if event.data.get("petId") == pet)
        self.assertEqual(second.data["after"], 2)
        events.close()

    def test_a_refusal_ends_the_iterator(self) -> None:
        with self.assertRaises(PetstoreError) as raised:
            next(Petstore(URL, "pst_live_unknown").events())
        self.assertEqual(raised.exception.code, "unauthorized")


class Webhooks(unittest.TestCase):
    def test_a_delivery_is_verified(self) -> None:
        deliveries: queue.Queue = queue.Queue()

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                deliveries.put((body, dict(self.headers.items())))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/hooks"
        try:
            webhook = client.webhooks.create({"url": url, "kinds": ["stock.changed"]})
            self.assertIn(webhook["id"], [row["id"] for row in client.webhooks.list()])
            pet = new_pet(1)
            client.inventory.set(pet, {"quantity": 5})
            while True:
                body, headers = deliveries.get(timeout=60)
                event = verify_webhook(body, headers, webhook["secret"])
                if event.data["petId"] == pet:
                    break
            self.assertEqual((event.type, event.data["after"]), ("stock.changed", 5))
            rotated = client.webhooks.rotate_secret(webhook["id"])["secret"]
            self.assertEqual(verify_webhook(body, headers, [rotated, webhook["secret"]]), event)
            with self.assertRaises(PetstoreError):
                verify_webhook(body, headers, rotated)
            with self.assertRaises(PetstoreError):
                verify_webhook(body.replace(b":5", b":6"), headers, webhook["secret"])
            client.webhooks.replay(webhook["id"], {"from": headers["webhook-id"]})
            self.assertEqual(deliveries.get(timeout=60)[1]["webhook-id"], headers["webhook-id"])
            self.assertTrue(client.webhooks.test(webhook["id"])["delivered"])
            self.assertGreater(len([*client.webhooks.deliveries(webhook["id"])]), 0)
            client.webhooks.remove(webhook["id"])
        finally:
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    unittest.main()
