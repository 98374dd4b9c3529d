"""Videos as players show them: mirrored, turned, stretched, at their own times; what cannot be shown is refused."""

import base64
import json
import os
import struct
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.registry import catalogue
from core.corpora.video_container import KINDS, SUFFIXES, Marks, marks
from core.corpora.video_folder import kinds_told, not_read, read_video_folder
from core.corpora.video_frames import Footage, Sampling, open_video, read_frames
from core.errors import BadImage, InvalidInput
from core.scoring.suite_scores import sampled
from tests.corpora.footage import moving, write_frames, write_video

# What FFmpeg 9.0.2 wrote of one frame of its testsrc, compressed: MPEG-2 of fields (-flags +ilme+ildct), FFV1 with a PQ
# transfer in Matroska, mirrored by -display_hflip, and MPEG-4 with an HLG transfer in MP4.
INTERLACED = (
    "c-muNVBE~apdkGJ{{smI2F9%-O$>|-K)|?zfrG(;0mR||{{tk`|NnCXNP_WqMUrGCk4@<%jV0x^JEq?E(6v=ux^r&x)=v$G^H-}a-"
    ")w*RN4oX{JJX{Zul+jd>0kc8^Xn0V^P8VOGF@VD`(dTT7FC(|b$-"
    "5XvP<TF(@p@Xy8two>33Dj`)22u>eh8XITE+8R+}uOb)(_job~H2TsUGp>4w!wc`?Hu=i0?;_jV+1KPdR^<exXYUmQ7b=h$_XwwB_2o()(2-"
    "C5Z9Js|HvM4I%3*TM_{mc(X?"
)
PQ_MIRRORED = (
    "c-oV4y}x*|Q(GgW({~{L)X3uWxsk)EsUtVBq$s~QJJG2fDAd}>BoW+@&d2})EUJROvr7)_Z;3c~Y`*XA?%>reqMj?$g4Z-"
    "Igz&^d)@1{EXMA_}0C_?ohtq@CG%<-mxH7@Jfs#!uoNpkeF$6PEAAsDmY=4XAHvLap*EcrvJ306^wD=^JrG-"
    "0!DVNR;he(K0kYgQP_P1m{o3dmb#7T^%*Bcp&k9I%}W1Q2-ptN;Pb7@{mM<YX9TUflCTbN;UBct-"
    ";<`&kk4;db;+R!Mlt5IN9BU9*x386q%=*C9Q(A_}1vyri^pu4QN!y&B!Y*^^KMh2MAnHU(77de~=W0TYWyTk2z!E^)0HpX`kWuEPI_1$WrUUEZ"
    "Eptkhrs>ikoIyc&y|3$lR<UbnsvHE{w#n#$`ib{(6B##B&H00;lR$sO0<egKI^N!#B``DQMc>CRVCGC$=kNo~~<$%mt)h8KV*ZJ;C1)1&(OaEt"
    "(zi-;n1SSg~J@G@vzP8B=DlZyv1$fNewI%nyg3sgB<%<;OKA&kMefN~T(aPTB?Rjb5J$Y-"
    "&3l)Cd$*kU(w8P)Ou9&k<_pCtEy!X*QRqPipH$T2{NbQc&>fNA-zOuiCwdAR4aq;Qo1Kr7pAWT0o&2@3RtDm#Ki))ZednYgwk`>a@$_&#_EOcG"
    "m;Sw6;7~<*g=h8mez`zQO^b8H4fI;4QTdCue{VkPl+Z>-"
    "aGAwokMgv2``%_0B7A!F7yWX6Zs#lafv(oo^qQIW&hlRcIJ5M`Z{;HCDQ^2Ct`7J|r?~m3m_w$NPIO1FwmhId2s^CjP&-"
    "uo$AGm{STQ*wnnD(B5!JFYj{Qo}NjhbHKM;bz><%M;{N;2=rHjbPwvskR!N8$38<URb+yH0I>!nI^h_+$RWODdDp1?HUnFTC_r=z=Cm0|lMkFT"
    "2y^+H#s_{E)lFz~IR+f#Y876i>Z>`{yR7W;;Jy7V_V1`?tvRt9))a-npB6HZ|xI`$X0~e6e%xUh9;-"
    "__Zn0{O@TEt;dT$wN<TiZQNC`WcIJ`XPIoD|A=avaLeFBp^TZA$n{+QICk^Tuf=9(RsMc%{5{g{+tU8`mYXxaFfe2>#QhhMko;*Tx7bDI;uW6b"
    "9KU-Hwx(U&R=?=z&(`*Xd4;pCiP`17(7YAProD6hr=6j1Err)q_UW2;?K`YG|Dx0M&#P7zE)O})6K7%ld1ZULYUigdpDuJRJvec`pKAV+JN*^M"
    "qdqvzmAf3VkAWeL;jp#ubx>xWzQ3i+tW;)q|K>)9?Onh^<YN<4{)a|R02I~D00"
)
HLG = (
    "c-muNV30{GsVvAW&d+6FU}6B#Kx~v-U}DI?z`&7Kl$y%Gz}S+Tl2`(yH!}#Z1F3BS2WE3`;BQf=;D3DZfqfxcPK|1d%Ap80CWbb9R$-"
    "?AS)uO9zn?ykeW>Hap?Nd(ul%a;o)!TIna=qCdi*o=a_scHzwG#Mi-"
    "+;RA)^fy{8t^@n=Bj{F7kNGHT7ytv1Ml{kQX?_@pW&4;szeJ%bgCVLN_=0{qf4xa1s*YOnB0H`9W{*gAWd23N;7b@T;;dIOJf%{z2jJHpd4E{t"
    "Oq@AM%JOEN0bmb?C6wyY@g{=)jBil~b7yI+#sc&Kllee>wCw^PO+TQAyep4lI#l;@r^2`=EkD&e27Hkypc5p~1fMw7cfiPUQuyLgnst{GosLYN"
    ";KWc<60~ZKjj`ha*Dz2dCCZ2;5?0`1h|#j+sS+hh5}Ah5V<2-8UU)%e3E8Vdkshxe~s%!+ZKg2}%DO-"
    "<ki)Wf(+qKU>9?A(C+NpiA_F0QH8GD|&A9M0?*l@JEh`eSb5PR3qoQ7Q^e4R)_F#85FRc)eC*}SFZ7Y%{GRrhV=am49s%5`T1qQILXN^%Sd5B0"
    "n9IeL<$2V0|+4iBdRKNz5@eZzyw6OB}IwZKz2+?HrP&PET*Mk=p@Eo0Vrl*P)SWGDF)IqsX4_ZNIFswdKsVQrer1p849^6=ziA#VitzbBVdkhM"
    "oLZ*Or|U|B^6m^7?7Xuk(if~lL}J9I3YJPFAc~LDa!>LitJ346o{NmN>OSWlB0M^i*ghoY{r1%lB66U`%Q64aSD=}JHX6Sh9f9Io)%#60MZ^X6"
    "<j`vWyuP;1*z#K*ds#X|9>FqpIV$!436xEh6X#J!7M=9KtT{J#0w15vIDF@5jmiV8$hnx+9?dNo>76}NN)#2C_@XANHQBx2_rCO8HAJbbBgkkb"
    "1E1(8H9is<g$Xq;sU6fL0BZIqzDorQ1d}<DJ}s=76U>Z3y3WP41;7;afCTQxhkks4MHqAA4$Cq5Zjiflz<}HG&dDYgMcD(gaQ*mQDQ+s4szgdW"
    "CBwS0GR>=!v"
)

ONE = 1 << 16


def written(path: Path, packed: str) -> Path:
    path.write_bytes(zlib.decompress(base64.b85decode(packed)))
    return path


def quarters() -> np.ndarray:
    """A picture whose four quarters differ, so that every turn and mirror of it does; uint8 RGB [48, 64, 3]."""
    made = np.zeros((48, 64, 3), np.uint8)
    made[:24, :32], made[:24, 32:], made[24:, :32], made[24:, 32:] = (220, 30, 30), (30, 200, 30), (30, 30, 220), 230
    return made


def marked(path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """A film of a picture whose track is to be shown by a matrix of whole numbers (ISO/IEC 14496-12, 8.3.2)."""
    data = bytearray(write_video(path, [quarters()] * 3).read_bytes())
    track, (a, b, c, d) = data.index(b"tkhd"), matrix
    data[track + 44 : track + 80] = struct.pack(">9i", a * ONE, b * ONE, 0, c * ONE, d * ONE, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path


# Each beside numpy's own words for what FFmpeg 9.0.2's player shows of it: compared frame by frame when written.
@pytest.mark.parametrize(
    ("matrix", "shown"),
    [
        ((1, 0, 0, 1), lambda frame: frame),
        ((-1, 0, 0, 1), np.fliplr),
        ((1, 0, 0, -1), np.flipud),
        ((-1, 0, 0, -1), lambda frame: np.rot90(frame, 2)),
        ((0, 1, -1, 0), lambda frame: np.rot90(frame, -1)),
        ((0, -1, 1, 0), np.rot90),
        ((0, 1, 1, 0), lambda frame: frame.transpose(1, 0, 2)),
        ((0, -1, -1, 0), lambda frame: np.rot90(frame, 2).transpose(1, 0, 2)),
        ((0, 0, 0, 0), lambda frame: frame),
    ],
)
def test_a_track_is_shown_turned_and_mirrored_as_players_show_it(
    tmp_path: Path, matrix: tuple[int, int, int, int], shown: Callable[[np.ndarray], np.ndarray]
) -> None:
    wanted = shown(quarters())
    footage = open_video(marked(tmp_path / "a.mp4", matrix))
    assert (footage.height, footage.width) == wanted.shape[:2]
    for frame in read_frames(footage, [0, 2]):
        assert np.abs(frame.astype(int) - wanted).mean() < 8


def test_a_track_that_is_shown_aslant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadImage, match=r"a\.mp4: its track is to be shown aslant.*; export it upright"):
        open_video(marked(tmp_path / "a.mp4", (1, 1, -1, 1)))


def test_pixels_that_are_not_square_are_stretched_as_players_do(tmp_path: Path) -> None:
    path = marked(tmp_path / "a.mp4", (1, 0, 0, 1))
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 80
    data[at : at + 8] = struct.pack(">2i", 128 * ONE, 48 * ONE)  # the track is twice as wide as its frames
    path.write_bytes(data)
    footage = open_video(path)
    assert (footage.width, footage.height) == (128, 48)
    (frame,) = read_frames(footage, [1])
    assert np.abs(frame[:, ::2].astype(int) - quarters()).mean() < 8


def test_matroska_says_how_its_track_is_shown_and_that_its_colours_are_hdr(tmp_path: Path) -> None:
    found = marks(written(tmp_path / "a.mkv", PQ_MIRRORED))
    assert (found.matrix, found.hdr) == ((-1, 0, 0, 1), "PQ")
    assert open_video(tmp_path / "a.mkv").frames == 1


def test_hdr_is_told_wherever_a_video_is_read(tmp_path: Path) -> None:
    written(tmp_path / "sea.mp4", HLG)
    (note,) = open_video(tmp_path / "sea.mp4").notes
    assert note.startswith("its colours are HDR (HLG) and its codes are scored as they are")
    (tmp_path / "captions.json").write_text(json.dumps({"sea": "The sea."}))
    corpus = catalogue().get("videos").load(tmp_path)
    assert [(each.code, each.count, each.subject, each.detail) for each in corpus.remarks] == [("hdr", 1, "sea", note)]


def test_interlaced_frames_are_refused_since_the_decoder_gives_no_picture_of_them(tmp_path: Path) -> None:
    with pytest.raises(BadImage, match=r"a\.m2v: frame 0 is interlaced, .*; deinterlace it"):
        open_video(written(tmp_path / "a.m2v", INTERLACED))


def test_threads_that_decode_at_once_leave_standard_error_as_it_was(tmp_path: Path) -> None:
    footage = open_video(write_video(tmp_path / "a.mp4", moving("red", 6)))
    before = os.fstat(2)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: len(list(read_frames(footage, range(6)))), range(12)))
    assert found == [6] * 12
    assert os.path.samestat(os.fstat(2), before)


def uneven(path: Path, *, last: int = 1600) -> Path:
    """Sixteen pictures of a tenth of a second, then four of 1.6 s, the last one of another length."""
    frames = [Image.fromarray(each) for each in moving("red", 20)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[100] * 16 + [1600] * 3 + [last], loop=0)
    return path


def test_frames_stand_at_their_own_times(tmp_path: Path) -> None:
    footage = open_video(uneven(tmp_path / "a.gif", last=200))
    assert footage.times == pytest.approx([place / 10 for place in range(16)] + [1.6, 3.2, 4.8, 6.4])
    assert footage.seconds == pytest.approx(6.6)
    even = open_video(write_video(tmp_path / "a.mp4", moving("red", 9)))
    assert (even.times, even.seconds) == ((), 9 / 8)
    assert open_video(written(tmp_path / "one.mp4", HLG)).seconds == pytest.approx(0.1)


def test_a_part_and_a_sample_go_by_time_and_not_by_the_share_of_frames(tmp_path: Path) -> None:
    footage = open_video(uneven(tmp_path / "a.gif"))
    assert footage.seconds == pytest.approx(8.0)
    assert footage.part(2 / 8, 1.0) == (16, 20)  # from 2 s on: the frame that is shown then began at 1.6 s
    assert footage.part(0.0, 1.6 / 8) == (0, 16)
    assert footage.part(0.0, 2 / 8) == (0, 17)
    assert footage.part(0.75, 0.75) == (18, 19)
    assert footage.places(Sampling(5)) == (0, 16, 17, 18, 19)  # at 0, 1.6, 3.2, 4.8 and 6.4 s
    assert footage.places(Sampling(2), (0.0, 0.2)) == (0, 15)
    assert len(list(sampled(footage, Sampling(), (0.25, 1.0)))) == 4


def test_stamps_that_a_container_rounds_are_even(tmp_path: Path) -> None:
    first, *others = [Image.fromarray(each) for each in moving("red", 30)]
    first.save(tmp_path / "a.gif", save_all=True, append_images=others, duration=[30, 30, 40] * 10)
    footage = open_video(tmp_path / "a.gif")
    assert footage.times == ()
    assert footage.places(Sampling(10)) == Sampling(10).places(30)


def test_the_cap_on_length_goes_by_the_time_stamps(tmp_path: Path) -> None:
    first, *others = [Image.fromarray(each) for each in moving("red", 4)]
    first.save(tmp_path / "a.gif", save_all=True, append_images=others, duration=[100, 100, 450_000, 450_000])
    with pytest.raises(BadImage, match="900 s, the most"):
        open_video(tmp_path / "a.gif")


@pytest.mark.parametrize(
    ("name", "code"),
    [("a.mpg", "MPG1"), ("a.wmv", "WMV2"), ("a.flv", "FLV1"), ("a.ts", "MPG2"), ("a.3gp", "mp4v"), ("a.m4v", "mp4v")],
)
def test_every_common_container_is_read(tmp_path: Path, name: str, code: str) -> None:
    import cv2

    film = cv2.VideoWriter(str(tmp_path / name), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*code), 25, (64, 48))
    for each in moving("red", 6):
        film.write(each[:, :, ::-1].copy())
    film.release()
    footage = open_video(tmp_path / name)
    assert (footage.frames, footage.times) == (6, ())
    assert footage.seconds == pytest.approx(6 / 25)
    for frame, wanted in zip(read_frames(footage, range(6)), moving("red", 6), strict=True):
        assert np.abs(frame.astype(int) - wanted).mean() < 12


def test_an_animated_png_is_read_and_an_animated_webp_is_named(tmp_path: Path) -> None:
    first, *others = [Image.fromarray(each) for each in moving("red", 4)]
    first.save(tmp_path / "a.apng", format="PNG", save_all=True, append_images=others, duration=100)
    first.save(tmp_path / "b.webp", save_all=True, append_images=others, duration=100)
    np.testing.assert_array_equal(next(read_frames(open_video(tmp_path / "a.apng"), [3])), moving("red", 4)[3])
    (tmp_path / "captions.json").write_text(json.dumps({"a": "A square.", "b": "A square.", "c": "A square."}))
    held = read_video_folder(tmp_path)
    assert [each.id for each in held.videos] == ["a"]
    assert [(each.subject, each.code) for each in held.rejected] == [("b", "bad-video"), ("c", "missing-video")]
    assert held.rejected[0].detail.startswith("b.webp is no video of a kind that is read (MP4, AVI,")


def test_what_lies_there_is_told_by_kind(tmp_path: Path) -> None:
    paths = [write_video(tmp_path / f"{place}.mp4", moving("red", 1)) for place in range(4)]
    paths.append(write_frames(tmp_path / "stills", moving("red", 1)))
    assert kinds_told(paths) == "4 MP4 (0.mp4, 1.mp4, 2.mp4, …), 1 of frames (stills)"
    assert not_read(tmp_path, ["0", "gone"]) == {}
    assert set(SUFFIXES.values()) == set(KINDS)


@pytest.mark.parametrize("size", [9, 40, 200, 700, 1000])
def test_a_container_that_is_cut_off_says_nothing_of_itself_and_raises_nothing(tmp_path: Path, size: int) -> None:
    for name, packed in (("a.mkv", PQ_MIRRORED), ("a.mp4", HLG)):
        path = written(tmp_path / name, packed)
        path.write_bytes(path.read_bytes()[:size])
        assert isinstance(marks(path), Marks)
    uneven(tmp_path / "a.gif")
    (tmp_path / "a.gif").write_bytes((tmp_path / "a.gif").read_bytes()[:size])
    assert isinstance(marks(tmp_path / "a.gif"), Marks)


def test_the_same_is_read_apart_with_its_times_and_notes(tmp_path: Path) -> None:
    from core.corpora.video_frames import read_stranger

    here = open_video(uneven(tmp_path / "a.gif"))
    there, _ = read_stranger((tmp_path / "a.gif").read_bytes(), Sampling(2), name="mine.gif", side=64)
    assert (there.times, there.seconds, there.notes) == (here.times, here.seconds, ())
    assert isinstance(there, Footage)
    with pytest.raises(InvalidInput, match=r"mine\.webp: videos end in \.mp4"):
        read_stranger(b"", Sampling(2), name="mine.webp", side=64)
