"""The sixteen colours of pictures."""

#: Names in the order of their numbers, 0 to 15: what `Color` and the digits of `Colors` mean (spec section 2).
COLORS = (
    "black", "grey", "brown", "gold", "white", "purple", "blue", "cyan",
    "teal", "green", "lime", "yellow", "magenta", "orange", "red", "pink",
)  # fmt: skip

COLOR_NUMBERS = {name: number for number, name in enumerate(COLORS)} | {"gray": COLORS.index("grey")}
