"""Reports on bundles: messages, report sections, baselines."""
