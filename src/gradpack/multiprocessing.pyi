"""`torch.multiprocessing`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

Array: Any
Barrier: Any
BoundedSemaphore: Any
Condition: Any
ENV_VAR_PARALLEL_START: Any
Event: Any
JoinableQueue: Any
Lock: Any
Manager: Any
Pipe: Any
Pool: Any
ProcessContext: Any
ProcessExitedException: Any
ProcessRaisedException: Any
Queue: Any
RLock: Any
RawArray: Any
RawValue: Any
Semaphore: Any
SimpleQueue: Any
SpawnContext: Any
Value: Any
allow_connection_pickling: Any
cpu_count: Any
freeze_support: Any
get_all_sharing_strategies: Any
get_all_start_methods: Any
get_context: Any
get_logger: Any
get_sharing_strategy: Any
get_start_method: Any
init_reductions: Any
log_to_stderr: Any
set_executable: Any
set_forkserver_preload: Any
set_sharing_strategy: Any
set_start_method: Any
spawn: Any
start_processes: Any
torch: Any
