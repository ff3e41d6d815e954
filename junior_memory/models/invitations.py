"""Who was invited and has not come yet, or came."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from junior_memory.models.people import User


class Invitation(models.Model):
    """An address that staff invited; the link itself is kept as a digest alone.

    Withdrawing one deletes it, and it goes with the person who came by it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(max_length=254)
    staff = models.BooleanField(default=False)
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    person = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Serves the look-up by address, too.
            models.UniqueConstraint(
                Lower("email"),
                condition=models.Q(accepted_at__isnull=True),
                name="invitation_open_once",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
