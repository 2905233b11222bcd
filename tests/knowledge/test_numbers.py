"""The table `numbers`: which arguments torch reads when they are tensors."""

from breakscope.knowledge import load


def test_an_entry_names_keywords_and_places():
    places = [place for entry in load("2.13.0").numbers.values() for place in entry.items()]
    assert len(places) > 400
    assert all(keyword.isidentifier() and at != 0 for keyword, at in places)
