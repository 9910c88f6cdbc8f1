"""Layers that are printed with their fields."""

from burn._annotations import own_annotations
from burn.module import ONE_LINE, Module


class Printed(Module):
    """Base of layers that print their fields on one line, under Burn's names."""

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        for name in own_annotations(type(self)):
            content = content.add(name.removesuffix("_"), getattr(self, name))
        return content
