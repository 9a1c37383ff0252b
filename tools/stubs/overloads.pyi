# Functions that are called in several ways: of gradpack (`functions`), of tensors (`methods`), and of both, where a
# method has `self` for the first parameter.

class both:
    @overload
    def max(input: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def max(
        input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.max: ...
    @overload
    def max(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def min(input: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def min(
        input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.min: ...
    @overload
    def min(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def median(input: Tensor, *, out: None = ...) -> Tensor: ...
    @overload
    def median(
        input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.median: ...
    @overload
    def nanmedian(input: Tensor, *, out: None = ...) -> Tensor: ...
    @overload
    def nanmedian(
        input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.nanmedian: ...
    @overload
    def unique(
        input: Tensor,
        sorted: _bool = ...,
        return_inverse: Literal[False] = ...,
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> Tensor: ...
    @overload
    def unique(
        input: Tensor,
        sorted: _bool = ...,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique(
        input: Tensor,
        sorted: _bool = ...,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        input: Tensor,
        sorted: _bool = ...,
        return_inverse: Literal[False] = ...,
        *,
        return_counts: Literal[True],
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        input: Tensor,
        sorted: _bool = ...,
        return_inverse: _bool = ...,
        return_counts: _bool = ...,
        dim: _int | None = ...,
    ) -> Any: ...
    @overload
    def unique_consecutive(
        input: Tensor,
        return_inverse: Literal[False] = ...,
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> Tensor: ...
    @overload
    def unique_consecutive(
        input: Tensor, return_inverse: Literal[True], return_counts: Literal[True], dim: _int | None = ...
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        input: Tensor, return_inverse: Literal[True], return_counts: Literal[False] = ..., dim: _int | None = ...
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        input: Tensor, return_inverse: Literal[False] = ..., *, return_counts: Literal[True], dim: _int | None = ...
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        input: Tensor, return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...
    ) -> Any: ...

class functions:
    @overload
    def where(condition: Tensor) -> tuple[Tensor, ...]: ...
    @overload
    def where(
        condition: Tensor, input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = ...
    ) -> Tensor: ...
    @overload
    def atleast_1d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
    @overload
    def atleast_2d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
    @overload
    def atleast_3d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...

class methods:
    @overload
    def to(
        self,
        dtype: _dtype,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        device: _Device = ...,
        dtype: _dtype | None = ...,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        other: Tensor,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    @overload
    def type(self, dtype: None = ..., non_blocking: _bool = ...) -> str: ...
    @overload
    def type(self, dtype: str | _dtype | Type[Any], non_blocking: _bool = ...) -> Tensor: ...
    @overload
    def view(self, *shape: _int | Sequence[_int] | _dtype) -> Tensor: ...
    @overload
    def view(self, *, size: Sequence[_int]) -> Tensor: ...
    @overload
    def view(self, *, dtype: _dtype) -> Tensor: ...
    def numpy(self, *, force: _bool = ...) -> ndarray[Any, Any]: ...
    def as_subclass(self, cls: Type[_Kind]) -> _Kind: ...
    def __getitem__(self, index: _Index) -> Tensor: ...
    def __setitem__(self, index: _Index, value: Any) -> None: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __array__(self, dtype: Any = ..., copy: _bool | None = ...) -> ndarray[Any, Any]: ...
