"""The trunk's own pages, commands and jobs; its questions stand in :mod:`core.analysis.questions`."""

from core.features.feature import Command, Feature, JobKind, Page, Part

FEATURE = Feature(
    name="trunk",
    summary="Audits of metrics: what is scored, stored, asked and reported.",
    pages=(
        Page(
            file="pages/overview.py",
            title="Overview",
            icon=":material/insights:",
            section="",
            place=10,
            parts=(
                Part("findings", ("S1",)),
                Part("card", ("S1", "T13")),
                Part("plane", ("C-plane",)),
                Part("runs", ("about",)),
            ),
        ),
        Page(
            file="pages/failures.py",
            title="Failures",
            icon=":material/photo_library:",
            section="Explore",
            place=30,
            parts=(
                Part(
                    "gallery",
                    name="Failures",
                    reason="single pairs with their pictures are on the page, and in its export",
                ),
            ),
        ),
        Page(
            file="pages/results.py",
            title="Results",
            icon=":material/bar_chart:",
            section="Explore",
            place=40,
            parts=tuple(
                Part(name, (f"section:{name}",))
                for name in ("space", "object", "words", "corpora", "natural", "surface", "strength", "summary")
            ),
        ),
        Page(
            file="pages/run_audit.py",
            title="Run an audit",
            icon=":material/play_circle:",
            section="Conduct",
            place=140,
            parts=(
                Part("cost", name="Run an audit", reason="costs and power are of an audit that is still to be run"),
            ),
        ),
        Page(file="pages/words.py", title="Words", icon=":material/menu_book:", section="Help", place=160),
    ),
    commands=(
        Command("audit", "core.commands.audit:audit", "Score a corpus under every probe and store the run.", place=10),
        Command(
            "export-pairs",
            "core.commands.export_pairs:export_pairs",
            "Write every pair to disk for a metric that runs elsewhere.",
            place=20,
        ),
        Command(
            "import-scores",
            "core.commands.import_scores:import_scores",
            "Make a run of scores that were made elsewhere.",
            place=30,
        ),
        Command("score", "core.commands.score:score", "Score a captioner's files, as clipscore does.", place=40),
        Command("runs", "core.commands.runs:runs", "List the audits on this machine.", place=80),
        Command(
            "verify", "core.commands.verify:verify", "Say whether runs are still what they were closed with.", place=90
        ),
        Command(
            "report",
            "core.commands.report:report",
            "Write what runs say, with the papers' tables and their data.",
            place=100,
        ),
        Command(
            "publish",
            "core.commands.publish:publish",
            "Write runs into one read-only .duckdb file, or as static pages.",
            place=110,
        ),
        Command("app", "core.commands.app:app", "Open the dashboard, on localhost only.", place=120),
        Command("doctor", "core.commands.doctor:doctor", "Check this machine and say what to do.", place=130),
        Command(
            "evaluators",
            "core.commands.evaluators:app",
            "List the evaluators and how to get what is missing.",
            place=140,
        ),
        Command("corpora", "core.commands.corpora:app", "List the corpora; count one.", place=150),
        Command("probes", "core.commands.probes:app", "List the probes and what each expects of a score.", place=180),
        Command(
            "regions",
            "core.commands.regions:app",
            "Regions for UMIC: find them in pictures, or bring another detector's.",
            place=200,
        ),
        Command(
            "jobs",
            "core.commands.jobs:app",
            "Audits that go on without a shell: start, watch, cancel, resume.",
            place=230,
        ),
    ),
    jobs=(
        JobKind("", "core.jobs.request:AuditJob"),
        JobKind("get", "core.jobs.command_jobs:GetRequest"),
    ),
)
