"""Small files to attach."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

from PIL import Image
from pypdf import PdfWriter

__all__ = ["SVG", "blank_png", "locked_pdf", "moving", "pdf", "picture"]

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><text>Open from nine</text></svg>'


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    start, size = len(data), len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}"
    return data + tail.encode()


def picture(kind: str = "PNG") -> bytes:
    """A red square."""
    stream = BytesIO()
    Image.new("RGB", (8, 8), "red").save(stream, kind)
    return stream.getvalue()


def moving(kind: str) -> bytes:
    """A square that changes its colour twice."""
    first, *others = (Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue"))
    stream = BytesIO()
    first.save(stream, kind, save_all=True, append_images=others, duration=100)
    return stream.getvalue()


def locked_pdf(way: str) -> bytes:
    """A PDF that opens with a password only; encrypted by RC4 or AES, of which pypdf alone can read the first."""
    if way == "RC4":
        writer, stream = PdfWriter(clone_from=BytesIO(pdf("secret"))), BytesIO()
        writer.encrypt("password")
        writer.write(stream)
        return stream.getvalue()
    filters = "/CF << /StdCF << /CFM /AESV3 /AuthEvent /DocOpen /Length 32 >> >> /StmF /StdCF /StrF /StdCF"
    keys = {"O": 48, "U": 48, "OE": 32, "UE": 32, "Perms": 16}
    texts = " ".join(f"/{key} <{'5a' * length}>" for key, length in keys.items())
    entry = f"/Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -4 {filters} {texts} >> /ID [<5a> <5a>]"
    return pdf("secret").replace(b"/Root 1 0 R", f"/Root 1 0 R {entry}".encode())


def blank_png(width: int, height: int) -> bytes:
    """An image of a few bytes that says how large it is."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
