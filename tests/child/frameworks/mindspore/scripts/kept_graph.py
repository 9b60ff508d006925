"""Graph mode of a script that asks for what only the graph compiler can do. Prints each loss with every bit."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
ms.set_auto_parallel_context(parallel_mode="stand_alone")  # it takes more devices than one to go through with it
ms.set_seed(1)
network = nn.Dense(4, 1)
step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.SGD(network.trainable_params(), 0.1))
x, y = Tensor(np.ones((2, 4), np.float32)), Tensor(np.ones((2, 1), np.float32))
for _ in range(2):
    print(float(step(x, y).asnumpy()).hex())
