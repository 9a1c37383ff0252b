"""The modules that share a file.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from . import beta as beta
from . import binomial as binomial
from . import cauchy as cauchy
from . import chi2 as chi2
from . import continuous_bernoulli as continuous_bernoulli
from . import exp_family as exp_family
from . import exponential as exponential
from . import fishersnedecor as fishersnedecor
from . import generalized_pareto as generalized_pareto
from . import geometric as geometric
from . import gumbel as gumbel
from . import half_cauchy as half_cauchy
from . import half_normal as half_normal
from . import independent as independent
from . import inverse_gamma as inverse_gamma
from . import kumaraswamy as kumaraswamy
from . import laplace as laplace
from . import lkj_cholesky as lkj_cholesky
from . import log_normal as log_normal
from . import logistic_normal as logistic_normal
from . import lowrank_multivariate_normal as lowrank_multivariate_normal
from . import multinomial as multinomial
from . import negative_binomial as negative_binomial
from . import one_hot_categorical as one_hot_categorical
from . import poisson as poisson
from . import relaxed_bernoulli as relaxed_bernoulli
from . import relaxed_categorical as relaxed_categorical
from . import studentT as studentT
from . import uniform as uniform
from . import von_mises as von_mises
from . import weibull as weibull
from . import wishart as wishart
