"""The sentences that people read, made of what was found out.

    told(check)       the check with all its sentences, in the language that is spoken
    say(statement)    one sentence

The floors that record, judge and search return statements (`reprocheck.model.statement`): frozen
classes with values. Each of them has one function here, registered with `say.register`.
"""

from reprocheck.wording import search as search
from reprocheck.wording.say import say as say
from reprocheck.wording.told import told as told
