"""The ladder across the gap: what a resumed run starts from against what the continued run had."""
