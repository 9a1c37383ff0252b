"""Pages of the documentation that are files of the repository, and what a search finds pages by."""

from __future__ import annotations

from tools.reference import names, searching

from tools import project_pages

ENTRIES = {e.path: e for group in names.entries().values() for e in group}


def weight(path: str) -> float:
    return float(searching.front_matter(ENTRIES[path], ENTRIES).rpartition("boost: ")[2].partition("\n")[0])


def test_a_name_counts_more_than_those_that_begin_with_it():
    assert weight("relu") > weight("nn.ReLU6") and weight("max") > weight("max_pool1d_with_indices")
    assert weight("nn.functional.cross_entropy") > weight("nn.functional.binary_cross_entropy")
    assert weight("get_autocast_ipu_dtype") < 1


def test_words_that_find_a_page():
    assert "tags: [cross entropy, cross_entropy]" in searching.front_matter(
        ENTRIES["nn.functional.cross_entropy"], ENTRIES
    )
    assert " zero_grad" in searching.front_matter(ENTRIES["optim.Optimizer"], ENTRIES)
    assert " float16," in searching.front_matter(ENTRIES["dtype"], ENTRIES)


def test_files_of_the_repository_are_pages():
    text = project_pages.texts()
    assert "# Changelog" in text["releases.md"] and "](architecture.md)" in text["contributing.md"]
