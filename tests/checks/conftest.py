"""The last lines of a run say how many mutants were killed and called by their name."""


def pytest_terminal_summary(terminalreporter):
    outcomes = [
        (outcome, report.nodeid)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call"
    ]
    for test, what in (
        ("test_mutant_is_killed_and_named", "mutants killed and named"),
        ("test_right_answers_pass", "right answers passed"),
    ):
        all_of_them = [outcome for outcome, nodeid in outcomes if test in nodeid]
        if all_of_them:
            good = all_of_them.count("passed")
            terminalreporter.write_line(f"{what}: {good} of {len(all_of_them)}")
