"""Published files that a stranger made: tables that are views, macros and triggers of other files, rows that lie."""

import shutil
from functools import partial
from pathlib import Path

import duckdb

from core import settings
from core.errors import StoreError
from core.store.publishing import accept_published
from core.store.store import Store
from core.store.whole import verify
from siege.forged import Stranger, forged_file
from siege.links import open_page
from siege.material import Material, copied, data_folder
from siege.trials import Finding, Tally

SECRET = "the operator's own words"

TABLES = ("scores", "items", "rejections", "variants", "runs", "about")

STATEMENTS: dict[str, str] = {
    "{t} is a view of a file": "drop table {t}; create view {t} as select * from read_text('{secret}')",
    "{t} is a view of itself": "alter table {t} rename to other; create view {t} as select * from other",
    "{t} is gone": "drop table {t}",
    "{t} is empty": "delete from {t}",
    "{t} twice": "insert into {t} select * from {t}",
    "{t} with a column more": "alter table {t} add column more varchar default 'x'",
    "{t} of one odd column": "drop table {t}; create table {t} as select 1 as x",
    "{t} half": "delete from {t} where rowid % 2 = 0",
}
"""What is done to each table."""

OTHERS: dict[str, str] = {
    "a macro in place of a function": "create macro lower(x) as (select content from read_text('{secret}'))",
    "a macro in place of count": "create macro count(x) as 7",
    "a sum that is another": "create macro median(x) as 0",
    "a table macro": "create macro shifts() as table select * from read_text('{secret}')",
    "a schema of the store's names": "create schema store; create table store.scores (x integer)",
    "views that call each other": "create view a as select 1 as x; create or replace view a as select * from items",
    "a type of a table's name": "create type scores_kind as enum ('a', 'b')",
    "a sequence": "create sequence s; select nextval('s')",
    "a thousand tables": "{thousand}",
    "a name with quotes": 'create table "x""; drop table scores; --" (a integer)',
    "scores that are no numbers": "update scores set score = 'nan'::float",
    "scores beyond every number": "update scores set score = 'inf'::float",
    "a manifest that is no JSON": "update runs set manifest = 'x'",
    "a manifest that is a list": "update runs set manifest = '[]'",
    "a manifest of another run": "update runs set run = '../../etc'",
    "a version that is to come": "update about set schema_version = 999",
    "a version that is none": "update about set schema_version = -1",
}


def run(tally: Tally, _seed: int, *, quick: bool) -> None:
    """Open and verify each hostile file."""
    with data_folder() as data:
        made = Material(data)
        secret = data.parent / "secret.txt"
        secret.write_text(SECRET, encoding="utf-8")
        every = {
            name.format(t=table): told.replace("{t}", table) for table in TABLES for name, told in STATEMENTS.items()
        }
        for number, (name, told) in enumerate(list((every | OTHERS).items())[:: 8 if quick else 1]):
            path = data.parent / f"hostile-{number}.duckdb"
            shutil.copyfile(made.published, path)
            _spoil(path, told.replace("{secret}", str(secret)), tally)
            tally.attempt(f"opening: {name}", partial(_open, path))
            tally.attempt(f"verify: {name}", partial(_verify, path))
        _try_code(made, data, tally, quick=quick)


def _try_code(made: Material, data: Path, tally: Tally, *, quick: bool) -> None:
    """Hand over files whose evaluator is the path of a stranger's code, and look at them where evaluators are asked."""
    stranger = Stranger(data.parent)
    opened = data / "runs" / "stranger.duckdb"
    for name in stranger.names[:: 3 if quick else 1]:
        source = copied(made.run, data.parent / "forged" / made.run.name)
        path = forged_file(source, "colours", name, data.parent / "forged.duckdb")
        told = name.replace(str(data.parent), "…")
        tally.attempt(f"handed over: {told}", partial(accept_published, path, "x", folder=data.parent / "taken"))
        aside = made.run.rename(data.parent / "aside")  # a run is open once, and the stranger's has the same id
        shutil.copyfile(path, opened)
        for page in ("geometry",) if quick else ("geometry", "calibration", "overview"):
            tally.attempt(f"{page}: {told}", partial(_look, page, stranger))
        opened.unlink()
        aside.rename(made.run)


def _look(page: str, stranger: Stranger) -> None:
    open_page(page, {"show": "report"})
    if stranger.ran:
        raise Finding("lost", "a stranger's code ran")


def _spoil(path: Path, told: str, tally: Tally) -> None:
    thousand = "; ".join(f"create table t{number} (x integer)" for number in range(1000))
    with duckdb.connect(str(path)) as connection:
        try:
            connection.execute(told.replace("{thousand}", thousand))
        except duckdb.Error as error:
            tally.notes.append(f"DuckDB itself refuses to make a file: {str(error).splitlines()[0][:100]}")


def _open(path: Path) -> None:
    with Store.open(path, copies=settings.cache_dir() / "store") as store:
        answers = [str(store.query(f"select * from {table} limit 50").to_dict()) for table in TABLES[:4]]
        said = " ".join([*answers, *store.problems, *(str(each.manifest) for each in store.runs())])
        shown = store.query("select count(*) n, median(score) m from scores")
    if SECRET in said:
        raise Finding("lost", "a file of the operator was read")
    if store.problems:
        raise StoreError(store.problems[0])
    if shown.n[0] == 0 or not shown.m[0] > 0:
        raise Finding("silent", f"nothing is said, and there are {shown.n[0]} scores of median {shown.m[0]}")


def _verify(path: Path) -> None:
    for verdict in verify(path):
        if any(SECRET in problem for problem in verdict.problems):
            raise Finding("lost", "a file of the operator was read")
        if verdict.problems:
            raise StoreError(verdict.problems[0])
