"""Libraries are judged by their names before they are fetched."""

import pytest

from llm_sandbox.security import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPolicy,
    get_security_policy,
    scan_libraries,
)


@pytest.mark.parametrize(
    ("library", "subject"),
    [
        ("paramiko", "paramiko"),
        ("Paramiko>=3,<4", "paramiko"),
        ("pexpect[extra]", "pexpect"),
        ("delegator.py", "delegator.py"),
        ("cffi==1.17", "cffi"),
    ],
)
def test_a_library_made_for_what_is_refused_is_refused(library, subject):
    report = scan_libraries(["numpy", library], "python", get_security_policy("production"))
    assert [subject] == [finding.subject for finding in report.findings]
    assert (2, library) == (report.findings[0].line, report.findings[0].snippet)
    assert not report.is_safe


@pytest.mark.parametrize("library", ["numpy", "pandas>=2", "scikit-learn", "paramiko-fake", "shx"])
def test_other_libraries_are_not(library):
    assert () == scan_libraries([library], "python", get_security_policy("strict")).findings


@pytest.mark.parametrize(
    ("library", "module"),
    [
        ("requests", "requests"),
        ("PyYAML>=6", "yaml"),
        ("opencv_python", "cv2"),
        ("google-cloud-storage", "google.cloud"),
        ("typing_extensions", "typing_extensions"),
        ("Pillow", "PIL"),
    ],
)
def test_a_library_that_brings_a_restricted_module_is_refused(library, module):
    report = scan_libraries(
        [library],
        "python",
        SecurityPolicy(
            severity_threshold=SecurityIssueSeverity.LOW,
            restricted_modules=[
                RestrictedModule(name=module, description="m", severity=SecurityIssueSeverity.HIGH)
            ],
        ),
    )
    assert [f"module/{module}"] == [f.rule_id for f in report.findings]
