"""A provider with an address: endpoints of vendors, and planned faults in the form that their clients expect."""
