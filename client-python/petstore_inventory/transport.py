from __future__ import annotations

import http.client
import itertools
import json
import random
import re
import selectors
import socket
import time
import uuid
from collections import deque
from typing import Any, Deque, Dict, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict, Union
from urllib.parse import parse_qsl, urlencode, urlsplit

from .errors import PetstoreError

FIRST_BACK_OFF_SECONDS = 0.3
LONGEST_BACK_OFF_SECONDS = 10.0
JSON_TYPE = "application/json"
TEMPORARY = frozenset({429, 502, 503, 504})
# With one of these, the service has decided the change. It remembers that with the idempotency key.
DECIDED = frozenset({404, 409, 412})
NEXT_PAGE = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?')
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")

Query = Mapping[str, Union[str, int, bool, Sequence[str], Sequence[int], None]]


class CallOptions(TypedDict, total=False):
    """Options of every call."""

    timeout: float
    """Seconds to wait for the connection, and for each part of the response."""
    retries: int
    """How often a failed attempt is repeated."""


class WriteOptions(CallOptions, total=False):
    """Options of every call that changes something."""

    idempotency_key: str
    """1 to 255 visible ASCII characters. The service makes the change once, however often it gets the same key."""


class ConditionalCallOptions(CallOptions, total=False):
    """Options of every call that changes or removes one record."""

    if_match: str
    """The `etag_of` a record. If the record has changed since, the call raises `precondition_failed`."""


class ConditionalWriteOptions(WriteOptions, ConditionalCallOptions, total=False):
    pass


class Record(Dict[str, Any]):
    """An object of a response, with the ETag of the response."""

    etag: Optional[str] = None


def etag_of(record: Mapping[str, object]) -> Optional[str]:
    """Returns the ETag of a record that a method has returned, for `if_match`; None for rows of lists."""
    return record.etag if isinstance(record, Record) else None


class Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Transport:
    """Sends requests over connections that it keeps open, and retries if that can help. Threads can share it."""

    def __init__(self, base_url: str, api_key: str, timeout: float, retries: int, max_wait: float) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or url.hostname is None:
            raise ValueError(f"base_url must start with http:// or https://, got {base_url!r}")
        if VISIBLE_ASCII.fullmatch(api_key) is None:
            raise ValueError("api_key must be the text of an API key")
        self._connection_class = (
            http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        )
        self._host = url.hostname
        self._port = url.port
        self._path = url.path.rstrip("/")
        self._authorization = f"Bearer {api_key}"
        self._timeout = timeout
        self._retries = retries
        self._max_wait = max_wait
        self._idle: Deque[http.client.HTTPConnection] = deque()
        # Monotonic time. Requests after a 429 can get a key banned, so the calls of all threads wait until then.
        self._paused_until = 0.0

    def read(self, path: str, query: Query = {}, **options: Any) -> Any:
        return self.call("GET", path, query=query, **options)[0]

    def pages(self, path: str, query: Query = {}, **options: Any) -> Iterator[Any]:
        """Yields the rows of all pages, and requests each page when it is needed."""
        page: Dict[str, str] = {}
        while True:
            rows, headers = self.call("GET", path, query={**query, **page}, **options)
            yield from rows
            link = NEXT_PAGE.search(headers.get("Link") or "")
            if link is None:
                return
            page = dict(parse_qsl(urlsplit(link[1]).query))

    def write(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Sends a change with an idempotency key, so that retries cannot make it twice."""
        options.setdefault("idempotency_key", str(uuid.uuid4()))
        return self.call(method, path, body=body, **options)[0]

    def write_once(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Sends a change for which the service accepts no idempotency key. Only after a 429 is it sent again."""
        return self.call(method, path, body=body, **options)[0]

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Query = {},
        body: Any = None,
        content_type: str = JSON_TYPE,
        idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Tuple[Any, http.client.HTTPMessage]:
        """Returns the JSON of the response, and its headers."""
        headers = {"Accept": JSON_TYPE}
        content: Optional[bytes] = None
        if body is not None:
            headers["Content-Type"] = content_type
            is_json = content_type == JSON_TYPE
            text = json.dumps(body, separators=(",", ":"), allow_nan=False) if is_json else body
            content = text.encode()
        if idempotency_key is not None:
            if VISIBLE_ASCII.fullmatch(idempotency_key) is None:
                raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
            headers["Idempotency-Key"] = idempotency_key
        if if_match is not None:
            headers["If-Match"] = if_match
        request = f"{method} {path}"
        can_retry = method == "GET" or idempotency_key is not None
        most_attempts = 1 + (self._retries if retries is None else retries)
        gives_up_at = time.monotonic() + self._max_wait
        may_have_been_made = False
        for attempt in itertools.count(1):
            pause: Optional[float] = None
            connection = self._connection(self._timeout if timeout is None else timeout)
            is_sent = False
            try:
                self._wait_for_limit(request, gives_up_at)
                if connection.sock is None:
                    connection.connect()
                is_sent = True
                response = read_whole(self._send(connection, method, path + query_text(query), content, headers))
            except PetstoreError as error:
                connection.close()
                failure = error
                is_temporary = False
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                failure = PetstoreError("connection_failed", describe(error), request=request)
                failure.__cause__ = error
                is_temporary = can_retry
                may_have_been_made = may_have_been_made or is_sent
            else:
                self._idle.append(connection)
                if 200 <= response.status < 300:
                    return read_json(request, response, idempotency_key), response.headers
                failure = error_of(request, response)
                is_temporary = response.status in TEMPORARY and (can_retry or response.status == 429)
                pause = self._requested_pause(response)
                if response.status >= 500:
                    may_have_been_made = True
                elif response.status in DECIDED and failure.code != "invalid_response":
                    may_have_been_made = False
            if pause is None:
                pause = back_off(attempt)
            if not is_temporary or attempt >= most_attempts or time.monotonic() + pause > gives_up_at:
                failure.idempotency_key = idempotency_key
                failure.may_have_been_made = may_have_been_made and method != "GET"
                raise failure
            time.sleep(pause)
        raise AssertionError("the loop ends with a response or an error")

    def stream(self, path: str, query: Query, headers: Mapping[str, str], timeout: float) -> Tuple[http.client.HTTPResponse, http.client.HTTPConnection]:
        """
        Opens a response that does not end. Returns it with its connection, which the caller closes. Raises
        PetstoreError if the service refuses, and OSError or HTTPException if the connection fails.
        """
        self._wait_for_limit(f"GET {path}", time.monotonic() + self._max_wait)
        connection = self._connection_class(self._host, self._port, timeout=timeout)
        try:
            response = self._send(connection, "GET", path + query_text(query), None, headers)
            if response.status == 200:
                return response, connection
            refusal = read_whole(response)
            self._requested_pause(refusal)
            raise error_of(f"GET {path}", refusal)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._connection_class(self._host, self._port, timeout=timeout)
            if connection.sock is not None and not is_readable(connection.sock):
                connection.timeout = timeout
                connection.sock.settimeout(timeout)
                return connection
            # Nothing is expected on an idle connection: if it is readable, the service has closed it.
            connection.close()

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        content: Optional[bytes],
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        all_headers = {"Authorization": self._authorization, "User-Agent": "petstore-inventory-python", **headers}
        connection.request(method, self._path + target, content, all_headers)
        return connection.getresponse()

    def _requested_pause(self, response: Response) -> Optional[float]:
        """Returns the seconds to wait that the response asks for."""
        if response.status not in TEMPORARY:
            return None
        text = response.headers.get("Retry-After") or ""
        if not text.isdecimal():
            return None
        if response.status == 429:
            self._paused_until = max(self._paused_until, time.monotonic() + int(text))
        return float(text)

    def _wait_for_limit(self, request: str, gives_up_at: float) -> None:
        while True:
            seconds = self._paused_until - time.monotonic()
            if seconds <= 0:
                return
            if self._paused_until > gives_up_at:
                raise PetstoreError(
                    "rate_limit_exceeded",
                    f"not sent: the rate limit is exceeded for {seconds:.0f} more seconds",
                    request=request,
                )
            time.sleep(seconds)


def read_whole(response: http.client.HTTPResponse) -> Response:
    # http.client takes headers that were cut off for complete ones. Then the length of the body is missing too.
    ends_with_connection = response.length is None and not response.chunked
    body = response.read()
    if ends_with_connection and body == b"":
        raise http.client.HTTPException("the response was cut off")
    return Response(response.status, response.headers, body)


def is_readable(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def query_text(query: Query) -> str:
    fields = {name: wire_text(value) for name, value in query.items() if value is not None}
    return "?" + urlencode(fields) if fields else ""


def wire_text(value: Union[str, int, bool, Sequence[str], Sequence[int]]) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(part) for part in value)
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def back_off(attempt: int) -> float:
    """Doubles with each attempt, with full jitter, so that clients do not retry at the same time."""
    return random.random() * min(LONGEST_BACK_OFF_SECONDS, FIRST_BACK_OFF_SECONDS * 2 ** (attempt - 1))


def describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def read_json(request: str, response: Response, idempotency_key: Optional[str]) -> Any:
    if response.body == b"":
        return None
    try:
        value = json.loads(response.body)
    except ValueError as error:
        raise PetstoreError(
            "invalid_response",
            "the response is not JSON; check base_url",
            request=request,
            status=response.status,
            request_id=response.headers.get("X-Request-Id"),
            idempotency_key=idempotency_key,
            may_have_been_made=idempotency_key is not None,
        ) from error
    etag = response.headers.get("ETag")
    if not isinstance(value, dict) or etag is None:
        return value
    record = Record(value)
    record.etag = etag
    return record


def error_of(request: str, response: Response) -> PetstoreError:
    try:
        body = json.loads(response.body)
        code, message = body["code"], body["message"]
    except (ValueError, TypeError, KeyError):
        body = {}
        code = "service_unavailable" if response.status in (502, 503, 504) else "invalid_response"
        message = "the response has no Error body; check base_url"
    return PetstoreError(
        code,
        message,
        request=request,
        status=response.status,
        field=body.get("field"),
        details=body.get("details", ()),
        request_id=response.headers.get("X-Request-Id"),
    )
