"""Instructions of the processor for loops that numba compiles; `kernels` has what they do without it."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from verifiable_dp.core.validate import Foreign


@intrinsic
def multiply_high(typing_context, a, b):  # type: ignore[no-untyped-def]
    """High 64 bits of the 128-bit product."""
    signature = types.uint64(types.uint64, types.uint64)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        left, right = (builder.zext(argument, wide) for argument in arguments)
        shifted = builder.lshr(builder.mul(left, right), ir.Constant(wide, 64))
        return builder.trunc(shifted, ir.IntType(64))

    return signature, generate


def _zeros(name: str) -> Foreign:
    """An instruction that counts the zero bits at one end of a word above 0."""

    @intrinsic
    def count(typing_context, word):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), generate

    return count


_MADE = {
    "multiply_high": multiply_high,
    "leading_zeros": _zeros("ctlz"),
    "trailing_zeros": _zeros("cttz"),
}


def type_of(name: str) -> Foreign:
    """What numba takes the instruction for."""
    return cpu_target.typing_context.resolve_value_type(_MADE[name])
