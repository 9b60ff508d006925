"""Saves weights and data in every way of MindSpore, and reads them again."""

import mindspore
import mindspore.dataset as data
from mindspore import nn
from mindspore.mindrecord import FileWriter

net = nn.Dense(3, 2)
mindspore.save_checkpoint(net, "net.ckpt")
mindspore.save_checkpoint(net, "net.safetensors", format="safetensors")
with open("lines.txt", "w") as file:
    file.write("one\n")
writer = FileWriter("rows.mindrecord", 1, overwrite=True)
writer.add_schema({"a": {"type": "int32"}}, "rows")
writer.write_raw_data([{"a": 1}])
writer.commit()

mindspore.load_checkpoint("net.ckpt")
mindspore.load_checkpoint("net.safetensors", format="safetensors")
rows = [*data.TextFileDataset("lines.txt").create_tuple_iterator(), *data.MindDataset("rows.mindrecord").create_tuple_iterator()]
print(len(rows))
