from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, List, Optional, Sequence, TypedDict, Union

from .events import Event, follow_events
from .resources import InventoryMethods, OrdersMethods, Resources
from .transport import ConditionalWriteOptions, Transport, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack

    from . import types


class StockLine(TypedDict):
    """Units of one pet."""

    petId: int
    quantity: int


class CountLine(StockLine):
    """A counted quantity; with `expected`, it is only set if that is the current quantity."""

    expected: NotRequired[int]


class BookingOptions(WriteOptions, total=False):
    reference: str
    """The receipt, delivery note or list that the lines belong to; up to 200 characters."""


class Petstore(Resources):
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
        super().__init__(self._transport)
        self.inventory: Inventory = Inventory(self._transport)
        self.orders: Orders = Orders(self._transport)

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
        query = {"kinds": kinds, "petId": pet_id}
        return follow_events(self._transport, query, last_event_id, self._retries)

    def close(self) -> None:
        """Closes idle connections. The client can still be used."""
        self._transport.close()

    def __enter__(self) -> Petstore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Inventory(InventoryMethods):
    def sell(
        self, lines: Union[StockLine, Sequence[StockLine]], **options: Unpack[BookingOptions]
    ) -> types.AdjustmentResult:
        """Takes units that were sold, and that no open order reserves."""
        changes = changes_of(lines, lambda line: {"petId": line["petId"], "delta": -line["quantity"]})
        return self._book({"reason": "sold", "keepReserved": True, "changes": changes}, **options)

    def receive(
        self, lines: Union[StockLine, Sequence[StockLine]], **options: Unpack[BookingOptions]
    ) -> types.AdjustmentResult:
        """Adds units that were delivered."""
        changes = changes_of(lines, lambda line: {"petId": line["petId"], "delta": line["quantity"]})
        return self._book({"reason": "received", "changes": changes}, **options)

    def count(
        self, lines: Union[CountLine, Sequence[CountLine]], **options: Unpack[BookingOptions]
    ) -> types.AdjustmentResult:
        """Sets quantities that were counted. Raises `precondition_failed` if `expected` does not match."""
        return self._book({"reason": "counted", "changes": changes_of(lines, lambda line: {**line})}, **options)

    def _book(
        self, adjustment: types.InventoryAdjustment, reference: Optional[str] = None, **options: Unpack[WriteOptions]
    ) -> types.AdjustmentResult:
        if reference is not None:
            adjustment["reference"] = reference
        return self.adjust(adjustment, **options)


class Orders(OrdersMethods):
    def complete(
        self,
        order_id: int,
        *,
        only_if_open: bool = False,
        even_if_expired: bool = False,
        occurred_at: Optional[str] = None,
        **options: Unpack[ConditionalWriteOptions],
    ) -> types.Order:
        """
        Takes the units of all lines out of the stock. Completing a complete order changes nothing, and raises
        `order_closed` with `only_if_open`. It also raises `order_closed` if the order was cancelled, or if its hold has
        expired, unless `even_if_expired` is set. `occurred_at` says when the goods left.
        """
        completion: types.OrderCompletion = {
            "complete": True,
            "onlyIfOpen": only_if_open,
            "evenIfExpired": even_if_expired,
        }
        if occurred_at is not None:
            completion["occurredAt"] = occurred_at
        return self.update(order_id, completion, **options)


def changes_of(
    lines: Union[CountLine, StockLine, Sequence[CountLine], Sequence[StockLine]],
    change_of: Callable[[CountLine], types.AdjustmentChange],
) -> List[types.AdjustmentChange]:
    """The changes of one line or many."""
    return [change_of(line) for line in ([lines] if isinstance(lines, dict) else lines)]
