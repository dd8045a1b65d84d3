"""Files of a case as judges get them: a PDF as the text of its pages, an SVG as its source, other images as they are.

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
from threading import Lock

from anyio import to_thread

from genkit_eval.attachments import PDF, SVG, content_of, is_elsewhere, taken_in, title_of
from genkit_eval.errors import ConfigError, DataError
from genkit_eval.judged.metric import NothingToJudge
from genkit_eval.models import Image
from genkit_eval.types import Attachment, DataPoint

__all__ = ["NO_FILES", "Files", "Shown", "files_of"]

MOST_PIXELS = 100_000_000
"""A small file may be an image that fills the memory of whoever draws it."""
# what pypdf mends in a file it tells the log, which goes to stderr where nobody listens
logging.getLogger("pypdf").addHandler(logging.NullHandler())
# of two files that share one the second waits for the first, which costs little, as reading keeps a core busy
_TURNS = tuple(Lock() for _ in range(64))
NO_TEXT = "(this page has no text, only images, which are not shown)"


@dataclass(frozen=True, slots=True)
class Shown:
    """Files as a judge gets them: texts to be read, each with a title, and images to be seen, with theirs."""

    texts: tuple[tuple[str, str], ...] = ()
    images: tuple[Image, ...] = ()
    image_titles: tuple[str, ...] = ()
    first: int = 1
    """The number of the first image."""

    @property
    def told(self) -> list[str]:
        """Each as a text: what is read, page by page, and which images are shown."""
        read = [f"{title}:\n{text}" for title, text in self.texts if text]
        seen = enumerate(self.image_titles, self.first)
        return [*read, *(f"{title}: shown as image {number}" for number, title in seen)]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a case: those attached to it, and those that the answer consists of, whose images come first."""

    attached: Shown = Shown()
    answer: Shown = Shown()

    @property
    def images(self) -> tuple[Image, ...]:
        """All that are shown, in the order of their numbers."""
        return (*self.answer.images, *self.attached.images)

    @property
    def image_titles(self) -> tuple[str, ...]:
        """Their titles."""
        return (*self.answer.image_titles, *self.attached.image_titles)

    def require_text(self) -> None:
        """See to it that the answer can be taken apart into sentences or claims.

        Raises:
            NothingToJudge: a part of it is an image.
        """
        if titles := ", ".join(self.answer.image_titles):
            raise NothingToJudge(
                f"the answer has an image ({titles}), which cannot be taken apart or measured as text: take a judge "
                "that rates it whole"
            )


NO_FILES = Files()


async def files_of(point: DataPoint, *, attached: bool = True, answer: bool = True) -> Files:
    """The files of a data point, read.

    Args:
        attached: whether those count that are attached to it.
        answer: whether those count that the answer consists of.

    Raises:
        NothingToJudge: one lies elsewhere, or is a PDF without any text.
        DataError: one cannot be read, or has changed. ConfigError: what reads it is not installed.
    """
    given = point.attachments if attached else ()
    made = point.output_attachments if answer else ()
    if not given and not made:
        return NO_FILES
    return await to_thread.run_sync(_files, given, made, abandon_on_cancel=True)


def _files(attached: Sequence[Attachment], made: Sequence[Attachment]) -> Files:
    answer = _shown(made, instead="have the flow fetch and record it")
    return Files(_shown(attached, first=1 + len(answer.images), instead="download it and attach the file"), answer)


def _shown(attachments: Sequence[Attachment], *, instead: str, first: int = 1) -> Shown:
    texts: list[tuple[str, str]] = []
    images: list[Image] = []
    titles: list[str] = []
    for given in attachments:
        if is_elsewhere(given):
            raise NothingToJudge(
                f"{title_of(given)} lies on another machine, and nothing is fetched from there: {instead}, or give its "
                "content as an address that begins with data:"
            )
        attachment = taken_in(given, Path())
        title = title_of(attachment)
        if attachment.media_type == PDF:
            # the judges of a case read it side by side: one does, and the others find what that has found
            with _TURNS[hash(attachment.digest) % len(_TURNS)]:
                pages = _pages(attachment)
            if not any(text not in ("", NO_TEXT) for text in pages):
                where = "its only page" if len(pages) == 1 else f"any of its {len(pages)} pages"
                raise NothingToJudge(f"{title} has no text on {where}: attach what is to be seen as images")
            texts += [(f"{title}, page {number}", text) for number, text in enumerate(pages, 1)]
        elif attachment.media_type == SVG:
            texts.append((f"{title}, the source of an image", content_of(attachment).decode(errors="replace")))
        else:
            images.append(_image(attachment))
            titles.append(title)
    return Shown(tuple(texts), tuple(images), tuple(titles), first)


@lru_cache(maxsize=16)
def _pages(attachment: Attachment) -> tuple[str, ...]:
    """The text of each page."""
    try:
        # an extra
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as problem:
        raise _not_installed("pypdf", "PDF files") from problem
    title = title_of(attachment)
    try:
        reader = PdfReader(BytesIO(content_of(attachment)))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError(f"{title} is encrypted: attach one that opens without a password")
        return tuple(page.extract_text().strip() or (NO_TEXT if page.images else "") for page in reader.pages)
    except DependencyError as problem:
        raise DataError(
            f"{title} is encrypted in a way that pypdf alone cannot read: attach one that is not"
        ) from problem
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as problem:
        raise DataError(f"{title} cannot be read as a PDF: {type(problem).__name__}: {problem}") from problem


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
            (width, height), frames = image.size, getattr(image, "n_frames", 1)
            image.verify()
    except (OSError, SyntaxError, ValueError) as problem:
        raise DataError(f"{title} is a broken image: {problem}") from problem
    if width * height > MOST_PIXELS:
        raise DataError(f"{title} has {width:,} x {height:,} pixels: an image has {MOST_PIXELS:,} at most")
    if frames > 1:
        raise NothingToJudge(
            f"{title} moves: of its {frames} images a model sees one at most, so attach those that count"
        )
    return Image(media_type=str(attachment.media_type), data=b64encode(data).decode())


def _not_installed(library: str, what: str) -> ConfigError:
    return ConfigError(f"{what} need {library}: pip install 'genkit-eval[files]'")
