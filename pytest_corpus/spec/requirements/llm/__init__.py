"""Requirements of the llm component."""
