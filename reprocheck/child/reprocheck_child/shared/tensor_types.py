"""The safetensors names of element types, and the file that holds an operator's inputs."""

FILE = "values.safetensors"
TYPES = {
    "bool": ("BOOL", 1),
    "uint8": ("U8", 1),
    "int8": ("I8", 1),
    "int16": ("I16", 2),
    "int32": ("I32", 4),
    "int64": ("I64", 8),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "float32": ("F32", 4),
    "float64": ("F64", 8),
}
"""Of PyTorch -> its name in a file, and the bytes of an element."""
