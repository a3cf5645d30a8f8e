"""Who answers: a module a provider behind one Protocol."""
