"""Every name of Burn's tensor API is public here, or stands in the list of names that wait; and none is in both."""

# The names of Burn 0.22 by the object that has them; words that Python keeps have their underscore.
NAMES = {
    "burn.tensor.Tensor": """
        dims shape rank dtype device can_mut extract inplace is_distributed set_distributed
        empty zeros ones full empty_like zeros_like ones_like full_like from_data from_floats from_ints from_bool from_
        random random_like arange arange_step eye one_hot one_hot_fill cartesian_grid triu_mask tril_mask diag_mask
        reshape transpose t swap_dims permute movedim flip flatten squeeze squeeze_dim squeeze_dims unsqueeze unsqueeze_dim
        unsqueeze_dims roll_dim roll expand repeat_dim repeat unfold iter_dim to_device
        slice slice_assign slice_fill slice_dim select_dim narrow select select_assign gather scatter gather_nd scatter_nd
        take mask_where mask_fill mask_select mask_select_async
        cat stack chunk split split_with_sizes equal not_equal equal_scalar not_equal_scalar equal_elem not_equal_elem
        greater greater_equal lower lower_equal greater_scalar greater_equal_scalar lower_scalar lower_equal_scalar
        greater_elem greater_equal_elem lower_elem lower_equal_elem any all any_dim all_dim bool
        add sub mul div remainder add_scalar sub_scalar mul_scalar div_scalar remainder_scalar neg sign abs square powi
        powi_scalar powf powf_scalar matmul dot triu tril
        sum mean prod sum_dim mean_dim prod_dim sum_dims mean_dims prod_dims sum_dims_squeeze cumsum cumprod max min
        max_dim min_dim max_dims min_dims max_dim_with_indices min_dim_with_indices max_abs max_abs_dim max_abs_dims
        argmax argmin argtopk cummin cummax max_pair min_pair clamp clamp_min clamp_max var var_bias var_mean var_mean_bias
        median median_with_indices cov
        sort sort_descending sort_with_indices sort_descending_with_indices argsort argsort_descending topk
        topk_with_indices
        exp log log1p sqrt recip erf sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh atan2 hypot deg2rad rad2deg
        round floor ceil trunc fmod fmod_scalar is_nan is_inf is_finite contains_nan is_close all_close cross categorical
        grid_sample_2d int cast detach require_grad is_require_grad set_require_grad quantize quantize_dynamic dequantize
        bitwise_and bitwise_or bitwise_xor bitwise_and_scalar bitwise_or_scalar bitwise_xor_scalar bitwise_not
        bitwise_left_shift bitwise_right_shift bitwise_left_shift_scalar bitwise_right_shift_scalar float
        bool_not bool_and bool_or bool_xor argwhere nonzero argwhere_async nonzero_async pad
        into_data to_data try_into_data try_to_data into_data_async to_data_async to_data_as into_data_as try_to_data_as
        try_into_data_as to_data_dtype into_data_dtype try_to_data_dtype try_into_data_dtype try_to_vec_as try_into_vec_as
        into_scalar try_into_scalar into_scalar_async try_into_scalar_async
        backward grad grad_remove grad_replace is_tracked is_autodiff inner without_autodiff autodiff from_inner
        gradient_checkpointing_strategy with_gradient_checkpointing_strategy
        into_bridge from_bridge into_dispatch from_dispatch try_into_primitive from_primitive""",
    "burn.tensor.TensorData": """
        from_ quantized from_bytes from_bytes_vec try_from_bytes try_from_bytes_vec random zeros ones full full_dtype
        shape dtype bytes rank num_elements into_parts as_bytes into_bytes with_bytes_mut as_slice as_mut_slice view
        try_view mut_view try_mut_view iter try_to_vec try_into_vec try_to_vec_as try_into_vec_as to_vec into_vec convert
        convert_dtype try_cast_as try_cast assert_eq assert_approx_eq assert_within_range assert_within_range_inclusive""",
    "burn.tensor.TensorDataView": "shape dtype ravel_index",
    "burn.tensor.TensorCreationOptions": "device dtype default with_dtype with_device dtype_or",
    "burn.tensor.Slice": """
        start end step full index new with_step from_range_stepped range to_range to_range_and_step is_reversed output_size
        bound_to into_vec parse""",
    "burn.tensor.IndexingUpdateOp": "Assign Add Mul Min Max",
    "burn.tensor.PadMode": "Constant Reflect Edge",
    "burn.tensor.Distribution": "Default Bernoulli Uniform Normal",
    "burn.tensor.Tolerance": """
        balanced default strict permissive rel_abs relative absolute set_relative set_absolute
        set_half_precision_relative set_half_precision_absolute set_single_precision_relative set_single_precision_absolute
        set_double_precision_relative set_double_precision_absolute approx_eq""",
    "burn.tensor.DType": """
        F64 F32 Flex32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 Bool QFloat size name is_float is_int is_uint is_bool
        finfo""",
    "burn.tensor.FloatDType": "F64 F32 Flex32 F16 BF16",
    "burn.tensor.IntDType": "I64 I32 I16 I8 U64 U32 U16 U8",
    "burn.tensor.BoolDType": "Native U8 U32",
    "burn.tensor.BoolStore": "Native U8 U32",
    "burn.tensor.Shape": """
        num_elements rank num_dims dims to_vec iter into_ranges flatten flatten_dims ravel_index insert remove push extend
        swapped permute repeat reduce cat broadcast broadcast_many expand reshape slice""",
    "burn.tensor.GridOptions": "indexing sparsity",
    "burn.tensor.GridIndexing": "Matrix Cartesian",
    "burn.tensor.GridSparsity": "Dense Sparse",
    "burn.tensor.IndexPos": "First Last",
    "burn.tensor.PrintOptions": "threshold edge_items precision",
    "burn.tensor.Transaction": "default register execute try_execute execute_async",
    "burn.tensor": """
        Tensor TensorData TensorDataView TensorCreationOptions Shape Slice s DType FloatDType IntDType BoolDType BoolStore
        Float Int Bool IndexingUpdateOp PadMode Distribution Tolerance PrintOptions set_print_options Transaction einsum
        meshgrid meshgrid_stack affine_grid_2d cartesian_grid cross_entropy_with_logits GridOptions GridIndexing
        GridSparsity IndexPos check_closeness assert_shape debug_assert_shape capture Graph PrimitiveConversionError
        DEFAULT_RTOL DEFAULT_ATOL activation linalg signal module grid loss""",
    "burn.errors": """
        TensorReadError InvalidShapeError ExecutionError DevicePoisonedError DataError StorageAccessError
        InvalidRepresentationError DTypeMismatchError UnsupportedConversionError ElementCountMismatchError
        InvalidByteLengthError""",
    "burn.tensor.activation": """
        relu relu6 hardtanh leaky_relu prelu elu celu selu gelu gelu_approximate sigmoid hard_sigmoid hard_swish log_sigmoid
        silu mish softplus softplus_with_threshold softsign tanh tanhshrink hard_shrink soft_shrink shrink thresholded_relu
        threshold glu softmax log_softmax softmin quiet_softmax DEFAULT_SOFTPLUS_THRESHOLD""",
    "burn.linalg": """
        diag trace matvec outer outer_dim cosine_similarity vector_norm vector_norm_dims lp_norm lp_norm_dims l0_norm
        l0_norm_dims l1_norm l1_norm_dims l2_norm l2_norm_dims max_abs_norm max_abs_norm_dims min_abs_norm min_abs_norm_dims
        vector_normalize lu qr svd det Norm""",
    "burn.linalg.Norm": "L0 L1 L2 LInf LNegInf Lp",
    "burn.signal": "rfft irfft cfft stft istft hann_window hamming_window blackman_window StftOptions",
    "burn.signal.StftOptions": "n_fft hop_length win_length center onesided",
}  # fmt: skip
