"""Names that are safe in a compiled region, whatever the torch version. Written by
`python -m breakscope.knowledge_build.plain_names` from rules/knowledge and the rules; do not edit."""

# functions and methods that make tensors of any arguments
FREE = frozenset(
    """
    Tensor.abs Tensor.abs_ Tensor.absolute Tensor.absolute_ Tensor.acos Tensor.acos_ Tensor.acosh Tensor.acosh_
    Tensor.add_ Tensor.addbmm Tensor.addbmm_ Tensor.addcdiv_ Tensor.addcmul_ Tensor.addmm_ Tensor.addmv_ Tensor.addr
    Tensor.addr_ Tensor.adjoint Tensor.all Tensor.amax Tensor.amin Tensor.aminmax Tensor.angle Tensor.any
    Tensor.arccos Tensor.arccos_ Tensor.arccosh Tensor.arccosh_ Tensor.arcsin Tensor.arcsin_ Tensor.arcsinh
    Tensor.arcsinh_ Tensor.arctan Tensor.arctan2 Tensor.arctan2_ Tensor.arctan_ Tensor.arctanh Tensor.arctanh_
    Tensor.argmax Tensor.argmin Tensor.argsort Tensor.as_strided Tensor.as_strided_scatter Tensor.asin Tensor.asin_
    Tensor.asinh Tensor.asinh_ Tensor.atan Tensor.atan2 Tensor.atan2_ Tensor.atan_ Tensor.atanh Tensor.atanh_
    Tensor.baddbmm_ Tensor.bernoulli Tensor.bernoulli_ Tensor.bfloat16 Tensor.bitwise_and Tensor.bitwise_and_
    Tensor.bitwise_left_shift Tensor.bitwise_left_shift_ Tensor.bitwise_not Tensor.bitwise_not_ Tensor.bitwise_or
    Tensor.bitwise_or_ Tensor.bitwise_right_shift Tensor.bitwise_right_shift_ Tensor.bitwise_xor Tensor.bitwise_xor_
    Tensor.bmm Tensor.bool Tensor.broadcast_to Tensor.byte Tensor.cauchy_ Tensor.ccol_indices Tensor.cdouble
    Tensor.ceil Tensor.ceil_ Tensor.cfloat Tensor.chalf Tensor.char Tensor.cholesky Tensor.cholesky_inverse
    Tensor.cholesky_solve Tensor.clamp_max Tensor.clamp_max_ Tensor.clamp_min Tensor.clamp_min_ Tensor.clip_
    Tensor.clone Tensor.coalesce Tensor.col_indices Tensor.conj Tensor.conj_physical Tensor.conj_physical_
    Tensor.contiguous Tensor.copy_ Tensor.copysign Tensor.copysign_ Tensor.cos Tensor.cos_ Tensor.cosh Tensor.cosh_
    Tensor.count_nonzero Tensor.cpu Tensor.cross Tensor.crow_indices Tensor.cummax Tensor.cummin Tensor.cumprod
    Tensor.cumprod_ Tensor.cumsum Tensor.cumsum_ Tensor.data Tensor.deg2rad Tensor.deg2rad_ Tensor.dequantize
    Tensor.det Tensor.detach Tensor.diag Tensor.diag_embed Tensor.diagflat Tensor.diagonal Tensor.diagonal_scatter
    Tensor.diff Tensor.digamma Tensor.digamma_ Tensor.dist Tensor.div Tensor.div_ Tensor.divide Tensor.divide_
    Tensor.dot Tensor.double Tensor.dsplit Tensor.eq Tensor.eq_ Tensor.erf Tensor.erf_ Tensor.erfc Tensor.erfc_
    Tensor.erfinv Tensor.erfinv_ Tensor.exp Tensor.exp2 Tensor.exp2_ Tensor.exp_ Tensor.expand_as Tensor.expm1
    Tensor.expm1_ Tensor.exponential_ Tensor.fill_ Tensor.fill_diagonal_ Tensor.fix Tensor.fix_ Tensor.flatten
    Tensor.flip Tensor.fliplr Tensor.flipud Tensor.float Tensor.float_power Tensor.float_power_ Tensor.floor
    Tensor.floor_ Tensor.floor_divide Tensor.floor_divide_ Tensor.fmax Tensor.fmin Tensor.fmod Tensor.fmod_
    Tensor.frac Tensor.frac_ Tensor.frexp Tensor.gather Tensor.gcd Tensor.gcd_ Tensor.ge Tensor.ge_
    Tensor.geometric_ Tensor.geqrf Tensor.ger Tensor.greater Tensor.greater_ Tensor.greater_equal
    Tensor.greater_equal_ Tensor.gt Tensor.gt_ Tensor.half Tensor.hash_tensor Tensor.heaviside Tensor.heaviside_
    Tensor.histc Tensor.histogram Tensor.hsplit Tensor.hypot Tensor.hypot_ Tensor.i0 Tensor.i0_ Tensor.igamma
    Tensor.igamma_ Tensor.igammac Tensor.igammac_ Tensor.imag Tensor.index_add Tensor.index_add_ Tensor.index_copy
    Tensor.index_copy_ Tensor.index_fill Tensor.index_fill_ Tensor.index_put Tensor.index_put_ Tensor.index_reduce
    Tensor.index_reduce_ Tensor.index_select Tensor.indices Tensor.inner Tensor.int Tensor.int_repr Tensor.inverse
    Tensor.isclose Tensor.isfinite Tensor.isinf Tensor.isnan Tensor.isneginf Tensor.isposinf Tensor.isreal
    Tensor.istft Tensor.kron Tensor.lcm Tensor.lcm_ Tensor.ldexp Tensor.ldexp_ Tensor.le Tensor.le_ Tensor.lerp
    Tensor.lerp_ Tensor.less Tensor.less_ Tensor.less_equal Tensor.less_equal_ Tensor.lgamma Tensor.lgamma_
    Tensor.log Tensor.log10 Tensor.log10_ Tensor.log1p Tensor.log1p_ Tensor.log2 Tensor.log2_ Tensor.log_
    Tensor.log_normal_ Tensor.log_softmax Tensor.logaddexp Tensor.logaddexp2 Tensor.logcumsumexp Tensor.logdet
    Tensor.logical_and Tensor.logical_and_ Tensor.logical_not Tensor.logical_not_ Tensor.logical_or
    Tensor.logical_or_ Tensor.logical_xor Tensor.logical_xor_ Tensor.logit Tensor.logit_ Tensor.logsumexp
    Tensor.long Tensor.lt Tensor.lt_ Tensor.lu Tensor.lu_solve Tensor.mH Tensor.mT Tensor.masked_fill
    Tensor.masked_fill_ Tensor.masked_scatter Tensor.masked_scatter_ Tensor.matmul Tensor.matrix_exp
    Tensor.matrix_power Tensor.max Tensor.maximum Tensor.mean Tensor.median Tensor.min Tensor.minimum Tensor.mm
    Tensor.mode Tensor.module_load Tensor.moveaxis Tensor.movedim Tensor.msort Tensor.mul Tensor.mul_
    Tensor.multinomial Tensor.multiply Tensor.multiply_ Tensor.mv Tensor.mvlgamma Tensor.mvlgamma_ Tensor.nan_to_num
    Tensor.nan_to_num_ Tensor.nanmean Tensor.nanmedian Tensor.nanquantile Tensor.nansum Tensor.narrow_copy Tensor.ne
    Tensor.ne_ Tensor.neg Tensor.neg_ Tensor.negative Tensor.negative_ Tensor.new Tensor.new_empty_strided
    Tensor.new_tensor Tensor.nextafter Tensor.nextafter_ Tensor.nonzero_static Tensor.not_equal Tensor.not_equal_
    Tensor.orgqr Tensor.ormqr Tensor.outer Tensor.permute Tensor.pin_memory Tensor.pinverse Tensor.polygamma
    Tensor.polygamma_ Tensor.positive Tensor.pow Tensor.pow_ Tensor.prelu Tensor.prod Tensor.put Tensor.put_
    Tensor.q_per_channel_scales Tensor.q_per_channel_zero_points Tensor.qr Tensor.quantile Tensor.rad2deg
    Tensor.rad2deg_ Tensor.ravel Tensor.real Tensor.reciprocal Tensor.reciprocal_ Tensor.relu Tensor.relu_
    Tensor.remainder Tensor.remainder_ Tensor.renorm Tensor.renorm_ Tensor.reshape_as Tensor.resize Tensor.resize_as
    Tensor.resolve_conj Tensor.resolve_neg Tensor.rot90 Tensor.round Tensor.round_ Tensor.row_indices Tensor.rsqrt
    Tensor.rsqrt_ Tensor.scatter Tensor.scatter_ Tensor.scatter_add Tensor.scatter_add_ Tensor.scatter_reduce
    Tensor.scatter_reduce_ Tensor.select_scatter Tensor.sgn Tensor.sgn_ Tensor.short Tensor.sigmoid Tensor.sigmoid_
    Tensor.sign Tensor.sign_ Tensor.signbit Tensor.sin Tensor.sin_ Tensor.sinc Tensor.sinc_ Tensor.sinh Tensor.sinh_
    Tensor.slice_inverse Tensor.slice_scatter Tensor.slogdet Tensor.smm Tensor.softmax Tensor.sort
    Tensor.split_with_sizes Tensor.sqrt Tensor.sqrt_ Tensor.square Tensor.square_ Tensor.squeeze Tensor.sspaddmm
    Tensor.std Tensor.stft Tensor.sub_ Tensor.subtract Tensor.subtract_ Tensor.sum Tensor.sum_to_size Tensor.svd
    Tensor.swapaxes Tensor.swapdims Tensor.swapdims_ Tensor.t Tensor.take Tensor.take_along_dim Tensor.tan
    Tensor.tan_ Tensor.tanh Tensor.tanh_ Tensor.tile Tensor.to Tensor.to_dense Tensor.to_padded_tensor Tensor.trace
    Tensor.transpose Tensor.triangular_solve Tensor.tril_ Tensor.triu_ Tensor.true_divide Tensor.true_divide_
    Tensor.trunc Tensor.trunc_ Tensor.type_as Tensor.unbind Tensor.unflatten Tensor.unfold Tensor.unsafe_chunk
    Tensor.unsafe_split Tensor.unsafe_split_with_sizes Tensor.unsqueeze Tensor.values Tensor.var Tensor.vdot
    Tensor.view_as Tensor.vsplit Tensor.xlogy Tensor.xlogy_ Tensor.zero_ torch.abs torch.abs_ torch.absolute
    torch.acos torch.acos_ torch.acosh torch.acosh_ torch.adaptive_avg_pool1d torch.adaptive_max_pool1d torch.addbmm
    torch.addmv_ torch.addr torch.adjoint torch.affine_grid_generator torch.alias_copy torch.all torch.alpha_dropout
    torch.alpha_dropout_ torch.amax torch.amin torch.aminmax torch.angle torch.any torch.arccos torch.arccos_
    torch.arccosh torch.arccosh_ torch.arcsin torch.arcsin_ torch.arcsinh torch.arcsinh_ torch.arctan torch.arctan2
    torch.arctan_ torch.arctanh torch.arctanh_ torch.argmax torch.argmin torch.argsort torch.as_strided
    torch.as_strided_ torch.as_strided_copy torch.as_strided_scatter torch.asarray torch.asin torch.asin_
    torch.asinh torch.asinh_ torch.atan torch.atan2 torch.atan_ torch.atanh torch.atanh_ torch.atleast_1d
    torch.atleast_2d torch.atleast_3d torch.avg_pool1d torch.bartlett_window torch.batch_norm
    torch.batch_norm_backward_elemt torch.batch_norm_backward_reduce torch.batch_norm_elemt
    torch.batch_norm_gather_stats torch.batch_norm_gather_stats_with_counts torch.batch_norm_stats
    torch.batch_norm_update_stats torch.bernoulli torch.bilinear torch.binary_cross_entropy_with_logits
    torch.binomial torch.bitwise_and torch.bitwise_left_shift torch.bitwise_not torch.bitwise_or
    torch.bitwise_right_shift torch.bitwise_xor torch.blackman_window torch.block_diag torch.bmm
    torch.broadcast_tensors torch.broadcast_to torch.bucketize torch.cartesian_prod torch.cat
    torch.ccol_indices_copy torch.cdist torch.ceil torch.ceil_ torch.celu_ torch.chain_matmul torch.chalf
    torch.channel_shuffle torch.cholesky torch.cholesky_inverse torch.cholesky_solve torch.choose_qparams_optimized
    torch.clamp_max torch.clamp_max_ torch.clamp_min torch.clamp_min_ torch.clip_ torch.clone torch.col_indices_copy
    torch.column_stack torch.complex torch.concat torch.concatenate torch.conj torch.conj_physical
    torch.conj_physical_ torch.constant_pad_nd torch.conv1d torch.conv2d torch.conv3d torch.conv_tbc
    torch.conv_transpose1d torch.conv_transpose2d torch.conv_transpose3d torch.convolution torch.copysign torch.cos
    torch.cos_ torch.cosh torch.cosh_ torch.cosine_embedding_loss torch.count_nonzero torch.cross
    torch.crow_indices_copy torch.cudnn_affine_grid_generator torch.cudnn_batch_norm torch.cudnn_convolution
    torch.cudnn_convolution_add_relu torch.cudnn_convolution_relu torch.cudnn_convolution_transpose
    torch.cudnn_grid_sampler torch.cummax torch.cummin torch.cumprod torch.cumsum torch.cumulative_trapezoid
    torch.deg2rad torch.deg2rad_ torch.dequantize torch.det torch.detach torch.detach_ torch.detach_copy torch.diag
    torch.diag_embed torch.diagflat torch.diagonal torch.diagonal_copy torch.diagonal_scatter torch.diff
    torch.digamma torch.dist torch.div torch.divide torch.dot torch.dropout_ torch.dsplit torch.dstack torch.einsum
    torch.embedding torch.embedding_bag torch.embedding_renorm_ torch.empty_like torch.empty_permuted
    torch.empty_quantized torch.empty_strided torch.eq torch.erf torch.erf_ torch.erfc torch.erfc_ torch.erfinv
    torch.exp torch.exp2 torch.exp2_ torch.exp_ torch.expand_copy torch.expm1 torch.expm1_
    torch.fake_quantize_per_channel_affine torch.fake_quantize_per_tensor_affine torch.fbgemm_linear_fp16_weight
    torch.fbgemm_linear_fp16_weight_fp32_activation torch.fbgemm_linear_int8_weight
    torch.fbgemm_linear_int8_weight_fp32_activation torch.fbgemm_linear_quantize_weight
    torch.fbgemm_pack_gemm_matrix_fp16 torch.fbgemm_pack_quantized_matrix torch.feature_alpha_dropout
    torch.feature_alpha_dropout_ torch.feature_dropout torch.feature_dropout_ torch.fft.fft torch.fft.fft2
    torch.fft.fftfreq torch.fft.fftn torch.fft.fftshift torch.fft.hfft torch.fft.hfft2 torch.fft.hfftn
    torch.fft.ifft torch.fft.ifft2 torch.fft.ifftn torch.fft.ifftshift torch.fft.ihfft torch.fft.ihfft2
    torch.fft.ihfftn torch.fft.irfft torch.fft.irfft2 torch.fft.irfftn torch.fft.rfft torch.fft.rfft2
    torch.fft.rfftfreq torch.fft.rfftn torch.fill torch.fill_ torch.fix torch.fix_ torch.flatten torch.flip
    torch.fliplr torch.flipud torch.float_power torch.floor torch.floor_ torch.floor_divide torch.fmax torch.fmin
    torch.fmod torch.frac torch.frac_ torch.frexp torch.frobenius_norm torch.from_file torch.from_numpy
    torch.full_like torch.fused_moving_avg_obs_fake_quant torch.gather torch.gcd torch.gcd_ torch.ge torch.geqrf
    torch.ger torch.gradient torch.greater torch.greater_equal torch.grid_sampler torch.grid_sampler_2d
    torch.grid_sampler_3d torch.group_norm torch.gru torch.gru_cell torch.gt torch.hamming_window torch.hann_window
    torch.hash_tensor torch.heaviside torch.hinge_embedding_loss torch.histc torch.histogram torch.histogramdd
    torch.hsplit torch.hspmm torch.hstack torch.hypot torch.i0 torch.i0_ torch.igamma torch.igammac torch.imag
    torch.index_add torch.index_copy torch.index_fill torch.index_put torch.index_put_ torch.index_reduce
    torch.index_select torch.indices_copy torch.inner torch.instance_norm torch.int_repr torch.inverse torch.isclose
    torch.isfinite torch.isin torch.isinf torch.isnan torch.isneginf torch.isposinf torch.isreal torch.istft
    torch.kaiser_window torch.kl_div torch.kron torch.lcm torch.lcm_ torch.ldexp torch.ldexp_ torch.le torch.lerp
    torch.less torch.less_equal torch.lgamma torch.linalg.cholesky torch.linalg.cholesky_ex torch.linalg.cross
    torch.linalg.det torch.linalg.diagonal torch.linalg.eig torch.linalg.eigh torch.linalg.eigvals
    torch.linalg.eigvalsh torch.linalg.householder_product torch.linalg.inv torch.linalg.inv_ex
    torch.linalg.ldl_factor torch.linalg.ldl_factor_ex torch.linalg.ldl_solve torch.linalg.lu torch.linalg.lu_factor
    torch.linalg.lu_factor_ex torch.linalg.lu_solve torch.linalg.matmul torch.linalg.matrix_exp
    torch.linalg.matrix_norm torch.linalg.matrix_power torch.linalg.matrix_rank torch.linalg.multi_dot
    torch.linalg.pinv torch.linalg.qr torch.linalg.slogdet torch.linalg.solve torch.linalg.solve_ex
    torch.linalg.solve_triangular torch.linalg.svd torch.linalg.svdvals torch.linalg.tensorinv
    torch.linalg.tensorsolve torch.linalg.vander torch.linalg.vecdot torch.linalg.vector_norm torch.log torch.log10
    torch.log10_ torch.log1p torch.log1p_ torch.log2 torch.log2_ torch.log_ torch.log_softmax torch.logaddexp
    torch.logaddexp2 torch.logcumsumexp torch.logdet torch.logical_and torch.logical_not torch.logical_or
    torch.logical_xor torch.logit torch.logit_ torch.logspace torch.logsumexp torch.lstm torch.lstm_cell torch.lt
    torch.lu torch.lu_solve torch.lu_unpack torch.margin_ranking_loss torch.masked_fill torch.masked_scatter
    torch.matmul torch.matrix_exp torch.matrix_power torch.max torch.max_pool1d torch.max_pool1d_with_indices
    torch.max_pool2d torch.max_pool3d torch.maximum torch.mean torch.median torch.meshgrid torch.min torch.minimum
    torch.miopen_batch_norm torch.miopen_convolution torch.miopen_convolution_add_relu torch.miopen_convolution_relu
    torch.miopen_convolution_transpose torch.miopen_ctc_loss torch.miopen_depthwise_convolution torch.miopen_rnn
    torch.mkldnn_adaptive_avg_pool2d torch.mkldnn_convolution torch.mkldnn_linear_backward_weights
    torch.mkldnn_max_pool2d torch.mkldnn_max_pool3d torch.mkldnn_rnn_layer torch.mm torch.mode torch.moveaxis
    torch.movedim torch.msort torch.mul torch.multiply torch.mv torch.mvlgamma torch.nan_to_num torch.nan_to_num_
    torch.nanmean torch.nanmedian torch.nanquantile torch.nansum torch.narrow_copy torch.native_batch_norm
    torch.native_channel_shuffle torch.native_dropout torch.native_group_norm torch.native_layer_norm
    torch.native_norm torch.ne torch.neg torch.neg_ torch.negative torch.negative_ torch.nextafter
    torch.nn.functional.affine_grid torch.nn.functional.alpha_dropout torch.nn.functional.avg_pool1d
    torch.nn.functional.avg_pool2d torch.nn.functional.avg_pool3d torch.nn.functional.batch_norm
    torch.nn.functional.bilinear torch.nn.functional.binary_cross_entropy
    torch.nn.functional.binary_cross_entropy_with_logits torch.nn.functional.celu_
    torch.nn.functional.channel_shuffle torch.nn.functional.conv1d torch.nn.functional.conv2d
    torch.nn.functional.conv3d torch.nn.functional.conv_tbc torch.nn.functional.conv_transpose1d
    torch.nn.functional.conv_transpose2d torch.nn.functional.conv_transpose3d
    torch.nn.functional.cosine_embedding_loss torch.nn.functional.cross_entropy torch.nn.functional.dropout2d
    torch.nn.functional.dropout3d torch.nn.functional.elu_ torch.nn.functional.embedding
    torch.nn.functional.embedding_bag torch.nn.functional.feature_alpha_dropout
    torch.nn.functional.fractional_max_pool2d torch.nn.functional.fractional_max_pool3d torch.nn.functional.gelu
    torch.nn.functional.glu torch.nn.functional.grid_sample torch.nn.functional.group_norm
    torch.nn.functional.gumbel_softmax torch.nn.functional.hardsigmoid torch.nn.functional.hardswish
    torch.nn.functional.hardtanh torch.nn.functional.hardtanh_ torch.nn.functional.hinge_embedding_loss
    torch.nn.functional.instance_norm torch.nn.functional.kl_div torch.nn.functional.l1_loss
    torch.nn.functional.leaky_relu_ torch.nn.functional.linear torch.nn.functional.linear_cross_entropy
    torch.nn.functional.local_response_norm torch.nn.functional.log_softmax torch.nn.functional.logsigmoid
    torch.nn.functional.margin_ranking_loss torch.nn.functional.max_pool1d
    torch.nn.functional.max_pool1d_with_indices torch.nn.functional.max_pool2d
    torch.nn.functional.max_pool2d_with_indices torch.nn.functional.max_pool3d
    torch.nn.functional.max_pool3d_with_indices torch.nn.functional.max_unpool1d torch.nn.functional.max_unpool2d
    torch.nn.functional.max_unpool3d torch.nn.functional.mish torch.nn.functional.mse_loss
    torch.nn.functional.multi_head_attention_forward torch.nn.functional.multi_margin_loss
    torch.nn.functional.multilabel_margin_loss torch.nn.functional.multilabel_soft_margin_loss
    torch.nn.functional.native_channel_shuffle torch.nn.functional.nll_loss torch.nn.functional.normalize
    torch.nn.functional.pairwise_distance torch.nn.functional.pdist torch.nn.functional.pixel_shuffle
    torch.nn.functional.pixel_unshuffle torch.nn.functional.poisson_nll_loss torch.nn.functional.prelu
    torch.nn.functional.relu torch.nn.functional.relu6 torch.nn.functional.relu_ torch.nn.functional.rms_norm
    torch.nn.functional.rrelu torch.nn.functional.rrelu_ torch.nn.functional.selu torch.nn.functional.selu_
    torch.nn.functional.sigmoid torch.nn.functional.silu torch.nn.functional.soft_margin_loss
    torch.nn.functional.softmax torch.nn.functional.softmin torch.nn.functional.softplus
    torch.nn.functional.softsign torch.nn.functional.tanh torch.nn.functional.tanhshrink
    torch.nn.functional.threshold_ torch.nn.functional.triplet_margin_loss
    torch.nn.functional.triplet_margin_with_distance_loss torch.nn.functional.unfold
    torch.nn.functional.upsample_bilinear torch.nn.functional.upsample_nearest torch.nonzero_static
    torch.norm_except_dim torch.normal torch.not_equal torch.nuclear_norm torch.ones_like torch.orgqr torch.ormqr
    torch.outer torch.pairwise_distance torch.pca_lowrank torch.pdist torch.permute torch.permute_copy
    torch.pinverse torch.pixel_shuffle torch.pixel_unshuffle torch.poisson torch.poisson_nll_loss torch.polar
    torch.polygamma torch.positive torch.pow torch.prelu torch.prod torch.put torch.q_per_channel_scales
    torch.q_per_channel_zero_points torch.qr torch.quantile torch.quantize_per_channel
    torch.quantize_per_tensor_dynamic torch.quantized_batch_norm torch.quantized_gru torch.quantized_gru_cell
    torch.quantized_lstm torch.quantized_lstm_cell torch.quantized_max_pool1d torch.quantized_max_pool2d
    torch.quantized_max_pool3d torch.quantized_rnn_relu_cell torch.quantized_rnn_tanh_cell torch.rad2deg
    torch.rad2deg_ torch.rand_like torch.randint_like torch.randn_like torch.random torch.range torch.ravel
    torch.real torch.reciprocal torch.reciprocal_ torch.relu torch.relu_ torch.remainder torch.renorm
    torch.resolve_conj torch.resolve_neg torch.rms_norm torch.rnn_relu torch.rnn_relu_cell torch.rnn_tanh
    torch.rnn_tanh_cell torch.rot90 torch.round torch.round_ torch.row_indices_copy torch.row_stack torch.rrelu
    torch.rrelu_ torch.rsqrt torch.rsqrt_ torch.rsub torch.scatter torch.scatter_add torch.scatter_reduce
    torch.searchsorted torch.segment_reduce torch.select_copy torch.select_scatter torch.selu torch.selu_ torch.sgn
    torch.sigmoid torch.sigmoid_ torch.sign torch.signbit torch.sin torch.sin_ torch.sinc torch.sinc_ torch.sinh
    torch.sinh_ torch.slice_copy torch.slice_inverse torch.slice_scatter torch.slogdet torch.softmax torch.sort
    torch.special.airy_ai torch.special.bessel_j0 torch.special.bessel_j1 torch.special.bessel_y0
    torch.special.bessel_y1 torch.special.chebyshev_polynomial_t torch.special.chebyshev_polynomial_u
    torch.special.chebyshev_polynomial_v torch.special.chebyshev_polynomial_w torch.special.digamma
    torch.special.entr torch.special.erf torch.special.erfc torch.special.erfcx torch.special.erfinv
    torch.special.exp2 torch.special.expit torch.special.expm1 torch.special.gammainc torch.special.gammaincc
    torch.special.gammaln torch.special.hermite_polynomial_h torch.special.hermite_polynomial_he torch.special.i0
    torch.special.i0e torch.special.i1 torch.special.i1e torch.special.laguerre_polynomial_l
    torch.special.legendre_polynomial_p torch.special.log1p torch.special.log_ndtr torch.special.log_softmax
    torch.special.logit torch.special.logsumexp torch.special.modified_bessel_i0 torch.special.modified_bessel_i1
    torch.special.modified_bessel_k0 torch.special.modified_bessel_k1 torch.special.multigammaln torch.special.ndtr
    torch.special.ndtri torch.special.polygamma torch.special.psi torch.special.round
    torch.special.scaled_modified_bessel_k0 torch.special.scaled_modified_bessel_k1
    torch.special.shifted_chebyshev_polynomial_t torch.special.shifted_chebyshev_polynomial_u
    torch.special.shifted_chebyshev_polynomial_v torch.special.shifted_chebyshev_polynomial_w torch.special.sinc
    torch.special.softmax torch.special.spherical_bessel_j0 torch.special.xlog1py torch.special.xlogy
    torch.special.zeta torch.split_copy torch.split_with_sizes torch.split_with_sizes_copy torch.sqrt torch.sqrt_
    torch.square torch.square_ torch.squeeze torch.squeeze_copy torch.sspaddmm torch.stack torch.std torch.std_mean
    torch.stft torch.subtract torch.sum torch.svd torch.svd_lowrank torch.swapaxes torch.swapdims torch.t
    torch.t_copy torch.take torch.take_along_dim torch.tan torch.tan_ torch.tanh torch.tanh_ torch.tensor
    torch.tensordot torch.threshold_ torch.tile torch.trace torch.transpose torch.transpose_copy torch.trapezoid
    torch.trapz torch.triangular_solve torch.tril_indices torch.triplet_margin_loss torch.triu_indices
    torch.true_divide torch.trunc torch.trunc_ torch.unbind torch.unbind_copy torch.unflatten torch.unfold_copy
    torch.unravel_index torch.unsafe_chunk torch.unsafe_split torch.unsafe_split_with_sizes torch.unsqueeze
    torch.unsqueeze_copy torch.values_copy torch.vander torch.var torch.var_mean torch.vdot torch.view_as_complex
    torch.view_as_complex_copy torch.view_as_real torch.view_as_real_copy torch.view_copy torch.vsplit torch.vstack
    torch.xlogy torch.xlogy_ torch.zero_ torch.zeros_like
    """.split()
)

# those of which only so many first arguments may be tensors (a method's own not counted)
FIRST = {
    "Tensor.add": 8, "Tensor.addcdiv": 8, "Tensor.addcmul": 8, "Tensor.addmm": 8, "Tensor.addmv": 8,
    "Tensor.baddbmm": 8, "Tensor.chunk": 0, "Tensor.clamp": 0, "Tensor.clamp_": 0, "Tensor.clip": 0,
    "Tensor.expand": 0, "Tensor.hardshrink": 0, "Tensor.kthvalue": 0, "Tensor.narrow": 1, "Tensor.new_empty": 0,
    "Tensor.new_full": 0, "Tensor.new_ones": 0, "Tensor.new_zeros": 0, "Tensor.norm": 0, "Tensor.normal_": 0,
    "Tensor.repeat": 0, "Tensor.reshape": 0, "Tensor.roll": 0, "Tensor.select": 1, "Tensor.split": 0, "Tensor.sub":
    8, "Tensor.tensor_split": 0, "Tensor.topk": 0, "Tensor.tril": 0, "Tensor.triu": 0, "Tensor.uniform_": 0,
    "Tensor.view": 0, "torch.add": 8, "torch.addcdiv": 8, "torch.addcmul": 8, "torch.addmm": 8, "torch.addmv": 8,
    "torch.arange": 0, "torch.as_tensor": 8, "torch.baddbmm": 8, "torch.celu": 1, "torch.chunk": 1, "torch.clamp":
    1, "torch.clamp_": 1, "torch.clip": 1, "torch.cosine_similarity": 3, "torch.dropout": 1, "torch.empty": 0,
    "torch.eye": 0, "torch.full": 0, "torch.hardshrink": 1, "torch.kthvalue": 1, "torch.layer_norm": 4,
    "torch.linalg.norm": 1, "torch.linspace": 2, "torch.multinomial": 8, "torch.narrow": 2,
    "torch.nn.functional.adaptive_avg_pool1d": 1, "torch.nn.functional.adaptive_avg_pool2d": 1,
    "torch.nn.functional.adaptive_avg_pool3d": 1, "torch.nn.functional.adaptive_max_pool1d": 1,
    "torch.nn.functional.adaptive_max_pool2d": 1, "torch.nn.functional.adaptive_max_pool3d": 1,
    "torch.nn.functional.celu": 1, "torch.nn.functional.cosine_similarity": 3, "torch.nn.functional.dropout": 1,
    "torch.nn.functional.elu": 1, "torch.nn.functional.hardshrink": 1, "torch.nn.functional.huber_loss": 4,
    "torch.nn.functional.interpolate": 1, "torch.nn.functional.layer_norm": 4, "torch.nn.functional.leaky_relu": 1,
    "torch.nn.functional.pad": 1, "torch.nn.functional.scaled_dot_product_attention": 8,
    "torch.nn.functional.smooth_l1_loss": 5, "torch.nn.functional.softshrink": 1, "torch.nn.functional.threshold":
    1, "torch.norm": 1, "torch.ones": 0, "torch.rand": 0, "torch.randint": 0, "torch.randn": 0, "torch.randperm": 0,
    "torch.reshape": 1, "torch.roll": 1, "torch.scalar_tensor": 0, "torch.select": 2, "torch.smm": 8, "torch.split":
    1, "torch.sub": 8, "torch.tensor_split": 1, "torch.threshold": 1, "torch.topk": 1, "torch.tril": 1,
    "torch.triu": 1, "torch.zeros": 0,
}

# those that may give several tensors
SEVERAL = frozenset(
    """
    Tensor.aminmax Tensor.chunk Tensor.cummax Tensor.cummin Tensor.dsplit Tensor.frexp Tensor.geqrf Tensor.histogram
    Tensor.hsplit Tensor.kthvalue Tensor.lu Tensor.max Tensor.median Tensor.min Tensor.mode Tensor.nanmedian
    Tensor.nonzero Tensor.qr Tensor.slogdet Tensor.sort Tensor.split Tensor.split_with_sizes Tensor.svd
    Tensor.tensor_split Tensor.topk Tensor.triangular_solve Tensor.unbind Tensor.unique Tensor.unique_consecutive
    Tensor.unsafe_chunk Tensor.unsafe_split Tensor.unsafe_split_with_sizes Tensor.vsplit torch.adaptive_max_pool1d
    torch.aminmax torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.batch_norm_backward_reduce
    torch.batch_norm_gather_stats torch.batch_norm_gather_stats_with_counts torch.batch_norm_stats
    torch.batch_norm_update_stats torch.broadcast_tensors torch.choose_qparams_optimized torch.chunk
    torch.cudnn_batch_norm torch.cummax torch.cummin torch.dsplit torch.embedding_bag
    torch.fbgemm_linear_quantize_weight torch.frexp torch.geqrf torch.gradient torch.gru torch.histogram
    torch.histogramdd torch.hsplit torch.kthvalue torch.linalg.cholesky_ex torch.linalg.eig torch.linalg.eigh
    torch.linalg.inv_ex torch.linalg.ldl_factor torch.linalg.ldl_factor_ex torch.linalg.lstsq torch.linalg.lu
    torch.linalg.lu_factor torch.linalg.lu_factor_ex torch.linalg.qr torch.linalg.slogdet torch.linalg.solve_ex
    torch.linalg.svd torch.lobpcg torch.lstm torch.lstm_cell torch.lu torch.lu_unpack torch.max
    torch.max_pool1d_with_indices torch.median torch.meshgrid torch.min torch.miopen_batch_norm
    torch.miopen_ctc_loss torch.miopen_rnn torch.mkldnn_linear_backward_weights torch.mkldnn_rnn_layer torch.mode
    torch.nanmedian torch.native_batch_norm torch.native_dropout torch.native_group_norm torch.native_layer_norm
    torch.nn.functional.adaptive_max_pool1d torch.nn.functional.adaptive_max_pool2d
    torch.nn.functional.adaptive_max_pool3d torch.nn.functional.fractional_max_pool2d
    torch.nn.functional.fractional_max_pool3d torch.nn.functional.max_pool1d
    torch.nn.functional.max_pool1d_with_indices torch.nn.functional.max_pool2d
    torch.nn.functional.max_pool2d_with_indices torch.nn.functional.max_pool3d
    torch.nn.functional.max_pool3d_with_indices torch.nn.functional.multi_head_attention_forward torch.nonzero
    torch.pca_lowrank torch.qr torch.quantize_per_tensor torch.quantized_gru torch.quantized_lstm
    torch.quantized_lstm_cell torch.rnn_relu torch.rnn_tanh torch.slogdet torch.sort torch.split torch.split_copy
    torch.split_with_sizes torch.split_with_sizes_copy torch.std_mean torch.svd torch.svd_lowrank torch.tensor_split
    torch.topk torch.triangular_solve torch.unbind torch.unbind_copy torch.unique torch.unique_consecutive
    torch.unravel_index torch.unsafe_chunk torch.unsafe_split torch.unsafe_split_with_sizes torch.var_mean
    torch.vsplit
    """.split()
)

# keywords of these under which a tensor may be passed
TENSOR_KEYWORDS = frozenset(
    """
    attn_mask bias input key mask mat1 mat2 other query src target tensor1 tensor2 weight
    """.split()
)

# those that give a Python value
PYTHON_RESULTS = frozenset(
    """
    Tensor.dim Tensor.element_size Tensor.get_device Tensor.is_coalesced Tensor.is_complex Tensor.is_contiguous
    Tensor.is_floating_point Tensor.is_leaf Tensor.ndimension Tensor.nelement Tensor.numel Tensor.output_nr
    Tensor.q_per_channel_axis Tensor.q_zero_point Tensor.retains_grad Tensor.size Tensor.stride
    torch.are_deterministic_algorithms_enabled torch.broadcast_shapes torch.cudnn_is_acceptable torch.device
    torch.get_autocast_dtype torch.get_autocast_gpu_dtype torch.get_default_dtype torch.is_autocast_cache_enabled
    torch.is_autocast_cpu_enabled torch.is_autocast_enabled torch.is_complex torch.is_floating_point
    torch.is_grad_enabled torch.numel torch.promote_types torch.q_per_channel_axis torch.q_zero_point torch.seed
    torch.sym_int
    """.split()
)

# modules that may be called
LAYERS = frozenset(
    """
    torch.nn.AdaptiveAvgPool1d torch.nn.AdaptiveAvgPool2d torch.nn.AdaptiveAvgPool3d torch.nn.AdaptiveMaxPool1d
    torch.nn.AdaptiveMaxPool2d torch.nn.AdaptiveMaxPool3d torch.nn.AlphaDropout torch.nn.AvgPool1d
    torch.nn.AvgPool2d torch.nn.AvgPool3d torch.nn.BCELoss torch.nn.BCEWithLogitsLoss torch.nn.BatchNorm1d
    torch.nn.BatchNorm2d torch.nn.BatchNorm3d torch.nn.Bilinear torch.nn.CELU torch.nn.ChannelShuffle
    torch.nn.CircularPad1d torch.nn.CircularPad2d torch.nn.CircularPad3d torch.nn.ConstantPad1d
    torch.nn.ConstantPad2d torch.nn.ConstantPad3d torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d
    torch.nn.ConvTranspose1d torch.nn.ConvTranspose2d torch.nn.ConvTranspose3d torch.nn.CosineEmbeddingLoss
    torch.nn.CosineSimilarity torch.nn.CrossEntropyLoss torch.nn.CrossMapLRN2d torch.nn.Dropout torch.nn.Dropout1d
    torch.nn.Dropout2d torch.nn.Dropout3d torch.nn.ELU torch.nn.Embedding torch.nn.EmbeddingBag
    torch.nn.FeatureAlphaDropout torch.nn.Flatten torch.nn.Fold torch.nn.FractionalMaxPool2d
    torch.nn.FractionalMaxPool3d torch.nn.GELU torch.nn.GLU torch.nn.GRUCell torch.nn.GroupNorm torch.nn.Hardshrink
    torch.nn.Hardsigmoid torch.nn.Hardswish torch.nn.Hardtanh torch.nn.HingeEmbeddingLoss torch.nn.HuberLoss
    torch.nn.Identity torch.nn.InstanceNorm1d torch.nn.InstanceNorm2d torch.nn.InstanceNorm3d torch.nn.KLDivLoss
    torch.nn.L1Loss torch.nn.LPPool1d torch.nn.LPPool2d torch.nn.LPPool3d torch.nn.LSTMCell torch.nn.LayerNorm
    torch.nn.LazyBatchNorm1d torch.nn.LazyBatchNorm2d torch.nn.LazyBatchNorm3d torch.nn.LazyConv1d
    torch.nn.LazyConv2d torch.nn.LazyConv3d torch.nn.LazyConvTranspose1d torch.nn.LazyConvTranspose2d
    torch.nn.LazyConvTranspose3d torch.nn.LazyInstanceNorm1d torch.nn.LazyInstanceNorm2d torch.nn.LazyInstanceNorm3d
    torch.nn.LazyLinear torch.nn.LeakyReLU torch.nn.Linear torch.nn.LinearCrossEntropyLoss
    torch.nn.LocalResponseNorm torch.nn.LogSigmoid torch.nn.LogSoftmax torch.nn.MSELoss torch.nn.MarginRankingLoss
    torch.nn.MaxPool1d torch.nn.MaxPool2d torch.nn.MaxPool3d torch.nn.MaxUnpool1d torch.nn.MaxUnpool2d
    torch.nn.MaxUnpool3d torch.nn.Mish torch.nn.MultiLabelMarginLoss torch.nn.MultiLabelSoftMarginLoss
    torch.nn.MultiMarginLoss torch.nn.MultiheadAttention torch.nn.NLLLoss torch.nn.NLLLoss2d torch.nn.PReLU
    torch.nn.PairwiseDistance torch.nn.PixelShuffle torch.nn.PixelUnshuffle torch.nn.PoissonNLLLoss torch.nn.RMSNorm
    torch.nn.RNNCell torch.nn.RNNCellBase torch.nn.RReLU torch.nn.ReLU torch.nn.ReLU6 torch.nn.ReflectionPad1d
    torch.nn.ReflectionPad2d torch.nn.ReflectionPad3d torch.nn.ReplicationPad1d torch.nn.ReplicationPad2d
    torch.nn.ReplicationPad3d torch.nn.SELU torch.nn.SiLU torch.nn.Sigmoid torch.nn.SmoothL1Loss
    torch.nn.SoftMarginLoss torch.nn.Softmax torch.nn.Softmax2d torch.nn.Softmin torch.nn.Softplus
    torch.nn.Softshrink torch.nn.Softsign torch.nn.SyncBatchNorm torch.nn.Tanh torch.nn.Tanhshrink
    torch.nn.Threshold torch.nn.Transformer torch.nn.TransformerDecoder torch.nn.TransformerDecoderLayer
    torch.nn.TransformerEncoder torch.nn.TransformerEncoderLayer torch.nn.TripletMarginLoss
    torch.nn.TripletMarginWithDistanceLoss torch.nn.Unflatten torch.nn.Unfold torch.nn.Upsample
    torch.nn.UpsamplingBilinear2d torch.nn.UpsamplingNearest2d torch.nn.ZeroPad1d torch.nn.ZeroPad2d
    torch.nn.ZeroPad3d
    """.split()
)

# those that may be made in a region, too
MADE = frozenset(
    """
    torch.nn.AdaptiveAvgPool1d torch.nn.AdaptiveAvgPool2d torch.nn.AdaptiveAvgPool3d torch.nn.AdaptiveMaxPool1d
    torch.nn.AdaptiveMaxPool2d torch.nn.AdaptiveMaxPool3d torch.nn.AlphaDropout torch.nn.AvgPool1d
    torch.nn.AvgPool2d torch.nn.AvgPool3d torch.nn.BCELoss torch.nn.BCEWithLogitsLoss torch.nn.CELU
    torch.nn.ChannelShuffle torch.nn.CircularPad1d torch.nn.CircularPad2d torch.nn.CircularPad3d
    torch.nn.ConstantPad1d torch.nn.ConstantPad2d torch.nn.ConstantPad3d torch.nn.CosineEmbeddingLoss
    torch.nn.CosineSimilarity torch.nn.CrossEntropyLoss torch.nn.CrossMapLRN2d torch.nn.Dropout torch.nn.Dropout1d
    torch.nn.Dropout2d torch.nn.Dropout3d torch.nn.ELU torch.nn.FeatureAlphaDropout torch.nn.Flatten torch.nn.Fold
    torch.nn.FractionalMaxPool2d torch.nn.FractionalMaxPool3d torch.nn.GELU torch.nn.GLU torch.nn.Hardshrink
    torch.nn.Hardsigmoid torch.nn.Hardswish torch.nn.Hardtanh torch.nn.HingeEmbeddingLoss torch.nn.HuberLoss
    torch.nn.Identity torch.nn.InstanceNorm1d torch.nn.InstanceNorm2d torch.nn.InstanceNorm3d torch.nn.KLDivLoss
    torch.nn.L1Loss torch.nn.LPPool1d torch.nn.LPPool2d torch.nn.LPPool3d torch.nn.LazyBatchNorm1d
    torch.nn.LazyBatchNorm2d torch.nn.LazyBatchNorm3d torch.nn.LazyConv1d torch.nn.LazyConv2d torch.nn.LazyConv3d
    torch.nn.LazyConvTranspose1d torch.nn.LazyConvTranspose2d torch.nn.LazyConvTranspose3d
    torch.nn.LazyInstanceNorm1d torch.nn.LazyInstanceNorm2d torch.nn.LazyInstanceNorm3d torch.nn.LazyLinear
    torch.nn.LeakyReLU torch.nn.LinearCrossEntropyLoss torch.nn.LocalResponseNorm torch.nn.LogSigmoid
    torch.nn.LogSoftmax torch.nn.MSELoss torch.nn.MarginRankingLoss torch.nn.MaxPool1d torch.nn.MaxPool2d
    torch.nn.MaxPool3d torch.nn.MaxUnpool1d torch.nn.MaxUnpool2d torch.nn.MaxUnpool3d torch.nn.Mish
    torch.nn.MultiLabelMarginLoss torch.nn.MultiLabelSoftMarginLoss torch.nn.MultiMarginLoss torch.nn.NLLLoss
    torch.nn.NLLLoss2d torch.nn.PairwiseDistance torch.nn.PixelShuffle torch.nn.PixelUnshuffle
    torch.nn.PoissonNLLLoss torch.nn.RNNCellBase torch.nn.RReLU torch.nn.ReLU torch.nn.ReLU6
    torch.nn.ReflectionPad1d torch.nn.ReflectionPad2d torch.nn.ReflectionPad3d torch.nn.ReplicationPad1d
    torch.nn.ReplicationPad2d torch.nn.ReplicationPad3d torch.nn.SELU torch.nn.SiLU torch.nn.Sigmoid
    torch.nn.SmoothL1Loss torch.nn.SoftMarginLoss torch.nn.Softmax torch.nn.Softmax2d torch.nn.Softmin
    torch.nn.Softplus torch.nn.Softshrink torch.nn.Softsign torch.nn.Tanh torch.nn.Tanhshrink torch.nn.Threshold
    torch.nn.TransformerDecoder torch.nn.TransformerEncoder torch.nn.TripletMarginLoss
    torch.nn.TripletMarginWithDistanceLoss torch.nn.Unflatten torch.nn.Unfold torch.nn.Upsample
    torch.nn.UpsamplingBilinear2d torch.nn.UpsamplingNearest2d torch.nn.ZeroPad1d torch.nn.ZeroPad2d
    torch.nn.ZeroPad3d
    """.split()
)

# packages, and parts of a package, of which some rule or table speaks
SPOKEN_OF = frozenset(
    """
    NamedTuple Tensor Tensor.data_ptr _collections_abc _weakrefset abc argparse array array.array ast asyncio atexit
    base64 binascii bisect builtins bytes bz2 cProfile calendar cmath codecs collections collections.Counter
    collections.OrderedDict collections.abc collections.deque collections.namedtuple concurrent.futures configparser
    contextlib contextlib.AsyncExitStack contextlib.ExitStack contextvars contextvars.ContextVar copy copyreg csv
    ctypes dataclasses datetime datetime.date datetime.datetime decimal deque descriptor dict difflib enum
    faulthandler fcntl float fnmatch fractions frozenset function functools functools.cached_property
    functools.lru_cache functools.partialmethod fx2trt_oss gc getpass glob grp gzip hashlib hashlib.HASH heapq hmac
    html hypothesis importlib importlib.util inspect int io io.BytesIO io.StringIO iterator itertools
    itertools.chain json keyword linecache list locale logging logging.Logger logging.LoggerAdapter
    logging.RootLogger lzma marshal math module multiprocessing networkx numpy numpy.fft numpy.generic numpy.linalg
    numpy.ndarray numpy.polynomial numpy.random object onnx onnx_tf onnxruntime operator os os._Environ os.environ
    os.path pandas pathlib pathlib.Path pathlib.PosixPath pathlib.PurePath pickle pkgutil platform posix posixpath
    pprint pwd queue queue.Queue random random.Random re re.Match re.Pattern resource sched secrets select selectors
    set shelve shlex shutil signal sklearn socket sqlite3 ssl statistics str string string.Template struct
    subprocess sys sys.stderr sys.stdin sys.stdout sys.version_info sysconfig syslog tabulate tempfile tensorflow
    tensorrt termios textwrap threading threading.Event threading.Lock threading.RLock threading.Semaphore time
    timeit tokenize torch torch.Generator torch.GradScaler torch.Size torch.StorageBase torch.Tensor
    torch.UntypedStorage torch._C torch.__config__ torch._dynamo torch._inductor torch.accelerator torch.amp
    torch.ao torch.autograd torch.backends torch.compiler torch.cpu torch.cuda torch.distributed torch.distributions
    torch.fft torch.func torch.fx torch.hub torch.jit torch.library torch.linalg torch.masked torch.mps torch.nested
    torch.nn torch.onnx torch.ops torch.optim torch.overrides torch.profiler torch.quantization torch.random
    torch.serialization torch.signal torch.sparse torch.special torch.testing torch.torch torch.utils torch.xpu
    torch2trt torchvision.ops tqdm traceback tracemalloc tree tuple tvm type types typing unicodedata unittest
    unittest.mock urllib.parse uuid warnings weakref weakref.WeakKeyDictionary weakref.WeakValueDictionary
    weakrefset.WeakSet xarray zipfile zlib
    """.split()
)

# methods of every module
MODULE_METHODS = frozenset(
    """
    __call__ _load_from_state_dict add_module apply bfloat16 buffers children compile cpu cuda double eval
    extra_repr float get_buffer get_parameter get_submodule half load_state_dict modules named_buffers
    named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_module register_parameter register_state_dict_pre_hook
    requires_grad_ share_memory state_dict to to_empty train type zero_grad
    """.split()
)

# what is called by one of these is a tensor
TENSOR_ONLY = frozenset(
    """
    all any argmax argsort bmm bool byte chunk contiguous cumsum detach dim expand expand_as flatten gather
    index_select isnan item log_softmax long masked_fill masked_fill_ masked_select matmul new_empty new_full
    new_ones new_tensor new_zeros nonzero norm numel permute repeat_interleave requires_grad_ scatter scatter_
    scatter_add scatter_add_ sigmoid softmax squeeze tolist topk transpose type_as unbind unsqueeze view_as
    """.split()
)

# attributes of tensors, and what rules ask for as if it were one
TENSOR_NAMES = frozenset(
    """
    H L LD LU P Q R S T U V Vh a abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv
    addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any
    apply_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh
    arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter as_subclass asin asin_ asinh
    asinh_ atan atan2 atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bin_edges
    bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or
    bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_
    ccol_indices cdouble ceil ceil_ celu cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp
    clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone cloned_coefficient coalesce col_indices conj
    conj_physical conj_physical_ const_data_ptr contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_
    cosine_similarity count_nonzero cov cpu cross crow_indices cuda cummax cummin cumprod cumprod_ cumsum cumsum_
    data data_ptr deg2rad deg2rad_ dense_dim dequantize det detach detach_ device diag diag_embed diagflat diagonal
    diagonal_scatter diff digamma digamma_ dim dim_order dist div div_ divide divide_ dot double dropout dsplit
    dtype eigenvalues eigenvectors element_size elu eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_
    exp_ expand expand_as expm1 expm1_ exponent exponential_ fill_ fill_diagonal_ fix fix_ flatten flip fliplr
    flipud float float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_
    frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger get_device grad grad_dtype grad_fn greater greater_
    greater_equal greater_equal_ gt gt_ half hardshrink hash_tensor heaviside heaviside_ hist histc histogram hsplit
    huber_loss hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ imag index index_add index_add_ index_copy
    index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select indices info
    inner int int_repr inverse ipu is_coalesced is_complex is_conj is_contiguous is_cpu is_cuda is_distributed
    is_floating_point is_inference is_leaf is_meta is_mps is_neg is_nested is_nonzero is_npu is_pinned is_quantized
    is_same_size is_set_to is_shared is_signed is_sparse is_xla is_xpu isclose isfinite isinf isnan isneginf
    isposinf isreal istft item itemsize kron kthvalue layer_norm layout lcm lcm_ ldexp ldexp_ le le_ leaky_relu lerp
    lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_
    log_softmax logabsdet logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_
    logical_or logical_or_ logical_xor logical_xor_ logit logit_ logits logsumexp long lt lt_ lu lu_solve mH mT
    mantissa map2_ map_ masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_exp
    matrix_power max maximum mean median min minimum mm mode module_load moveaxis movedim mps msort mtia mul mul_
    multinomial multiply multiply_ mv mvlgamma mvlgamma_ name names nan_to_num nan_to_num_ nanmean nanmedian
    nanquantile nansum narrow narrow_copy nbytes ndim ndimension ne ne_ neg neg_ negative negative_ nelement new
    new_empty new_empty_strided new_full new_ones new_tensor new_zeros nextafter nextafter_ nonzero nonzero_static
    norm normal_ not_equal not_equal_ npu numel numpy orgqr ormqr outer output_nr permute pin_memory pinverse pivots
    polygamma polygamma_ positive pow pow_ prelu prod put put_ q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr qscheme quantile rad2deg rad2deg_ random_ rank ravel real
    reciprocal reciprocal_ record_stream register_hook register_post_accumulate_grad_hook reinforce relu relu_
    remainder remainder_ renorm renorm_ repeat repeat_interleave requires_grad requires_grad_ reshape reshape_as
    residuals resize resize_ resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg result retain_grad
    retains_grad roll rot90 round round_ row_indices rsqrt rsqrt_ scalar_tensor scaled_dot_product_attention scatter
    scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select select_scatter set_ sgn sgn_ shape
    share_memory_ short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ singular_values sinh sinh_ size
    slice_inverse slice_scatter slogdet smm smooth_l1_loss softmax softshrink solution sort sparse_dim sparse_mask
    sparse_resize_ sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_
    sspaddmm std stft storage storage_offset storage_type stride sub sub_ subtract subtract_ sum sum_to_size svd
    swapaxes swapaxes_ swapdims swapdims_ t t_ take take_along_dim tan tan_ tanh tanh_ tau tensor_split threshold
    tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc
    to_sparse_csr tolist topk trace transpose transpose_ triangular_solve tril tril_ triu triu_ true_divide
    true_divide_ trunc trunc_ trunc_normal_ type type_as unbind unflatten unfold uniform_ unique unique_consecutive
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ untyped_storage values var variance vdot
    view view_as volatile vsplit where xlogy xlogy_ xpu zero_
    """.split()
)

# context managers that may be entered
CONTEXTS = frozenset(
    """
    torch.amp.autocast torch.autocast torch.autograd.forward_ad.dual_level
    torch.autograd.graph.disable_saved_tensors_hooks torch.autograd.no_grad torch.autograd.profiler.profile
    torch.autograd.profiler.record_function torch.autograd.set_grad_enabled torch.cpu.amp.autocast
    torch.cuda.amp.autocast torch.enable_grad torch.fx.traceback.annotate torch.inference_mode
    torch.nn.attention.sdpa_kernel torch.no_grad torch.overrides.BaseTorchFunctionMode torch.profiler.profile
    torch.profiler.record_function torch.set_grad_enabled
    """.split()
)
