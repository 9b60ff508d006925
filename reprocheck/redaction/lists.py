"""The closed lists of facts, packages, variables and settings that leave."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FACTS = _words(
    "platform.system platform.machine platform.kernel platform.libc platform.release gcc.version"
    " clang.version cmake.version nvcc.version memory.bytes reprocheck.python cpu.model cpu.count"
    " cpu.usable cpu.affinity driver.nvidia driver.ascend cann.version python.version"
    " python.implementation python.build python.hash_seed python.optimize python.gil git.commit"
    " git.dirty torch.git_version torch.build"
)
"""Facts of the environment that leave, through the detector."""
FACTS_OF = ("torch.", "torch_npu.", "mindspore.", "tensorflow.", "keras.", "jax.", "numpy.")
"""In front of facts that a framework tells of itself, which leave likewise."""
OF_A_KEY = _words(
    "torch torch_npu mindspore tensorflow keras jax jaxlib numpy python device driver ranks threads"
)
"""Facts of the environment key of a target, which leave likewise."""
COMMANDS = ("options", "resume")
"""Facts of it that are a part of a command."""
PACKAGE = "package."
"""In front of the name of a package; its value is a version."""
VARIABLE = "variable."
"""In front of the name of an environment variable: the name leaves, its value does not."""
KNOWN_PACKAGES = _words(
    "torch torchvision torchaudio torchdata torchtext torchao torchmetrics torchtune"
    " torch-geometric torch-npu torch-xla numpy triton onnx onnxruntime mypy mypy-extensions"
    " flake8 optree intel-openmp intel-extension-for-pytorch mkl mkl-service mkl-fft mkl-random"
    " jax jaxlib jax-cuda12-plugin jax-cuda12-pjrt mindspore tensorflow tensorflow-cpu keras flax"
    " optax lightning lightning-utilities pytorch-lightning transformers accelerate deepspeed"
    " scipy pandas scikit-learn xxhash reprocheck"
)
"""Packages that leave in `strict`, beside those of NVIDIA: those of `collect_env`, and further
frameworks.
"""
KNOWN_VARIABLES = _words(
    "OMP_NUM_THREADS OMP_DYNAMIC MKL_NUM_THREADS MKL_DYNAMIC OPENBLAS_NUM_THREADS"
    " NUMEXPR_NUM_THREADS KMP_AFFINITY KMP_BLOCKTIME MALLOC_ARENA_MAX PYTHONHASHSEED"
    " PYTHONOPTIMIZE PYTHONMALLOC PYTHON_GIL LD_PRELOAD LD_LIBRARY_PATH GLIBC_TUNABLES"
    " CUBLAS_WORKSPACE_CONFIG CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING"
    " CUDA_DEVICE_MAX_CONNECTIONS CUDA_DEVICE_ORDER NVIDIA_TF32_OVERRIDE NVIDIA_VISIBLE_DEVICES"
    " NCCL_ALGO NCCL_PROTO NCCL_DEBUG NVTE_ALLOW_NONDETERMINISTIC_ALGO PYTORCH_CUDA_ALLOC_CONF"
    " PYTORCH_HIP_ALLOC_CONF PYTORCH_ALLOC_CONF TORCHINDUCTOR_CACHE_DIR ASCEND_LAUNCH_BLOCKING"
    " ASCEND_RT_VISIBLE_DEVICES HCCL_DETERMINISTIC ATB_MATMUL_SHUFFLE_K_ENABLE LCCL_DETERMINISTIC"
    " TASK_QUEUE_ENABLE XLA_FLAGS TF_DETERMINISTIC_OPS TF_CUDNN_DETERMINISTIC KERAS_BACKEND"
    " FLASH_ATTENTION_DETERMINISTIC RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE"
)
"""Names of environment variables that leave in `strict`."""
OF_FACTS = _words(
    "linux darwin gnu x86 64 aarch64 arm64 i686 glibc musl cpython pypy main default random none"
    " true false gcc clang debian ubuntu fedora centos rhel red hat enterprise rocky almalinux"
    " alma alpine amazon opensuse suse arch leap tumbleweed openeuler bookworm bullseye trixie"
    " buster jammy noble focal bionic lts generic microsoft wsl2 cloud intel r tm xeon core cpu"
    " gold silver bronze platinum processor amd epyc ryzen threadripper apple m1 m2 m3 m4 max pro"
    " ultra graviton neoverse kunpeng hisilicon ampere altra nvidia tesla geforce rtx gtx quadro"
    " titan a10 a10g a30 a40 a100 a800 h20 h100 h200 h800 b100 b200 gb200 gh200 l4 l20 l40 l40s t4"
    " p4 p40 p100 v100 sxm sxm2 sxm3 sxm4 sxm5 pcie nvl hbm2 hbm2e hbm3 hbm3e instinct mi100 mi210"
    " mi250 mi250x mi300x mi300a radeon ascend 910a 910b 910b1 910b2 910b3 910b4 910c 310p nvrm"
    " version unix kernel module open for mon tue wed thu fri sat sun jan feb mar apr may jun jul"
    " aug sep oct nov dec torch float16 float32 float64 bfloat16 highest high medium ieee tf32"
    " bf16 avx avx2 avx512 no vsx sve sve256 vnni amx scipy openblas openblas64 mkl blis"
    " accelerate lapack sse sse2 sse3 ssse3 sse41 sse42 popcnt f16c fma3 avx512f avx512cd avx512vl"
    " avx512bw avx512dq avx512vnni avx512ifma avx512vbmi avx512vbmi2 avx512bitalg avx512fp16"
    " avx512vpopcntdq x86v2 x86v3 x86v4 neon asimd asimdhp asimdfhm asimddp gpu npu cpus installed"
)
"""Words of which the facts of `strict` are made, beside numbers and versions."""
SETTINGS_AS_IS = _words("steps timeout workdir keep level control seed color fail_on")
"""Settings whose text is one of a closed list of words; of `fail_on`, where it names no series."""
