"""HTTPS and WSS: a certificate that is not known is refused, and accepted where the user says so."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_adapters import served
from test_raw import CAPABILITIES, STREAM, opened

from pytest_corpus.adapter.exceptions import DeclarationError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new certificate for 127.0.0.1, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "certificate.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (folder / "both.pem").write_text((folder / "key.pem").read_text() + (folder / "certificate.pem").read_text())
    return folder / "certificate.pem"


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    except OSError:
        return
    finally:
        writer.close()


@pytest.fixture(scope="module")
def place(certificate: Path) -> Iterator[str]:
    """The address of the reference LLM with that certificate, behind a proxy that ends TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.with_name("both.pem"))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    with served("pytest_corpus.reference:llm") as (behind, _):
        port = int(behind.rpartition(":")[2])

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            inner, outer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_carry(reader, outer), _carry(inner, writer))

        server = loop.run_until_complete(asyncio.start_server(connected, "127.0.0.1", 0, ssl=context))
        thread.start()
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@pytest.mark.parametrize("verified", [True, False], ids=["file", "no"])
@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_a_certificate_is_accepted_where_the_user_says_so(
    scheme: str, verified: bool, place: str, certificate: Path
) -> None:
    """By naming it, or by not verifying at all: unary calls and streams are answered."""
    with opened(f"{scheme}://{place}/", 30.0, 5.0, tls=str(certificate) if verified else "no") as client:
        unary = client.send(CAPABILITIES, "llm")
        stream = client.send(STREAM, "llm", streaming=True)
    assert (unary.fault, unary.frames[0].body["ok"]) == (None, True)
    assert (stream.fault, stream.frames[-1].body["chunk"]["is_final"]) == (None, True)


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_an_unknown_certificate_is_refused(scheme: str, place: str) -> None:
    """Before anything is sent, and the sentence says how it can be named."""
    unknown = opened(f"{scheme}://{place}/", startup_s=5.0, tls="yes")
    with pytest.raises(DeclarationError, match="corpus_tls_verify=FILE") as refused, unknown:
        pass
    assert "its certificate cannot be verified" in str(refused.value)


def test_a_file_without_certificates_is_refused(place: str, tmp_path: Path) -> None:
    """In one sentence."""
    (tmp_path / "empty.pem").write_text("none")
    empty = opened(f"https://{place}/", startup_s=5.0, tls=str(tmp_path / "empty.pem"))
    with pytest.raises(DeclarationError, match="holds no certificates"), empty:
        pass
