from __future__ import annotations

from typing import Any, Optional, Sequence


class PetstoreError(Exception):
    """A call that failed, or a webhook delivery that cannot be trusted."""

    code: str
    """The code of the service, or `connection_failed`, `invalid_response` or `invalid_webhook`."""
    message: str
    """The message as the service sent it."""
    status: Optional[int]
    """The HTTP status; None if there was no response."""
    field: Optional[str]
    """The field of the request that is wrong."""
    details: Sequence[dict[str, Any]]
    """Every part of the request that failed, with its `index`, `code` and `message`."""
    request_id: Optional[str]
    """Identifies the request in the logs of the service."""
    idempotency_key: Optional[str]
    """The key of the write; None for a read."""
    may_have_been_made: bool
    """
    True if no response says whether the change was made. The same call with the same `idempotency_key` returns its
    result within 24 hours, and makes the change at most once. If this is False, nothing was changed.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        request: str = "",
        status: Optional[int] = None,
        field: Optional[str] = None,
        details: Sequence[dict[str, Any]] = (),
        request_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        may_have_been_made: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request = request
        self.status = status
        self.field = field
        self.details = list(details)
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.may_have_been_made = may_have_been_made

    def __str__(self) -> str:
        parts = [self.request, " ".join(str(part) for part in (self.status, self.code) if part is not None)]
        text = ": ".join(part for part in (*parts, self.message) if part)
        return text if self.request_id is None else f"{text} (request {self.request_id})"
