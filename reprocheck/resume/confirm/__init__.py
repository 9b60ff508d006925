"""What a resume has lost is given back in further resumed runs: `reprocheck explain --resume`.

The continued run keeps what it holds where it is stopped, as values. A resumed run in which a part
of that is put back before its first forward pass, and which then goes on as the continued run does,
confirms that the part is what was lost.
"""
