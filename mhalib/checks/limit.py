"""A time limit for a reader's code, and a loop that ends when it is told to."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

HAS_THREADS = sys.platform != "emscripten"  # Python in a browser has none
WARM_UP = 4  # the first call may take so many times as long: some code compiles itself then
_QUIET = BaseException.__init__


@dataclass(frozen=True)
class Called:
    """What became of a call: its `value` or `error`, or no answer in time."""

    value: Any = None
    error: BaseException | None = None
    late: float = 0.0  # seconds waited in vain
    ended: bool = True  # whether a late call could be ended


def _called(call: Callable[[], Any]) -> Called:
    try:
        return Called(call())
    except BaseException as error:  # whatever a reader's code raises, SystemExit too
        return Called(error=error)


def call_all(calls: Sequence[Callable[[], Any]], seconds: float | None) -> list[Called]:
    """Make the calls, one after the other, and stop at the first that takes too long.

    Each may take `seconds`, the first one `WARM_UP` times as long; if it needed that, all of them.
    They run in one thread, since signals work neither on Windows nor outside the main thread.
    Without `seconds`, or where there are no threads, they are plain calls, and the limit is the
    caller's.
    """
    if seconds is None or not HAS_THREADS:
        return [_called(call) for call in calls]

    import threading

    answers: list[Called] = []
    starts: list[float] = []
    box = SimpleNamespace(stop=SimpleNamespace())

    def work() -> None:
        try:
            for call in calls:
                starts.append(time.monotonic())
                answers.append(_called(call))
        except BaseException:
            box.stop.__init__ = _QUIET  # from here on it does not come again
            try:  # noqa: SIM105 (suppress is Python code, in which it would arrive)
                _nothing()  # where one that is still on its way arrives
            except BaseException:
                pass

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    limit = WARM_UP * seconds
    try:
        while thread.is_alive():
            done, now = len(answers), time.monotonic()
            if len(starts) > 1 and starts[1] - starts[0] <= seconds:
                limit = seconds
            left = limit - (now - starts[-1]) if starts else limit
            if left <= 0 and done == len(starts) - 1:
                return [*answers[:done], Called(late=limit, ended=_stop(thread, box))]
            thread.join(min(max(left, 0.001), seconds / 4))
    except BaseException:  # the reader interrupts the cell: the loop ends with it
        _stop(thread, box)
        raise
    return answers


def _nothing() -> None: ...


def _stop(thread: Any, box: SimpleNamespace) -> bool:
    """End the thread, and return whether that worked: a call that hangs in C stays behind.

    The exception that ends it is thrown again each time when it is caught, so that no ``except:``
    in the reader's loop can swallow it. Throwing it again must not run any Python code, in which
    the new one would arrive: its ``__init__`` is a C function with its arguments.
    """
    import ctypes

    throw = ctypes.PYFUNCTYPE(None, ctypes.c_ulong, ctypes.py_object)(
        ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
    )
    stop: Any = type("Stopped", (BaseException,), {})
    again = partial(throw, thread.ident, stop)
    stop.__init__ = again
    box.stop = stop
    again()
    thread.join(1.0)
    return not thread.is_alive()
