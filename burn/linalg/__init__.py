"""Linear algebra: norms, products and decompositions. Mirrors `burn::tensor::linalg`."""

from burn._hints import teaching as _teaching
from burn.linalg.decomposition import det as det
from burn.linalg.decomposition import lu as lu
from burn.linalg.decomposition import qr as qr
from burn.linalg.decomposition import svd as svd
from burn.linalg.norm import Norm as Norm
from burn.linalg.norm import l0_norm as l0_norm
from burn.linalg.norm import l0_norm_dims as l0_norm_dims
from burn.linalg.norm import l1_norm as l1_norm
from burn.linalg.norm import l1_norm_dims as l1_norm_dims
from burn.linalg.norm import l2_norm as l2_norm
from burn.linalg.norm import l2_norm_dims as l2_norm_dims
from burn.linalg.norm import lp_norm as lp_norm
from burn.linalg.norm import lp_norm_dims as lp_norm_dims
from burn.linalg.norm import max_abs_norm as max_abs_norm
from burn.linalg.norm import max_abs_norm_dims as max_abs_norm_dims
from burn.linalg.norm import min_abs_norm as min_abs_norm
from burn.linalg.norm import min_abs_norm_dims as min_abs_norm_dims
from burn.linalg.norm import vector_norm as vector_norm
from burn.linalg.norm import vector_norm_dims as vector_norm_dims
from burn.linalg.norm import vector_normalize as vector_normalize
from burn.linalg.product import cosine_similarity as cosine_similarity
from burn.linalg.product import diag as diag
from burn.linalg.product import matvec as matvec
from burn.linalg.product import outer as outer
from burn.linalg.product import outer_dim as outer_dim
from burn.linalg.product import trace as trace

__getattr__ = _teaching("burn.linalg")
