"""The classes of what the parts of a check find out: a module for each subject."""
