"""How a request reaches an adapter and its answer comes back as bytes: one module each, behind one Protocol."""
