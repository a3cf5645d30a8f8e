"""A provider with an address: the endpoints of OpenAI and Anthropic, and the planned faults as their clients meet them."""
