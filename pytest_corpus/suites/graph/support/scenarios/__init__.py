"""Set-ups and expectations that several tests share. Those that cannot be had raise the outcome of the test."""
