"""A provider with an address: endpoints of vendors, and planned faults as their clients meet them."""
