"""Set-ups and expectations that several tests share."""
