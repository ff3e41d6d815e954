"""The product's own knobs: one frozen model of `settings.JUNIOR_MEMORY`, read through `conf()`."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal

from django.conf import settings
from django.core.signals import setting_changed
from pydantic import BaseModel, ConfigDict, Field, SecretStr


class MemoryConf(BaseModel):
    """Every knob that changes how memory behaves, with its unit and limits."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fingerprint_keys: dict[str, str] = Field(min_length=1)
    """Keys for fingerprints by id; the first one is used for new rows, the rest for look-up."""
    embedder: Literal["none", "local", "openai", "fake"] = "none"
    """What turns text into vectors; without one, search and recall go by words and characters."""
    embedding_model: str = Field(default="", max_length=200)
    """Its model; empty means the embedder's own default."""
    embedding_dimensions: int | None = Field(default=None, ge=1, le=2000)
    """Dimensions of a model that we do not know, or to shorten one to that can be."""
    embedding_cutoff: float | None = Field(default=None, gt=0, le=2)
    """Cosine distance up to which recall counts a memory as close; None: the model's own."""
    vector_index_mb: int = Field(default=512, ge=0, le=1_000_000)
    """Memory that a process may take for codes of public vectors, a little over one byte for each
    dimension; those that find no room are compared in the database."""
    ai_model: str = Field(default="", max_length=200)
    """The chat model that reviews, extracts, adjudicates and selects; empty: none of them asks."""
    model_timeout_ms: int = Field(default=60_000, ge=1_000, le=600_000)
    """What one question to the chat model may take, outside recall, which has its own deadline."""
    model_context_tokens: int = Field(default=16_000, ge=2_000, le=2_000_000)
    """Tokens that the chat model reads at once; longer conversations are read in windows."""
    over_budget: Literal["heuristic", "queue"] = "heuristic"
    """When a budget is reached, conversations are read without the model, or wait for the money."""
    consent_gate: str = ""
    """Dotted path of a callable that says whether memory may be used in a conversation."""
    prompt_format: str = ""
    """Dotted path of a callable that writes the block for the prompt."""
    openai_api_key: SecretStr = SecretStr("")
    openai_base_url: str = ""
    """An endpoint that speaks OpenAI's language; empty means OpenAI's."""
    fusion: Literal["measured", "original"] = "measured"
    """How lists are fused by rank; `original` is the preset of the system this follows."""
    recall_enabled: bool = True
    extraction_enabled: bool = True
    retrieve_timeout_ms: int = Field(default=1500, ge=50, le=10_000)
    """How long a recall may take when the host does not say (DESIGN 6)."""
    purge_after_days: int = Field(default=30, ge=0, le=3650)
    """The undo window between forgetting and erasing (DESIGN 3)."""
    active_quota: int = Field(default=5000, ge=1)
    """Active memories per person and agent (DESIGN 3)."""
    public_from_unlinked: Literal["hold", "store"] = "hold"
    public_facts_per_identity_a_day: int = Field(default=20, ge=0)
    """New public facts of one Identity a day before the rest are held (DESIGN 5)."""
    held_days: int = Field(default=30, ge=1)
    """Days after which a held memory counts as declined (DESIGN 3)."""
    failed_transcript_days: int = Field(default=7, ge=0)
    queued_transcript_days: int = Field(default=30, ge=1)
    invitation_days: int = Field(default=7, ge=1, le=90)
    """How long the link of an invitation works."""
    token_writes_per_minute: int = Field(default=600, ge=1)
    token_reads_per_minute: int = Field(default=6000, ge=1)
    daily_budget_usd: Decimal | None = None
    monthly_budget_usd: Decimal | None = None
    base_url: str = "http://127.0.0.1:8000"
    """Where people reach the dashboard; only for links that are printed or mailed."""
    demo: bool = False
    """True on a deployment that holds demo data; every page then says so."""

    @property
    def fingerprint_key_id(self) -> str:
        """The id of the key that signs new fingerprints."""
        return next(iter(self.fingerprint_keys))


@lru_cache(maxsize=1)
def conf() -> MemoryConf:
    """Return the deployment's knobs, validated once."""
    return MemoryConf.model_validate(settings.JUNIOR_MEMORY)


def _forget_conf(*, setting: str, **_: object) -> None:
    if setting == "JUNIOR_MEMORY":
        conf.cache_clear()


setting_changed.connect(_forget_conf)
