"""A kernel as a user would add one: all that trees, rules, files and pages need of it is in this class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dipolar.kernels import Kernel, register_kernel

__all__ = ["RationalQuadraticKernel"]


@register_kernel
@dataclass(frozen=True)
class RationalQuadraticKernel(Kernel):
    """k(u, v) = (1 + |u - v|^2 / (2 power width^2)) ^ -power"""

    power: float
    width: float
    javascript: ClassVar[str | None] = (
        "(u, v, { power, width }) =>"
        " (1 + u.reduce((sum, x, i) => sum + (x - v[i]) ** 2, 0) / (2 * power * width ** 2)) ** -power"
    )

    def block(self, A, B):
        squares = ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
        return (1 + squares / (2 * self.power * self.width**2)) ** -self.power

    def diagonal(self, A):
        return np.ones(len(A))

    @property
    def word(self):
        return "rational quadratic"
