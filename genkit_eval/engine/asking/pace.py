"""How fast requests to one server may follow each other: what is configured, and what its refusals have taught."""

from __future__ import annotations

import math
from collections import deque

__all__ = ["Pace"]

FIRST_GAP, LONGEST_GAP = 0.1, 30.0
"""Seconds of silence after a server refused all that came; each further refusal doubles them."""
LONGEST_PROBE = 1.0
"""Seconds at most until one that was not refused counts as taken."""
ENOUGH = 20
"""So many requests make a share, or a rate, that is believed."""
WINDOW = 40
"""Of so many requests the share that is refused is looked at."""
TOLERATED = 0.075
"""A share of refusals that may be there whatever the rate is: up to it nothing is slowed down."""
GUESS = 20.0
"""Requests a second at least that are tried where too few were taken to tell."""
BACK_OFF = 0.95
GROWTH, QUICK_GROWTH = 0.05, 1.5
"""A share a second, while the rate is what holds requests back; quick where the rate is no more than a guess."""
PERIOD = 1.0
"""Servers count by so many seconds, or fewer: what was taken within them tells the rate."""
KEPT = 10.0
"""Seconds for which it is known what was sent: a refusal may come late."""
LATE = 0.1
"""Seconds that a sender who woke up too late may catch up with."""


class Pace:
    """When the next request may be sent.

    Without a refusal there is only what was configured, evenly spread. Where refusals are more than now and then,
    requests go at a rate: that which the server took in the last second, which grows while few are refused and
    shrinks when too many are. A server that refuses all is left alone, and asked by one request at a time, at
    growing intervals, whether it is open again.

    Refusals come back sooner than answers. So what was not refused counts as taken once a later one was refused.
    """

    def __init__(self, *, requests_per_minute: float | None = None, tokens_per_minute: float | None = None) -> None:
        self.rate = math.inf
        self._spacing = 60 / requests_per_minute if requests_per_minute else 0.0
        self._token_seconds = 60 / tokens_per_minute if tokens_per_minute else 0.0
        # each is the moment from which on that bound lets the next request go
        self._spaced = self._paid = self._due = self._silent_until = -math.inf
        # requests are numbered: the next one, and the first that was sent after the last lesson
        self._next = self._fresh = 0
        self._began = 0.0
        self._moments: deque[float] = deque()
        self._refusals: deque[int] = deque()
        # whether the rate was found while the server was refusing, and how far down single lessons may take it
        self._sure = False
        self._floor = 0.0
        # the rate at which the server was last seen to take what came, before it closed for a while
        self._before = 0.0
        self._closed = self._probing = False
        self._closed_at = self._taken_open = self._gap = self._latency = 0.0

    def delay(self, now: float) -> float:
        """Seconds until the next request may go; 0 or less when it may go now."""
        if self._probing and now >= self._silent_until:
            # the one that asked was not refused
            self._reopen(now)
        return max(self._spaced, self._paid, self._due, self._silent_until) - now

    def send(self, now: float, tokens: int = 0) -> int:
        """A request goes now; its number."""
        number = self._next
        if not number:
            self._began = now
        self._next += 1
        self._moments.append(now)
        while self._moments[0] < now - KEPT:
            self._moments.popleft()
        self._spaced = now + self._spacing
        self._paid = max(now, self._paid) + tokens * self._token_seconds
        if self._closed:
            self._probing = True
            self._silent_until = now + min(1.25 * self._latency + 0.01, LONGEST_PROBE)
        elif self.rate < math.inf:
            self._advance(now)
        return number

    def correct(self, tokens: int) -> None:
        """So many tokens more than were expected (or fewer, below 0) were used."""
        self._paid += tokens * self._token_seconds

    def refused(self, number: int, now: float, *, latency: float, wait: float | None) -> bool | None:
        """This request was refused after `latency` seconds and is to `wait`; whether there is a lesson in it.

        None where it says nothing: it was sent before the last lesson could be known.
        """
        self._remember(number)
        if number < self._fresh:
            return None
        self._latency = latency
        known = number - self._fresh + 1
        share = min(self._refused_of_last(WINDOW, number) / min(known, WINDOW), 1.0)
        if self._closed or self._refused_of_last(6, number) >= min(5, max(known, 3)):
            self._close(number, now, wait)
        elif known >= ENOUGH and share > TOLERATED:
            self._slow_down(number, now, share)
        else:
            return False
        self._fresh = self._next
        return True

    def _remember(self, number: int) -> None:
        self._refusals.append(number)
        oldest = self._next - len(self._moments)
        while self._refusals and self._refusals[0] < oldest:
            self._refusals.popleft()

    def _refused_of_last(self, count: int, number: int) -> int:
        first = max(number - count + 1, self._fresh)
        return sum(first <= refused <= number for refused in self._refusals)

    def _advance(self, now: float) -> None:
        interval = 1 / self.rate
        if self._due > now - LATE:
            back = max(1 - self.rate / self._before, 0.0) if self._before else 0.0
            growth = GROWTH + back if self._sure else QUICK_GROWTH
            # where refusals take their time, it has to be waited for what the last growth brought
            self.rate *= 1 + min(growth / max(self._latency, 1.0) * interval, 0.25)
        self._due = max(self._due, now - LATE) + interval

    def _slow_down(self, number: int, now: float, share: float) -> None:
        sent_at = now - self._latency
        taken = self._taken(number)
        if self.rate == math.inf:
            self._floor = taken * min(sent_at - self._began, PERIOD) / 4
        else:
            # a rate that was growing quickly is above what the last second tells
            self._before = 0.0 if self._sure else self.rate * BACK_OFF
            taken = taken if self._sure else max(taken, self.rate * (1 - share))
            self._sure = True
            self._floor = max(self._floor, self._taken(number) / 4 if sent_at - self._began > PERIOD else 0.0)
        self._set(max(min(taken, self.rate) * BACK_OFF, min(self._floor, self.rate)), now)

    def _close(self, number: int, now: float, wait: float | None) -> None:
        if not self._closed:
            self._closed, self._gap = True, FIRST_GAP / 2
            self._closed_at = now - self._latency
            self._taken_open = self._taken(number)
        self._probing = False
        self._gap = min(2 * self._gap, LONGEST_GAP)
        self._silent_until = now + min(self._gap, math.inf if wait is None else max(wait, FIRST_GAP))

    def _reopen(self, now: float) -> None:
        self._closed = self._probing = False
        self._silent_until = -math.inf
        taken, open_for = self._taken_open, min(self._closed_at - self._began, PERIOD)
        if open_for < PERIOD:
            # it may count by a longer time than there was
            taken *= open_for / min(PERIOD, now - self._began)
        if self.rate == math.inf:
            self._floor = self._taken_open * open_for / 4
            if self._taken_open * open_for < ENOUGH:
                taken = max(taken, GUESS)
        else:
            taken = max(taken, self.rate * 0.8)
            self._before = self.rate * BACK_OFF
        counted = self._taken_open * open_for >= ENOUGH and now - self._closed_at > PERIOD / 2
        self._sure = self._sure or counted
        self._set(min(self.rate, taken) * BACK_OFF, now)

    def _taken(self, number: int) -> float:
        """Requests a second that the server took in the last second before this one, which it refused, was sent."""
        oldest = self._next - len(self._moments)
        if number < oldest:
            return GUESS
        until = self._moments[number - oldest]
        first = next(n for n, moment in enumerate(self._moments, oldest) if moment > until - PERIOD)
        refused = sum(first <= n <= number for n in self._refusals)
        return max(number + 1 - first - refused, 1) / max(min(until - self._began, PERIOD), 0.1)

    def _set(self, rate: float, now: float) -> None:
        self.rate = max(rate, 0.5)
        self._due = now + 1 / self.rate
