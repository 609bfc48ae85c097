"""What manifolds share: curvature with gradients, other dimensions than the last, and what geoopt asks of a manifold."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._errors import InvalidArgument
from ._ball_operations import Scalar

__all__ = ["Manifold"]

Class = TypeVar("Class", bound=type)


def root_of(c: Scalar) -> Any:
    """The square root of a number or of a tensor."""
    return c.sqrt() if isinstance(c, Tensor) else math.sqrt(c)


def has_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def scalar_tensor(value: Tensor, name: str) -> Tensor:
    """A tensor of one number > 0 in double, with its history."""
    if value.numel() != 1:
        raise InvalidArgument(f"{name} must be one number (shape={tuple(value.shape)})")
    wide = value.double().reshape(())
    if not wide.item() > 0:
        raise InvalidArgument(f"{name} must be > 0 where it has a gradient ({name}={wide.item()})")
    return wide


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with ``dim``, where coordinates lie; results have theirs there."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, dim: int = -1, **kwargs: Any) -> Any:
        if dim == -1:
            return function(self, *args, **kwargs)
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        most = max((t.dim() for t in tensors), default=0)
        if not -most <= dim < most:
            raise InvalidArgument(f"dim must be in [{-most}, {most - 1}] (dim={dim})")
        from_end = dim - most if dim >= 0 else dim

        def last(value: Any) -> Any:
            return value.movedim(from_end, -1) if isinstance(value, Tensor) and value.dim() >= -from_end else value

        def back(value: Any) -> Any:
            return value.movedim(-1, from_end) if isinstance(value, Tensor) and value.dim() == most else value

        result = function(self, *map(last, args), **{name: last(value) for name, value in kwargs.items()})
        return tuple(map(back, result)) if isinstance(result, tuple) else back(result)

    signature = inspect.signature(function)
    more = inspect.Parameter("dim", inspect.Parameter.KEYWORD_ONLY, default=-1, annotation=int)
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), more])  # type: ignore[attr-defined]
    return call


def with_dims(*names: str) -> Callable[[Class], Class]:
    """Gives methods of a class the keyword ``dim``."""

    def decorate(cls: Class) -> Class:
        for name in names:
            setattr(cls, name, _along(getattr(cls, name)))
        return cls

    return decorate


class Manifold(torch.nn.Module):
    """Base of manifolds. geoopt's ManifoldParameter, its optimisers, Scaled and ProductManifold take them."""

    name = "manifold"
    ndim = 1
    reversible = False

    def _keep_curvature(self, name: str, value: Any, learnable: bool) -> None:
        """Makes `name` an attribute: the number itself, or what :class:`Positive` says at every use."""
        self.curvature = Positive(value, learnable, name)
        if self.curvature.fixed is not None:
            setattr(self, name, self.curvature.fixed)
        else:
            self._changing = name

    def __getattr__(self, name: str) -> Any:
        """The curvature where it has a gradient; others are attributes, which are found without this."""
        if name == self.__dict__.get("_changing"):
            return super().__getattr__("curvature").value(name)
        return super().__getattr__(name)

    @property
    def device(self) -> torch.device | None:
        """That of parameters and buffers; None without any."""
        first = next(itertools.chain(self.buffers(), self.parameters()), None)
        return None if first is None else first.device

    @property
    def dtype(self) -> torch.dtype | None:
        """That of parameters and buffers; None without any."""
        first = next(itertools.chain(self.buffers(), self.parameters()), None)
        return None if first is None else first.dtype

    @property
    def __scaling__(self) -> dict[str, Any]:
        """For geoopt.Scaled: which arguments and results are lengths."""
        from geoopt.manifolds import base, lorentz, stereographic

        known = {**base.Manifold.__scaling__, **stereographic.PoincareBall.__scaling__, **lorentz.Lorentz.__scaling__}
        return {name: info for name, info in known.items() if inspect.ismethod(getattr(self, name, None))}

    def pack_point(self, *tensors: Tensor) -> Tensor:
        """The one tensor that a point is made of."""
        if len(tensors) != 1:
            raise InvalidArgument(f"tensors must be one (tensors={len(tensors)})")
        return tensors[0]

    def unpack_tensor(self, tensor: Tensor) -> Any:
        """The tensors that a point is made of: itself."""
        return tensor

    def component_inner(self, x: Tensor, u: Tensor, v: Tensor | None = None) -> Tensor:
        """:meth:`inner`, of shape ``[..., 1]``."""
        value: Tensor = self.inner(x, u, v, keepdim=True)  # type: ignore[operator]
        return value

    # Checks.

    def _check_shape(self, shape: Sequence[int], name: str) -> tuple[bool, str | None]:
        ok = len(shape) >= 1
        return ok, None if ok else f"'{name}' must have at least 1 dimension"

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        raise NotImplementedError

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> tuple[bool, str | None]:
        return True, None

    def check_point(self, x: Tensor, *, explain: bool = False) -> Any:
        """Whether the shape of x is one of points. explain: with the reason, or None."""
        ok, reason = self._check_shape(x.shape, "x")
        return (ok, reason) if explain else ok

    def check_vector(self, u: Tensor, *, explain: bool = False) -> Any:
        """Whether the shape of u is one of vectors. explain: with the reason, or None."""
        ok, reason = self._check_shape(u.shape, "u")
        return (ok, reason) if explain else ok

    def check_point_on_manifold(
        self, x: Tensor, *, explain: bool = False, atol: float = 1e-5, rtol: float = 1e-5
    ) -> Any:
        """Whether all points lie on the manifold, within ``atol + rtol`` of their size. explain: with the reason, or None."""
        ok, reason = self._check_shape(x.shape, "x")
        if ok:
            ok, reason = self._check_point_on_manifold(x.detach(), atol=atol, rtol=rtol)
        return (ok, reason) if explain else ok

    def check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, ok_point: bool = False, explain: bool = False, atol: float = 1e-5, rtol: float = 1e-5
    ) -> Any:
        """Whether all vectors are tangent at x, and x lies on the manifold unless ok_point says so."""
        ok, reason = (True, None) if ok_point else self.check_point_on_manifold(x, explain=True, atol=atol, rtol=rtol)
        if ok:
            ok, reason = self._check_shape(u.shape, "u")
        if ok:
            ok, reason = self._check_vector_on_tangent(x.detach(), u.detach(), atol=atol, rtol=rtol)
        return (ok, reason) if explain else ok

    def assert_check_point(self, x: Tensor) -> None:
        """InvalidArgument unless :meth:`check_point`."""
        self._require(*self.check_point(x, explain=True))

    def assert_check_vector(self, u: Tensor) -> None:
        """InvalidArgument unless :meth:`check_vector`."""
        self._require(*self.check_vector(u, explain=True))

    def _assert_check_shape(self, shape: Sequence[int], name: str) -> None:
        self._require(*self._check_shape(shape, name))

    def assert_check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> None:
        """InvalidArgument unless :meth:`check_point_on_manifold`."""
        self._require(*self.check_point_on_manifold(x, explain=True, atol=atol, rtol=rtol))

    def assert_check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, ok_point: bool = False, atol: float = 1e-5, rtol: float = 1e-5
    ) -> None:
        """InvalidArgument unless :meth:`check_vector_on_tangent`."""
        self._require(*self.check_vector_on_tangent(x, u, ok_point=ok_point, explain=True, atol=atol, rtol=rtol))

    def _require(self, ok: bool, reason: str | None) -> None:
        if not ok:
            raise InvalidArgument(f"x must be a point of {self.name}: {reason}")


def factor_of(t: Tensor | float, u: Tensor) -> Tensor:
    """t, a number, ``[...]`` or ``[..., 1]``, as a factor of the rows of ``u[..., d]``."""
    at = torch.as_tensor(t, dtype=u.dtype)
    return at.unsqueeze(-1) if at.dim() > 0 and not (at.dim() == u.dim() and at.shape[-1] == 1) else at


def scalars_of(a: Any, count: int, device: Any) -> Tensor:
    """A number, or ``[count]`` numbers, as ``[count, 1]`` in double."""
    if not isinstance(a, Tensor):
        return torch.full((count, 1), float(a), dtype=torch.float64, device=device)
    if a.shape not in ((), (count,)):
        raise InvalidArgument(f"a must be a number or have shape ({count},) (a: {tuple(a.shape)})")
    return a.double().expand(count).unsqueeze(1)


def geodesic_by_maps(manifold: Any, t: Tensor | float, x: Tensor, y: Tensor) -> Tensor:
    """``expmap(x, t logmap(x, y))``."""
    u: Tensor = manifold.logmap(x, y)
    point: Tensor = manifold.expmap(x.to(u.dtype), factor_of(t, u) * u)
    return point


class Positive(torch.nn.Module):
    """A number > 0: as it is, or the softplus of a parameter, or a tensor of the caller with its gradient."""

    isp: Tensor | None

    def __init__(self, value: Any, learnable: bool, name: str) -> None:
        super().__init__()
        self.fixed: float | None = None
        self.outer: Tensor | None = None
        self.register_parameter("isp", None)
        if learnable:
            start = float(scalar_tensor(torch.as_tensor(value, dtype=torch.float64), name))
            raw = start + math.log(-math.expm1(-start))
            self.isp = torch.nn.Parameter(torch.tensor(raw, dtype=torch.get_default_dtype()))
        elif has_gradient(value):
            scalar_tensor(value, name)
            self.outer = value  # a parameter of this module where it is one
        else:
            self.fixed = float(value)

    def value(self, name: str) -> Scalar:
        """A float where there is no gradient, otherwise a tensor in double."""
        if self.fixed is not None:
            return self.fixed
        if self.isp is not None:
            return torch.nn.functional.softplus(self.isp.double())
        assert self.outer is not None
        return scalar_tensor(self.outer, name)
