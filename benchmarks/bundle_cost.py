"""The processor time and the memory of a behaviour bundle with many cases, beside those of one with few.

The provider answers at once. Exits with 1 if a case takes more than 1 ms of processor time, or 100,000 cases take more
than 400 MB.

    python benchmarks/bundle_cost.py [--cases N]
"""

import argparse
import resource
import sys
import tempfile
from pathlib import Path

from suite_cpu import PYTEST, measure_tests

FEW = 100
LIMIT_MS, LIMIT_MB = 1.0, 400.0
BUNDLE = """\
name: echo
prompt_path: prompt.md
dataset_path: data.jsonl
provider: {name: echo}
parallel: true
thresholds: [{metric: pass_rate, operator: ">=", value: 0.9}]
"""
PROVIDER = "def pytest_corpus_bundle_providers(config):\n    return {'echo': lambda request: 'yes'}\n"
CASE = '{{"id": "case-{}", "input": {{"q": {}}}, "expected_output": "yes"}}\n'


def main() -> int:
    """Measure and print; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description="Processor time and memory of the cases of a bundle.")
    parser.add_argument("--cases", type=int, default=100_000)
    cases = parser.parse_args().cases
    found = []
    for number in (FEW, cases):
        with tempfile.TemporaryDirectory(prefix="corpus-bundle-") as folder:
            at = Path(folder, "bundles", "echo")
            at.mkdir(parents=True)
            (at / "bundle.yaml").write_text(BUNDLE)
            (at / "prompt.md").write_text("Q: {{ q }}\n")
            (at / "data.jsonl").write_text("".join(CASE.format(each, each) for each in range(number)))
            Path(folder, "conftest.py").write_text(PROVIDER)
            Path(folder, "pytest.ini").write_text("[pytest]\n")
            seconds = measure_tests(PYTEST, Path(folder))[1]
        found.append((seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
    (few_s, few_mb), (many_s, many_mb) = found
    share = 1 / (cases - FEW)
    case_ms, whole_mb = (many_s - few_s) * share * 1000, (many_mb - few_mb) * share * 100_000
    print(f"{cases:,} cases: {case_ms:.2f} ms of processor time a case (limit {LIMIT_MS:g})")
    print(f"{many_mb - few_mb:.0f} MB more than {FEW} cases; 100,000 take {whole_mb:.0f} MB (limit {LIMIT_MB:g})")
    return int(case_ms > LIMIT_MS or whole_mb > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
