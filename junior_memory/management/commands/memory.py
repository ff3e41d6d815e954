"""`manage.py memory search|show`: administrative reads with selectors and safe defaults."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from junior_memory import access, admin_reads, clock
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import JuniorMemoryError
from junior_memory.models import Memory, User, Visibility
from junior_memory.search import Filters, search_memories

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
FIELDS = ("created_at", "observed_at", "expires_at", "archived_at", "superseded_at", "purged_at")


class Command(BaseCommand):
    """Shows memories to an operator; content stays hidden unless a staff member gives a reason."""

    help = (
        "Search or show memories. Content is hidden unless --show-content --reason --as is given."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer `search` and `show`."""
        actions = parser.add_subparsers(dest="action", required=True)
        search = actions.add_parser("search", help="one visibility, one owner")
        search.add_argument("--visibility", required=True, choices=Visibility.values)
        search.add_argument("--owner", required=True, metavar="EMAIL", help="whose eyes to use")
        search.add_argument("--limit", type=int, default=DEFAULT_LIMIT)
        search.add_argument("query", nargs="*")
        show = actions.add_parser("show", help="one memory by its id, in any state")
        show.add_argument("id")
        for action in (search, show):
            action.add_argument("--show-content", action="store_true")
            action.add_argument("--reason", default="")
            action.add_argument("--as", dest="staff", default="", metavar="STAFF_EMAIL")

    def handle(self, *_: Any, **options: Any) -> None:
        """Run one of the two."""
        try:
            if options["action"] == "search":
                self._search(options)
            else:
                self._show(options)
        except JuniorMemoryError as error:
            raise CommandError(error.message) from error

    def _search(self, options: dict[str, Any]) -> None:
        owner = User.objects.filter(email=options["owner"].strip().lower()).first()
        if owner is None:
            raise CommandError("no such person")
        reveal = self._may_show(options, owner)
        viewer = access.person(owner)
        limit = min(max(options["limit"], 1), MAX_LIMIT)
        query = " ".join(options["query"]).strip()
        if query:
            filters = Filters(visibility=options["visibility"])
            hits = search_memories(viewer, query, limit=min(limit, 50), filters=filters).hits
            rows = [hit.memory for hit in hits]
        else:
            seen = Memory.objects.visible_to(viewer).active(clock.now())
            found = seen.in_filters(visibility=options["visibility"]).newest_first()
            rows = list(found.for_list()[:limit])
        if not rows:
            self.stdout.write("nothing matched")
        for row in rows:
            self._print(row, reveal=reveal)

    def _show(self, options: dict[str, Any]) -> None:
        try:
            memory_id = UUID(options["id"])
        except ValueError as error:
            raise CommandError("that is no memory id") from error
        memory = Memory.objects.filter(pk=memory_id).select_related("owner", "agent").first()
        if memory is None:
            raise CommandError("no such memory")
        self._print(memory, reveal=self._may_show(options, memory.owner, memory))

    def _may_show(
        self, options: dict[str, Any], owner: User | None, memory: Memory | None = None
    ) -> bool:
        """Record the reasoned read before a word is shown; True when content may be."""
        if not options["show_content"]:
            return False
        staff = User.objects.filter(email=options["staff"].strip().lower(), is_staff=True).first()
        if staff is None or not options["reason"].strip():
            raise CommandError("--show-content needs --reason and --as with a staff address")
        doer = Doer(user=staff, via="command")
        if owner is None:
            record_audit(
                "read_as_admin",
                doer,
                now=clock.now(),
                memory_id=memory.pk if memory else None,
                reason=options["reason"].strip()[: admin_reads.MAX_REASON],
            )
        else:
            admin_reads.open_read(staff, owner, reason=options["reason"], doer=doer)
        return True

    def _print(self, memory: Memory, *, reveal: bool) -> None:
        parts = [
            f"id={memory.pk}",
            f"visibility={memory.visibility}",
            f"owner={memory.owner_id or '-'}",
            f"agent={memory.agent.name}",
            f"kind={memory.kind}",
            f"subject={memory.subject_type}",
        ]
        parts += [
            f"{name.removesuffix('_at')}={moment.isoformat()}"
            for name in FIELDS
            if (moment := getattr(memory, name)) is not None
        ]
        self.stdout.write(" ".join(parts))
        if reveal:
            self.stdout.write(f"  {memory.content or '(erased)'}")
