#!/bin/sh
# opencv-python-headless 5.0.0.93 reads an interlaced clip (DV, DVD, broadcast) as if it were fine: VideoCapture.read()
# gives True and an array of the right shape, but no picture of the clip (here a red one comes out black); FFmpeg's
# complaint on standard error is the only sign. opencv-python-headless 4.12.0.88 gives the picture. So a caption metric
# scores no frame of such a clip and nobody is told. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cat > "$place/clip.py" <<'PY'
import sys
import imageio_ffmpeg, subprocess
subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "color=red:size=720x576:rate=25:duration=0.4",
                "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-vf", "setfield=tff", sys.argv[1]], check=True)
PY
cat > "$place/read.py" <<'PY'
import sys
import cv2
film = cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG)
told, frame = film.read()
blue, green, red = frame.reshape(-1, 3).mean(axis=0)
print(cv2.__version__, "read:", told, "shape:", frame.shape, "mean red, green, blue: %.0f %.0f %.0f" % (red, green, blue))
sys.exit(0 if told and red > 200 and green < 50 and blue < 50 else 7)
PY
for each in maker:imageio-ffmpeg==0.6.0 old:opencv-python-headless==4.12.0.88 new:opencv-python-headless==5.0.0.93; do
    python3 -m venv "$place/${each%%:*}"
    "$place/${each%%:*}/bin/python" -m pip install -q --disable-pip-version-check "${each#*:}"
done
"$place/maker/bin/python" "$place/clip.py" "$place/clip.mpg"
"$place/old/bin/python" "$place/read.py" "$place/clip.mpg"
status=0
"$place/new/bin/python" "$place/read.py" "$place/clip.mpg" || status=$?
test "$status" -eq 7
