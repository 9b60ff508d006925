"""What was found out, by subject: classes of values, which `reprocheck.wording` says."""
