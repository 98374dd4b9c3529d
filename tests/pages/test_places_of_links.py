"""A link names no folder outside the server's own; a person types what he likes."""

from pathlib import Path

import pytest
from PIL import Image

from tests.pages.opening import RUN, SUITES, Open, said


@pytest.fixture
def photographs(tmp_path: Path) -> Path:
    folder = tmp_path / "photographs"
    folder.mkdir()
    Image.new("RGB", (40, 30)).save(folder / "a.png")
    return folder


@pytest.fixture
def only_data(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.delenv("INVARISCOPE_FOLDERS")
    return open_page


REFUSED = "A link may not name"


@pytest.mark.parametrize("root", ["/etc", "~", "~nobody-of-this-name/x", "/proc/self", "{}", "{}/../photographs"])
def test_a_link_to_a_folder_outside_is_told_and_not_read(only_data: Open, photographs: Path, root: str) -> None:
    app = only_data(RUN, corpus="folder", root=root.format(photographs))
    assert not app.exception
    assert REFUSED in said(app).replace("\\", "")
    assert app.text_input(key="run.root").value == ""
    assert "root" not in app.query_params


def test_a_link_through_a_link_is_refused(only_data: Open, photographs: Path, tmp_path: Path) -> None:
    corpora = tmp_path / "data" / "corpora"
    corpora.mkdir(parents=True)
    (corpora / "out").symlink_to(photographs)
    assert REFUSED in said(only_data(RUN, corpus="folder", root=str(corpora / "out"))).replace("\\", "")


def test_an_option_of_a_link_names_no_file_outside(only_data: Open) -> None:
    app = only_data(RUN, corpus="folder", options="captions=/etc/passwd")
    assert REFUSED in said(app).replace("\\", "")
    assert app.session_state["run.options"] == ""


@pytest.mark.parametrize("name", ["file", "folder"])
def test_a_link_starts_no_suite_outside(only_data: Open, photographs: Path, name: str) -> None:
    app = only_data(SUITES, **{name: f"relative, {photographs}"})
    assert not app.exception
    assert REFUSED in said(app).replace("\\", "")


def test_folders_of_data_and_those_that_the_operator_names_may_stand_in_a_link(
    only_data: Open, photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "data" / "corpora" / "mine"
    own.mkdir(parents=True)
    Image.new("RGB", (40, 30)).save(own / "a.png")
    assert REFUSED not in said(only_data(RUN, corpus="folder", root=str(own))).replace("\\", "")
    monkeypatch.setenv("INVARISCOPE_FOLDERS", f"/elsewhere:{photographs}")
    assert REFUSED not in said(only_data(RUN, corpus="folder", root=str(photographs))).replace("\\", "")


def test_what_a_person_types_is_read_and_may_come_back_in_this_session(only_data: Open, photographs: Path) -> None:
    app = only_data(RUN, corpus="folder")
    app.text_input(key="run.root").set_value(str(photographs)).run()
    assert REFUSED not in said(app).replace("\\", "")
    assert app.query_params["root"] == str(photographs)
    app.query_params["limit"] = "1"  # another link of the same reader
    app.run()
    assert app.text_input(key="run.root").value == str(photographs)


@pytest.mark.parametrize("typed", ["/proc", "/dev", "/sys/kernel"])
def test_what_is_the_kernels_is_refused_where_it_is_typed(only_data: Open, typed: str) -> None:
    app = only_data(RUN, corpus="folder")
    app.text_input(key="run.root").set_value(typed).run()
    assert not app.exception
    assert "where the system shows itself" in said(app).replace("\\", "")
