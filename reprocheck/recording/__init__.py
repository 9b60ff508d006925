"""What the folder of a check and a packed recording hold: `record`, `bundle`, `sides`."""
