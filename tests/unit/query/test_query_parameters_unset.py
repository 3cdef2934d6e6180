"""Filters that a query names without a condition."""

from photosvc.query.parameters import unset_filters


def test_filters_at_the_top_of_a_query_may_set_no_condition():
    for text, names in (
        ("", set()),
        ("cat", set()),
        ("public:false", {"public"}),
        ("cat PUBLIC:no quality:0", {"public", "quality"}),
        ("public: quality:3", {"public"}),
        ("folder:", {"path"}),
        ("public:true", set()),
        ("favorite:false", set()),
        ("(public:false)", set()),
        ("(cat) public:false (dog)", {"public"}),
        ("-public:false", set()),
        ("cat | public:false", set()),
        ("public:false | cat", set()),
        ("cat OR public:false", set()),
        ("public:false or cat", set()),
        ("not public:false", set()),
        ("public:false or", {"public"}),
        ("12:30 order:name", set()),
    ):
        assert unset_filters(text) == names
