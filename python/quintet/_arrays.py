"""Arrays on their way into the bindings, and results on their way back to the caller's array library.

Every public function takes its arrays through :func:`take`, which accepts what has the buffer protocol or
``__dlpack__`` and lies in the processor's memory, and refuses everything that the bindings would misread: tensors that
require a gradient, memory of a GPU, masked and sparse arrays, other types. What it returns is a NumPy array that is
aligned, in native byte order, of a type that the bindings know; bfloat16, for which the buffer protocol has no name, is
uint16 there. A copy is made only where one of these does not hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._errors import DeviceError, InvalidArgument

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
I32, I64, U8, BOOL = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint8), np.dtype(np.bool_)
#: bfloat16 inside the package.
BF16 = np.dtype(np.uint16)

STORAGE = (F16, BF16, F32, F64)
REAL = (F32, F64)

_NAMES = {F16: "float16", BF16: "bfloat16", F32: "float32", F64: "float64"}


class Like(NamedTuple):
    """Where a result goes: ``wrap`` turns a NumPy array into an array of the caller's library. ``bfloat16`` turns
    uint16 patterns into an array of that type."""

    wrap: Callable[[np.ndarray], Any]
    bfloat16: Callable[[np.ndarray], Any]

    def __call__(self, array: np.ndarray) -> Any:
        if array.dtype == BF16:
            return self.bfloat16(array)
        return self.wrap(array)


def _numpy_bfloat16(array: np.ndarray) -> np.ndarray:
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)


def _identity(array: np.ndarray) -> np.ndarray:
    return array


NUMPY = Like(_identity, _numpy_bfloat16)


def _torch_like() -> Like:
    torch = sys.modules["torch"]
    return Like(
        lambda array: torch.from_numpy(array) if array.ndim else torch.tensor(array[()], dtype=_torch_dtype(array)),
        lambda array: torch.from_numpy(array.view(np.int16)).view(torch.bfloat16),
    )


def _torch_dtype(array: np.ndarray) -> Any:
    return sys.modules["torch"].from_numpy(np.empty(0, array.dtype)).dtype


def _take_tensor(x: Any, name: str) -> np.ndarray:
    torch = sys.modules["torch"]
    if x.requires_grad:
        raise TypeError(
            f"{name} requires a gradient, which this function does not have: use quintet.torch, or {name}.detach()"
        )
    if x.layout is not torch.strided:
        raise TypeError(f"{name} must be a dense tensor (layout={x.layout})")
    if x.device.type != "cpu":
        raise DeviceError(f"{name} must lie in the processor's memory: use {name}.cpu() (device={x.device})")
    x = x.detach().resolve_neg()
    if x.dtype == torch.bfloat16:
        return np.asarray(x.view(torch.int16).numpy()).view(BF16)
    if x.dtype == torch.float8_e4m3fn or x.is_complex() or x.is_quantized:
        raise TypeError(f"{name} must be of another type (dtype={x.dtype})")
    return np.asarray(x.numpy())


def _take_dlpack(x: Any, name: str) -> tuple[np.ndarray, Like]:
    kind, _ = x.__dlpack_device__()
    if kind not in (1, 3):  # kDLCPU, kDLCUDAHost
        raise DeviceError(f"{name} must lie in the processor's memory (DLPack device type {int(kind)})")
    array = np.from_dlpack(x)
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    back = getattr(module, "from_dlpack", None) or getattr(getattr(module, "numpy", None), "from_dlpack", None)
    return array, NUMPY if back is None else Like(back, _numpy_bfloat16)


def _describe(allowed: tuple[np.dtype, ...]) -> str:
    names = [_NAMES.get(dtype, dtype.name) for dtype in allowed]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _prepare(array: np.ndarray, name: str, allowed: tuple[np.dtype, ...], integers: bool) -> np.ndarray:
    """The same values in a type of `allowed`, native and aligned."""
    dtype = array.dtype
    if dtype.name == "bfloat16" and dtype.kind == "V":  # ml_dtypes
        array, dtype = array.view(BF16), BF16
        known = BF16 in allowed
    elif dtype == BF16:
        known = False
    else:
        if not dtype.isnative:
            array = array.astype(dtype.newbyteorder("="))
            dtype = array.dtype
        known = dtype in allowed
    if not known:
        if integers and dtype.kind in "iub":
            return array.astype(np.float64)
        raise TypeError(f"{name} must be of type {_describe(allowed)} (dtype={array.dtype if dtype != BF16 else dtype})")
    if not array.flags.aligned:
        array = np.require(array, requirements="A")
    return array


def refuse_masks(x: Any, name: str) -> None:
    """TypeError for a masked array: what is converted to an array loses the mask without a word."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: use {name}.filled(value)")


def take(
    x: Any, name: str, allowed: tuple[np.dtype, ...] = STORAGE, *, integers: bool = False
) -> tuple[np.ndarray, Like]:
    """The array behind `x`, and where results go. `integers`: whole numbers and bools become float64."""
    kind = type(x)
    if kind is np.ndarray:
        if x.dtype in allowed and x.dtype.isnative and x.dtype != BF16 and x.flags.aligned:
            return x, NUMPY
        return _prepare(x, name, allowed, integers), NUMPY
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        array = _take_tensor(x, name)
        if array.dtype == BF16 and x.dtype == torch.bfloat16 and BF16 in allowed:
            return array, _torch_like()
        return _prepare(array, name, allowed, integers), _torch_like()
    refuse_masks(x, name)
    if hasattr(x, "tocsr"):
        raise TypeError(f"{name} must be dense: use {name}.toarray()")
    if not isinstance(x, np.ndarray) and not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
        array, like = _take_dlpack(x, name)
        return _prepare(array, name, allowed, integers), like
    if hasattr(x, "__cuda_array_interface__"):
        raise DeviceError(f"{name} must lie in the processor's memory ({kind.__module__}.{kind.__qualname__})")
    try:
        array = np.asarray(x)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} must be an array: {error}") from None
    if array.dtype == object:
        raise TypeError(f"{name} must be of type {_describe(allowed)} (dtype=object)")
    like = NUMPY
    if not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__") and hasattr(x, "__array_namespace__"):
        like = Like(x.__array_namespace__().from_dlpack, _numpy_bfloat16)
    return _prepare(array, name, allowed, integers), like


def take_rows(
    x: Any, name: str, allowed: tuple[np.dtype, ...] = STORAGE, *, integers: bool = False
) -> tuple[np.ndarray, Like]:
    """A matrix with contiguous rows, any distance apart: the argument of matrix() of the bindings."""
    array, like = take(x, name, allowed, integers=integers)
    if array.ndim != 2:
        raise InvalidArgument(f"{name} must have 2 dimensions (shape={array.shape})")
    row, column = array.strides
    size = array.itemsize
    if (column != size and array.shape[1] > 1) or (row < size * array.shape[1] and array.shape[0] > 1) or row % size:
        array = np.ascontiguousarray(array)
    return array, like


def take_vector(
    x: Any, name: str, allowed: tuple[np.dtype, ...] = STORAGE, *, integers: bool = False
) -> tuple[np.ndarray, Like]:
    """Values in a line, contiguous."""
    array, like = take(x, name, allowed, integers=integers)
    if array.ndim != 1:
        raise InvalidArgument(f"{name} must have 1 dimension (shape={array.shape})")
    return np.ascontiguousarray(array), like


def same_type(first: np.ndarray, second: np.ndarray, first_name: str, second_name: str) -> None:
    """TypeError unless both have one type."""
    if first.dtype != second.dtype:
        raise TypeError(
            f"{first_name} and {second_name} must be of one type ({first_name}: {type_name(first)}, "
            f"{second_name}: {type_name(second)})"
        )


def type_name(array: np.ndarray) -> str:
    """As users know it."""
    return _NAMES.get(array.dtype, array.dtype.name)


def widened(array: np.ndarray) -> np.ndarray:
    """The same numbers as float64."""
    if array.dtype == BF16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64, copy=False)


def accumulator(array: np.ndarray) -> np.dtype:
    """The type in which values of the array are summed: float64 for float64, float32 for the others."""
    return F64 if array.dtype == F64 else F32
