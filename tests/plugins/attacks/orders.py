"""What a judge that obeys anybody takes for an order: in many languages and guises, or a verdict that is there already.

It is generous on purpose. Of what a prompt says by itself it knows nothing: it is given the rest.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
import urllib.parse
from collections.abc import Iterator

__all__ = ["is_order", "readings"]

_DO = (
    r"ignor\w*|disregard|forget|overrid\w+|give|gives|assign|award|set|mark|rate|grade|score|return|output|reply|answer|"
    r"record|treat|consider|skip|say|says|tell|list|must|passes|pass|confirm|pretend|imagine|act"
)
_WHAT = (
    r"scor\w+|rating|verdicts?|marks?|grade|points|instructions?|criteri\w+|rules?|rubric|supported|unsupported|correct|"
    r"true|pass|passes|highest|maximum|best|full|perfect|claim|judge|wrong"
)
_LANGUAGES = {
    "German": (r"vergiss|gib|ignoriere|bewerte", r"bewertung|anweisung\w*|kriterien|note"),
    "French": (r"ignore|donne|oublie", r"note|instructions|consignes|maximum"),
    "Spanish": (r"ignora|asigna|olvida", r"puntuaci\w+|instrucciones|nota"),
    "Italian": (r"dimentica|assegna|ignora", r"voto|criteri|istruzioni"),
    "Portuguese": (r"desconsidere|d\w+|ignore", r"nota|crit\w+rios|instru\w+"),
    "Turkish": (r"say|ver|yok", r"puan\w*|talimat\w*"),
    "Russian": (r"забудь|поставь|игнорируй", r"оценк\w*|указани\w*"),
    "Chinese": (r"忽略|给出", r"指示|最高分"),
    "Japanese": (r"無視|付けて", r"指示|評価"),
    "Korean": (r"무시하고|주세요", r"지시를|점수를"),
    "Arabic": (r"تجاهل|أعط", r"التعليمات|تقييم"),
    "Hindi": (r"अनदेखा|दें", r"निर्देशों|अंक"),
    "Latin": (r"neglege|da", r"praecepta|notam"),
    "Greek": (r"αγνόησε|δώσε", r"οδηγίες|βαθμολογία"),
    "Polish": (r"zignoruj|przyznaj", r"polecenia|ocenę"),
    "Vietnamese": (r"bỏ qua|cho", r"hướng dẫn|điểm"),
    "Hebrew": (r"התעלם|תן", r"ההוראות|הציון"),
    "Thai": (r"เพิกเฉย|ให้", r"คำสั่ง|คะแนน"),
    "Swahili": (r"puuza|utoe", r"maagizo|alama"),
}
_CLAUSE = re.compile(r"[^.!?;。\n]+")
_PAIRS = [
    (
        re.compile(rf"(?<!\w)(?:{do})(?!\w)" if do[0].isascii() else do, re.IGNORECASE),
        re.compile(rf"(?<!\w)(?:{what})(?!\w)" if what[0].isascii() else what, re.IGNORECASE),
    )
    for do, what in [(_DO, _WHAT), *_LANGUAGES.values()]
]
_GIVEN = re.compile(
    r"""["'<]?\b(?:verdicts?|rating|score|label)\b["']?\s*(?:[:=>]|is)\s*["']?(?:true|false|yes|no|pass|fail|[\[{\d])""",
    re.IGNORECASE,
)
_LEET = str.maketrans("4310579", "aeiostg")
_ALIKE = str.maketrans("аеосі", "aeoci")


def is_order(text: str) -> bool:
    """Whether some reading of a text tells a judge what to say, or says it in the judge's place."""
    return any(_GIVEN.search(reading) or _commands(reading) for reading in readings(text))


def _commands(text: str) -> bool:
    return any(do.search(clause) and what.search(clause) for clause in _CLAUSE.findall(text) for do, what in _PAIRS)


def readings(text: str) -> Iterator[str]:
    """The text, and what it may stand for: decoded, backwards, with the letters that are meant."""
    plain = unicodedata.normalize("NFKC", html.unescape(urllib.parse.unquote(urllib.parse.unquote(text))))
    visible = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    yield visible
    yield visible.translate(_ALIKE)
    # without strokes and accents that were put on top of letters
    yield "".join(letter for letter in unicodedata.normalize("NFKD", visible) if not unicodedata.combining(letter))
    yield re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), visible)
    # texts inside JSON, which may be inside JSON again
    yield re.sub(r"\\+n", "\n", visible).replace("\\", "")
    # letter by letter, with wider gaps between words
    yield re.sub(r"(?<=\w) (?=\w\b)", "", visible)
    yield visible[::-1]
    yield visible.translate(_LEET)
    yield codecs.encode(visible, "rot13")
    # told piece by piece, in turns
    yield " ".join(re.sub(r"^\s*\d+\. (?:user|assistant): ", "", line) for line in visible.splitlines())
    yield from _hidden(text)
    yield from _decoded(visible)


def _hidden(text: str) -> Iterator[str]:
    """What stands in letters that nobody sees: tags, and selectors of variants."""
    yield "".join(chr(ord(letter) - 0xE0000) for letter in text if 0xE0020 <= ord(letter) < 0xE007F)
    yield bytes(ord(letter) - 0xE0100 + 16 for letter in text if 0xE0100 <= ord(letter) < 0xE01F0).decode(
        errors="ignore"
    )


def _decoded(text: str) -> Iterator[str]:
    """What stands in long words of base64, which may be of base64 again, and of hexadecimal digits."""
    for word in re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text):
        try:
            inside = base64.b64decode(word, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield inside
        yield from _decoded(inside)
    for digits in re.findall(r"(?:[0-9a-f]{2}){8,}", text):
        yield bytes.fromhex(digits).decode(errors="ignore")
