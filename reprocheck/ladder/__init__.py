"""Where two runs first diverge: `rungs.ladder_of(check, folder)`, rung by rung from what was
recorded.
"""
