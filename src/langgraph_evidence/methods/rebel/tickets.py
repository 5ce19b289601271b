"""Tells a use of a tool that this process begins from one that an earlier process may have begun.

A ticket is written into the state one step before the tool is used, and is good once, in this process. A run that was
killed and resumed finds a ticket that is not: whether that use went through nobody knows.
"""

from __future__ import annotations

import threading
import uuid

_lock = threading.Lock()
_issued: set[str] = set()


def issue() -> str:
    """A ticket for one use."""
    ticket = uuid.uuid4().hex
    with _lock:
        _issued.add(ticket)
    return ticket


def redeem(ticket: str) -> bool:
    """Whether the use may begin: the ticket was issued here and nobody has redeemed it."""
    with _lock:
        known = ticket in _issued
        _issued.discard(ticket)
    return known
