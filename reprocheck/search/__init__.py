"""Search for the controls that remove a difference.

`folder_search.question(check, folder)` asks for runs, `folder_search.searched` concludes.
"""
