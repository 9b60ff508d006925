"""The words of a text, with a number each, in the order of the alphabet."""


class Index:
    def __init__(self):
        self.numbers = {}

    def add(self, word):
        self.numbers.setdefault(word, len(self.numbers))


def build(text):
    index = Index()
    for word in sorted(set(text.split())):
        index.add(word)
    return index
