"""People and their assistant over HTTP: what they do, and what in the answers is wrong.

Every text that is written holds a mark of its owner and number (`tests/marks.py`), so that whatever
somebody is shown says whose it is, and whether it was forgotten before the question was asked.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import UUID

from junior_memory import clock, people
from junior_memory.audit import Doer
from junior_memory.models import Identity, Memory, User
from tests import marks
from tests.benchmarks.corpus import Corpus

BASE = "/api/plugins/memory"
TENANT = "load"
AGAIN = 0.1
"""Share of writes that are sent twice."""

UNDONE = 0.2
"""Share of what was forgotten that is brought back at once."""

IDLE_SECONDS = 2.0
"""After which a connection is not used again: the web server closes them after 5 s."""


@dataclass
class Tally:
    """What happened. Guarded by its lock."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    degraded: int = 0
    leaks: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    seen_again: list[str] = field(default_factory=list)
    """Marks that were shown in an answer asked for after their forgetting was answered."""

    undone: int = 0
    sessions: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Traffic:
    """People and their assistant."""

    def __init__(self, corpus: Corpus, acting: int, port: int) -> None:
        self.corpus, self.port = corpus, port
        agent, _ = people.agent_named("default")
        agent.extract = True
        agent.save(update_fields=["extract"])
        doer = Doer(via="command")
        _, self.host = people.create_agent_token(
            agent, scopes=["recall", "sessions", "tools"], doer=doer
        )
        self.people = list(range(min(acting, corpus.owners)))
        users = User.objects.in_bulk([corpus.owner_id(number) for number in self.people])
        self.tokens = {}
        for number in self.people:
            user = users[corpus.owner_id(number)]
            Identity.objects.create(provider="web", tenant=TENANT, subject=str(number), user=user)
            _, self.tokens[number] = people.create_personal_token(
                user, scopes=["read", "write"], doer=doer
            )
        # Whose each row is, for the leak check.
        self.owners = dict(Memory.objects.filter(owner__isnull=False).values_list("id", "owner_id"))
        self.tally = Tally()
        self.made: dict[int, list[tuple[str, str]]] = defaultdict(list)
        self.numbers = iter(range(1, 10**9))
        self._local = threading.local()

    def act(self, sort: str) -> None:
        """Do one thing as one person, and look at the answer."""
        chance = random.Random(f"act {next(self.numbers)}")  # noqa: S311
        getattr(self, f"do_{sort}")(chance.choice(self.people), chance)

    # What people do.

    def do_list(self, who: int, chance: random.Random) -> None:
        kind = chance.choice(("", "&kind=knowledge", "&visibility=private"))
        self._seen(who, lambda: self.call("GET", f"/memories?limit=25{kind}", self.tokens[who]))

    def do_search(self, who: int, chance: random.Random) -> None:
        text = self.corpus.question(chance.randrange(self.corpus.rows))
        path = f"/memories?q={quote(text[:200])}"
        self._seen(who, lambda: self.call("GET", path, self.tokens[who]))

    def do_create(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        body = {"content": f"Keeps {mark} on the shelf.", "idempotencyKey": marks.key_of(mark)}
        answer = self.call("POST", "/memories", self.tokens[who], body, ok=(201,))
        if chance.random() < AGAIN:
            self.call("POST", "/memories", self.tokens[who], body, ok=(200,))
        if answer:
            with self.tally.lock:
                self.tally.written[mark] = answer["id"]
                self.made[who].append((mark, answer["id"]))

    def do_forget(self, who: int, chance: random.Random) -> None:
        with self.tally.lock:
            mine = self.made[who]
            mark, memory_id = mine.pop() if mine else ("", "")
        if not mark:
            self.do_create(who, chance)
            return
        path = f"/memories/{memory_id}"
        done = self.call("DELETE", path, self.tokens[who], ok=(204,))
        self.call("GET", path, self.tokens[who], ok=(404,))
        if done is None:
            return
        if chance.random() < UNDONE:
            if self.call("POST", f"{path}/restore", self.tokens[who]):
                with self.tally.lock:
                    self.tally.undone += 1
                    self.made[who].append((mark, memory_id))
            return
        with self.tally.lock:
            self.tally.forgotten.add(mark)
        # Asked for by its own word at once, by the person and by their assistant.
        self._seen(who, lambda: self.call("GET", f"/memories?q={mark}", self.tokens[who]))
        body = {**marks.turn(who, tenant=TENANT), "text": f"Where is {mark}?"}
        self._seen(who, lambda: self.call("POST", "/recall", self.host, body))

    # What their assistant does.

    def do_recall(self, who: int, chance: random.Random) -> None:
        text = self.corpus.question(chance.randrange(self.corpus.rows))
        body = {**marks.turn(who, tenant=TENANT), "text": text}
        self._seen(who, lambda: self.call("POST", "/recall", self.host, body))

    def do_tool(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        if chance.random() < 0.5:
            arguments: dict[str, Any] = {"query": self.corpus.question(chance.randrange(100))}
            body = {**marks.turn(who, tenant=TENANT), "arguments": arguments}
            tool = "/tools/searchMemories"
            self._seen(who, lambda: self.call("POST", tool, self.host, body))
            return
        arguments = {"content": f"Keeps {mark} in the cellar.", "kind": "knowledge"}
        body = {
            **marks.turn(who, tenant=TENANT),
            "arguments": arguments,
            "toolCallId": marks.key_of(mark),
        }
        answer = self.call("POST", "/tools/createMemory", self.host, body)
        if chance.random() < AGAIN:
            self.call("POST", "/tools/createMemory", self.host, body)
        if answer:
            with self.tally.lock:
                self.tally.written[mark] = ""

    def do_session(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        body = marks.told(
            who,
            f"I prefer {mark} tea in the morning.",
            tenant=TENANT,
            session_id=marks.key_of(mark),
            at=clock.now().isoformat(),
        )
        answer = self.call("POST", "/sessions", self.host, body, ok=(202,))
        if chance.random() < AGAIN:
            self.call("POST", "/sessions", self.host, body, ok=(200,))
        if answer:
            with self.tally.lock:
                self.tally.sessions[mark] = marks.key_of(mark)

    def _mark(self, who: int) -> str:
        return marks.mark_of(who, next(self.numbers))

    def _seen(self, who: int, ask: Callable[[], Any]) -> None:
        """Ask, and note what is shown that is not theirs to see, or was forgotten before."""
        with self.tally.lock:
            gone = marks.of(who, self.tally.forgotten)
        answer = ask()
        if not answer:
            return
        mine = self.corpus.owner_id(who)
        if answer.get("degraded"):
            with self.tally.lock:
                self.tally.degraded += 1
        shown = marks.marks_in(answer.get("prompt") or "")
        strangers: set[str] = set()
        for row in answer.get("memories", answer.get("results", [])):
            shown |= marks.marks_in(row["content"])
            if self.owners.get(UUID(row["id"]), mine) != mine:
                strangers.add(row["id"])
        with self.tally.lock:
            self.tally.leaks.extend(strangers | marks.not_of(who, shown))
            self.tally.seen_again.extend(shown & gone)

    def call(
        self,
        method: str,
        path: str,
        token: str,
        body: Any = None,
        *,
        ok: tuple[int, ...] = (200,),
    ) -> Any:
        """Make one call on this thread's connection; an answer but the expected is an error."""
        kept = self._connection()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            kept.request(method, BASE + path, json.dumps(body) if body else None, headers)
            answer = kept.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            kept.close()
            self._fault(method, path, type(error).__name__)
            return None
        if answer.status not in ok:
            self._fault(method, path, str(answer.status))
            return None
        return json.loads(text) if text else {"id": ""}

    def _connection(self) -> http.client.HTTPConnection:
        """Return this thread's connection, a new one when the server may have closed it."""
        kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if kept is None:
            kept = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self._local.connection = kept
        if time.monotonic() - getattr(self._local, "used_at", 0.0) > IDLE_SECONDS:
            kept.close()  # It connects again by itself.
        self._local.used_at = time.monotonic()
        return kept

    def _fault(self, method: str, path: str, what: str) -> None:
        place = re.sub("[0-9a-f-]{36}", "ID", path.partition("?")[0])
        with self.tally.lock:
            self.tally.errors[f"{method} {place} {what}"] += 1
