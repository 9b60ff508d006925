"""The sentences of the ladder, made last, of typed evidence and recorded facts: a module for each
part of it. Nothing reads them back.
"""
