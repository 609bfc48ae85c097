"""Riemannian Adam: rows of the ball and of the Lorentz model by one kernel, other manifolds by their methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._lorentz import TIME_IGNORED, Lorentz
from ._poincare import PoincareBall, default_margin
from ._tensors import CODES, REAL, check, points, rows

__all__ = ["RiemannianAdam"]


class RiemannianAdam(torch.optim.Optimizer):
    """Adam on manifolds (Bécigneul and Ganea 2019), with the arguments of geoopt.RiemannianAdam. A parameter lies on its
    attribute ``manifold``, as geoopt.ManifoldParameter has it; without one it is Euclidean.

    Points of :class:`PoincareBall` and :class:`Lorentz` take a step in one pass over their rows: gradient, both moments, the
    exponential map, and the first moment moved along the geodesic. In the ball they are then pulled to ``sqrt(c) |x| <= 1 -
    margin`` as :meth:`PoincareBall.projx` does. On other manifolds it calls ``egrad2rgrad``, ``component_inner`` and
    ``retr_transp``, as geoopt does.

    Parameters
    ----------
    params : iterable
        Parameters, or dicts of groups.
    lr : float, default 1e-3
        Step length, >= 0.
    betas : (float, float), default (0.9, 0.999)
        Of the moments, in [0, 1).
    eps : float, default 1e-8
        Added to the root of the second moment, > 0.
    weight_decay : float, default 0
        Times the point, added to the gradient; of :class:`Lorentz` the space part.

    Examples
    --------
    >>> import torch, quintet.torch as qt
    >>> x = torch.nn.Parameter(torch.tensor([[0.9, 0.0]], dtype=torch.float64))
    >>> x.manifold = ball = qt.PoincareBall()
    >>> optimiser = qt.RiemannianAdam([x], lr=0.05)
    >>> for _ in range(200):
    ...     optimiser.zero_grad()
    ...     ball.dist2(x, torch.zeros_like(x)).sum().backward()
    ...     optimiser.step()
    >>> bool(x.norm() < 0.01)
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        if not lr >= 0:
            raise InvalidArgument(f"lr must be >= 0 (lr={lr})")
        for beta in betas:
            if not 0 <= beta < 1:
                raise InvalidArgument(f"betas must be in [0, 1) (betas={betas})")
        if not eps > 0:
            raise InvalidArgument(f"eps must be > 0 (eps={eps})")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """One step of all parameters that have a gradient; closure computes the loss again, which is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for x in group["params"]:
                if x.grad is not None:
                    self._move(x, x.grad, group)
        return loss

    def _move(self, x: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        if gradient.layout is not torch.strided:
            raise InvalidArgument(f"gradients must be dense (layout={gradient.layout})")
        manifold, state = getattr(x, "manifold", None), self.state[x]
        state["step"] = state.get("step", 0) + 1
        if type(manifold) in (PoincareBall, Lorentz) and x.dtype in CODES and x.is_cpu:
            _move_rows(manifold, x, gradient, state, group)
        else:
            _move_composed(manifold, x, gradient, state, group)


def _move_rows(manifold: Any, x: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    check(gradient, "gradient")
    at, kept = points(x)
    slope, _owner = points(gradient)
    count, width = at[2]
    real, on_sheet = REAL[x.dtype], type(manifold) is Lorentz
    if "exp_avg" not in state:
        state["exp_avg"] = torch.zeros((count, width - on_sheet), dtype=real)
        state["exp_avg_sq"] = torch.zeros(count, dtype=real)
    for name in ("exp_avg", "exp_avg_sq"):  # load_state_dict() brings them to the type of the parameter
        state[name] = state[name].to(real)
    first, second = state["exp_avg"], state["exp_avg_sq"]
    is_in_place = x.dtype == real and kept.data_ptr() == x.data_ptr()
    out = kept if is_in_place else torch.empty((count, width), dtype=real)
    to = (second.data_ptr(), CODES[real], (count,), (1,), -1)
    settings = (group["lr"], *group["betas"], group["eps"], group["weight_decay"], state["step"], -float(manifold.c))
    if on_sheet:
        _core.lorentz_adam_step(at, slope, rows(first), to, rows(out), TIME_IGNORED, *settings)
    else:
        _core.poincare_adam_step(at, slope, default_margin(x.dtype), rows(first), to, rows(out), *settings)
    if not is_in_place:
        x.copy_(out.reshape(x.shape))
    torch.autograd.graph.increment_version(x)


def _move_composed(manifold: Any, x: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    """By methods of the manifold; None: number by number, torch's Adam."""
    if "exp_avg" not in state:
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(x), torch.zeros_like(x)
    first, second, (beta1, beta2) = state["exp_avg"], state["exp_avg_sq"], group["betas"]
    r = gradient.add(x, alpha=group["weight_decay"])
    if manifold is not None:
        r = manifold.egrad2rgrad(x, r)
    first.mul_(beta1).add_(r, alpha=1 - beta1)
    second.mul_(beta2).add_(r * r if manifold is None else manifold.component_inner(x, r), alpha=1 - beta2)
    root = (second / (1 - beta2 ** state["step"])).sqrt() + group["eps"]
    change = -group["lr"] / (1 - beta1 ** state["step"]) * first / root
    if manifold is None:
        x.add_(change)
        return
    y, moved = manifold.retr_transp(x, change, first)
    x.copy_(y)
    first.copy_(moved)
