"""What the recorder and the package that reads its traces share: all that the package may import of
the recorder.

Standard library only, Python 3.9 and later; nothing here touches a framework or the user's process.
"""
