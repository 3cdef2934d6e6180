"""Labels: what a picture shows, by EfficientNet-Lite2 in a worker process.

The model gives each of the 1,000 classes of ImageNet a probability; `data.subjects` says which of them make a word.
"""

import hashlib
import importlib.util
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from PIL import Image

from photosvc.core.errors import PhotosvcError
from photosvc.data import LABEL_MODEL
from photosvc.data.subjects import subjects
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError
from photosvc.pictures.originals import Original
from photosvc.pictures.render import make_thumbnails
from photosvc.pictures.sizes import SIZES, Target, ThumbnailJob, canonical

#: The runtime of the model, which the extra `labels` installs.
_RUNTIME: Final = "onnxruntime"
#: Name of the weights and of the way in which pictures are prepared for them: another name sees all pictures again.
MODEL: Final = "efficientnet-lite2-int8/1"
_SHA256: Final = "8f2d94cafe0359fea2b802aae05c7478c67c4b97617431f1faace76e07734baa"
_SIDE: Final = 260
#: The margin of the part of a picture that the model was trained to see, in pixels of its input.
_MARGIN: Final = 32
_MIDDLE: Final = 127.0
_SCALE: Final = 128.0
#: Lower scores are noise, and are not kept.
LEAST: Final = 0.05
_SIZE: Final = SIZES["fit_1280"]


class SightUnavailableError(PhotosvcError):
    """Pictures cannot be looked at: install photosvc[labels]."""


@dataclass(frozen=True, slots=True)
class SightJob:
    """A picture to look at."""

    original: Original
    thumbnail: str
    """Path of its thumbnail `fit_1280`, whether the cache has it or not."""

    @property
    def size(self) -> int:
        """Return the bytes of the original, for the time-out of the worker."""
        return self.original.size


def check_model(path: Path = LABEL_MODEL) -> None:
    """Make sure that pictures can be looked at.

    Raises:
        SightUnavailableError: the extra is not installed, or the model's file is not the one that was shipped.
    """
    if importlib.util.find_spec(_RUNTIME) is None:
        raise SightUnavailableError
    try:
        is_shipped = hashlib.sha256(path.read_bytes()).hexdigest() == _SHA256
    except OSError:
        is_shipped = False
    if not is_shipped:
        raise SightUnavailableError(f"The model {path.name} is damaged or missing: install photosvc again.")


def target_of(original: Original) -> Target:
    """Return the thumbnail that is looked at."""
    return canonical(original, Target(_SIZE, turn=original.turn))


def see_labels(job: SightJob) -> list[tuple[str, float]]:
    """Return the subjects of a picture with their scores, 0.05 to 1, highest first; a `WorkerPool` calls it.

    Raises:
        OriginalChangedError: the original has changed since it was indexed.
        OriginalUnreadableError: it cannot be read at present.
        DecodeError, UnsupportedFileError: it cannot be shown.
    """
    with suppress(OSError, DecodeError), guarded(), Image.open(job.thumbnail, formats=("JPEG",)) as picture:
        return score(picture.convert("RGB"))
    (data,) = make_thumbnails(ThumbnailJob(job.original, (target_of(job.original),)))
    with guarded(), Image.open(BytesIO(data), formats=("JPEG",)) as picture:
        return score(picture.convert("RGB"))


def score(picture: Image.Image) -> list[tuple[str, float]]:
    """Return the subjects of an upright RGB picture with their scores, 0.05 to 1, highest first."""
    import numpy as np

    side = min(picture.size) * _SIDE / (_SIDE + _MARGIN)
    left, upper = (picture.width - side) / 2, (picture.height - side) / 2
    box = (left, upper, left + side, upper + side)
    small = picture.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC, box=box)
    pixels = (np.asarray(small, dtype=np.float32) - _MIDDLE) / _SCALE
    (logits,) = _session().run(["logits"], {"x": pixels.transpose(2, 0, 1)[None]})
    powers = np.exp(logits[0] - logits[0].max())
    shares = powers / powers.sum()
    scores = ((subject.word, float(shares[list(subject.classes)].sum())) for subject in subjects().values())
    seen = [(word, round(share, 4)) for word, share in scores if share >= LEAST]
    return sorted(seen, key=lambda pair: (-pair[1], pair[0]))


@cache
def _session() -> Any:  # noqa: ANN401 - untyped
    """Load the model, once a worker, with one thread: there is a worker for each core."""
    runtime = importlib.import_module(_RUNTIME)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return runtime.InferenceSession(str(LABEL_MODEL), options, providers=["CPUExecutionProvider"])
