from sqlalchemy import create_engine, select

from photosvc.models import LibraryState
from photosvc.models.engine import UnitOfWork, begin_write, configure_engine
from photosvc.models.statements import is_below


def test_paths_below_a_folder_begin_with_its_whole_name_in_its_case(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    below = ["trip/", "trip/%", "trip/B", "trip/a", "trip/ä/b", "trip/\U0001f600"]
    others = ["Trip/a", "tRip/a", "trip", "trip-/a", "trip0", "trip /a", "tri/a", "trip.jpg", "tríp/a", "a/trip/b"]
    with UnitOfWork(engine) as session:
        begin_write(session)
        session.add_all(LibraryState(name=name) for name in below + others)
        session.flush()
        query = select(LibraryState.name).where(is_below(LibraryState.name, "trip"))
        assert sorted(session.scalars(query)) == below
    engine.dispose()
