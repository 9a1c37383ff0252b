"""What works in a browser's Python, with no threads, no processes and indices of 32 bits. Run by run.mjs."""

import io
import warnings
from contextlib import nullcontext
from importlib.util import find_spec
from time import perf_counter

from page import show

begun = perf_counter()
import gradpack as torch  # noqa: E402 - timed
from gradpack import saved  # noqa: E402

taken = perf_counter() - begun


def say(*words):
    show("text", " ".join(words))


say(f"import: {taken:.1f} s, numpy included")
nn, F = torch.nn, torch.nn.functional
warnings.simplefilter("error")


def refuses(call, kind, sentence):
    try:
        call()
    except kind as error:
        found = str(error)
    else:
        found = ""
    assert sentence in found, (kind, found)


def train(steps, policy=nullcontext):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(64, 8)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0)
    for _ in range(steps):
        optimizer.zero_grad()
        with policy():
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item(), [p.detach() for p in model.parameters()]


begun = perf_counter()
loss, _ = train(200)
taken = perf_counter() - begun
assert loss < 0.1, loss
assert taken < 10, taken
say(f"200 steps of a small MLP: {taken:.2f} s, loss {loss:.4f}")

_, exact = train(5)
POLICIES = {
    "keep": (saved.keep, 0),
    "cpu": (saved.cpu, 0),
    "recompute": (saved.recompute, 0),
    "budget": (lambda: saved.budget("20 KB"), 0),
    "lossless": (lambda: saved.lossless("zlib"), 0),
    "mask": (saved.mask, 0),
    "fp16": (saved.fp16, 1e-2),
    "quantize": (saved.quantize, 0.1),
    "meter": (saved.meter, 0),
}
if find_spec("ml_dtypes"):
    POLICIES |= {"bf16": (saved.bf16, 1e-2), "fp8": (saved.fp8, 0.1)}
for name, (policy, tolerance) in POLICIES.items():
    away = max((a - b).abs().max().item() for a, b in zip(exact, train(5, policy)[1], strict=True))
    assert away <= tolerance, (name, away)
say("policies:", *POLICIES)

x = torch.randn(2, 3, 8, 8, requires_grad=True)
mixed = torch.utils.checkpoint.checkpoint(nn.Conv2d(3, 4, 3), x, use_reentrant=False)
nn.LSTM(36, 5)(mixed.flatten(2))[0].sum().backward()
assert x.grad.shape == x.shape
wide = torch.randn(300, 300, requires_grad=True)
sum((wide * i).sin().sum() for i in range(4)).backward()  # on more threads, where there are some
assert torch.get_num_threads() == 1
assert torch.argmax(torch.tensor([1.0, 3.0])).dtype is torch.int64
assert torch.tensor([2**40]).item() == 2**40
assert [len(b) for b in torch.utils.data.DataLoader(list(range(5)), batch_size=2)] == [2, 2, 1]
file = io.BytesIO()
torch.save({"x": x.detach()}, file)
file.seek(0)
assert torch.equal(torch.load(file)["x"], x)
with torch.profiler.profile() as profile:
    x.sum().backward()
assert "sum" in str(profile.key_averages())

assert not torch.distributed.is_available()
refuses(lambda: torch.distributed.init_process_group("gloo"), RuntimeError, "in a browser")
refuses(lambda: torch.distributed.threads.spawn(len, nprocs=2), RuntimeError, "in a browser")
refuses(lambda: torch.no_such_name, AttributeError, "no_such_name")
say("networks, checkpoints, files, profiles; what a browser has not is refused")
