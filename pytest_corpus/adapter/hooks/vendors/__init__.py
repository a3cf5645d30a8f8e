"""A provider with an address: endpoints of OpenAI and Anthropic, and planned faults as their clients meet them."""
