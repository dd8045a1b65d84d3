"""Check digits: which cards, IBANs and Turkish identity numbers can be right."""

from __future__ import annotations

import re

__all__ = ["IBAN_LENGTHS", "is_card", "is_iban", "is_luhn", "is_tckn"]

IBAN_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})(\d\d)",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
        "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 "
        "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 "
        "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
        "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30",
    )
}
"""How long an IBAN of a country is, by its code, as the registry of SWIFT has it."""

_ISSUERS = re.compile(
    r"4\d{15}(?:\d{3})?"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-59]|[689]\d)\d{11}"  # Diners Club
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12,15}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|220[0-4]\d{12}"  # Mir
    r"|9792\d{12}"  # Troy
    r"|(?:50|5[6-9]|6[013-9])\d{14,17}"  # Maestro, RuPay
)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[0-9A-Z]+")
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
_LETTERS = {ord(letter): str(value) for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10)}


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others: every second one doubled, from the right.

    Source: ISO/IEC 7812-1, annex B.
    """
    numbers = [int(digit) for digit in reversed(digits)]
    return numbers != [] and (sum(numbers[::2]) + sum(_DOUBLED[number] for number in numbers[1::2])) % 10 == 0


def is_card(digits: str) -> bool:
    """Whether these digits can be a payment card: length and first digits of an issuer, and the check digit."""
    return _ISSUERS.fullmatch(digits) is not None and is_luhn(digits)


def is_iban(text: str) -> bool:
    """Whether a text without separators is an IBAN: length of its country, remainder 1 by 97.

    Source: ISO 13616.
    """
    iban = text.upper()
    if IBAN_LENGTHS.get(iban[:2]) != len(iban) or _IBAN.fullmatch(iban) is None:
        return False
    return int((iban[4:] + iban[:4]).translate(_LETTERS)) % 97 == 1


def is_tckn(digits: str) -> bool:
    """Whether eleven digits are a Turkish identity number: not 0 at first, and two check digits.

    The tenth is 7 · (sum of the odd places) - (sum of the even ones), the last the sum of all others, by 10.
    """
    if len(digits) != 11 or digits[0] == "0":
        return False
    numbers = [int(digit) for digit in digits]
    tenth = (7 * sum(numbers[:9:2]) - sum(numbers[1:9:2])) % 10
    return numbers[9] == tenth and numbers[10] == sum(numbers[:10]) % 10
