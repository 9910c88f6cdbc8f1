"""Every name of Burn's tensor API is public here, or stands in the list of names that wait; and none is in both."""

import enum
import importlib
import inspect
import re

import pytest

import burn
from burn import errors
from burn._waiting import GONE, WAITING
from burn.errors import NotYetError

# The names of Burn 0.22 by the object that has them; words that Python keeps have their underscore.
NAMES = {
    "burn": "rl vision remote",
    "burn.backend": "extension",
    "burn.tensor.Device": "cpu metal rocm vulkan webgpu wgpu wgpu_options remote_options capture flex ndarray cuda default",
    "burn.train": """
        EvaluationResult Evaluator Interrupter Learner LearningResult MultiDeviceStepError RLResult SupervisedTraining
        TrainingError""",
    "burn.train.metric": "AccuracyMetric AurocMetric ClassReduction LossMetric Metric Numeric",
    "burn.lr_scheduler": "CosineAnnealingLrSchedulerConfig LrScheduler LrSchedulerRecord",
    "burn.data.dataset": "Dataset DatasetError SqliteDataset ImageDatasetItem PixelData",
    "burn.module": """
        Module ModuleVisitor ModuleMapper DisplaySettings Content Param ParamId ParamGroup Flag RunningState
        Reparameterization Reparameterizer Lora LoraAdapter QLora Quantizer list_param_ids""",
    "burn.module.Module": """
        devices collect_devices to_device fork set_require_grad set_require_grad_group no_grad freeze unfreeze freeze_group
        unfreeze_group valid train materialize num_params visit map quantize_weights quantize_weights_group
        apply_reparameterization apply_lora apply_qlora into_record into_record_group load_record try_load_record save_file
        load_file try_load_file clone""",
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
        swapped permute repeat reduce cat broadcast broadcast_many expand reshape slice parse""",
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
        DEFAULT_RTOL DEFAULT_ATOL activation linalg signal module grid loss quantization distributed""",
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
    "burn.nn.loss": "GramMatrixLoss GramMatrixLossConfig",
}  # fmt: skip

# Parameters and defaults as Burn has them. `options` stands for our device, kind and dtype.
SIGNATURES = {
    "burn.tensor.Tensor": """
        inplace(func) empty(shape,options) zeros(shape,options) ones(shape,options) full(shape,fill_value,options)
        full_like(fill_value) from_data(data,options) from_floats(values,device) from_ints(values,device)
        from_bool(values,device) arange_step(range,step,options) eye(size,options) one_hot(num_classes)
        one_hot_fill(num_classes,on_value,off_value,axis) cartesian_grid(shape,device) triu_mask(shape,offset,device)
        tril_mask(shape,offset,device) diag_mask(shape,offset,device) movedim(src,dst) flip(axes) flatten(start,end)
        squeeze_dim(dim) squeeze_dims(dims) unsqueeze(rank) unsqueeze_dim(dim) unsqueeze_dims(axes) roll_dim(shift,dim)
        roll(shifts,dims) repeat_dim(dim,times) repeat(sizes) unfold(dim,size,step) iter_dim(dim) to_device(device)
        slice(slices) slice_assign(slices,values) slice_fill(slices,value) slice_dim(dim,slice) select_dim(dim,index)
        narrow(dim,start,length) select(dim,indices) select_assign(dim,indices,values,update) gather(dim,indices)
        scatter(dim,indices,values,update) gather_nd(indices) scatter_nd(indices,values,update) take(dim,indices)
        mask_where(mask,value) mask_fill(mask,value) mask_select(mask) mask_select_async(mask) cat(tensors,dim)
        stack(tensors,dim) chunk(chunks,dim) split(split_size,dim) split_with_sizes(sizes,dim) any_dim(dim) all_dim(dim)
        triu(diagonal) tril(diagonal) sum_dim(dim) sum_dims(dims) sum_dims_squeeze(dims) cumsum(dim) argtopk(k,dim)
        clamp(min,max) clamp_min(min) clamp_max(max) var(dim) median(dim) cov(dim,correction_factor) sort(dim) argsort(dim)
        topk(k,dim) topk_with_indices(k,dim) fmod_scalar(value) is_close(other,rtol=1e-05,atol=1e-08)
        all_close(other,rtol=1e-05,atol=1e-08) cross(other,dim) categorical(num_samples) cast(dtype)
        set_require_grad(require_grad) pad(padding,mode=None) to_data_dtype(dtype) try_into_vec_as(dtype)
        into_scalar(dtype=None) grad(grads) grad_remove(grads) grad_replace(grads,grad)
        with_gradient_checkpointing_strategy(strategy)""",
    "burn.tensor.TensorData": """
        from_bytes(bytes,shape,dtype) full_dtype(shape,value,dtype) with_bytes_mut(f) assert_eq(other,strict)
        try_to_vec_as(dtype) try_cast(dtype)""",
    "burn.tensor": """
        einsum(equation,operands) meshgrid(tensors,options=None) meshgrid_stack(tensors,index_pos=First)
        affine_grid_2d(transform,dims) cartesian_grid(shape,device) cross_entropy_with_logits(logits,target_probs)
        check_closeness(output,expected)""",
    "burn.tensor.Shape": "flatten_dims(start,end) repeat(dim,times) reduce(dim) cat(shapes,dim) expand(target) slice(slices)",
    "burn.tensor.activation": """
        hardtanh(tensor,min_val,max_val) leaky_relu(tensor,negative_slope) prelu(tensor,alpha) elu(tensor,alpha)
        celu(tensor,alpha) hard_sigmoid(tensor,alpha,beta) softplus(tensor,beta)
        softplus_with_threshold(tensor,beta,threshold) hard_shrink(tensor,lambda_) soft_shrink(tensor,lambda_)
        shrink(tensor,lambda_,bias) thresholded_relu(tensor,alpha) threshold(tensor,threshold,value) glu(tensor,dim)
        softmax(tensor,dim) log_softmax(tensor,dim) softmin(tensor,dim) quiet_softmax(tensor,dim)""",
    "burn.tensor.module": """
        conv1d(x,weight,bias,options) conv2d(x,weight,bias,options) conv3d(x,weight,bias,options)
        conv_transpose1d(x,weight,bias,options) conv_transpose2d(x,weight,bias,options)
        conv_transpose3d(x,weight,bias,options) deform_conv2d(x,offset,weight,mask,bias,options)
        conv2d_weight_backward(x,weight,output_grad,options) unfold4d(x,kernel_size,options)
        fold4d(x,output_size,kernel_size,options) max_pool1d(x,options) max_pool2d(x,options)
        max_pool1d_with_indices(x,options) max_pool2d_with_indices(x,options) avg_pool1d(x,options) avg_pool2d(x,options)
        adaptive_avg_pool1d(x,output_size) adaptive_avg_pool2d(x,output_size) adaptive_avg_pool3d(x,output_size)
        avg_pool2d_backward(x,grad,kernel_size,stride,padding,count_include_pad,ceil_mode)
        max_pool2d_with_indices_backward(x,kernel_size,stride,padding,dilation,ceil_mode,output_grad,indices)
        interpolate(x,options) linear(input,weight,bias=None) embedding(weights,indices)
        layer_norm(input,gamma,beta,epsilon) batch_norm(input,gamma,beta,mean,variance,epsilon)
        batch_norm_train(input,gamma,beta,epsilon) attention(query,key,value,mask=None,attn_bias=None,options=None)""",
    "burn.linalg": """
        diag(x) trace(x) matvec(matrix,vector) outer(lhs,rhs) outer_dim(lhs,rhs,dim) cosine_similarity(x1,x2,dim,eps=None)
        vector_norm(x,norm,dim) vector_norm_dims(x,norm,dims) lp_norm(x,p,dim) lp_norm_dims(x,p,dims) l2_norm(x,dim)
        l2_norm_dims(x,dims) vector_normalize(x,norm,dim,eps) lu(x) qr(x,reduced) svd(x,sweeps) det(x)""",
    "burn.signal": """
        rfft(signal,dim,n=None) irfft(re,im,dim,n=None) cfft(re,im,dim,n=None) stft(signal,window=None,options=None)
        istft(matrix,window=None,length=None,options=None) hann_window(size,periodic,options)
        hamming_window(size,periodic,options) blackman_window(size,periodic,options)
        StftOptions(n_fft=400,hop_length=None,win_length=None,center=True,onesided=True)""",
}  # fmt: skip

LISTED = [(owner, name) for owner, names in NAMES.items() for name in names.split()]
CALLS = [(owner, text) for owner, texts in SIGNATURES.items() for text in texts.split()]


def resolve(path):
    """The module, or the class or object in a module, that a dotted path names."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, name = path.rsplit(".", 1)
        return getattr(importlib.import_module(module), name)


def has(owner, name):
    """Whether an object, or what it makes, has a public name."""
    value = resolve(owner)
    return hasattr(value, name) or name in getattr(value, "__dataclass_fields__", {})


def key(owner, name):
    """The key of the list of names that wait: classes by their name, modules by their path."""
    value = resolve(owner)
    return f"{value.__name__ if isinstance(value, type) else owner}.{name}"


@pytest.mark.parametrize(("owner", "name"), LISTED, ids=lambda part: part)
def test_name_is_public_or_waits(owner, name):
    waits = key(owner, name) in WAITING
    assert has(owner, name) != waits, f"{owner}.{name} is {'both public and waiting' if waits else 'missing'}"


def test_list_of_waiting_names_holds_names_of_burn():
    known = {key(owner, name) for owner, name in LISTED} | {"Tensor.into_primitive"}
    assert set(WAITING) <= known


@pytest.mark.parametrize("path", WAITING)
def test_waiting_name_says_what_for(path):
    value, name = owner_of(path)
    what, instead = WAITING[path]
    assert not hasattr(value, name) and name not in dir(value)
    with pytest.raises(NotYetError, match=name) as caught:
        getattr(value, name)
    assert what in str(caught.value) and instead in str(caught.value)
    assert all(isinstance(caught.value, each) for each in (errors.BurnError, NotImplementedError, AttributeError))


def owner_of(path):
    """The object that a path of one of the lists begins with, and the name in it."""
    owner, name = path.rsplit(".", 1)
    places = {"Module": "module", "ParamId": "module", "ModuleStore": "store"}
    return resolve(owner if owner.startswith("burn") else f"burn.{places.get(owner, 'tensor')}.{owner}"), name


@pytest.mark.parametrize("path", GONE)
def test_name_that_is_gone_says_what_to_write(path):
    value, name = owner_of(path)
    assert not hasattr(value, name) and name not in dir(value) and path not in WAITING
    with pytest.raises(AttributeError, match=re.escape(f"[{path}] is not there: {GONE[path]}")):
        getattr(value, name)


@pytest.mark.parametrize("path", [path for path in (*GONE, *WAITING) if path.startswith("burn.")])
def test_import_of_a_name_keeps_the_words(path):
    module, name = path.rsplit(".", 1)
    with pytest.raises(ImportError, match=re.escape(f"[{path}] is")):
        exec(f"from {module} import {name}")


def test_import_of_a_name_that_nobody_knows():
    with pytest.raises(ImportError, match="cannot import name 'frobnicate'"):
        exec("from burn.module import frobnicate")


def test_waiting_name_of_a_tensor():
    x = burn.Tensor([1.0])
    assert not hasattr(x, "quantize") and getattr(x, "quantize", None) is None
    assert not {"quantize", "astype"} & {*dir(x), *dir(burn.Tensor)} and "exp" in dir(x)
    with pytest.raises(NotImplementedError, match="quantized operations"):
        x.quantize_dynamic()
    with pytest.raises(NotYetError, match="quantized operations"):
        _ = x.to_data().quantized
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = burn.Tensor.frobnicate
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = burn.tensor.frobnicate
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = x.to_data().frobnicate


def written(function):
    """A signature in the form of the lists: no spaces, no self, options for device, kind and dtype."""
    shown = []
    for p in inspect.signature(function).parameters.values():
        if p.name == "self" or (shown and shown[-1] == "options" and p.name in ("kind", "dtype")):
            continue
        default = p.default.name if isinstance(p.default, enum.Enum) else p.default
        if p.name == "device" and p.default is None:
            several = {"kind", "dtype"} & set(inspect.signature(function).parameters)
            shown.append("options" if several else "device")
        else:
            shown.append(p.name if p.default is p.empty else f"{p.name}={default}")
    return ",".join(shown)


@pytest.mark.parametrize(("owner", "text"), CALLS, ids=lambda part: part)
def test_parameters_are_those_of_burn(owner, text):
    name, wanted = text.removesuffix(")").split("(")
    assert written(getattr(resolve(owner), name)) == wanted


def test_families_of_dtypes():
    assert [d.name for d in burn.tensor.FloatDType] == ["f64", "f32", "flex32", "f16", "bf16"]
    assert len(list(burn.tensor.IntDType)) == 8 and burn.tensor.BoolStore is burn.tensor.BoolDType
    assert burn.tensor.IntDType("u8") is burn.DType.U8 and burn.tensor.BoolDType("u32") is burn.DType.BoolU32
    for family, other in (("FloatDType", "i32"), ("IntDType", "bool"), ("BoolDType", "i64")):
        with pytest.raises(errors.DTypeError, match=rf"\[{family}\] 'dtype' must be one of .* got {other}"):
            getattr(burn.tensor, family)(other)
