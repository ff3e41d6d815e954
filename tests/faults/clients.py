"""People and their assistant who go on calling, whatever happens, and note what they were told.

Every text that is written holds a mark of its owner and number (`tests/marks.py`). A write that was
not answered is sent again with the same key until it is, as a host does.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests import marks
from tests.faults.deployment import Tokens

BASE = "/api/plugins/memory"
TENANT = "faults"
PAUSE_SECONDS = 0.15
AGAIN_SECONDS = 0.3
GIVE_UP_SECONDS = 120.0
RECALL_MS = 1500
RECALL_SLACK_MS = 1000
"""What may come on top of a recall's deadline, beside what a call that asks nothing takes then."""

UNAVAILABLE = frozenset({"unavailable", "not_ready"})


@dataclass
class Ledger:
    """What was acknowledged, and what was wrong. Guarded by its lock."""

    written: dict[str, str] = field(default_factory=dict)
    """Mark → id of each memory that a person was told is stored."""
    tools: set[str] = field(default_factory=set)
    sessions: dict[str, str] = field(default_factory=dict)
    """Mark → session id of each conversation that was taken in."""
    forgotten: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    """Marks of everything that was sent at all, answered or not."""
    answers: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    seen_again: list[str] = field(default_factory=list)
    late_recalls: int = 0
    degraded: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refused(self) -> int:
        """Return how many answers were 503 or none at all."""
        return sum(n for what, n in self.answers.items() if what.split()[-1] in {"503", "none"})


@dataclass
class Clients:
    """A thread for each thing that is done; `stop` waits until every write was answered."""

    tokens: Tokens
    port: Callable[[], int]
    may_hang_up: bool = False
    """Whether a connection may be refused or cut off: while the web process itself is away."""
    model_may_fail: bool = False
    """Whether a tool may refuse, because the model that reviews its fact is away."""
    says_when: bool = True
    """Whether a refusal has to say when to come again; earlier releases did not."""
    slow_seconds: float = 30.0
    ledger: Ledger = field(default_factory=Ledger)
    sends: frozenset[str] = frozenset(
        {"write", "read", "page", "recall", "session", "forget", "tool", "probe"}
    )

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._numbers = iter(range(1, 10**9))
        self._probes: deque[tuple[float, float]] = deque(maxlen=200)

    def start(self) -> None:
        """Begin, each thing in a thread of its own."""
        for sort in sorted(self.sends):
            thread = threading.Thread(target=self._repeat, args=(getattr(self, f"_{sort}"),))
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Begin nothing new; return when everything begun was answered or given up."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(GIVE_UP_SECONDS + 60)

    def _repeat(self, act: Callable[[int], None]) -> None:
        who = 0
        while not self._stopping.is_set():
            who = (who + 1) % len(self.tokens.people)
            act(who)
            self._stopping.wait(PAUSE_SECONDS)

    def mark(self, who: int) -> str:
        """Return a word that nobody else uses."""
        with self.ledger.lock:
            mark = marks.mark_of(who, next(self._numbers))
            self.ledger.sent.add(mark)
        return mark

    # What people do.

    def _write(self, who: int) -> None:
        self.write(who)

    def write(self, who: int) -> str:
        """Store one fact; returns its mark."""
        mark = self.mark(who)
        body = {"content": f"Keeps {mark} on the shelf.", "idempotencyKey": marks.key_of(mark)}
        said = self._until_answered("POST", "/memories", self.tokens.people[who], body)
        if said:
            with self.ledger.lock:
                self.ledger.written[mark] = said["id"]
        return mark

    def _forget(self, who: int) -> None:
        with self.ledger.lock:
            mine = [one for one in self.ledger.written if one not in self.ledger.forgotten]
            mine = [one for one in mine if marks.of(who, [one])]
        if len(mine) < 3:
            return
        path = f"/memories/{self.ledger.written[mine[0]]}"
        token = self.tokens.people[who]
        if self._until_answered("DELETE", path, token, ok=(204, 404)) is not None:
            with self.ledger.lock:
                self.ledger.forgotten.add(mine[0])

    def _read(self, who: int) -> None:
        token = self.tokens.people[who]
        self._seen(who, lambda: self.call("GET", "/memories?limit=25", token))
        self._seen(who, lambda: self.call("GET", "/memories?q=shelf+tea", token))

    def _page(self, who: int) -> None:
        """Open the page of what is remembered, signed in."""
        headers = {"Cookie": self.tokens.cookies[who]}
        sent = self._sent("GET", "/memories", None, headers)
        if sent is None:
            return
        status, raw, retry_after = sent
        with self.ledger.lock:
            self.ledger.leaks.extend(marks.not_of(who, marks.marks_in(raw.decode())))
        if status == 503 and not retry_after:
            self._note_wrong("GET page 503 without retry-after")
        elif status not in {200, 503}:
            self._note_wrong(f"GET page {status}")

    # What their assistant does.

    def _recall(self, who: int) -> None:
        body = {
            **marks.turn(who, tenant=TENANT),
            "text": "Which tea is on the shelf?",
            "deadlineMs": RECALL_MS,
        }
        began = time.monotonic()
        self._seen(who, lambda: self.call("POST", "/recall", self.tokens.host, body))
        took = time.monotonic() - began
        # A busy machine makes everybody wait, also who asks for nothing.
        busy = max((seconds for at, seconds in list(self._probes) if at > began), default=0.0)
        if (took - busy) * 1000 > RECALL_MS + RECALL_SLACK_MS:
            with self.ledger.lock:
                self.ledger.late_recalls += 1

    def _probe(self, _: int) -> None:
        """Ask whether the process is there, and note how long that took."""
        began = time.monotonic()
        self._sent("GET", "/healthz", None, {})
        ended = time.monotonic()
        self._probes.append((ended, ended - began))

    def _tool(self, who: int) -> None:
        mark = self.mark(who)
        arguments = {"content": f"Keeps {mark} in the cellar.", "kind": "knowledge"}
        body = {
            **marks.turn(who, tenant=TENANT),
            "arguments": arguments,
            "toolCallId": marks.key_of(mark),
        }
        said = self._until_answered("POST", "/tools/createMemory", self.tokens.host, body)
        if said and not said.get("error"):
            with self.ledger.lock:
                self.ledger.tools.add(mark)

    def _session(self, who: int) -> None:
        self.hand_in(who)

    def hand_in(self, who: int) -> str:
        """Hand in one conversation that teaches one fact; returns its mark."""
        mark = self.mark(who)
        body = marks.told(
            who,
            f"I like this one best: told {mark} told, as tea in the morning.",
            tenant=TENANT,
            session_id=marks.key_of(mark),
            at=datetime.now(UTC).isoformat(),
        )
        if self._until_answered("POST", "/sessions", self.tokens.host, body, ok=(200, 202)):
            with self.ledger.lock:
                self.ledger.sessions[mark] = marks.key_of(mark)
        return mark

    def retry(self, session_id: str) -> bool:
        """Let a session that was given up be tried again, as staff do on the System page."""
        path = f"/sessions/{session_id}/retry?agent=default"
        said = self.call("POST", path, self.tokens.staff, ok=(200, 202))
        return said is not None

    def _seen(self, who: int, ask: Callable[[], Any]) -> None:
        """Ask, and note what is shown that is another one's, or was forgotten before."""
        with self.ledger.lock:
            gone = marks.of(who, self.ledger.forgotten)
        said = ask()
        if not said:
            return
        shown = marks.marks_in(json.dumps(said))
        with self.ledger.lock:
            self.ledger.degraded += bool(said.get("degraded"))
            self.ledger.leaks.extend(marks.not_of(who, shown))
            self.ledger.seen_again.extend(shown & gone)

    def _until_answered(
        self,
        method: str,
        path: str,
        token: str,
        body: Any = None,
        *,
        ok: tuple[int, ...] = (200, 201),
    ) -> Any:
        """Send it until it is answered; after a while give up, which counts as wrong."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            said = self.call(method, path, token, body, ok=ok)
            if said is not None:
                return said
            time.sleep(AGAIN_SECONDS)
        self._note_wrong(f"{method} {_place(BASE + path)} never answered")
        return None

    def call(
        self,
        method: str,
        path: str,
        token: str,
        body: Any = None,
        *,
        ok: tuple[int, ...] = (200,),
    ) -> Any:
        """Make one call; None when it was refused or not answered."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent = self._sent(method, BASE + path, body, headers)
        if sent is None:
            return None
        status, raw, retry_after = sent
        if status == 422 and self.model_may_fail and "/tools/" in path:
            return {}
        if status in ok:
            return json.loads(raw) if raw else {}
        self._judge_refusal(f"{method} {_place(BASE + path)}", status, raw, retry_after)
        return None

    def _sent(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> tuple[int, bytes, str | None] | None:
        """Send it on a connection of its own; returns status, body, and when to come again."""
        line = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=self.slow_seconds)
        place = f"{method} {_place(path)}"
        try:
            line.request(method, path, json.dumps(body) if body else None, headers)
            answer = line.getresponse()
            raw, status = answer.read(), answer.status
        except TimeoutError:
            self._note_wrong(f"{place} hung for {self.slow_seconds:.0f} s")
            return None
        except (OSError, http.client.HTTPException) as error:
            self._note(f"{place} none")
            if not self.may_hang_up:
                self._note_wrong(f"{place} {type(error).__name__}")
            return None
        finally:
            line.close()
        self._note(f"{place} {status}")
        return status, raw, answer.headers.get("retry-after")

    def _judge_refusal(self, place: str, status: int, raw: bytes, retry_after: str | None) -> None:
        """A refusal says 503 in our shape, and when to come again."""
        try:
            code = json.loads(raw)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            code = "no shape of ours"
        if code == "in_progress":
            return
        if status != 503 or code not in UNAVAILABLE:
            self._note_wrong(f"{place} {status} {code}")
        elif self.says_when and not retry_after:
            self._note_wrong(f"{place} 503 without retry-after")

    def _note(self, what: str) -> None:
        with self.ledger.lock:
            self.ledger.answers[what] += 1

    def _note_wrong(self, what: str) -> None:
        with self.ledger.lock:
            self.ledger.wrong[what] += 1


def _place(path: str) -> str:
    """Return an address without what is particular to one call."""
    path = path.removeprefix(BASE) if path.startswith(BASE) else f"page {path}"
    return re.sub("[0-9a-f-]{36}", "ID", path.partition("?")[0])
