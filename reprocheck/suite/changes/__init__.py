"""What changed at a target since the nights before.

of_night  the states of all targets in a night, from the history
known     what is known of one target in one night
levels    the losses of a night as one number
shifts    whether a number that varies from night to night has shifted
states    the state of a target: one rule a state, in the order of their precedence
verdicts  whether the verdicts of a target come and go by chance
reasons   why a target has its state, as data
words     the sentence of a state
"""

from reprocheck.suite.changes.night_states import states_of_night
from reprocheck.suite.changes.states import classify
from reprocheck.suite.changes.target_facts import Known

__all__ = ["Known", "classify", "states_of_night"]
