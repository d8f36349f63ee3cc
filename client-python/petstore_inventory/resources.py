"""The methods of the contract. Generated from openapi.json by npm run contract:client; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Literal, Optional
from urllib.parse import quote

from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, Transport, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def int64(value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"an id must be an int, got {value!r}")
    return value


class InventoryMethods(Resource):
    def list(
        self,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.InventoryItem]:
        """
        Returns the current stock levels for all pets in the store, by petId ascending.
        """
        return self._transport.pages("/inventory", **options)

    def read_events(
        self,
        *,
        after: Optional[str] = None,
        kinds: Optional[List[types.EventKind]] = None,
        pet_id: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.ListedEvent]:
        """
        Returns a page of the events of GET /inventory/events, in the same order, with the same ids and data.
        The header `Event-Id` is the position for the next page, whether or not this one has events; `Link` with
        rel="next" is there if more events may follow. A page examines at most 10000 events, so with a filter it
        may have fewer events than `limit`, or none, and still link to the next page. Without `after`, the page
        is empty and its `Event-Id` is the end of the log: start there, then read the inventory. If events after
        the position are no longer in the log, or it belongs to another database, the page has only a `relist`,
        as the stream does: list the inventory again, then continue after this event.
        """
        return self._transport.pages("/events", query={"after": after, "kinds": kinds, "petId": pet_id, "limit": page_size}, **options)

    def get(
        self,
        pet_id: int,
        **options: Unpack[CallOptions],
    ) -> types.InventoryItem:
        """
        Returns the current stock level of one pet. If you send its ETag as If-Match with an update, the update
        is made only if the entry has not changed since.
        """
        return self._transport.read(f"/inventory/{int64(pet_id)}", **options)

    def set(
        self,
        pet_id: int,
        body: types.InventoryUpdate,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.InventoryItem:
        """
        Sets the stock quantity of one pet, to record new arrivals, returns or manual adjustments. The response
        is sent once the change is on disk. Experimental: the request shape may change before it becomes stable.
        The key needs the permission `stock`.
        """
        return self._transport.write("PATCH", f"/inventory/{int64(pet_id)}", body, **options)

    def adjust(
        self,
        body: types.InventoryAdjustment,
        **options: Unpack[WriteOptions],
    ) -> types.AdjustmentResult:
        """
        Records an adjustment: changes the stock quantities of 1 to 1,000 pets, each by a difference or to a new
        count, with the reason and the time. Either all changes are made, in one commit, or none, unless
        `onConflict` says otherwise. If none is made, `details` of the error lists every change that cannot be
        made. A count is recorded even if it confirms the quantity. An adjustment counts as one request. The key
        needs the permission `stock`.
        """
        return self._transport.write("POST", "/inventory/adjustments", body, **options)

    def availabilities(
        self,
        *,
        pet_ids: List[int],
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Availability]:
        """
        Returns the availability of the given pets at one moment, by petId ascending. Pets that do not exist are
        left out. The header `Event-Id` is a position among the events. The response includes all events up to
        it, so a reader that continues there, with GET /events or GET /inventory/events, misses nothing. Events
        of the very moment of the response may be included and come again, so use the values that an event
        states instead of adding to the values of the response. A hold that has just expired reserves nothing,
        although its `order` event may still come.
        """
        return self._transport.pages("/inventory/availability", query={"petIds": pet_ids}, **options)

    def availability(
        self,
        pet_id: int,
        **options: Unpack[CallOptions],
    ) -> types.Availability:
        """
        Returns how many units of a pet are on the shelf, how many of them open orders reserve, and how many can
        still be ordered. An expired hold reserves nothing.
        """
        return self._transport.read(f"/inventory/{int64(pet_id)}/availability", **options)

    def history(
        self,
        pet_id: int,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.HistoryEntry]:
        """
        Returns the changes of the stock quantity of one pet, newest first, in pages. A removed pet keeps its
        history.
        """
        return self._transport.pages(f"/inventory/{int64(pet_id)}/history", query={"limit": page_size}, **options)

    def changes(
        self,
        *,
        pet_id: Optional[int] = None,
        who: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        reason: Optional[types.RecordedReason] = None,
        reference: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.RecentChange]:
        """
        Returns the changes of stock quantities that match every given parameter, newest first, in pages.
        Removed pets keep their history. A page examines at most 100,000 rows of the log, so it may have fewer
        changes than `limit`, or none, and still link to the next page.
        """
        return self._transport.pages("/inventory/history", query={"petId": pet_id, "who": who, "since": since, "until": until, "reason": reason, "reference": reference, "limit": page_size}, **options)

    def search(
        self,
        *,
        q: Optional[str] = None,
        status: Optional[Literal["available", "pending", "sold"]] = None,
        category_id: Optional[int] = None,
        below: Optional[int] = None,
        low: Optional[bool] = None,
        sort: Optional[Literal["petId", "-petId", "name", "-name", "quantity", "-quantity", "available", "-available"]] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.SearchRow]:
        """
        Returns the pets that match every given parameter, with their stock, in pages. A pet that changes while
        the pages are read may be missing or appear twice; every other pet appears exactly once. Searches of one
        API key run one after the other. If a search takes longer than 2 seconds, the response is 400; add
        parameters to narrow the search. With `Accept: text/csv` each page is a CSV file that `POST /imports`
        reads, with the own threshold of each pet and the name of its category.
        """
        return self._transport.pages("/inventory/search", query={"q": q, "status": status, "categoryId": category_id, "below": below, "low": low, "sort": sort, "limit": page_size}, **options)


class AdjustmentsMethods(Resource):
    def list(
        self,
        *,
        pet_id: Optional[int] = None,
        reason: Optional[types.RecordedReason] = None,
        key_id: Optional[str] = None,
        reference: Optional[str] = None,
        order_id: Optional[int] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Adjustment]:
        """
        Returns the adjustments that match every given parameter, the latest recorded first, in pages:
        deliveries, sales, counts, returns, corrections, and every quantity that was set or that a pet was
        created or removed with. A page examines at most 100,000 rows of the log and has at most 5,000 lines or
        one adjustment, so it may have fewer adjustments than `limit`, or none, and still link to the next page.
        """
        return self._transport.pages("/inventory/adjustments", query={"petId": pet_id, "reason": reason, "keyId": key_id, "reference": reference, "orderId": order_id, "since": since, "until": until, "limit": page_size}, **options)

    def get(
        self,
        adjustment_id: int,
        **options: Unpack[CallOptions],
    ) -> types.Adjustment:
        """
        Returns an adjustment with its lines, and what has reversed it.
        """
        return self._transport.read(f"/inventory/adjustments/{int64(adjustment_id)}", **options)

    def reverse(
        self,
        adjustment_id: int,
        body: Optional[types.Reversal] = None,
        **options: Unpack[WriteOptions],
    ) -> types.AdjustmentResult:
        """
        Records an adjustment that undoes another one, or some of its units. No unit is reversed twice, not even
        by different callers: the second request gets 409 `already_reversed`. A count is reversed to the
        quantity that the pet would have without it. A reversal cannot be reversed. The key needs the permission
        `stock`.
        """
        return self._transport.write("POST", f"/inventory/adjustments/{int64(adjustment_id)}/reverse", body or {}, **options)


class PetsMethods(Resource):
    def create(
        self,
        body: types.NewPet,
        **options: Unpack[WriteOptions],
    ) -> types.Pet:
        """
        Adds a pet to the store together with its inventory entry. Its id and its barcode must not be used by
        another pet. A quantity other than 0 needs the permission `stock` as well, and the history of the stock
        has it as a change. The key needs the permission `pets`.
        """
        return self._transport.write("POST", "/pets", body, **options)

    def upsert(
        self,
        body: types.PetBatch,
        **options: Unpack[WriteOptions],
    ) -> types.PetBatchResult:
        """
        Creates or updates 1 to 1,000 pets. A pet whose `id` exists is updated; any other pet is created and
        needs a name and a categoryId. A quantity of an existing pet sets its stock with the reason `corrected`.
        To set a stock, also that of a new pet, the key needs the permission `stock` as well. Pets of the batch
        may swap their barcodes. Either all pets are saved, in one commit, or none. If none is saved, `details`
        of the error lists every pet that cannot be saved. A batch counts as one request. The key needs the
        permission `pets`.
        """
        return self._transport.write("POST", "/pets/batch", body, **options)

    def update(
        self,
        pet_id: int,
        body: types.PetUpdate,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.Pet:
        """
        Updates the record of a pet. Fields that are not sent stay as they are. The key needs the permission
        `pets`.
        """
        return self._transport.write("PATCH", f"/pets/{int64(pet_id)}", body, **options)

    def remove(
        self,
        pet_id: int,
        **options: Unpack[ConditionalWriteOptions],
    ) -> None:
        """
        Removes a pet and its inventory entry, unless it has open orders. If its quantity is not 0, the key
        needs the permission `stock` as well. Its history, which ends with the removal of that quantity, and its
        closed orders stay. The key needs the permission `pets`.
        """
        self._transport.write("DELETE", f"/pets/{int64(pet_id)}", **options)

    def history(
        self,
        *,
        pet_id: Optional[int] = None,
        who: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.PetEdit]:
        """
        Returns when pets were created, changed and removed, and by whom, newest first, in pages. Every given
        parameter must match. The edits of an import of more than 1,000 pets may be missing. A page examines at
        most 100,000 rows of the log, so it may have fewer edits than `limit`, or none, and still link to the
        next page.
        """
        return self._transport.pages("/catalog/history", query={"petId": pet_id, "who": who, "since": since, "until": until, "limit": page_size}, **options)

    def get(
        self,
        pet_id: int,
        **options: Unpack[CallOptions],
    ) -> types.Pet:
        """
        Returns the record of one pet.
        """
        return self._transport.read(f"/catalog/{int64(pet_id)}", **options)


class CatalogMethods(Resource):
    def list(
        self,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.CatalogEntry]:
        """
        Returns the records of all pets, except their status, by petId ascending, in large pages. GET /inventory
        has the status and the quantity of each pet.
        """
        return self._transport.pages("/catalog", query={"limit": page_size}, **options)


class CategoriesMethods(Resource):
    def list(
        self,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Category]:
        """
        Returns the categories of the store, by id ascending, in pages.
        """
        return self._transport.pages("/categories", query={"limit": page_size}, **options)

    def create(
        self,
        body: types.NewCategory,
        **options: Unpack[WriteOptions],
    ) -> types.Category:
        """
        Adds a category that pets can belong to. The key needs the permission `pets`.
        """
        return self._transport.write("POST", "/categories", body, **options)

    def update(
        self,
        category_id: int,
        body: types.CategoryUpdate,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.Category:
        """
        Updates the name or the low-stock threshold of a category. A new threshold applies to all its pets that
        have no threshold of their own. It reaches 500 pets at a time, and all of them before the response is
        sent. The key needs the permission `pets`.
        """
        return self._transport.write("PATCH", f"/categories/{int64(category_id)}", body, **options)

    def remove(
        self,
        category_id: int,
        **options: Unpack[ConditionalWriteOptions],
    ) -> None:
        """
        Removes a category that has no pets. The key needs the permission `pets`.
        """
        self._transport.write("DELETE", f"/categories/{int64(category_id)}", **options)


class ImportsMethods(Resource):
    def file(
        self,
        body: str,
        *,
        kind: Optional[types.ImportKind] = None,
        dry_run: Optional[bool] = None,
        map: Optional[str] = None,
        preset: Optional[Literal["shopify", "square"]] = None,
        locale: Optional[Literal["en", "de"]] = None,
        encoding: Optional[Literal["utf8", "latin1"]] = None,
        **options: Unpack[WriteOptions],
    ) -> types.ImportResult:
        """
        Imports a CSV file of up to 64 MiB: all of its rows or none. The first line names the columns, which are
        separated by commas, semicolons or tabs. They are found by their English or German names, or by `map`;
        other columns are ignored. A row of a pet without an id changes the pet that has its barcode, or else
        creates a pet. If rows are refused, `details` names up to 1,000 of them with their lines. Setting the
        stock of pets needs the permission `stock` as well, and a file of orders the permission `orders`. While
        the import writes, other changes of the same pets, and with SQLite all changes, wait or get 503 with
        Retry-After. Only an import that was made is remembered for its Idempotency-Key: a dry run or a refused
        file changes nothing, so it is checked again. The key needs the permission `pets`.
        """
        return self._transport.write("POST", "/imports", body, query={"kind": kind, "dryRun": dry_run, "map": map, "preset": preset, "locale": locale, "encoding": encoding}, content_type="text/csv", **options)


class OrdersMethods(Resource):
    def list(
        self,
        *,
        state: Optional[Literal["open", "complete", "cancelled", "expired"]] = None,
        pet_id: Optional[int] = None,
        customer: Optional[str] = None,
        reference: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Order]:
        """
        Returns orders by id ascending, in pages. Without `state`, returns only open and complete orders. Each
        further parameter narrows the list.
        """
        return self._transport.pages("/store/orders", query={"state": state, "petId": pet_id, "customer": customer, "reference": reference, "since": since, "until": until, "limit": page_size}, **options)

    def create(
        self,
        body: types.NewOrder,
        **options: Unpack[WriteOptions],
    ) -> types.Order:
        """
        Creates an order of one or several pets, which reserves its units: all lines or none. If several callers
        order the last unit at once, exactly one of them gets it. The `quantity` of an inventory entry does not
        change until the order is completed. With `holdSeconds` the order is a hold, which expires after that
        time and then reserves nothing. With `complete` the units are sold at once. If lines cannot be ordered,
        `details` of the error names each of them. The key needs the permission `orders`.
        """
        return self._transport.write("POST", "/store/orders", body, **options)

    def get(
        self,
        order_id: int,
        **options: Unpack[CallOptions],
    ) -> types.Order:
        """
        Returns an order in any state.
        """
        return self._transport.read(f"/store/orders/{int64(order_id)}", **options)

    def update(
        self,
        order_id: int,
        body: types.OrderUpdate,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.Order:
        """
        `{"complete": true}` completes the order: all of its units leave the stock in one commit, as an
        adjustment with the reason `sold` and the reference of the order or, if it has none, such as `order 17`.
        Completing it again changes nothing; `closedAt` shows when it was completed. With `onlyIfOpen`,
        completing it again fails. The other fields change an open order: `lines` replaces its lines, all or
        none; `holdSeconds` restarts the hold from now, and null makes the order firm; null clears a field:
        `{"shipDate": null}`. Setting `customer` and `note` to null erases them, in every state of the order.
        The key needs the permission `orders`.
        """
        return self._transport.write("PATCH", f"/store/orders/{int64(order_id)}", body, **options)

    def cancel(
        self,
        order_id: int,
        **options: Unpack[ConditionalWriteOptions],
    ) -> None:
        """
        Cancels an open order and releases its reserved units. An expired order can be cancelled, too: a late
        payment no longer completes it. Cancelling an order again changes nothing. A return of sold units is a
        reversal of the adjustment of the order instead. The key needs the permission `orders`.
        """
        self._transport.write("DELETE", f"/store/orders/{int64(order_id)}", **options)


class ReportsMethods(Resource):
    def movements(
        self,
        *,
        since: Optional[str] = None,
        until: Optional[str] = None,
        by: Optional[Literal["day", "pet", "category", "reason", "key"]] = None,
        **options: Unpack[CallOptions],
    ) -> types.MovementReport:
        """
        Returns how many units were received, sold, returned, counted and so on in a time range, by day, pet,
        category, reason or API key, net of reversals. A fact counts when it happened, not when it was recorded.
        A reversal that corrects counts at the time and with the reason of what it reverses; goods that came
        back count as returned. A sale or delivery that a later count had included already counts as such, and
        in the other direction as counted, so the figures always add up to `change`. If old history was removed,
        `completeSince` says from when the report is complete. A report has at most 10000 rows and, by day, 800
        days; beyond that, and if it takes too long, the response is 400. With `Accept: text/csv` the response
        is a CSV file of the rows, and the header `Complete-Since` has the time.
        """
        return self._transport.read("/reports/movements", query={"since": since, "until": until, "by": by}, **options)


class WebhooksMethods(Resource):
    def list(
        self,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Webhook]:
        """
        Returns all webhooks, oldest first, each with its backlog. The key needs the permission `webhooks`.
        """
        return self._transport.pages("/webhooks", **options)

    def create(
        self,
        body: types.NewWebhook,
        **options: Unpack[WriteOptions],
    ) -> types.WebhookWithSecret:
        """
        Creates a webhook. It belongs to your key, and pauses while that key is revoked, paused or expired, or
        lacks the permission. From now on, the service sends every event of the given kinds to the address with
        POST, as the Standard Webhooks specification says. Each event is delivered at least once, and events of
        one pet arrive in order. An event of an order is in order with the events of the first pet in its lines;
        if the lines were replaced, compare `timestamp`. A delivery succeeds if the receiver replies 2xx within
        15 seconds. Otherwise the delivery is retried, while the later events of its pet wait. An event that was
        refused for 3 days is parked: it is not tried again, and its last attempt has `parked`. A receiver that
        accepts nothing at all for 3 days has its webhook turned off. If the log was pruned before all events
        were delivered, the webhook gets one delivery of the type `relist`: read the list again. Only this
        response shows the secret. A store can have 10 webhooks; beyond that the response is 409. The key needs
        the permission `webhooks`.
        """
        return self._transport.write("POST", "/webhooks", body, **options)

    def get(
        self,
        webhook_id: int,
        **options: Unpack[CallOptions],
    ) -> types.Webhook:
        """
        Returns one webhook with its backlog, but without its secret. The key needs the permission `webhooks`.
        """
        return self._transport.read(f"/webhooks/{int64(webhook_id)}", **options)

    def update(
        self,
        webhook_id: int,
        body: types.WebhookUpdate,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.Webhook:
        """
        Changes the address or the kinds of a webhook, pauses it or resumes it. Fields that are not sent stay as
        they are. Deliveries that are sent after the response obey the change. A delivery that is being sent
        during the change may be repeated. The webhook continues where it stopped, and a failed delivery is
        retried at once. The key needs the permission `webhooks`.
        """
        return self._transport.write("PATCH", f"/webhooks/{int64(webhook_id)}", body, **options)

    def remove(
        self,
        webhook_id: int,
        **options: Unpack[ConditionalWriteOptions],
    ) -> None:
        """
        Removes a webhook and its list of deliveries. No delivery is sent after the response; one that was sent
        before may still arrive. The key needs the permission `webhooks`.
        """
        self._transport.write("DELETE", f"/webhooks/{int64(webhook_id)}", **options)

    def deliveries(
        self,
        webhook_id: int,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.WebhookDelivery]:
        """
        Returns the delivery attempts of a webhook and their responses, newest first, in pages. The latest 1,000
        attempts are kept. The key needs the permission `webhooks`.
        """
        return self._transport.pages(f"/webhooks/{int64(webhook_id)}/deliveries", query={"limit": page_size}, **options)

    def rotate_secret(
        self,
        webhook_id: int,
        **options: Unpack[WriteOptions],
    ) -> types.WebhookWithSecret:
        """
        Gives a webhook a new secret. For 24 hours, all deliveries that are sent after the response are signed
        with both the new and the old secret, so that the receiver can switch to the new secret without losing a
        delivery. A second rotation within that time ends the signature with the first secret. The key needs the
        permission `webhooks`.
        """
        return self._transport.write("POST", f"/webhooks/{int64(webhook_id)}/rotate-secret", **options)

    def replay(
        self,
        webhook_id: int,
        body: types.WebhookReplay,
        **options: Unpack[WriteOptions],
    ) -> None:
        """
        Takes a webhook back to an event, so that this event and all later ones are sent again, with the same
        `webhook-id`. Events that the webhook has not sent yet are never skipped. If the log no longer has these
        events, the webhook gets a single `relist` instead: read the list again. A webhook that is paused or off
        sends the events once it is on again. The key needs the permission `webhooks`.
        """
        self._transport.write("POST", f"/webhooks/{int64(webhook_id)}/replay", body, **options)

    def take_over(
        self,
        webhook_id: int,
        **options: Unpack[WriteOptions],
    ) -> types.Webhook:
        """
        The webhook belongs to your key from now on, and pauses with it. Your key needs the permissions
        `webhooks` and `keys`. The webhook continues where it stopped, with the same secret: rotate it if the
        previous holder should not know it. The key needs the permission `webhooks`.
        """
        return self._transport.write("POST", f"/webhooks/{int64(webhook_id)}/take-over", **options)

    def test(
        self,
        webhook_id: int,
        **options: Unpack[CallOptions],
    ) -> types.WebhookTest:
        """
        Sends an event of the type `webhook.test` at once, whatever kinds the webhook receives and even if it is
        paused or off, and returns the response. A test event says nothing about the stock. Its `webhook-id`
        begins with `test_`. It is never retried. Each instance of the service sends one test event of a webhook
        at a time; beyond that the response is 503. The key needs the permission `webhooks`.
        """
        return self._transport.write_once("POST", f"/webhooks/{int64(webhook_id)}/test", **options)


class KeysMethods(Resource):
    def list(
        self,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.Key]:
        """
        Returns all keys, oldest first, in pages. Revoked keys stay in the list. The key needs the permission
        `keys`.
        """
        return self._transport.pages("/keys", query={"limit": page_size}, **options)

    def create(
        self,
        body: types.NewKey,
        **options: Unpack[CallOptions],
    ) -> types.KeyWithSecret:
        """
        Creates a key for a person, a device or a program. A key can manage another key only if it has all
        permissions of that key. After the request, the managed key may not have more permissions, a higher plan
        or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise
        the response is 403. Only this response shows the secret. An Idempotency-Key is ignored. If the response
        is lost, revoke the key or rotate its secret. The key needs the permission `keys`.
        """
        return self._transport.write_once("POST", "/keys", body, **options)

    def names(
        self,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.KeyName]:
        """
        Returns the id and the name of every key, oldest first, in pages. Revoked keys are included, so that an
        order or a change can be shown with the name of the person who made it.
        """
        return self._transport.pages("/keys/names", query={"limit": page_size}, **options)

    def get(
        self,
        key_id: str,
        **options: Unpack[CallOptions],
    ) -> types.Key:
        """
        Returns one key, without its secrets. The key needs the permission `keys`.
        """
        return self._transport.read(f"/keys/{quote(key_id, safe='')}", **options)

    def update(
        self,
        key_id: str,
        body: types.KeyUpdate,
        **options: Unpack[ConditionalCallOptions],
    ) -> types.Key:
        """
        Changes the given fields of a key; its secrets stay valid. Changes take effect on all instances within a
        second. A key can manage another key only if it has all permissions of that key. After the request, the
        managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that
        manages it, unless the request only takes away. Otherwise the response is 403. One unpaused key without
        expiry always has the permission `keys`: a request that would end this gets 409. The key needs the
        permission `keys`.
        """
        return self._transport.write_once("PATCH", f"/keys/{quote(key_id, safe='')}", body, **options)

    def revoke(
        self,
        key_id: str,
        **options: Unpack[ConditionalCallOptions],
    ) -> None:
        """
        Revokes a key and all its secrets permanently. Its history stays. A key can manage another key only if
        it has all permissions of that key. After the request, the managed key may not have more permissions, a
        higher plan or limit, or a later expiry than the key that manages it, unless the request only takes
        away. Otherwise the response is 403. One unpaused key without expiry always has the permission `keys`: a
        request that would end this gets 409. The key needs the permission `keys`.
        """
        self._transport.write_once("DELETE", f"/keys/{quote(key_id, safe='')}", **options)

    def audit(
        self,
        key_id: str,
        *,
        page_size: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[types.KeyAuditEntry]:
        """
        Returns every action on one key and on the webhooks that belong to it, newest first, in pages. A revoked
        key keeps its log. The key needs the permission `keys`.
        """
        return self._transport.pages(f"/keys/{quote(key_id, safe='')}/audit", query={"limit": page_size}, **options)

    def rotate(
        self,
        key_id: str,
        body: Optional[types.KeyRotation] = None,
        **options: Unpack[CallOptions],
    ) -> types.KeyWithSecret:
        """
        Gives a key a new secret. The earlier secrets stay valid for `graceSeconds`, and an unused pairing code
        becomes invalid at once. A key can manage another key only if it has all permissions of that key. After
        the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry
        than the key that manages it, unless the request only takes away. Otherwise the response is 403. Only
        this response shows the secret. An Idempotency-Key is ignored. The key needs the permission `keys`.
        """
        return self._transport.write_once("POST", f"/keys/{quote(key_id, safe='')}/rotate", body or {}, **options)

    def create_pairing_code(
        self,
        key_id: str,
        **options: Unpack[CallOptions],
    ) -> types.PairingCode:
        """
        Creates a code that signs in a device with this key: see POST /keys/pair. The code is valid for 10
        minutes and can be used once. It replaces the earlier code of the key. A key can manage another key only
        if it has all permissions of that key. After the request, the managed key may not have more permissions,
        a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes
        away. Otherwise the response is 403. If the key is paused or expired, the response is 409. The key needs
        the permission `keys`.
        """
        return self._transport.write_once("POST", f"/keys/{quote(key_id, safe='')}/pairing-code", **options)

    def pair(
        self,
        **options: Unpack[CallOptions],
    ) -> types.KeyWithSecret:
        """
        Exchanges a pairing code, sent as the bearer token, for its key. The key gets a new secret, and its
        earlier secrets stay valid, except that only the newest 10 are kept. Only this response shows the
        secret. An Idempotency-Key is ignored. The request does not count towards the limits of the key. It
        counts towards the limit of its address instead, like every request without a valid key.
        """
        return self._transport.write_once("POST", "/keys/pair", **options)


class LimitsMethods(Resource):
    def get(
        self,
        **options: Unpack[CallOptions],
    ) -> types.KeyLimits:
        """
        Returns the plan and the permissions of the key, and the status of both rate-limit windows. Response
        headers report only the window with fewer remaining requests, or the ban. The request does not count
        towards the limits, and is answered even if they are exceeded or the key is banned.
        """
        return self._transport.read("/limits", **options)


class Resources:
    """The methods of the contract, by resource."""

    def __init__(self, transport: Transport) -> None:
        self.inventory = InventoryMethods(transport)
        self.adjustments = AdjustmentsMethods(transport)
        self.pets = PetsMethods(transport)
        self.catalog = CatalogMethods(transport)
        self.categories = CategoriesMethods(transport)
        self.imports = ImportsMethods(transport)
        self.orders = OrdersMethods(transport)
        self.reports = ReportsMethods(transport)
        self.webhooks = WebhooksMethods(transport)
        self.keys = KeysMethods(transport)
        self.limits = LimitsMethods(transport)
