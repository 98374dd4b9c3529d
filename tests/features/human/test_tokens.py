from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.features.human.studies import Refused, Study
from core.features.human.tokens import SECRET, make_token, new_nonce, well_formed
from tests.features.human.small_study import make


def test_a_token_opens_its_own_study_and_no_other(tmp_path: Path) -> None:
    one, other = make(tmp_path, "one"), make(tmp_path, "other")
    (a,), (b,) = one.invite(["Ada"]), other.invite(["Bo"])
    assert one.annotator_of(one.token(a)) == a
    for study, token in ((one, other.token(b)), (other, one.token(a))):
        with pytest.raises(Refused, match="not valid"):
            study.annotator_of(token)


@pytest.mark.parametrize("token", ["", "x", None, 7, "a01", "é" * 43, "A" * 43, "../../etc/passwd", "A" * 100_000])
def test_anything_else_is_refused(tmp_path: Path, token: object) -> None:
    study = make(tmp_path)
    study.invite(["Ada"])
    with pytest.raises(Refused, match="not valid"):
        study.annotator_of(token)


def test_a_revoked_a_renewed_and_a_withdrawn_link_stop_working(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo, cy = study.invite(["Ada", "Bo", "Cy"])
    old = {name: study.token(name) for name in (ada, bo, cy)}
    study.revoke(ada)
    new = study.renew(bo)
    study.withdraw(cy)
    for token in old.values():
        with pytest.raises(Refused):
            study.annotator_of(token)
    assert study.annotator_of(new) == bo
    assert study.token(ada) is None
    assert study.annotator_of(study.renew(ada)) == ada
    with pytest.raises(InvalidInput, match="withdrawn"):
        study.renew(cy)


def test_no_file_that_may_be_handed_around_holds_a_token(tmp_path: Path) -> None:
    study = make(tmp_path)
    token = study.token(study.invite(["Ada"])[0])
    assert token is not None
    for path in study.folder.iterdir():
        assert token not in path.read_text()
    assert (study.folder / SECRET).stat().st_mode & 0o077 == 0


def test_without_its_secret_a_link_works_but_cannot_be_shown_again(tmp_path: Path) -> None:
    study = make(tmp_path)
    (ada,) = study.invite(["Ada"])
    token = study.token(ada)
    (study.folder / SECRET).unlink()
    fresh = Study(study.folder)
    assert fresh.annotator_of(token) == ada
    assert fresh.token(ada) is None


def test_tokens_differ_and_have_the_one_shape() -> None:
    tokens = {make_token("secret", "a01", new_nonce()) for _ in range(100)}
    assert len(tokens) == 100
    assert all(well_formed(token) for token in tokens)
