"""Templates of the code generated for an operation: see `emitter.py`."""

NODE = """\
class _Backward(_CompiledNode):
    __slots__ = ({slots})

    def backward(_self, _g, _keep):
{load}\
{gradients}\
        if not _keep:
{free}
{fit}\
        return {results},
"""

LOAD_INPUT = """\
{n} = _self.{n}
if type({n}) is _Tensor:
    if {n}._counter[0] != _self.{n}_v: _check(_self, {n!r}, {n})
    {n} = {n}._data
elif type({n}) is _Packed: {n} = {n}.get(_self, {n!r})._data
elif type({n}) is not float and type({n}) is not int: {n} = _unpack_input(_self, {n!r})
"""

LOAD_RESULT = """\
{n} = _self.{n}
if type({n}) is not _ndarray or _self.{n}_c[0] != _self.{n}_v: {n} = _unpack_result(_self, {n!r})
"""

FIT = """\
        if _self.fit is not None: {results}, = _fit_arrays(({results},), _self.fit)
"""

FUNCTION = """\
{head}\
    _mode = _MODE()
    if _mode.special: return _slow({values})
{unwrap}\
    if {guard}: {otherwise}
{forward}\
{array}    _out = _new(_Tensor)
    _out._data = _data
    _out._spec = {spec}
{shape}\
{place}\
{record}\
    return _out
"""

ARRAY = "    if type({x}) is not _ndarray: {x} = _asarray({x})\n"
ARRAY_IN_ROWS = "    if type({x}) is not _ndarray or not {x}.flags.c_contiguous: {x} = _asarray({x}, order='C')\n"

# An operand that may also be a Python number.
OPERAND = """\
    _kind = type({p})
    if _kind is _Tensor or _kind is _Parameter:
{same}\
        if {p}._view is not None and _refresh({p}): return _slow({values})
        {p}_ = {p}._data; {p}_s = {p}._shape
{edge}\
{number}\
    else: return _slow({values})
"""

NUMBER = """\
    elif _kind is float or _kind is int and -9223372036854775808 <= {p} < 9223372036854775808:
{unknown}\
        {p}_ = {p}; {p}_s = None
{no_edge}\
"""

TENSOR = """\
    _kind = type({p})
    if _kind is _Tensor or _kind is _Parameter:
{same}\
        if {p}._view is not None and _refresh({p}): return _slow({values})
        {p}_ = {p}._data
{edge}\
{none}\
    else: return _slow({values})
"""

CONSTANT = """\
    {p}_ = {p}._data if isinstance({p}, _Tensor) else {p}
"""

FORWARD = """\
    try: _data{extra} = {call}
    except Exception: return _slow({values})
"""

FORWARD_QUIET = """\
    for _token in _HUSHED:
        try: _data{extra} = {call}
        except Exception: return _slow({values})
        finally: _unhush(_token)
        break
"""

SHAPE_OF_TWO = """\
    if {a}_s == {b}_s: _out._shape = {a}_s; _fit = None
    elif {b}_s is None: _out._shape = {a}_s; _fit = None
    elif {a}_s is None: _out._shape = {b}_s; _fit = None
    else: _out._shape = _data.shape; _fit = ({a}_s, {b}_s)
"""

PLACE = """\
    _out._counter = [0]
    _out._view = None
"""

PLACE_VIEW = """\
    if type({p}._counter) is not list: return _slow({values})
    _out._counter = {p}._counter
    _out._view = _view = _new(_View)
    _view.parent = {p}
    _view.replay = _public
    _view.args = ({rest})
    _view.meta = None if _mode.grad else 'no_grad'
    _view.version = {p}._counter[0]
"""

RECORD = """\
    if {some_edge} and _mode.grad{differentiable}:
        _node = _new(_Backward)
        _node.seq = _next_seq()
        _node.edges = ({edges},)
        _node.extras = None
{save}
        _out._edge = _node
    else: _out._edge = None
"""
