"""All that the package may import of the recorder: what both sides of a trace share.

Standard library only, Python 3.9 and later; nothing here touches a framework or the user's process.
"""
