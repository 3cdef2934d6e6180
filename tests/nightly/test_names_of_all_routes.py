"""Every name that may lead out of the originals at every address of the API."""

from tests.app.pictures.test_hostile_names import ODD, UP, check_names, guarded_library


def test_no_name_leads_out_of_the_originals(tmp_path):
    with guarded_library(tmp_path) as pictures:
        check_names(pictures, (*UP, *ODD))
