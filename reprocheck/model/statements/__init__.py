"""The statements of each part of a check: `reprocheck.wording` says them."""
