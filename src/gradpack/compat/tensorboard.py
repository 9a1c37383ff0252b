"""`torch.utils.tensorboard`: event files, written by the package `tensorboard`, without which this is not imported."""

from __future__ import annotations

import os
import socket
import time
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from .absent import stand_in

__name__ = "gradpack.utils.tensorboard"
__all__ = ["FileWriter", "SummaryWriter"]
_EDGES = 1e-12 * 1.1 ** np.arange(775)  # of TensorFlow's histograms
_LIMITS = np.concatenate([-_EDGES[::-1], [0.0], _EDGES])


@cache
def _library() -> Any:
    """The classes of the package `tensorboard`."""
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
    from tensorboard.summary.writer import event_file_writer

    modules = (event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, event_file_writer)
    return SimpleNamespace(**{name: value for module in modules for name, value in vars(module).items()})


class FileWriter:
    """Writes events to a file in a folder.

    Args:
        log_dir: the folder.
        max_queue, flush_secs: after how many events, or seconds, they are written.
        filename_suffix: what the name of the file ends with.
    """

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        self._folder = str(log_dir)
        self.event_writer = _library().EventFileWriter(self._folder, max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._folder

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary."""
        self.add_event(_library().Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, histograms, texts and images that TensorBoard shows.

    Args:
        log_dir: the folder; by default one below `runs` with the time, the name of the machine, and `comment`.
        max_queue, flush_secs: after how many events, or seconds, they are written.
        filename_suffix: what the name of the file ends with.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S_") + socket.gethostname() + comment)
        self.log_dir = str(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self.file_writer = FileWriter(self.log_dir, *self._options)
        self.all_writers = {self.log_dir: self.file_writer}
        if purge_step is not None:
            self.file_writer.add_event(_library().Event(file_version="brain.Event:2"), purge_step)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.log_dir

    def _add(self, step: Any, walltime: float | None, **value: Any) -> None:
        self.file_writer.add_summary(_library().Summary(value=[_library().Summary.Value(**value)]), step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number."""
        self._add(global_step, walltime, tag=tag, simple_value=float(scalar_value))

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers that are shown together, each to a folder of its own."""
        for name, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, main_tag.replace("/", "_") + "_" + name)
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, *self._options)
            summary = _library().Summary(value=[_library().Summary.Value(tag=main_tag, simple_value=float(value))])
            self.all_writers[folder].add_summary(summary, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how often which values are among those of a tensor.

        Raises:
            ValueError: for no values.
        """
        array = _array(values).astype(np.float64).reshape(-1)
        if not array.size:
            raise ValueError("The input has no element.")
        counts, limits = np.histogram(array, bins=_LIMITS if bins == "tensorflow" else bins)
        used = np.flatnonzero(counts)
        first, last = (used[0], used[-1] + 1) if used.size else (0, len(counts))
        histogram = _library().HistogramProto(
            min=array.min(), max=array.max(), num=len(array), sum=array.sum(), sum_squares=array @ array
        )
        histogram.bucket_limit.extend(limits[first : last + 1].tolist())
        histogram.bucket.extend([0, *counts[first:last].tolist()])
        self._add(global_step, walltime, tag=tag, histo=histogram)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a text."""
        metadata = _library().SummaryMetadata(plugin_data=_library().SummaryMetadata.PluginData(plugin_name="text"))
        shape = _library().TensorShapeProto(dim=[_library().TensorShapeProto.Dim(size=1)])
        tensor = _library().TensorProto(dtype="DT_STRING", string_val=[text_string.encode()], tensor_shape=shape)
        self._add(global_step, walltime, tag=f"{tag}/text_summary", metadata=metadata, tensor=tensor)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write an image: bytes, or numbers from 0 to 1. The letters say which dimension is which."""
        from PIL import Image

        array = _array(img_tensor)
        if "C" not in dataformats:
            array, dataformats = array[..., None], f"{dataformats}C"
        array = array.transpose([dataformats.upper().index(letter) for letter in "HWC"])
        if array.dtype != np.uint8:
            array = (array * 255).clip(0, 255).astype(np.uint8)
        height, width, channels = array.shape
        file = BytesIO()
        Image.fromarray(array[..., 0] if channels == 1 else array).save(file, format="PNG")
        image = _library().Summary.Image(
            height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
        )
        self._add(global_step, walltime, tag=tag, image=image)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Write settings as a text, and what came of them as numbers."""
        rows = "\n".join(f"|{name}|{value}|" for name, value in hparam_dict.items())
        self.add_text("hparams", f"|name|value|\n|-|-|\n{rows}", global_step)
        for name, value in metric_dict.items():
            self.add_scalar(name, value, global_step)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            return stand_in(f"torch.utils.tensorboard.SummaryWriter.{name}")
        raise AttributeError(f"'SummaryWriter' object has no attribute {name!r}")

    def flush(self) -> None:
        """Write what waits."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        for writer in self.all_writers.values():
            writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)
