"""The results of bundles: messages, report sections, baselines."""
