"""Say at the end how many public cases ran."""


def pytest_terminal_summary(terminalreporter):
    ran = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if "test_onnx_case" in report.nodeid and report.when == "call"
    ]
    if ran:
        from onnx_cases import all_cases

        cases, left_out = all_cases()
        terminalreporter.write_line(
            f"ONNX: {len(cases)} cases, {len(ran)} runs (NumPy and torch); "
            f"{len(left_out)} cases of other operators left out, by name and with reason"
        )
