"""Where conditions, functions and handlers of users' code stand."""

import ast

from verifiable_dp.evidence.symbolic import source

TEXT = """
def decorated(x):
    if x > 1:
        return 1
    return 2

def plain(x):
    return 3 if x > 2 else 4
"""


def test_a_function_is_found_by_its_code(tmp_path):
    """Broken variant: by its name alone."""
    path, scope = tmp_path / "own.py", {}
    path.write_text(TEXT + "\n\n" + TEXT)
    exec(compile(path.read_text(), str(path), "exec"), scope)
    node = source.body_of(scope["plain"].__code__)
    assert (node.name, node.lineno) == ("plain", scope["plain"].__code__.co_firstlineno)
    assert node.lineno > 10
    assert source.body_of(compile("1", str(tmp_path / "none.py"), "exec")) is None


def test_what_a_condition_decides_is_found_by_a_part_of_it(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(TEXT)
    tree = source.tree_of(str(path))
    (branch,) = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    (choice,) = (node for node in ast.walk(tree) if isinstance(node, ast.IfExp))
    for node, other in ((branch, choice), (choice, branch)):
        found = source.around(str(path), frozenset([source.where(node.test.comparators[0])]))
        assert found == {source.where(node)} != {source.where(other)}


def test_a_file_that_is_no_python_has_no_tree(tmp_path):
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert source.tree_of(str(tmp_path / "broken.py")) is None
