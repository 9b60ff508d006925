"""Right programs in which the scan saw something when it read public packages for the fourth time."""

from __future__ import annotations

from tests.scan.snippets.parts import text

LAYERS = text("""
    import random

    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, rate=0.5):
            super().__init__()
            self.rate = rate
            self.line = nn.Linear(4, 1)

        def forward(self, x):
            if random.random() < self.rate:
                return self.line(x)
            return self.line(x + torch.randn_like(x))
""")
TRIAL = """

if __name__ == "__main__":
    block = Block()
    print(block(torch.randn(2, 4)).shape)
"""
TRAINED = """

if __name__ == "__main__":
    block = Block()
    block(torch.ones(2, 4)).sum().backward()
"""
MAIN = text("""
    import random

    import torch
    from block import Block

    random.seed(0)
    torch.manual_seed(0)
    Block()(torch.ones(2, 4)).sum().backward()
""")
INFERENCE = text("""
    import torch

    model = torch.nn.Linear(4, 4).cuda()
    model.load_state_dict(torch.load("model.pt"))

    def answer(x, places):
        with torch.no_grad():
            scores = model(x)
            return scores.index_add_(1, places, scores[:, places])
""")
TWINS: dict[str, str | dict[str, str]] = {
    "layers that are tried out where others import them": {"block.py": LAYERS + TRIAL, "train.py": MAIN},
    "sums by threads where nothing is trained": INFERENCE + "\n\nanswer(torch.ones(1, 4).cuda(), torch.tensor([1, 1]).cuda())\n",
    "files that are added to a list that is sorted": """
        import os

        import torch

        def read_files(folders):
            paths = []
            for folder in folders:
                paths += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".txt")]
            paths = sorted(paths)
            return [open(path).read() for path in paths]

        read_files(["one", "two"])
        torch.manual_seed(0)
        TRAIN
    """,
    "files of which a module only asks which there are": """
        import os

        import torch

        files = os.listdir()
        if "kernel.cpp" not in files or "build" not in files:
            raise RuntimeError("not built")
        torch.manual_seed(0)
        TRAIN
    """,
    "files that are converted one by one, in any order": """
        import glob
        from multiprocessing import Pool

        import torch
        from tqdm import tqdm

        def convert(given):
            path, rate = given
            torch.save(torch.load(path)[::rate], path)

        def resample_files(folder, rate):
            files = glob.glob(folder + "/*.pt")
            files = list(zip(files, len(files) * [rate]))
            with Pool(4) as pool, tqdm(total=len(files)) as bar:
                for _, _ in enumerate(pool.imap_unordered(convert, files)):
                    bar.update()

        resample_files("data", 2)
        torch.manual_seed(0)
        TRAIN
    """,
    "an order that is not used": """
        import numpy as np
        import torch

        def settings():
            places = list(range(9))
            np.random.shuffle(places)
            return {"rate": 0.1}

        print(settings())
        torch.manual_seed(0)
        TRAIN
    """,
    "what is drawn to be shown": """
        import numpy as np
        import torch

        def highlight_some(values):
            for place in np.random.default_rng().choice(len(values), size=3):
                print(values[place])

        def plot_some(values):
            print(values[np.random.randint(len(values))])

        torch.manual_seed(0)
        TRAIN
        highlight_some(model.weight)
        plot_some(model.weight)
    """,
    "what is drawn to measure speed": """
        import random

        import torch

        class Game:
            def __init__(self, benchmark_mode):
                self.benchmark_mode = benchmark_mode

            def step(self, action):
                if self.benchmark_mode:
                    action = random.randrange(4)
                return action

        def play(options):
            game = Game(options.benchmark)
            game.step(1)

        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--benchmark", action="store_true")
        torch.manual_seed(0)
        TRAIN
        play(parser.parse_args())
    """,
}
WRONG: dict[str, tuple[str | dict[str, str], list[tuple[int, str]]]] = {
    "layers that are trained where others import them": (
        {"block.py": LAYERS + TRAINED, "train.py": MAIN},
        [(10, "RC301"), (13, "RC401"), (15, "RC401")],
    ),
    "sums by threads that go on into a training": (
        INFERENCE + "\n\nfor x in torch.ones(3, 1, 4).cuda():\n    answer(x, torch.tensor([1, 1]).cuda())\n    model(x).sum().backward()\n",
        [(9, "RC602")],
    ),
    "results that are read as they arrive": (
        """
        from multiprocessing import Pool

        import torch

        torch.manual_seed(0)
        found = []
        with Pool(4) as pool:
            for number, row in enumerate(pool.imap_unordered(len, ["a", "bb"])):
                found.append(row)
        """,
        [(8, "RC508")],
    ),
    "an order that is used": (
        """
        import numpy as np
        import torch

        def settings():
            places = list(range(9))
            np.random.shuffle(places)
            return places

        torch.manual_seed(0)
        weights = torch.tensor(settings()).float()
        """,
        [(6, "RC501")],
    ),
    "files that are paired with others": (
        """
        import glob

        import torch

        def read_samples(folder, labels):
            return list(zip(glob.glob(folder + "/*.pt"), labels))

        torch.manual_seed(0)
        for path, label in read_samples("data", [1, 2]):
            torch.load(path)
        """,
        [(6, "RC104")],
    ),
}
