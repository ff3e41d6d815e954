"""What a call of a model costs in US dollars, by published prices; unknown stays unknown."""

from __future__ import annotations

from decimal import Decimal

import genai_prices


def price_of(provider: str, model: str, *, input_tokens: int | None) -> Decimal | None:
    """Return the price of a call, None when the tokens or the model's price are not known."""
    if input_tokens is None:
        return None
    try:
        price = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=input_tokens), model_ref=model, provider_id=provider
        )
    except LookupError:
        return None
    return price.total_price
