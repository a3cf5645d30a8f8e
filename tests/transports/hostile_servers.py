"""Servers that do what no server should, one thing each, on a raw socket."""

import contextlib
import gzip
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

Script = Callable[[socket.socket, threading.Event], None]

BODY = b'{"ok":true,"code":"OK","ms":1.0,"result":{}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """The place of a server that plays a script on each connection that sends something."""
    ends = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)

        def accept() -> None:
            while not ends.is_set():
                try:
                    connection, _ = server.accept()
                except OSError:
                    continue
                threading.Thread(target=_play, args=(script, connection, ends), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            ends.set()
            thread.join()


def _play(script: Script, connection: socket.socket, ends: threading.Event) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(5)
        if connection.recv(2**16):
            script(connection, ends)


def reset(connection: socket.socket) -> None:
    """End a connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def never_answers(_connection: socket.socket, ends: threading.Event) -> None:
    ends.wait(60)


def slow_loris(connection: socket.socket, ends: threading.Event) -> None:
    for byte in HEAD % len(BODY) + BODY:
        if ends.wait(0.5):
            return
        connection.sendall(bytes((byte,)))


def endless_header(connection: socket.socket, ends: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-More: ")
    while not ends.is_set():
        connection.sendall(b"a" * 2**16)


def endless_headers(connection: socket.socket, ends: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while not ends.is_set():
        connection.sendall(b"".join(b"X-%d: %b\r\n" % (number + each, b"a" * 60) for each in range(1000)))
        number += 1000


def endless_body(connection: socket.socket, ends: threading.Event) -> None:
    connection.sendall(HEAD % 2**30 + b'"')
    while not ends.is_set():
        connection.sendall(b"a" * 2**20)


def endless_line(connection: socket.socket, ends: threading.Event) -> None:
    connection.sendall(CHUNKED)
    while not ends.is_set():
        connection.sendall(b"100000\r\n" + b"a" * 2**20 + b"\r\n")


def endless_stream(connection: socket.socket, ends: threading.Event) -> None:
    frame = b'{"ok":true,"code":"STREAMING","ms":1,"chunk":{"text":"' + b"a" * 2**16 + b'","is_final":false}}\n'
    connection.sendall(CHUNKED)
    while not ends.is_set():
        connection.sendall(b"%x\r\n%b\r\n" % (len(frame), frame))


@cache
def bomb(size_mib: int = 256) -> bytes:
    """Many zeros, compressed with gzip: a compressed mebibyte of them, repeated."""
    packer, zeros, checksum = zlib.compressobj(9, wbits=-15), b"0" * 2**20, 0
    part = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size_mib):
        checksum = zlib.crc32(zeros, checksum)
    return gzip.compress(b"")[:10] + part * size_mib + packer.flush() + struct.pack("<II", checksum, size_mib << 20)


def gzip_bomb(connection: socket.socket, _ends: threading.Event) -> None:
    head = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    connection.sendall(head % len(bomb()) + bomb())


def garbage(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(bytes(range(256)) * 64)


def garbage_body(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(HEAD % 2048 + bytes(range(256)) * 8)


def deep_nesting(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(HEAD % 2_000_000 + b"[" * 1_000_000 + b"]" * 1_000_000)


def redirect_loop(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")


def content_too_short(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(HEAD % (len(BODY) + 10) + BODY)


def content_too_long(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(HEAD % len(BODY) + BODY + b"HTTP/1.1 200 and more")
    time.sleep(0.05)


def negative_chunk(connection: socket.socket, _ends: threading.Event) -> None:
    connection.sendall(CHUNKED + b"-5\r\nabc\r\n0\r\n\r\n")


def reset_at(place: int) -> Script:
    """A server that resets the connection after a number of bytes of a sound answer."""

    def script(connection: socket.socket, _ends: threading.Event) -> None:
        connection.sendall((HEAD % len(BODY) + BODY)[:place])
        time.sleep(0.02)
        reset(connection)

    return script


ALL: tuple[Script, ...] = (
    never_answers, slow_loris, endless_header, endless_headers, endless_body, endless_line, endless_stream, gzip_bomb,
    garbage, garbage_body, deep_nesting, redirect_loop, content_too_short, content_too_long, negative_chunk,
)  # fmt: skip
