"""The burnpack container: named tensors, text and scalars in one file, byte for byte as Burn writes it.

This package knows arrays and bytes only, no tensors and no modules. Burn's crate `burn-pack`.
"""

from .atomic import AtomicFile
from .base import (
    EXTENSION,
    FORMAT_VERSION,
    HEADER_SIZE,
    MAGIC_NUMBER,
    MAX_CBOR_RECURSION_DEPTH,
    MAX_FILE_SIZE,
    MAX_METADATA_SIZE,
    MAX_TENSOR_COUNT,
    MAX_TENSOR_SIZE,
    TENSOR_ALIGNMENT,
    AlreadyExists,
    InvalidHeader,
    InvalidMagicNumber,
    InvalidVersion,
    MetadataDeserializationError,
    MissingFile,
    PackError,
    TensorBytesSizeMismatch,
    TensorNotFound,
    ValidationError,
    aligned_data_section_start,
)
from .dtype import PackDType
from .reader import Reader
from .tensor import PackTensor, Scalar
from .writer import Writer

__all__ = [
    "EXTENSION",
    "FORMAT_VERSION",
    "HEADER_SIZE",
    "MAGIC_NUMBER",
    "MAX_CBOR_RECURSION_DEPTH",
    "MAX_FILE_SIZE",
    "MAX_METADATA_SIZE",
    "MAX_TENSOR_COUNT",
    "MAX_TENSOR_SIZE",
    "TENSOR_ALIGNMENT",
    "AlreadyExists",
    "AtomicFile",
    "InvalidHeader",
    "InvalidMagicNumber",
    "InvalidVersion",
    "MetadataDeserializationError",
    "MissingFile",
    "PackDType",
    "PackError",
    "PackTensor",
    "Reader",
    "Scalar",
    "TensorBytesSizeMismatch",
    "TensorNotFound",
    "ValidationError",
    "Writer",
    "aligned_data_section_start",
]
