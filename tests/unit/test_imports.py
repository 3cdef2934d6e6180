"""The import graph of the package's files."""

import grimp


def test_no_files_import_each_other_in_a_cycle():
    graph = grimp.build_graph("photosvc", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    in_cycles = {
        module
        for module, imported in imports.items()
        if any(module in graph.find_upstream_modules(other) for other in imported)
    }
    assert in_cycles == set()
