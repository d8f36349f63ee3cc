"""The records of the contract. Generated from openapi.json by npm run contract:client; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ChangeEvent(TypedDict):
    petId: int
    before: int
    after: int
    status: PetStatus
    reserved: NotRequired[int]
    available: NotRequired[int]
    adjustmentId: NotRequired[int]
    at: str
    occurredAt: str
    keyId: str
    reason: NotRequired[RecordedReason]
    reference: NotRequired[str]


class OrderEvent(TypedDict):
    """The order as it was right after the change, without personal data."""

    change: Literal["created", "changed", "completed", "cancelled", "expired"]
    orderId: int
    state: OrderState
    reference: NotRequired[str]
    metadata: NotRequired[Metadata]
    at: str
    keyId: str
    lines: List[OrderEventLine]


class LowStockEvent(TypedDict):
    """The stock as it was right after the change that crossed the threshold."""

    petId: int
    quantity: int
    reserved: int
    available: int
    lowStockAt: NotRequired[int]
    at: str
    keyId: str


class PetEvent(TypedDict):
    """The pet as it was right after the change."""

    change: Literal["created", "changed"]
    petId: int
    name: str
    categoryId: int
    status: PetStatus
    barcode: NotRequired[str]
    lowStockAt: NotRequired[int]
    metadata: NotRequired[Metadata]
    quantity: int
    at: str
    keyId: str


class RemovedEvent(TypedDict):
    petId: int
    at: str
    keyId: str


class CategoryEvent(TypedDict):
    """The category as it was right after the change, or before its removal."""

    change: Literal["created", "changed", "removed"]
    categoryId: int
    name: str
    lowStockAt: NotRequired[int]
    at: str
    keyId: str


class InventoryItem(TypedDict):
    petId: int
    quantity: int
    status: PetStatus


class InventoryUpdate(TypedDict):
    """Fields other than quantity are ignored, so an update never changes the status."""

    quantity: int


class InventoryAdjustment(TypedDict):
    """Either all changes are made or none."""

    reason: Reason
    reference: NotRequired[str]
    note: NotRequired[str]
    occurredAt: NotRequired[str]
    onConflict: NotRequired[Literal["fail", "skip"]]
    keepReserved: NotRequired[bool]
    changes: List[AdjustmentChange]


class AdjustmentResult(TypedDict):
    id: int
    reason: NotRequired[RecordedReason]
    reference: NotRequired[str]
    note: NotRequired[str]
    occurredAt: str
    recordedAt: str
    keyId: str
    orderId: NotRequired[int]
    reverses: NotRequired[int]
    reversedBy: List[int]
    lines: List[AdjustmentLine]
    items: List[InventoryItem]
    skipped: NotRequired[List[ErrorDetail]]


class Adjustment(TypedDict):
    """A delivery, a sale, a count, a return or a correction: the lines of one commit. It never changes; another adjustment can reverse it."""

    id: int
    reason: NotRequired[RecordedReason]
    reference: NotRequired[str]
    note: NotRequired[str]
    occurredAt: str
    recordedAt: str
    keyId: str
    orderId: NotRequired[int]
    reverses: NotRequired[int]
    reversedBy: List[int]
    lines: List[AdjustmentLine]


class Reversal(TypedDict):
    """Without `lines`, everything that was not reversed yet is reversed. The reason is `correction` by default."""

    reason: NotRequired[ReversalReason]
    note: NotRequired[str]
    occurredAt: NotRequired[str]
    lines: NotRequired[List[ReversedLine]]


class Availability(TypedDict):
    petId: int
    quantity: int
    reserved: int
    available: int


class NewPet(TypedDict):
    """The default status is `available`."""

    name: str
    categoryId: int
    status: NotRequired[PetStatus]
    barcode: NotRequired[str]
    lowStockAt: NotRequired[int]
    metadata: NotRequired[Metadata]
    quantity: NotRequired[int]
    id: NotRequired[int]


class Pet(TypedDict):
    id: int
    name: str
    categoryId: int
    status: PetStatus
    barcode: NotRequired[str]
    lowStockAt: NotRequired[int]
    metadata: NotRequired[Metadata]


class PetBatch(TypedDict):
    """Either all pets are created or updated, or none."""

    pets: List[PetUpsert]


class PetBatchResult(TypedDict):
    pets: List[Pet]
    created: int
    updated: int


class PetUpdate(TypedDict):
    """Has at least one of these fields; null removes an optional value. To change the quantity, use the inventory operations."""

    name: NotRequired[str]
    categoryId: NotRequired[int]
    status: NotRequired[PetStatus]
    barcode: NotRequired[Optional[str]]
    lowStockAt: NotRequired[Optional[int]]
    metadata: NotRequired[Optional[Dict[str, str]]]


class NewCategory(TypedDict):
    name: str
    lowStockAt: NotRequired[int]
    id: NotRequired[int]


class Category(TypedDict):
    id: int
    name: str
    lowStockAt: NotRequired[int]


class CategoryUpdate(TypedDict):
    """Has at least one of these fields; null removes the threshold."""

    name: NotRequired[str]
    lowStockAt: NotRequired[Optional[int]]


class ImportResult(TypedDict):
    kind: ImportKind
    dryRun: bool
    rows: int
    added: int
    changed: int
    unchanged: int
    ignoredColumns: List[str]


class Order(TypedDict):
    id: int
    lines: List[OrderLine]
    state: OrderState
    complete: bool
    reference: NotRequired[str]
    shipDate: NotRequired[str]
    customer: NotRequired[str]
    note: NotRequired[str]
    metadata: NotRequired[Metadata]
    createdAt: str
    expiresAt: NotRequired[str]
    closedAt: NotRequired[str]
    createdBy: NotRequired[str]
    closedBy: NotRequired[str]
    adjustmentId: NotRequired[int]


class MovementReport(TypedDict):
    since: str
    until: str
    completeSince: NotRequired[str]
    timeZone: str
    by: ReportGroup
    total: MovementRow
    rows: List[MovementRow]


class NewWebhook(TypedDict):
    url: str
    kinds: List[WebhookKind]


class WebhookWithSecret(TypedDict):
    id: int
    url: str
    kinds: List[WebhookKind]
    paused: bool
    createdAt: str
    createdBy: NotRequired[str]
    state: Literal["on", "paused", "off"]
    behind: WebhookLag
    heldPets: int
    failingSince: NotRequired[str]
    retryAt: NotRequired[str]
    pauseReason: NotRequired[str]
    offAt: NotRequired[str]
    offReason: NotRequired[str]
    secret: str


class Webhook(TypedDict):
    id: int
    url: str
    kinds: List[WebhookKind]
    paused: bool
    createdAt: str
    createdBy: NotRequired[str]
    state: Literal["on", "paused", "off"]
    behind: WebhookLag
    heldPets: int
    failingSince: NotRequired[str]
    retryAt: NotRequired[str]
    pauseReason: NotRequired[str]
    offAt: NotRequired[str]
    offReason: NotRequired[str]


class WebhookUpdate(TypedDict):
    """Has at least one of these fields. `"paused": false` or a new `url` also turns on a webhook that was turned off."""

    url: NotRequired[str]
    kinds: NotRequired[List[WebhookKind]]
    paused: NotRequired[bool]


class WebhookReplay(TypedDict):
    from: str


class WebhookTest(TypedDict):
    """The attempt and the response of the receiver."""

    messageId: str
    type: str
    at: str
    durationMs: int
    delivered: bool
    status: NotRequired[int]
    error: NotRequired[str]
    response: str


class NewKey(TypedDict):
    """The enterprise plan needs `perMinute` and `perDay`; the limits of other plans are fixed."""

    name: str
    plan: Literal["free", "pro", "business", "enterprise"]
    permissions: NotRequired[List[Permission]]
    expiresAt: NotRequired[str]
    perMinute: NotRequired[int]
    perDay: NotRequired[int]


class KeyWithSecret(TypedDict):
    key: Key
    secret: str


class Key(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "business", "enterprise"]
    permissions: List[Permission]
    limits: Dict[str, Any]
    createdAt: str
    expiresAt: NotRequired[str]
    revokedAt: NotRequired[str]
    paused: bool
    lastUsedAt: NotRequired[str]
    usedToday: int
    secrets: List[SecretHint]


class KeyUpdate(TypedDict):
    """Has at least one of these fields. `perMinute` and `perDay` need `"plan": "enterprise"`."""

    name: NotRequired[str]
    permissions: NotRequired[List[Permission]]
    paused: NotRequired[bool]
    expiresAt: NotRequired[Optional[str]]
    plan: NotRequired[Literal["free", "pro", "business", "enterprise"]]
    perMinute: NotRequired[int]
    perDay: NotRequired[int]


class KeyRotation(TypedDict):
    graceSeconds: NotRequired[int]


class PairingCode(TypedDict):
    code: str
    expiresAt: str


class KeyLimits(TypedDict):
    plan: Literal["free", "pro", "business", "enterprise"]
    key: Dict[str, Any]
    permissions: List[Permission]
    minute: LimitWindow
    day: LimitWindow
    bannedUntil: NotRequired[int]


class Problem(TypedDict):
    """An error as problem details (RFC 9457), which a request gets if its Accept header names `application/problem+json`."""

    type: str
    title: str
    detail: str
    code: Literal["invalid_request", "unauthorized", "forbidden", "not_found", "method_not_allowed", "request_timeout", "gone", "insufficient_stock", "order_closed", "already_reversed", "too_late", "in_use", "already_exists", "precondition_failed", "payload_too_large", "idempotency_key_reused", "rate_limit_exceeded", "key_banned", "internal_error", "service_unavailable"]
    message: str
    status: int
    field: NotRequired[str]
    details: NotRequired[List[ErrorDetail]]


class ListedEvent(TypedDict):
    id: str
    kind: Literal["change", "order", "low", "recovered", "pet", "removed", "category", "relist"]
    change: NotRequired[ChangeEvent]
    order: NotRequired[OrderEvent]
    low: NotRequired[LowStockEvent]
    recovered: NotRequired[LowStockEvent]
    pet: NotRequired[PetEvent]
    removed: NotRequired[RemovedEvent]
    category: NotRequired[CategoryEvent]


class HistoryEntry(TypedDict):
    id: str
    before: int
    after: int
    adjustmentId: NotRequired[int]
    at: str
    occurredAt: str
    keyId: str
    keyName: str
    reason: NotRequired[RecordedReason]
    reference: NotRequired[str]


class RecentChange(TypedDict):
    petId: int
    id: str
    before: int
    after: int
    adjustmentId: NotRequired[int]
    at: str
    occurredAt: str
    keyId: str
    keyName: str
    reason: NotRequired[RecordedReason]
    reference: NotRequired[str]


class SearchRow(TypedDict):
    petId: int
    name: str
    categoryId: int
    status: PetStatus
    barcode: NotRequired[str]
    metadata: NotRequired[Metadata]
    quantity: int
    reserved: int
    lowStockAt: NotRequired[int]
    ownLowStockAt: NotRequired[int]
    lowSince: NotRequired[str]
    available: int


class CatalogEntry(TypedDict):
    petId: int
    name: str
    categoryId: int
    barcode: NotRequired[str]
    lowStockAt: NotRequired[int]
    metadata: NotRequired[Metadata]


class PetEdit(TypedDict):
    """`pet` is the pet after the change. It is absent if the pet was removed. It does not include the quantity; GET /inventory/history lists quantity changes."""

    petId: int
    id: str
    change: Literal["created", "changed", "removed"]
    name: NotRequired[str]
    at: str
    keyId: str
    keyName: str
    pet: NotRequired[Pet]
    fields: NotRequired[List[EditedField]]


class NewBasket(TypedDict):
    lines: List[NewOrderLine]
    reference: NotRequired[str]
    shipDate: NotRequired[str]
    customer: NotRequired[str]
    note: NotRequired[str]
    metadata: NotRequired[Metadata]
    holdSeconds: NotRequired[int]
    complete: NotRequired[bool]
    occurredAt: NotRequired[str]
    evenIfReserved: NotRequired[bool]


class NewOrderOfOnePet(TypedDict):
    petId: NotRequired[int]
    barcode: NotRequired[str]
    quantity: int
    reference: NotRequired[str]
    shipDate: NotRequired[str]
    customer: NotRequired[str]
    note: NotRequired[str]
    metadata: NotRequired[Metadata]
    holdSeconds: NotRequired[int]
    complete: NotRequired[bool]
    occurredAt: NotRequired[str]
    evenIfReserved: NotRequired[bool]


class OrderCompletion(TypedDict):
    complete: Literal[True]
    onlyIfOpen: NotRequired[bool]
    evenIfExpired: NotRequired[bool]
    occurredAt: NotRequired[str]


class OrderChange(TypedDict):
    lines: NotRequired[List[NewOrderLine]]
    reference: NotRequired[Optional[str]]
    shipDate: NotRequired[Optional[str]]
    customer: NotRequired[Optional[str]]
    note: NotRequired[Optional[str]]
    metadata: NotRequired[Optional[Dict[str, str]]]
    holdSeconds: NotRequired[Optional[int]]


class MovementRow(TypedDict):
    day: NotRequired[str]
    petId: NotRequired[int]
    categoryId: NotRequired[int]
    keyId: NotRequired[str]
    reason: NotRequired[Literal["received", "returned", "sold", "damaged", "lost", "counted", "corrected"]]
    name: NotRequired[str]
    received: int
    returned: int
    sold: int
    damaged: int
    lost: int
    countedUp: int
    countedDown: int
    corrected: int
    change: int


class WebhookLag(TypedDict):
    """The backlog of the webhook."""

    events: int
    since: NotRequired[str]


class WebhookDelivery(TypedDict):
    id: str
    attempt: int
    messageId: str
    type: str
    at: str
    durationMs: int
    delivered: bool
    status: NotRequired[int]
    error: NotRequired[str]
    response: str
    parked: NotRequired[bool]


class KeyName(TypedDict):
    id: str
    name: str


class KeyAuditEntry(TypedDict):
    id: int
    at: str
    actor: str
    action: str
    detail: str


class LimitWindow(TypedDict):
    limit: int
    remaining: int
    reset: int


class TestEvent(TypedDict):
    webhookId: int
    test: bool


class OrderEventLine(TypedDict):
    petId: int
    quantity: int
    reserved: NotRequired[int]
    available: NotRequired[int]


class AdjustmentLine(TypedDict):
    petId: int
    before: int
    after: int
    delta: int
    counted: NotRequired[int]
    effect: AdjustmentEffect
    reversed: int


class ErrorDetail(TypedDict):
    index: int
    line: NotRequired[int]
    petId: NotRequired[int]
    code: Literal["invalid_request", "unauthorized", "forbidden", "not_found", "method_not_allowed", "request_timeout", "gone", "insufficient_stock", "order_closed", "already_reversed", "too_late", "in_use", "already_exists", "precondition_failed", "payload_too_large", "idempotency_key_reused", "rate_limit_exceeded", "key_banned", "internal_error", "service_unavailable"]
    message: str
    field: NotRequired[str]
    available: NotRequired[int]
    state: NotRequired[ClosedOrderState]


class ReversedLine(TypedDict):
    petId: int
    quantity: int


class PetUpsert(TypedDict):
    """A pet to create or to update. Fields of an existing pet that are not sent stay as they are; null removes an optional value. A new pet needs a name and a categoryId."""

    id: NotRequired[int]
    name: NotRequired[str]
    categoryId: NotRequired[int]
    status: NotRequired[PetStatus]
    barcode: NotRequired[Optional[str]]
    lowStockAt: NotRequired[Optional[int]]
    metadata: NotRequired[Optional[Dict[str, str]]]
    quantity: NotRequired[int]


class NewOrderLine(TypedDict):
    """Units of the pet that `petId` or `barcode` names."""

    petId: NotRequired[int]
    barcode: NotRequired[str]
    quantity: int


class OrderLine(TypedDict):
    petId: int
    quantity: int
    returned: int


class SecretHint(TypedDict):
    hint: str
    createdAt: str
    expiresAt: NotRequired[str]


class DeltaChange(TypedDict):
    petId: NotRequired[int]
    delta: int
    expected: NotRequired[int]
    barcode: NotRequired[str]


class CountChange(TypedDict):
    petId: NotRequired[int]
    quantity: int
    expected: NotRequired[int]
    barcode: NotRequired[str]


RecordedReason = Literal["received", "returned", "sold", "damaged", "lost", "counted", "corrected", "correction"]
ImportKind = Literal["pets", "orders", "count", "categories"]
NewOrder = Union[NewBasket, NewOrderOfOnePet]
OrderUpdate = Union[OrderCompletion, OrderChange]
EventKind = Literal["change", "order", "low", "recovered", "pet", "removed", "category"]
PetStatus = Literal["available", "pending", "sold"]
OrderState = Literal["open", "complete", "cancelled", "expired"]
Metadata = Dict[str, str]
Reason = Literal["received", "returned", "sold", "damaged", "lost", "counted", "corrected"]
ReversalReason = Literal["correction", "returned"]
ReportGroup = Literal["day", "pet", "category", "reason", "key"]
AdjustmentChange = Union[DeltaChange, CountChange]
WebhookKind = Literal["stock.changed", "stock.low", "stock.recovered", "order.created", "order.changed", "order.completed", "order.cancelled", "order.expired", "pet.changed", "pet.removed", "category.changed"]
Permission = Literal["stock", "orders", "pets", "webhooks", "keys"]
AdjustmentEffect = Literal["applied", "already_counted", "superseded"]
ClosedOrderState = Literal["complete", "cancelled", "expired"]
EditedField = Literal["name", "categoryId", "status", "barcode", "lowStockAt", "metadata"]
