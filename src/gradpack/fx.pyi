"""`torch.fx`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

CodeGen: Any
Graph: Any
GraphModule: Any
Interpreter: Any
Node: Any
PH: Any
Proxy: Any
ProxyableClassMeta: Any
Tracer: Any
Transformer: Any
has_side_effect: Any
map_arg: Any
replace_pattern: Any
symbolic_trace: Any
wrap: Any
