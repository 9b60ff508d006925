"""Curves from files of other programs: Megatron-LM, torchtitan, TensorBoard, CSV.

points    what a file says of a series
megatron  golden values
columns   torchtitan's text, and CSV
events    TensorBoard's event files
read      which of them a file is
fit       what a file says, as series of the check that it is held against
"""
