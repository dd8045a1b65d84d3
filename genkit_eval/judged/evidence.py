"""Attached files as judges get them: a PDF as the text of its pages, an SVG as its source, other images as they are.

An SVG is text that any judge can read, and nothing has to draw it: a program that draws also follows what is in it.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from anyio import to_thread

from genkit_eval.attachments import PDF, SVG, content_of, is_elsewhere, taken_in, title_of
from genkit_eval.errors import ConfigError, DataError
from genkit_eval.judged.metric import NothingToJudge
from genkit_eval.models import Image
from genkit_eval.types import Attachment, DataPoint

__all__ = ["NO_FILES", "Files", "files_of"]

MOST_PIXELS = 100_000_000
"""A small file may be an image that fills the memory of whoever draws it."""
# what pypdf mends in a file it tells the log, which goes to stderr where nobody listens
logging.getLogger("pypdf").addHandler(logging.NullHandler())
NO_TEXT = "(this page has no text, only images, which are not shown)"


@dataclass(frozen=True, slots=True)
class Files:
    """What is attached to a case: texts to be read, each with a title, and images to be seen, with theirs."""

    texts: tuple[tuple[str, str], ...] = ()
    images: tuple[Image, ...] = ()
    image_titles: tuple[str, ...] = ()

    @property
    def told(self) -> list[str]:
        """Each as a text: what is read, page by page, and which images are shown."""
        read = [f"{title}:\n{text}" for title, text in self.texts if text]
        return [*read, *(f"{title}: shown as image {number}" for number, title in enumerate(self.image_titles, 1))]


NO_FILES = Files()


async def files_of(point: DataPoint) -> Files:
    """The files that are attached to a data point, read.

    Raises:
        NothingToJudge: one lies elsewhere, or is a PDF without any text.
        DataError: one cannot be read, or has changed. ConfigError: what reads it is not installed.
    """
    if not point.attachments:
        return NO_FILES
    return await to_thread.run_sync(_files, tuple(point.attachments), abandon_on_cancel=True)


def _files(attachments: Sequence[Attachment]) -> Files:
    texts: list[tuple[str, str]] = []
    images: list[Image] = []
    titles: list[str] = []
    for given in attachments:
        if is_elsewhere(given):
            raise NothingToJudge(f"{title_of(given)} is not fetched from where it lies: attach the file itself")
        attachment = taken_in(given, Path())
        title = title_of(attachment)
        if attachment.media_type == PDF:
            texts += [(f"{title}, page {number}", text) for number, text in enumerate(_pages(attachment), 1)]
        elif attachment.media_type == SVG:
            texts.append((f"{title}, the source of an image", content_of(attachment).decode(errors="replace")))
        else:
            images.append(_image(attachment))
            titles.append(title)
    return Files(tuple(texts), tuple(images), tuple(titles))


# ten judges read the same files one after the other
@lru_cache(maxsize=16)
def _pages(attachment: Attachment) -> tuple[str, ...]:
    """The text of each page."""
    try:
        # an extra
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as problem:
        raise _not_installed("pypdf", "PDF files") from problem
    title = title_of(attachment)
    try:
        reader = PdfReader(BytesIO(content_of(attachment)))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError(f"{title} is encrypted: attach one that opens without a password")
        found = tuple(page.extract_text().strip() or (NO_TEXT if page.images else "") for page in reader.pages)
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as problem:
        raise DataError(f"{title} cannot be read as a PDF: {type(problem).__name__}: {problem}") from problem
    if not any(text not in ("", NO_TEXT) for text in found):
        raise NothingToJudge(f"{title} has no text on any of its {len(found)} pages: attach its pages as images")
    return found


@lru_cache(maxsize=4)
def _image(attachment: Attachment) -> Image:
    """The image, once it is sure that it is one."""
    try:
        # an extra
        from PIL.JpegImagePlugin import JpegImageFile
        from PIL.PngImagePlugin import PngImageFile
        from PIL.WebPImagePlugin import WebPImageFile
    except ImportError as problem:
        raise _not_installed("pillow", "images") from problem
    title, data = title_of(attachment), content_of(attachment)
    kinds: Mapping[str, type[PngImageFile | JpegImageFile | WebPImageFile]]
    kinds = {"image/png": PngImageFile, "image/jpeg": JpegImageFile, "image/webp": WebPImageFile}
    try:
        # not by Pillow.open: it warns of large images on stderr, and names its stream where it knows no image
        with kinds[str(attachment.media_type)](BytesIO(data)) as image:
            width, height = image.size
            image.verify()
    except (OSError, SyntaxError, ValueError) as problem:
        raise DataError(f"{title} is a broken image: {problem}") from problem
    if width * height > MOST_PIXELS:
        raise DataError(f"{title} has {width:,} x {height:,} pixels: an image has {MOST_PIXELS:,} at most")
    return Image(media_type=str(attachment.media_type), data=b64encode(data).decode())


def _not_installed(library: str, what: str) -> ConfigError:
    return ConfigError(f"{what} need {library}: pip install 'genkit-eval[files]'")
