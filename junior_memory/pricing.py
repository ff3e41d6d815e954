"""What a call of a model costs in US dollars, by published prices; unknown stays unknown."""

from __future__ import annotations

from decimal import Decimal

import genai_prices
from genai_prices.data_snapshot import get_snapshot

PLACES = Decimal("1e-12")
"""What a record keeps of an amount. A published price per million tokens fits without rounding."""


def price_of(
    provider: str,
    model: str,
    *,
    input_tokens: int | None,
    cached_input_tokens: int = 0,
    output_tokens: int = 0,
    reasoning_tokens: int = 0,
) -> Decimal | None:
    """Return the price of a call, None when the tokens or the model's price are not known.

    Cached tokens are part of the input, reasoning tokens part of the output. A server that counts
    more of a part than there is of the whole is taken at the whole.
    """
    if input_tokens is None:
        return None
    usage = genai_prices.Usage(
        input_tokens=input_tokens,
        cache_read_tokens=min(cached_input_tokens, input_tokens),
        output_tokens=output_tokens,
        output_reasoning_tokens=min(reasoning_tokens, output_tokens),
    )
    try:
        price = genai_prices.calc_price(usage, model_ref=model, provider_id=provider)
    except LookupError:
        return None
    return price.total_price.quantize(PLACES)


def provider_at(base_url: str) -> str:
    """Return who serves at a base URL, by the name that prices are published under.

    An address that nobody publishes counts as OpenAI's: a gateway in front of its models costs what
    they cost, and a model of one's own has no published price under that name.
    """
    try:
        found = get_snapshot().find_provider(None, None, base_url)
    except LookupError:
        return "openai"
    return found.id
