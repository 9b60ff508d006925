"""Wrong programs that the scan missed when it was tried on programs of others, each with a right twin."""

from __future__ import annotations

MISSED: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "keras shuffles, the weights have seeds": (
        """
        import keras
        import numpy as np

        line = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=4))
        model = keras.Sequential([line])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 2)), np.ones((8, 1)))
        """,
        [(7, "RC501")],
    ),
    "a buffer that is only computed with": (
        """
        import torch

        class Mean(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.empty(4))

            def forward(self, x):
                self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
                return x - self.mean

        torch.manual_seed(0)
        model = torch.nn.Sequential(Mean(), torch.nn.Linear(4, 1))
        model(torch.ones(2, 4)).sum().backward()
        """,
        [(6, "RC303")],
    ),
    "images of a folder": (
        """
        import tensorflow as tf

        tf.random.set_seed(1)
        images = tf.keras.utils.image_dataset_from_directory("data")
        """,
        [(4, "RC501")],
    ),
    "two threads put into one queue": (
        """
        import queue
        import threading
        import torch

        torch.manual_seed(0)
        ready = queue.Queue()

        def work(part):
            for number in part:
                ready.put(torch.full((1, 2), float(number)))

        threads = [threading.Thread(target=work, args=(range(first, 8, 2),)) for first in range(2)]
        for thread in threads:
            thread.start()
        model = torch.nn.Linear(2, 1)
        for _ in range(8):
            model(ready.get()).sum().backward()
        """,
        [(17, "RC508")],
    ),
}
TWINS: dict[str, str | dict[str, str]] = {
    "keras does not shuffle": """
        import keras
        import numpy as np

        line = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=4))
        model = keras.Sequential([line])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 2)), np.ones((8, 1)), shuffle=False)
    """,
    "a buffer that is filled first": """
        import torch

        class Mean(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.empty(4).zero_())

            def forward(self, x):
                self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
                return x - self.mean

        torch.manual_seed(0)
        model = torch.nn.Sequential(Mean(), torch.nn.Linear(4, 1))
        model(torch.ones(2, 4)).sum().backward()
    """,
    "images of a folder with a seed": """
        import tensorflow as tf

        images = tf.keras.utils.image_dataset_from_directory("data", seed=3)
    """,
    "one thread puts into a queue": """
        import queue
        import threading
        import torch

        torch.manual_seed(0)
        ready = queue.Queue(4)

        def work():
            for number in range(8):
                ready.put(torch.full((1, 2), float(number)))

        threading.Thread(target=work, daemon=True).start()
        model = torch.nn.Linear(2, 1)
        for _ in range(8):
            model(ready.get()).sum().backward()
    """,
}
