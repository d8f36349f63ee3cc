from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence
from urllib.parse import quote

from .events import Event, follow_events
from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, Transport, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types

BATCH_PETS = 1_000
# The service accepts 256 KiB; the rest is for the frame around the pets.
BATCH_BYTES = 250_000


class Petstore:
    """
    A client of the Petstore Inventory service. Threads can share it.

    Records are dicts with the field names of the contract, ids are ints, and lists are iterators that request each page
    when it is needed. A failed call raises PetstoreError. Reads are retried, and so are writes, each with an idempotency
    key, so that a change is made at most once.

    `timeout` is for one attempt, in seconds. `retries` is how often a failed attempt is repeated. A call that would
    have to wait for more than `max_wait` seconds in total raises its last error instead.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 30.0,
        retries: int = 5,
        max_wait: float = 60.0,
    ) -> None:
        self._transport = Transport(base_url, api_key, timeout, retries, max_wait)
        self._retries = retries
        self.inventory = Inventory(self._transport)
        self.orders = Orders(self._transport)
        self.pets = Pets(self._transport)
        self.categories = Categories(self._transport)
        self.imports = Imports(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.keys = Keys(self._transport)

    def limits(self, **options: Unpack[CallOptions]) -> types.KeyLimits:
        """Returns the plan of the key, its permissions, and both windows of its rate limit."""
        return self._transport.read("/limits", **options)

    def events(
        self,
        last_event_id: Optional[str] = None,
        *,
        kinds: Optional[Sequence[str]] = None,
        pet_id: Optional[int] = None,
    ) -> Iterator[Event]:
        """
        Yields every change from now on, or from the one after `last_event_id`, without an end. A lost connection is
        resumed without a gap. After an event of type `relist`, read the lists again and go on.
        """
        query = {"kinds": None if kinds is None else ",".join(kinds), "petId": pet_id}
        return follow_events(self._transport, query, last_event_id, self._retries)

    def close(self) -> None:
        """Closes idle connections. The client can still be used."""
        self._transport.close()

    def __enter__(self) -> Petstore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Inventory(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Iterator[types.InventoryItem]:
        """Yields the stock of every pet, by id. The service sends it as one page."""
        return self._transport.pages("/inventory", **options)

    def get(self, pet_id: int, **options: Unpack[CallOptions]) -> types.InventoryItem:
        return self._transport.read(f"/inventory/{int64(pet_id)}", **options)

    def availability(self, pet_id: int, **options: Unpack[CallOptions]) -> types.Availability:
        """Returns the units on the shelf, the reserved units, and the units that can still be ordered."""
        return self._transport.read(f"/inventory/{int64(pet_id)}/availability", **options)

    def set(self, pet_id: int, quantity: int, **options: Unpack[ConditionalWriteOptions]) -> types.InventoryItem:
        """Sets the quantity, whatever it was before unless `if_match` says otherwise."""
        return self._transport.write("PATCH", f"/inventory/{int64(pet_id)}", {"quantity": quantity}, **options)

    def adjust(
        self,
        changes: Iterable[types.AdjustmentChange],
        reason: types.Reason,
        *,
        reference: Optional[str] = None,
        keep_reserved: Optional[bool] = None,
        **options: Unpack[WriteOptions],
    ) -> List[types.InventoryItem]:
        """
        Makes up to 1,000 changes, all or none: `{"petId", "delta"}` or `{"petId", "quantity"}`, each with an optional
        `expected` quantity. `keep_reserved` refuses to take units that open orders reserve.
        """
        body = {
            "reason": reason,
            "reference": reference,
            "keepReserved": keep_reserved,
            "changes": [*changes],
        }
        given = {name: value for name, value in body.items() if value is not None}
        return self._transport.write("POST", "/inventory/adjustments", given, **options)["items"]

    def sell(
        self, pet_id: int, quantity: int = 1, *, reference: Optional[str] = None, **options: Unpack[WriteOptions]
    ) -> types.InventoryItem:
        """Takes units that no open order reserves."""
        changes: List[types.AdjustmentChange] = [{"petId": pet_id, "delta": -quantity}]
        return self.adjust(changes, "sold", reference=reference, keep_reserved=True, **options)[0]

    def receive(
        self, pet_id: int, quantity: int, *, reference: Optional[str] = None, **options: Unpack[WriteOptions]
    ) -> types.InventoryItem:
        """Adds the units of a delivery."""
        changes: List[types.AdjustmentChange] = [{"petId": pet_id, "delta": quantity}]
        return self.adjust(changes, "received", reference=reference, **options)[0]

    def count(
        self,
        pet_id: int,
        quantity: int,
        *,
        expected: Optional[int] = None,
        reference: Optional[str] = None,
        **options: Unpack[WriteOptions],
    ) -> types.InventoryItem:
        """Sets the counted quantity. Fails with `precondition_failed` if the current one is not `expected`."""
        change: types.CountChange = {"petId": pet_id, "quantity": quantity}
        if expected is not None:
            change["expected"] = expected
        return self.adjust([change], "counted", reference=reference, **options)[0]

    def search(
        self,
        q: Optional[str] = None,
        *,
        status: Optional[types.PetStatus] = None,
        category_id: Optional[int] = None,
        low: Optional[bool] = None,
        below: Optional[int] = None,
        sort: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.SearchRow]:
        """Yields pets with their stock. `q` is an id, a barcode, or the beginnings of words in the name."""
        query = {
            "q": q,
            "status": status,
            "categoryId": category_id,
            "low": low,
            "below": below,
            "sort": sort,
            "limit": page_size,
        }
        return self._transport.pages("/inventory/search", query, **options)

    def history(
        self,
        pet_id: Optional[int] = None,
        *,
        who: Optional[str] = None,
        reason: Optional[types.Reason] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.RecentChange]:
        """Yields changes, the newest first: of one pet or all, by key, reason and time."""
        query = {
            "petId": pet_id,
            "who": who,
            "reason": reason,
            "since": since,
            "until": until,
            "limit": page_size,
        }
        return self._transport.pages("/inventory/history", query, **options)


class Orders(Resource):
    def list(
        self,
        *,
        state: Optional[types.OrderState] = None,
        pet_id: Optional[int] = None,
        customer: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Order]:
        query = {"state": state, "petId": pet_id, "customer": customer, "limit": page_size}
        return self._transport.pages("/store/orders", query, **options)

    def get(self, order_id: int, **options: Unpack[CallOptions]) -> types.Order:
        return self._transport.read(f"/store/orders/{int64(order_id)}", **options)

    def create(self, order: types.NewOrder, **options: Unpack[WriteOptions]) -> types.Order:
        """Reserves units. With `holdSeconds`, the order expires after that time."""
        return self._transport.write("POST", "/store/orders", order, **options)

    def create_many(self, orders: Iterable[types.NewOrder], **options: Unpack[WriteOptions]) -> List[types.Order]:
        """Creates up to 100 orders with one request, all or none."""
        return self._transport.write("POST", "/store/orders/batch", {"orders": [*orders]}, **options)["orders"]

    def update(self, order_id: int, changes: types.OrderUpdate, **options: Unpack[ConditionalWriteOptions]) -> types.Order:
        return self._transport.write("PATCH", f"/store/orders/{int64(order_id)}", changes, **options)

    def complete(self, order_id: int, **options: Unpack[ConditionalWriteOptions]) -> types.Order:
        """Takes the ordered units out of the stock."""
        return self.update(order_id, {"complete": True}, **options)

    def cancel(self, order_id: int, **options: Unpack[ConditionalWriteOptions]) -> None:
        """Releases the reserved units."""
        self._transport.write("DELETE", f"/store/orders/{int64(order_id)}", **options)


class UpsertResult(NamedTuple):
    created: int
    updated: int


class Pets(Resource):
    def list(
        self, *, page_size: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Iterator[types.CatalogEntry]:
        return self._transport.pages("/catalog", {"limit": page_size}, **options)

    def get(self, pet_id: int, **options: Unpack[CallOptions]) -> types.Pet:
        return self._transport.read(f"/catalog/{int64(pet_id)}", **options)

    def history(
        self,
        pet_id: Optional[int] = None,
        *,
        who: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.PetEdit]:
        """Yields edits of pets, the newest first: of one pet or all, by key and time."""
        query = {"petId": pet_id, "who": who, "since": since, "until": until, "limit": page_size}
        return self._transport.pages("/catalog/history", query, **options)

    def create(self, pet: types.NewPet, **options: Unpack[WriteOptions]) -> types.Pet:
        return self._transport.write("POST", "/pets", pet, **options)

    def update(self, pet_id: int, changes: types.PetUpdate, **options: Unpack[ConditionalWriteOptions]) -> types.Pet:
        """Changes the given fields; None removes a barcode or a threshold."""
        return self._transport.write("PATCH", f"/pets/{int64(pet_id)}", changes, **options)

    def remove(self, pet_id: int, **options: Unpack[ConditionalWriteOptions]) -> None:
        self._transport.write("DELETE", f"/pets/{int64(pet_id)}", **options)

    def upsert_many(
        self,
        pets: Iterable[Mapping[str, Any]],
        *,
        on_progress: Optional[Callable[[int], None]] = None,
        **options: Unpack[CallOptions],
    ) -> UpsertResult:
        """
        Creates or updates any number of pets, up to 1,000 with one request. A pet whose `id` exists is updated. Each
        request saves all its pets or none. `on_progress` gets the number of pets that are done, after each request.
        """
        created = 0
        updated = 0
        for batch in batches_of(pets):
            result = self._transport.write("POST", "/pets/batch", {"pets": batch}, **options)
            created += result["created"]
            updated += result["updated"]
            if on_progress is not None:
                on_progress(created + updated)
        return UpsertResult(created, updated)


class Categories(Resource):
    def list(
        self, *, page_size: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Iterator[types.Category]:
        return self._transport.pages("/categories", {"limit": page_size}, **options)

    def create(self, category: types.NewCategory, **options: Unpack[WriteOptions]) -> types.Category:
        return self._transport.write("POST", "/categories", category, **options)

    def update(
        self, category_id: int, changes: types.CategoryUpdate, **options: Unpack[ConditionalWriteOptions]
    ) -> types.Category:
        return self._transport.write("PATCH", f"/categories/{int64(category_id)}", changes, **options)

    def remove(self, category_id: int, **options: Unpack[ConditionalWriteOptions]) -> None:
        self._transport.write("DELETE", f"/categories/{int64(category_id)}", **options)


class Imports(Resource):
    def file(
        self,
        csv: bytes,
        kind: str = "pets",
        *,
        dry_run: bool = False,
        map: Optional[str] = None,
        locale: Optional[str] = None,
        encoding: str = "utf8",
        **options: Unpack[CallOptions],
    ) -> types.ImportResult:
        """
        Imports a CSV file of pets, categories, orders or a count, all of its rows or none. `map` names columns with other
        names, such as "Article:name,Stock:quantity". A failed import is not sent again by itself.
        """
        options.setdefault("timeout", 600.0)
        query = {"kind": kind, "dryRun": dry_run, "map": map, "locale": locale, "encoding": encoding}
        return self._transport.write_once("POST", "/imports", csv, query, **options)


class Webhooks(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Iterator[types.Webhook]:
        return self._transport.pages("/webhooks", **options)

    def get(self, webhook_id: int, **options: Unpack[CallOptions]) -> types.Webhook:
        return self._transport.read(f"/webhooks/{int64(webhook_id)}", **options)

    def create(self, webhook: types.NewWebhook, **options: Unpack[WriteOptions]) -> types.WebhookWithSecret:
        """Returns the webhook with its secret, which the service does not show again."""
        return self._transport.write("POST", "/webhooks", webhook, **options)

    def update(
        self, webhook_id: int, changes: types.WebhookUpdate, **options: Unpack[ConditionalWriteOptions]
    ) -> types.Webhook:
        return self._transport.write("PATCH", f"/webhooks/{int64(webhook_id)}", changes, **options)

    def remove(self, webhook_id: int, **options: Unpack[ConditionalWriteOptions]) -> None:
        self._transport.write("DELETE", f"/webhooks/{int64(webhook_id)}", **options)

    def rotate_secret(self, webhook_id: int, **options: Unpack[WriteOptions]) -> types.WebhookWithSecret:
        return self._transport.write("POST", f"/webhooks/{int64(webhook_id)}/rotate-secret", **options)

    def replay(self, webhook_id: int, first_event: str, **options: Unpack[WriteOptions]) -> None:
        """Sends the event with this id and all later events again."""
        self._transport.write(
            "POST", f"/webhooks/{int64(webhook_id)}/replay", {"from": first_event}, **options
        )

    def take_over(self, webhook_id: int, **options: Unpack[WriteOptions]) -> types.Webhook:
        """Makes the webhook belong to the key of this client, which needs the permission `keys` as well."""
        return self._transport.write("POST", f"/webhooks/{int64(webhook_id)}/take-over", **options)

    def test(self, webhook_id: int, **options: Unpack[CallOptions]) -> types.WebhookTest:
        """Sends a test event and returns the reply of the receiver. It is sent at most once."""
        return self._transport.write_once("POST", f"/webhooks/{int64(webhook_id)}/test", **options)

    def deliveries(
        self, webhook_id: int, *, page_size: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Iterator[types.WebhookDelivery]:
        query = {"limit": page_size}
        return self._transport.pages(f"/webhooks/{int64(webhook_id)}/deliveries", query, **options)


class Keys(Resource):
    """
    Needs a key with the permission `keys`. The service never repeats a secret, so these changes have no idempotency key
    and are not retried. If the response of `create` or `rotate` is lost, rotate or revoke the key.
    """

    def list(
        self, *, page_size: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Iterator[Dict[str, Any]]:
        return self._transport.pages("/keys", {"limit": page_size}, **options)

    def get(self, key_id: str, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        return self._transport.read(f"/keys/{quote(key_id, safe='')}", **options)

    def audit(
        self, key_id: str, *, page_size: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Iterator[Dict[str, Any]]:
        """What was done with the key and its webhooks, and by whom, newest first."""
        return self._transport.pages(f"/keys/{quote(key_id, safe='')}/audit", {"limit": page_size}, **options)

    def create(self, key: Mapping[str, Any], **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Returns the key with its secret, which the service does not show again."""
        return self._transport.write_once("POST", "/keys", key, **options)

    def update(self, key_id: str, changes: Mapping[str, Any], **options: Unpack[ConditionalCallOptions]) -> Dict[str, Any]:
        return self._transport.write_once("PATCH", f"/keys/{quote(key_id, safe='')}", changes, **options)

    def revoke(self, key_id: str, **options: Unpack[ConditionalCallOptions]) -> None:
        self._transport.write_once("DELETE", f"/keys/{quote(key_id, safe='')}", **options)

    def rotate(
        self, key_id: str, *, grace_seconds: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> Dict[str, Any]:
        """Returns the key with a new secret. The earlier secrets stay valid for `grace_seconds`, by default a day."""
        body = {} if grace_seconds is None else {"graceSeconds": grace_seconds}
        return self._transport.write_once("POST", f"/keys/{quote(key_id, safe='')}/rotate", body, **options)

    def pairing_code(self, key_id: str, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Returns a code that signs in one device within 10 minutes."""
        return self._transport.write_once("POST", f"/keys/{quote(key_id, safe='')}/pairing-code", **options)


def int64(value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"an id must be an int, got {value!r}")
    return value


def batches_of(pets: Iterable[Mapping[str, Any]]) -> Iterator[List[Mapping[str, Any]]]:
    """Yields batches that fit into one request."""
    batch: List[Mapping[str, Any]] = []
    size = 0
    for pet in pets:
        length = len(json.dumps(pet, separators=(",", ":"))) + 1
        if batch and (len(batch) == BATCH_PETS or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(pet)
        size += length
    if batch:
        yield batch
