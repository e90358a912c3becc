"""docs/paper.md: what it refers to exists, and its example runs."""

import ast
import re

from clones import ROOT, blocks

PAGE = "docs/paper.md"
FORMULAS = (ROOT / PAGE).read_text().split("## ")[1]
ROWS = [
    [cell.strip() for cell in row.split("|")]
    for row in re.findall(r"^\| (?!paper)(.*)\|$", FORMULAS, re.MULTILINE)
]
REFERENCE = re.compile(r"`(\w+\.py)`: `([\w.]+)`")


def names_in(folder: str, file: str) -> set[str]:
    """Functions, classes, and methods as ``Class.method``, of a module."""
    tree = ast.parse((ROOT / folder / file).read_text())
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
    return names


def test_each_formula_has_its_code_and_its_test() -> None:
    assert len(ROWS) >= 20
    for row in ROWS:
        formula, code, test, _ = row
        for folder, cell in (("casmore/algorithms", code), ("tests/algorithms", test)):
            found = REFERENCE.findall(cell)
            assert found, f"{formula}: {cell}"
            for file, name in found:
                assert name in names_in(folder, file), f"{formula}: {file} has no {name}"


def test_all_other_references_exist() -> None:
    for file, name in REFERENCE.findall((ROOT / PAGE).read_text()):
        folder = "tests/algorithms" if file.startswith("test_") else "casmore/algorithms"
        assert name in names_in(folder, file)


def test_each_deviation_that_a_row_names_is_described() -> None:
    described = re.findall(r"^(\d+)\. \*\*", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert described == [str(i + 1) for i in range(len(described))]
    named = {n for row in ROWS for n in re.findall(r"\d+", row[3])}
    assert named <= set(described)


def test_the_example_runs() -> None:
    (code,) = blocks(PAGE, "python")
    exec(compile(code, PAGE, "exec"), {})
