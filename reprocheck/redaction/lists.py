"""The closed lists: words, options, facts, packages and settings that leave as they are."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN = _words(
    "true false none null auto cpu cuda gpu npu mps fp32 fp16 bf16 float32 float16 bfloat16 adam"
    " adamw sgd nccl gloo hccl train eval test yes no on off python python3 torchrun accelerate"
    " msrun mpirun deepspeed"
)
"""Arguments that leave as they are."""
KNOWN_OPTIONS = _words(
    "-m -n -np --lr --learning-rate --learning_rate --epochs --epoch --batch-size --batch_size"
    " --seed --steps --max-steps --max_steps --device --dtype --amp --fp16 --bf16 --workers"
    " --num-workers --num_workers --nproc-per-node --nproc_per_node --nnodes --node-rank"
    " --standalone --dropout --weight-decay --weight_decay --momentum --optimizer --hidden-size"
    " --hidden_size --num-layers --num_layers --deterministic --compile --resume --model --data"
    " --config --output --debug --verbose"
)
"""Options that leave in `strict`."""
VOCABULARY = _words(
    "loss val train valid test eval acc accuracy lr learning rate grad norm perplexity ppl step"
    " epoch batch end start mean std sum total layer layers block blocks encoder decoder embed"
    " embedding embeddings attention attn self cross mlp ffn head heads fc fc1 fc2 fc3 conv conv1"
    " conv2 conv3 conv4 bn bn1 bn2 bn3 norm1 norm2 norm3 ln dense linear linear1 linear2 proj out"
    " in q k v query key value dropout drop relu gelu softmax pool pooler classifier features"
    " backbone neck stem net model module weight bias running var num batches tracked gamma beta"
    " kernel down up gate param group groups params optimizer state float32 float16 float64"
    " bfloat16 int64 int32 longdouble tensorboard keras torch jax mindspore numpy lightning wandb"
    " mlflow tensorflow dataloader loader sampler default random python generator cuda cpu npu"
    " linear0 adam adamw sgd lstm gru rnn exp avg sq momentum buffer main data reprocheck default"
    " reprocheck.toml pyproject.toml rng"
)
"""Words of which names that leave in `strict` are made."""
FACTS = _words(
    "platform.system platform.machine platform.kernel platform.libc memory.bytes reprocheck.python"
    " cpu.model cpu.count cpu.usable cpu.affinity driver.nvidia driver.ascend cann.version"
    " python.version python.implementation python.build python.hash_seed python.optimize"
    " python.gil git.commit git.dirty"
)
"""Facts of the environment that leave as they are."""
FACTS_OF = ("torch.", "torch_npu.", "mindspore.", "tensorflow.", "keras.", "jax.", "numpy.")
"""In front of facts that a framework tells of itself, which leave as they are."""
PACKAGE = "package."
"""In front of the name of a package; its value is a version."""
VARIABLE = "variable."
"""In front of the name of an environment variable: the name leaves, its value does not."""
KNOWN_PACKAGES = _words(
    "torch numpy triton onnx mypy flake8 optree intel mkl nvidia jax mindspore tensorflow keras"
    " flax optax lightning pytorch transformers accelerate scipy pandas scikit-learn xxhash"
)
"""Beginnings of the names of packages that leave in `strict`: those of `collect_env`, and further
frameworks.
"""
SETTINGS_AS_IS = _words("steps timeout workdir keep level control seed color fail_on")
"""Settings whose text is one of a closed list of words; of `fail_on`, where it names no series."""
