"""`torch.jit`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

Attribute: Any
CompilationUnit: Any
Error: Any
Future: Any
ONNXTracedModule: Any
RecursiveScriptClass: Any
RecursiveScriptModule: Any
ScriptFunction: Any
ScriptModule: Any
ScriptWarning: Any
TopLevelTracedModule: Any
TracedModule: Any
TracerWarning: Any
TracingCheckError: Any
annotate: Any
enable_onednn_fusion: Any
export: Any
export_opnames: Any
fork: Any
freeze: Any
fuser: Any
ignore: Any
interface: Any
is_scripting: Any
is_tracing: Any
isinstance: Any
jit_module_from_flatbuffer: Any
last_executed_optimized_graph: Any
load: Any
onednn_fusion_enabled: Any
optimize_for_inference: Any
optimized_execution: Any
run_frozen_optimizations: Any
save: Any
save_jit_module_to_flatbuffer: Any
script: Any
script_if_tracing: Any
script_method: Any
set_fusion_strategy: Any
set_module: Any
strict_fusion: Any
torch: Any
trace: Any
trace_module: Any
unused: Any
wait: Any
