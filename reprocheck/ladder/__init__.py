"""Find where two runs first diverge: `rungs.ladder_of(check, folder)`.

It goes rung by rung, from what was recorded.
"""
