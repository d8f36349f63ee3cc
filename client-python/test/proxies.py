"""Faulty networks between the client and the service."""

from __future__ import annotations

import random
import socket
import socketserver
import threading
from typing import BinaryIO, Callable, Union
from urllib.parse import urlsplit

# A fate is one of these, or a response that the proxy gives instead of the service.
FATES = ("pass", "lose the request", "halve the request", "lose the response", "halve the response")
Fate = Union[str, bytes]


class Proxy:
    """Listens on a free port until the `with` block ends."""

    def __init__(self, base_url: str) -> None:
        url = urlsplit(base_url)
        self._service = (url.hostname or "", url.port or 80)
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                try:
                    with socket.create_connection(proxy._service) as service:
                        proxy.join(self.connection, service)
                except OSError:
                    pass

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}{url.path}"

    def join(self, client: socket.socket, service: socket.socket) -> None:
        raise NotImplementedError

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class LossyProxy(Proxy):
    """Asks `fate` about every request."""

    def __init__(self, base_url: str, fate: Callable[[], Fate]) -> None:
        super().__init__(base_url)
        self._fate = fate
        self.requests = 0

    def join(self, client: socket.socket, service: socket.socket) -> None:
        with client.makefile("rb") as from_client, service.makefile("rb") as from_service:
            while True:
                request = read_message(from_client)
                if request == b"":
                    return
                self.requests += 1
                fate = self._fate()
                if isinstance(fate, bytes):
                    client.sendall(fate)
                    continue
                if fate == "lose the request":
                    return
                if fate == "halve the request":
                    service.sendall(request[: len(request) // 2])
                    return
                service.sendall(request)
                response = read_message(from_service)
                if fate == "lose the response":
                    return
                if fate == "halve the response":
                    client.sendall(response[: len(response) // 2])
                    return
                client.sendall(response)


class CuttingProxy(Proxy):
    """Cuts each connection after some bytes of the response."""

    def __init__(self, base_url: str, seed: int) -> None:
        super().__init__(base_url)
        self._random = random.Random(seed)
        self.cuts = 0

    def join(self, client: socket.socket, service: socket.socket) -> None:
        # The head of the response alone has some 300 bytes.
        left = self._random.randrange(400, 1_500)
        service.sendall(client.recv(65_536))
        while left > 0:
            data = service.recv(left)
            if data == b"":
                return
            client.sendall(data)
            left -= len(data)
        self.cuts += 1


def read_message(stream: BinaryIO) -> bytes:
    """Reads one request or response; empty if the connection ends."""
    head = b""
    length = 0
    while True:
        line = stream.readline()
        head += line
        if line in (b"", b"\r\n"):
            return head + stream.read(length)
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
