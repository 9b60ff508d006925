"""Both halves of the tool on one program: the wrong example of each rule that the scan can fix,
with a training behind it, is checked by `reprocheck run` before and after `reprocheck scan --fix`.
"""
