"""Two revisions of the code, or two sets of options, compared by what the targets compute.

result     what was compared, and what came of it, as data
recording  both sides of each target, recorded in worktrees
compare    from two recordings of a target to the first operation that differs
"""
