"""The trunk's own entries, views, commands and jobs; its questions stand in :mod:`core.analysis.questions`."""

from core.features.feature import Command, Entry, Feature, JobKind, Part, View

OVERVIEW = (Part("findings", ("S1",)), Part("card", ("S1", "T13")), Part("plane", ("C-plane",)))
PICTURES = "single pairs with their pictures are on the page, and in its export"
FAILURES = (Part("gallery", name="Failures", reason=PICTURES),)
GALLERY = "pages.views.failures.failures_view:draw"
SECTIONS = ("space", "object", "words", "corpora", "natural", "surface", "strength", "summary")
RESULTS = tuple(Part(name, (f"section:{name}",)) for name in SECTIONS)
AHEAD = "costs and power are of an audit that is still to be run"
COSTS = (Part("cost", name="Run an audit", reason=AHEAD),)

FEATURE = Feature(
    name="trunk",
    summary="Audits of metrics: what is scored, stored, asked and reported.",
    entries=(
        Entry("pages/start.py", "Start", ":material/insights:", place=10),
        Entry("pages/try_a_picture.py", "Try a picture", ":material/science:", place=20),
        Entry("pages/findings.py", "Findings", ":material/bar_chart:", place=30),
        Entry("pages/does_it_notice.py", "Does it notice?", ":material/rule:", place=40),
        Entry("pages/leaderboard.py", "Leaderboard", ":material/leaderboard:", place=50),
        Entry("pages/calibrate.py", "Calibrate", ":material/tune:", place=60),
        Entry("pages/people.py", "People", ":material/how_to_vote:", place=70),
        Entry("pages/runs.py", "Runs", ":material/play_circle:", place=80),
        Entry("pages/words.py", "Words", ":material/menu_book:", place=100, listed=False),
    ),
    views=(
        View("overview", "Overview", "pages.views.overview.overview_view:draw", entry="start", parts=OVERVIEW),
        View("runs", "Runs", "pages.views.runs_view:draw", entry="runs", parts=(Part("list", ("about",)),)),
        View("failures", "Pictures", GALLERY, entry="findings", place=20, parts=FAILURES),
        View("results", "Figures", "pages.views.results_view:draw", entry="findings", place=10, parts=RESULTS),
        View("run_audit", "New run", "pages.views.run_audit.audit_view:draw", entry="runs", place=20, parts=COSTS),
        View("words", "Words", "pages.views.words_view:draw", entry="words"),
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
            "Regions for UMIC: find them in pictures, or take another detector's.",
            place=200,
        ),
        Command("jobs", "core.commands.jobs:app", "Run the jobs that the pages put in line.", place=230),
    ),
    jobs=(JobKind("", "core.jobs.request:AuditJob"), JobKind("get", "core.jobs.command_jobs:GetRequest")),
)
