"""The search for the controls that remove a difference: `confirm.question(check, folder)` asks for
runs, `confirm.searched` concludes.
"""
