"""Conversions of videos beside their length: `python -m bench.files.videos PHOTOGRAPH`.

Makes videos of ten seconds, 1920x1080, 30 frames a second, in which the photograph passes by with some grain on it, and
converts each in this process as a worker does.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import av
import numpy as np
from PIL import Image

from photosvc.media.convert import convert_video

SECONDS, RATE = 10, 30
WIDTH, HEIGHT = 1920, 1080
ROUNDS = 3
_HLG = "transfer=arib-std-b67:colorprim=bt2020:colormatrix=bt2020nc"
#: Name, extension, codec, pixels, sound, options of x265.
VIDEOS = (
    ("H.264 with PCM in MOV: picture copied", "mov", "libx264", "yuv420p", "pcm_s16le", ""),
    ("HEVC, 8 bits", "mp4", "libx265", "yuv420p", "aac", ""),
    ("HEVC, 10 bits", "mp4", "libx265", "yuv420p10le", "aac", ""),
    ("HEVC, 10 bits, HLG", "mp4", "libx265", "yuv420p10le", "aac", _HLG),
)


def make(path: Path, photograph: Path, codec: str, pixels: str, sound: str, options: str) -> None:
    """Write a video: the photograph moves to the upper left, 3 by 2 pixels a frame."""
    grain = np.random.default_rng(1)
    with Image.open(photograph) as opened:
        whole = np.asarray(opened.convert("RGB").resize((WIDTH + 900, HEIGHT + 600)))
    x265 = ":".join(filter(None, ("log-level=none", options)))
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            codec, rate=RATE, options={"preset": "ultrafast", "crf": "18", "x265-params": x265}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, pixels
        track = container.add_stream(sound, rate=48_000, layout="stereo")
        for number in range(SECONDS * RATE):
            part = whole[number * 2 : number * 2 + HEIGHT, number * 3 : number * 3 + WIDTH].astype(np.int16)
            noisy = part + grain.integers(-6, 7, (HEIGHT, WIDTH, 1), dtype=np.int16)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(noisy.clip(0, 255).astype(np.uint8))))
        container.mux(stream.encode())
        layout = track.codec_context.format.name
        for number in range(SECONDS * 48_000 // 1024):
            frame = av.AudioFrame(format=layout, layout="stereo", samples=1024)
            frame.rate, frame.pts = 48_000, number * 1024
            for plane in frame.planes:
                plane.update(grain.bytes(plane.buffer_size) if sound.startswith("pcm") else bytes(plane.buffer_size))
            container.mux(track.encode(frame))
        container.mux(track.encode())


def main() -> None:
    """Print a row for each video."""
    photograph = Path(sys.argv[1])
    print("| video | MB before, after | seconds, processor seconds | share of its length |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, extension, codec, pixels, sound, options in VIDEOS:
            source, target = Path(folder, f"a.{extension}"), Path(folder, "b.mp4")
            make(source, photograph, codec, pixels, sound, options)
            wall, work = [], []
            for _ in range(ROUNDS):
                began, used = time.perf_counter(), os.times()
                with source.open("rb") as file:
                    convert_video(file, str(target), 1 << 32, lambda _: None)
                wall.append(time.perf_counter() - began)
                work.append(sum(os.times()[:2]) - sum(used[:2]))
            seconds, processor = statistics.median(wall), statistics.median(work)
            sizes = ", ".join(f"{path.stat().st_size / 1e6:.1f}" for path in (source, target))
            print(f"| {name} | {sizes} | {seconds:.2f}, {processor:.2f} | {seconds / SECONDS:.2f} |", flush=True)


if __name__ == "__main__":
    main()
