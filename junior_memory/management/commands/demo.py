"""`manage.py demo`: a fictional team's ninety days, handed in through the API, then served."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.test import Client
from django.urls import reverse
from procrastinate.contrib.django import app

from junior_memory import clock, conflicts, demo, people
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
from junior_memory.conf import conf
from junior_memory.models import CompletedSession, Membership, Memory, User
from junior_memory.providers import local
from junior_memory.queue import QUEUE

BY_DEMO = Doer(via="command")
API = "/api/plugins/memory"
JSON = "application/json"
READY_SECONDS = 60
PR_SET_PDEATHSIG = 1
"""Linux's number for "send me a signal when my parent ends" (prctl(2))."""
STOP_SECONDS = 15
EXPECTED = frozenset({200, 202})


@dataclass(slots=True)
class State:
    """What a second run must know: the day the story ends on, and the secrets it printed."""

    ends_on: str
    password: str
    agent_token: str
    finished: bool = False

    @property
    def path(self) -> Path:
        """The file that also tells every page that this is demo data."""
        return Path(settings.DATA_DIR) / "demo"

    def save(self) -> None:
        """Write it for its owner's eyes alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        self.path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def moment(self, day: int, at: Any) -> datetime:
        """Return a moment of the story; day 0 is the day it ends on."""
        return datetime.combine(
            date.fromisoformat(self.ends_on) + timedelta(days=day), at, tzinfo=UTC
        )


class Command(BaseCommand):
    """Makes the demo's people, lives through its history once, serves web and worker."""

    help = "Fill a demo deployment with fiction and serve it; a second run changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer the port, and filling without serving."""
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))
        parser.add_argument("--no-serve", action="store_true", help="fill only")

    def handle(self, *_: Any, **options: Any) -> None:
        """Fill, serve until Ctrl-C, stop everything that was started."""
        _embed_by_default()
        self._say("preparing the database")
        call_command("migrate", verbosity=0)
        state = self._people()
        if state.finished:
            self._say("the history is there already")
        else:
            self._live(state)
            state.finished = True
            state.save()
        if not options["no_serve"]:
            self._serve(state, options["port"])

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    # The people.

    def _people(self) -> State:
        state = self._state()
        moment = state.moment(-90, datetime.min.time())
        organization, _ = people.create_organization(
            demo.ORGANIZATION.slug, name=demo.ORGANIZATION.name
        )
        for person in demo.PEOPLE:
            with clock.at(moment):
                user = people.create_person(person.email, staff=person.is_staff)
                people.change_preferences(
                    user, doer=BY_DEMO, topics=list(person.topics), display_name=person.name
                )
            user.refresh_from_db()
            user.set_password(state.password)
            user.save(update_fields=["password"])
            Membership.objects.get_or_create(organization=organization, user=user)
        for identity in demo.IDENTITIES:
            if identity.person is None:
                continue
            reference = ActorRef(identity.provider, identity.tenant, identity.subject)
            row = people.identity_for(reference, display_name=identity.display_name)
            user = User.objects.get(email=identity.person.email)
            people.link_identity(row, user, doer=BY_DEMO, now=moment)
        if not state.agent_token:
            agent, _ = people.agent_named(demo.AGENT.name, made_by_token=True)
            _, state.agent_token = people.create_agent_token(
                agent,
                scopes=sorted(people.AGENT_SCOPES),
                organization=organization,
                doer=BY_DEMO,
                label="demo",
            )
            state.save()
        return state

    def _state(self) -> State:
        path = Path(settings.DATA_DIR) / "demo"
        if path.is_file():
            with suppress(ValueError, TypeError):
                return State(**json.loads(path.read_text(encoding="utf-8")))
        today = clock.now().astimezone(UTC).date()
        state = State(
            # Yesterday, so that the last lines of the story are in the past at any hour.
            ends_on=(today - timedelta(days=1)).isoformat(),
            password=secrets.token_urlsafe(9),
            agent_token="",
        )
        state.save()
        return state

    # The history.

    def _live(self, state: State) -> None:
        """Hand in, ask and forget day by day, with the clock set to that day."""
        client = Client(headers={"host": "127.0.0.1"})
        for day, steps in self._days(state):
            for moment, step, item in steps:
                with clock.at(moment):
                    getattr(self, f"_{step}")(client, state, item, moment)
            with clock.at(steps[-1][0]):
                self._work()
            kept = Memory.objects.count()
            self._say(f"{day:%d %b}: {len(steps)} happenings, {kept} memories so far")
        left = CompletedSession.objects.exclude(state__in=["processed", "skipped"]).count()
        if left:
            raise CommandError(f"{left} conversations were not processed; see the log")

    def _days(self, state: State) -> Iterator[tuple[date, list[tuple[datetime, str, Any]]]]:
        steps: list[tuple[datetime, str, Any]] = [
            (state.moment(one.day, one.ends_at), "hand_in", one) for one in demo.conversations()
        ]
        steps += [(state.moment(one.day, one.at), "recall", one) for one in demo.RECALLS]
        steps += [(state.moment(one.day, one.at), "forget", one) for one in demo.FORGETS]
        steps += [(state.moment(one.day, one.at), "correct", one) for one in demo.CORRECTIONS]
        steps += [(state.moment(one.day, one.at), "report", one) for one in demo.REPORTS]
        steps += [(state.moment(one.day, one.at), "dispute", one) for one in demo.DISPUTES]
        steps.sort(key=lambda step: step[0])
        for day in sorted({moment.date() for moment, _, _ in steps}):
            yield day, [step for step in steps if step[0].date() == day]

    def _post(self, client: Client, path: str, state: State, body: object) -> None:
        answer = client.post(
            f"{API}{path}",
            json.dumps(body),
            content_type=JSON,
            headers={"authorization": f"Bearer {state.agent_token}"},
        )
        if answer.status_code not in EXPECTED:
            raise CommandError(f"{path} answered {answer.status_code}")

    def _hand_in(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        self._post(client, "/sessions", state, item.as_session(moment))

    def _recall(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        del moment
        self._work()
        self._post(client, "/recall", state, item.as_request())

    def _forget(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        """Forget as the person would: find it in their list, then let it go."""
        del state, moment
        self._work()
        client.force_login(User.objects.get(email=item.person.email))
        cursor = ""
        while True:
            page = client.get(f"{API}/memories", cursor_of(cursor)).json()
            for memory in page["memories"]:
                if item.text.lower() in memory["content"].lower() and memory["forgettable"]:
                    client.delete(f"{API}/memories/{memory['id']}")
            cursor = page["nextCursor"] or ""
            if not cursor:
                break
        client.logout()

    def _correct(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        """Correct as the person would, from the memory's page."""
        del state, moment
        self._work()
        owner = User.objects.get(email=item.person.email)
        client.force_login(owner)
        rows = Memory.objects.filter(owner=owner, content=item.text, superseded_at__isnull=True)
        for memory in rows.filter(archived_at__isnull=True):
            answer = client.patch(
                f"{API}/memories/{memory.pk}",
                json.dumps({"content": item.says, "version": memory.version}),
                content_type=JSON,
            )
            if answer.status_code != 200:
                raise CommandError(f"a correction answered {answer.status_code}")
        client.logout()

    def _report(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        """Report as the author of a public memory would, from its page."""
        del state, moment
        self._work()
        client.force_login(User.objects.get(email=item.person.email))
        found = Memory.objects.filter(visibility="public", content__icontains=item.text)
        for memory in found.filter(archived_at__isnull=True):
            client.post(
                f"{API}/memories/{memory.pk}/report",
                json.dumps({"reason": item.reason}),
                content_type=JSON,
            )
        client.logout()

    def _dispute(self, client: Client, state: State, item: Any, moment: datetime) -> None:
        """Put to a person what disagrees, as adjudication by a model would."""
        del client, state
        self._work()
        owner = User.objects.get(email=item.person.email)
        rows = [
            Memory.objects.filter(owner=owner, content=text).active(moment).first()
            for text in (item.first, item.second)
        ]
        first, second = rows
        if first is not None and second is not None:
            conflicts.propose(first, second, now=moment)

    def _work(self) -> None:
        """Let the real worker empty the queue."""
        with app.replace_connector(app.connector.get_worker_connector()):  # type: ignore[attr-defined]
            asyncio.run(_empty_queue())

    # Serving.

    def _serve(self, state: State, port: int) -> None:
        if not _is_free(port):
            raise CommandError(f"port {port} is taken; choose another one with PORT=")
        python = sys.executable
        environment = os.environ | {"MEMORY_BASE_URL": f"http://127.0.0.1:{port}"}
        manage = str(Path(settings.BASE_DIR) / "manage.py")
        web = [python, "-m", "uvicorn", "junior_memory.asgi:application"]
        web += ["--host", "127.0.0.1", "--port", str(port), "--no-access-log"]
        web += ["--log-level", "warning"]
        # A group of their own: Ctrl-C reaches this process, which then stops them in order.
        children = [
            subprocess.Popen(  # noqa: S603
                command,
                env=environment,
                cwd=settings.BASE_DIR,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
            for command in (web, [python, manage, "worker"])
        ]
        # Set by name: a shell that starts this in the background hands down an ignored Ctrl-C.
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, _interrupt)
        try:
            self._announce(state, port, children)
            while all(child.poll() is None for child in children):
                time.sleep(0.3)
            raise CommandError("a process ended by itself; see the lines above")
        except KeyboardInterrupt:
            self._say("\nstopping")
        finally:
            _stop(children)

    def _announce(self, state: State, port: int, children: list[subprocess.Popen[bytes]]) -> None:
        base = f"http://127.0.0.1:{port}"
        self._say(f"starting at {base}")
        deadline = time.monotonic() + READY_SECONDS
        while not _is_ready(f"{base}/readyz"):
            if any(child.poll() is not None for child in children):
                raise CommandError(f"the server did not start; is port {port} taken?")
            if time.monotonic() > deadline:
                raise CommandError("the server did not become ready")
            time.sleep(0.2)
        if any(child.poll() is not None for child in children):
            raise CommandError(f"the server did not start; is port {port} taken?")
        self._say(f"\nready at {base}/memories\n")
        self._say("sign in with the password " + state.password + " as")
        for person in demo.PEOPLE:
            user = User.objects.get(email=person.email)
            uid, token = people.sign_in_token(user)
            role = ", staff" if person.is_staff else ""
            self._say(f"  {person.email}  ({person.name}{role})")
            self._say(f"    or once by {base}{reverse('sign_in_confirm', args=[uid, token])}")
        self._say(f"\nagent token ({demo.AGENT.name}): {state.agent_token}")
        self._say("\nCtrl-C stops everything.")


def _embed_by_default() -> None:
    """Use the local embedder, here and in what is started, unless the deployment chose one."""
    if os.environ.get("MEMORY_EMBEDDER") or not local.is_installed():
        return
    os.environ["MEMORY_EMBEDDER"] = "local"
    settings.JUNIOR_MEMORY = {**settings.JUNIOR_MEMORY, "embedder": "local"}
    conf.cache_clear()


def cursor_of(cursor: str) -> dict[str, str]:
    """Return the query that asks for the next page."""
    return {"limit": "50", "cursor": cursor} if cursor else {"limit": "50"}


async def _empty_queue() -> None:
    async with app.open_async():
        await app.run_worker_async(
            queues=[QUEUE],
            wait=False,
            concurrency=1,
            delete_jobs="successful",
            install_signal_handlers=False,
        )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _end_with_parent() -> None:
    """Let the kernel end this child when the demo is killed outright, so that nothing stays."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    for child in children:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
