"""scikit-learn's TruncatedSVD by this library's randomised decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as _error:
    raise ImportError("quintet.metalsvd.sklearn needs scikit-learn 1.6: pip install 'quintet[sklearn]'") from _error

from .. import linalg
from .._arrays import refuse_masks
from .._errors import InvalidArgument

__all__ = ["MetalTruncatedSVD"]


class MetalTruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The leading singular vectors of a dense matrix, not centred, as scikit-learn's TruncatedSVD: the parameters and
    attributes have its names. In each component the sign is such that the sample with the coordinate of largest size has
    a positive one.

    Parameters
    ----------
    n_components : int, default 2
        Singular vectors wanted; 1 ... features.
    n_iter : int, default 10
        Power iterations.
    random_state : int, RandomState or None
        Seed of the random directions.
    tol : float
        Without effect.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet.metalsvd.sklearn import MetalTruncatedSVD
    >>> X = np.outer(np.arange(1.0, 6.0), np.ones(3))
    >>> MetalTruncatedSVD(n_components=1, random_state=0).fit_transform(X).shape
    (5, 1)
    """

    def __init__(
        self, n_components: int = 2, n_iter: int = 10, random_state: Any = None, tol: float = 0.0
    ) -> None:
        self.n_components = n_components
        self.n_iter = n_iter
        self.random_state = random_state
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> MetalTruncatedSVD:
        """Finds the components of ``X[samples, features]``."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Finds the components and returns ``U diag(S)``, ``[samples, n_components]``."""
        refuse_masks(X, "X")
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_features=2)
        if not 1 <= self.n_components <= X.shape[1]:
            raise InvalidArgument(
                f"n_components must be in [1, features={X.shape[1]}] (n_components={self.n_components})"
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        U, S, Vh, _ = linalg.randomized_svd(
            X, self.n_components, power_iterations=self.n_iter, seed=seed, canonical_signs=True
        )
        missing = self.n_components - len(S)  # fewer samples than components
        transformed = U * S
        if missing > 0:
            transformed = np.pad(transformed, ((0, 0), (0, missing)))
            S, Vh = np.pad(S, (0, missing)), np.pad(Vh, ((0, missing), (0, 0)))
        self.components_ = np.ascontiguousarray(Vh)
        self.singular_values_ = S
        self.explained_variance_ = np.var(transformed, axis=0)
        total = np.var(X, axis=0).sum()
        with np.errstate(invalid="ignore"):
            self.explained_variance_ratio_ = self.explained_variance_ / total
        return transformed

    def transform(self, X: Any) -> Any:
        """``X components^T``, ``[samples, n_components]``."""
        check_is_fitted(self)
        refuse_masks(X, "X")
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X @ self.components_.T

    def inverse_transform(self, X: Any) -> Any:
        """``X components``, ``[samples, features]``."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
