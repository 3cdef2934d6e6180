"""Dates, seasons, days of the week and times of day in words, and the queries that they mean.

English, German, French and Spanish are understood. Words of the other languages are replaced by the English ones, and
forms in which they have another order stand beside the English forms. The table is our own: libraries for dates in
words find a day in nearly any text, such as `sun`, `may` or `1600`.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, NamedTuple, TypeAlias

from photosvc.core.message import Message
from photosvc.query.values import ENGLISH_MONTHS, ENGLISH_WEEKDAYS


class Meaning(NamedTuple):
    """A query that words mean."""

    words: int
    """The number of words."""
    query: str
    shown: str = ""
    """The meaning for people if it is not the query."""

    @property
    def text(self) -> str:
        """Return the meaning for people."""
        return self.shown or self.query


#: Names in German, French and Spanish.
_MONTHS: Final = (
    "januar janner janvier enero",
    "februar feber fevrier febrero",
    "marz maerz marzo",
    "avril abril",
    "mai mayo",
    "juni juin junio",
    "juli juillet julio",
    "aout agosto",
    "septembre septiembre setiembre",
    "oktober octobre octubre",
    "novembre noviembre",
    "dezember decembre diciembre",
)
#: Short names and common words, which are months only beside a day or year.
_SHORT: Final = ("jan janv ene", "feb fevr", "mar mrz march mars", "apr avr abr", "may", "jun", "jul juil", "aug",
                 "sep sept", "oct okt", "nov", "dec dez dic")  # fmt: skip
_WEEKDAYS: Final = (
    "montag lundi lunes",
    "dienstag mardi martes",
    "mittwoch mercredi miercoles",
    "donnerstag jeudi jueves",
    "freitag vendredi viernes",
    "samstag sonnabend samedi sabado",
    "sonntag dimanche domingo",
)
#: Seasons, each at its first month in the north; in the south they begin six months later.
_SEASONS: Final = (
    "", "", "spring fruhling fruhjahr printemps primavera",
    "", "", "summer sommer ete verano",
    "", "", "autumn fall herbst automne otono",
    "", "", "winter hiver invierno",
)  # fmt: skip
#: English words of the forms below, with the German, French and Spanish ones that stand for them.
_TRANSLATED: Final = {
    "today": "heute aujourd'hui hoy",
    "yesterday": "gestern hier ayer",
    "last": "letzte letzten letzter letztes letztem vergangene vergangenen vergangener vergangenes dernier derniere"
            " derniers dernieres passe passee ultimo ultima ultimos ultimas pasado pasada pasados pasadas",
    "this": "diese diesen dieser dieses diesem ce cet cette este esta",
    "day": "days tag tage tagen jour jours dia dias",
    "week": "weeks woche wochen semaine semaines semana semanas",
    "month": "months monat monate monaten monats mois mois-ci mes meses",
    "year": "years jahr jahre jahren jahres ans annee annees ano anos",
    "weekend": "weekends week-end week-ends wochenende wochenenden finde findes",
    "before": "vor avant antes",
    "since": "seit ab depuis desde",
    "after": "nach apres despues",
    "until": "bis jusqu'a jusqu'en hasta",
    "from": "von vom du",
    "between": "zwischen entre",
    "and": "und et y",
    "morning": "morgens morgen vormittag vormittags matin manana",
    "afternoon": "nachmittag nachmittags apres-midi tarde",
    "evening": "abend abends soir soiree",
    "night": "nacht nachts nuit noche",
}  # fmt: skip
_HOURS: Final = {"morning": "5-11", "afternoon": "12-16", "evening": "17-21", "night": "22-23|0-4"}
_CHRISTMAS: Final = (12, 24, 26)
#: The month, the first and the last day of feasts.
_FEASTS: Final = dict.fromkeys(("christmas", "xmas", "weihnachten", "noel", "navidad"), _CHRISTMAS) | {
    "halloween": (10, 31, 31),
    **dict.fromkeys(("silvester", "saint-sylvestre", "nochevieja"), (12, 31, 31)),
}
#: Codes in capitals in place of folded names: M and N for months alone and beside a day or year, S for seasons, D for
#: days of the week.
_TABLES: Final = (
    ("M", ENGLISH_MONTHS), ("M", _MONTHS), ("N", _SHORT), ("S", _SEASONS), ("D", ENGLISH_WEEKDAYS), ("D", _WEEKDAYS),
)  # fmt: skip
_CODES = {
    name: f"{letter}{at}" for letter, table in _TABLES for at, names in enumerate(table, 1) for name in names.split()
}
_CODES |= {f"{name}s": code for name, code in _CODES.items() if code[0] == "D"}
_CODES |= {name: word for word, names in _TRANSLATED.items() for name in names.split()}
_YEAR: Final = r"((?:1[89]|20)\d\d)"
_DAY: Final = r"(\d\d?)(?:st|nd|rd|th|er)?"
_OF: Final = r"(?: of| de| del)? "
_MONTH: Final = r"[MN](\d\d?)"
_WEEKDAY: Final = r"D(\d)"
_SEASON: Final = r"S(?P<season>\d\d?)"
_FEAST: Final = rf"(?P<feast>{'|'.join(_FEASTS)})"
_NUMBER: Final = r"(0?[1-9]|1[0-2])"
_END: Final = r"(?![^ ])"
#: Days, months and years, the longest form first, and the order of year, month and day in it.
_PERIODS: Final = tuple(
    (re.compile(form + _END, re.ASCII), places)
    for form, places in (
        (rf"{_YEAR}(?P<sign>[-/.]){_NUMBER}(?P=sign)(\d\d?)", (1, 3, 4)),
        (rf"(\d\d?)(?P<sign>[-/.])(\d\d?)(?P=sign){_YEAR}", (4, 3, 1)),
        (rf"{_DAY}{_OF}{_MONTH}{_OF}{_YEAR}", (3, 2, 1)),
        (rf"{_MONTH} {_DAY} {_YEAR}", (3, 1, 2)),
        (rf"{_MONTH}{_OF}{_YEAR}", (2, 1)),
        (rf"{_YEAR} {_MONTH}", (1, 2)),
        (rf"{_YEAR}[-/.]{_NUMBER}", (1, 2)),
        (rf"(0[1-9]|1[0-2])[-/.]{_YEAR}", (2, 1)),
        (_YEAR, (1,)),
    )
)
_BOUNDS: Final = {"before": "<", "since": ">=", "after": ">", "until": "<="}
_UNIT: Final = r"(day|week|month|year)"
_AGO: Final = r"(day|week|month|year|an)"
#: Words between a bound and its period, and the signs between two periods.
_ARTICLE: Final = re.compile(r"(?:(?:the|dem|der|de|del|le|la|el|l[ao]s?) )+")
_TO: Final = ("to ", "until ", "and ", "- ", "a ", "au ", "al ")
#: Everything south of the equator.
_SOUTH: Final = "latlng:0,180,-90,-180"
_Reader: TypeAlias = Callable[[re.Match[str], date], str | Meaning]


def _month_start(day: date, months: int) -> date:
    """Return the first day of the month that lies this number of months after that of `day`."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, 1)


def _period_around(unit: str, ago: int, today: date) -> str:
    """Return the query for the day, week, month or year that lies `ago` such units before today."""
    match unit:
        case "day":
            return f"taken:{today - timedelta(days=ago)}"
        case "week":
            monday = today - timedelta(days=today.weekday() + 7 * ago)
            return f"taken:{monday}..{monday + timedelta(days=6)}"
        case "month":
            return f"taken:{_month_start(today, -ago).isoformat()[:7]}"
        case _:
            return f"taken:{date(today.year - ago, 1, 1).year:04}"


def _past(match: re.Match[str], today: date) -> str:
    number = int(match[1])
    days, months = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "year": (0, 12)}[match[2]]
    start = today - timedelta(days=days * number)
    if months:
        first = _month_start(today, -months * number)
        start = first.replace(day=min(today.day, (_month_start(first, 1) - timedelta(days=1)).day))
    return f"taken:>={start}"


def _weekend(match: re.Match[str], today: date) -> str:
    saturday = today - timedelta(days=(today.weekday() + 2) % 7)
    if match[1] == "last" and saturday + timedelta(days=1) >= today:
        saturday -= timedelta(days=7)
    return f"taken:{saturday}..{saturday + timedelta(days=1)}"


def _last_day(match: re.Match[str], today: date) -> str:
    return f"taken:{today - timedelta(days=(today.weekday() - int(match[1])) % 7 + 1)}"


def _last_month(match: re.Match[str], today: date) -> str:
    return f"taken:{_month_start(today, -((today.month - int(match[1]) - 1) % 12 + 1)).isoformat()[:7]}"


def _season(match: re.Match[str], today: date) -> Meaning:
    """Return the three months of a season in the north, and those in the south for photos that were taken there."""
    first, year, spans = int(match["season"]), match["year"], list[str]()
    for month in (first, (first + 5) % 12 + 1):
        start = date(int(year) if year.isdecimal() else today.year, month, 1)
        while not year.isdecimal() and (start if year == "this" else _month_start(start, 3)) > today:
            start = _month_start(start, -12)
        spans.append(f"{start.isoformat()[:7]}..{_month_start(start, 2).isoformat()[:7]}")
    north, south = spans
    outer = f"{min(spans).partition('..')[0]}..{max(spans).partition('..')[2]}"
    query = f"taken:{outer} ((taken:{north} -{_SOUTH}) | (taken:{south} {_SOUTH}))"
    shown = Message("taken:{north}, south of the equator taken:{south}", north=north, south=south)
    return Meaning(match[0].count(" ") + 1, query, shown)


def _feast(match: re.Match[str], today: date) -> str:
    month, first, last = _FEASTS[match["feast"]]
    days = f"month:{month} day:{first}-{last}"
    year = match["year"]
    if year in {None, ""}:
        return days
    if not year.isdecimal():
        year = str(today.year - (today < date(today.year, month, last) or today.month < month))
    return f'("{match["feast"]}" | ({days})) year:{year}'


def _day_of_month(match: re.Match[str], _: date) -> str:
    day = date(2000, int(match["month"]), int(match["day"]))  # a leap year
    return f"month:{day.month} day:{day.day}"


def _months_of_year(match: re.Match[str], _: date) -> str:
    first, last = (f"{match[3]}-{int(month):02}" for month in match.group(1, 2))
    return f"taken:{first}..{last}"


def _decade(match: re.Match[str], _: date) -> str:
    first = int(match[1]) if len(match[1]) == 4 else 1900 + int(match[1])
    return f"year:{first}-{first + 9}"


#: Forms that are tried after the periods.
_FORMS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = tuple(
    (re.compile(form + _END, re.ASCII), read)
    for form, read in (
        (rf"{_MONTH} (?:to|until|-|a) {_MONTH}{_OF}{_YEAR}", _months_of_year),
        (rf"{_SEASON}{_OF}(?P<year>{_YEAR})", _season),
        (rf"(?P<year>last|this|{_YEAR}) {_SEASON}", _season),
        (rf"{_SEASON} (?P<year>last)", _season),
        (rf"{_FEAST} (?P<year>{_YEAR})", _feast),
        (rf"(?P<year>last) {_FEAST}", _feast),
        (rf"{_FEAST} (?P<year>last)", _feast),
        (rf"{_FEAST}(?P<year>)", _feast),
        (r"today", lambda _, today: f"taken:{today}"),
        (r"yesterday", lambda _, today: f"taken:{today - timedelta(days=1)}"),
        (r"(?:on|an|en) this day", lambda _, today: f"month:{today.month} day:{today.day}"),
        (rf"(\d{{1,3}}) {_UNIT} ago", lambda match, today: _period_around(match[2], int(match[1]), today)),
        (
            rf"(?:before|il and a|hace) (\d{{1,3}}) {_AGO}",
            lambda match, today: _period_around(match[2], int(match[1]), today),
        ),
        (rf"(?:last|past) (\d{{1,3}}) {_UNIT}", _past),
        (rf"(\d{{1,3}}) last {_UNIT}", _past),
        (rf"(last|this) {_UNIT}", lambda match, today: _period_around(match[2], int(match[1] == "last"), today)),
        (rf"{_AGO} last", lambda match, today: _period_around(match[1], 1, today)),
        (r"(last|this) (?:weekend|fin de week)", _weekend),
        (r"(?:weekend|fin de week) (last)", _weekend),
        (rf"last {_WEEKDAY}", _last_day),
        (rf"{_WEEKDAY} last", _last_day),
        (rf"last {_MONTH}", _last_month),
        (rf"{_MONTH} last", _last_month),
        (r"[MN](?P<month>\d\d?) (?P<day>\d\d?)(?:st|nd|rd|th)?", _day_of_month),
        (rf"(?P<day>\d\d?)(?:st|nd|rd|th|er)?{_OF}[MN](?P<month>\d\d?)", _day_of_month),
        (r"(?:the )?'?((?:1[89]|20)\d0|[3-9]0)(?:'?s|ern?)", _decade),
        (r"year ((?:1[89]|20)\d0|[3-9]0)", _decade),
        (rf"{_YEAR}-{_YEAR}", lambda match, _: f"year:{match[1]}-{match[2]}"),
        (r"M(\d\d?)", lambda match, _: f"month:{match[1]}"),
        (rf"(?:on )?{_WEEKDAY}", lambda match, _: f"weekday:{match[1]}"),
        (r"(?:at |on )?weekend|fin(?:es)? de week", lambda _, __: "weekday:6-7"),
        (r"(?:at |by |in the )?(morning|afternoon|evening|night)", lambda match, _: f"hour:{_HOURS[match[1]]}"),
    )
)
#: Frequent words that mean something only before other words of this table.
LEADING_WORDS: Final = frozenset((
    "an", "at", "by", "de", "en", "fin", "in", "on", "the", *(name for names in _SEASONS for name in names.split()),
    *(
        name for word in ("from", "between", "day", "week", "month", "year", "this")
        for name in (word, *_TRANSLATED[word].split())
    ),
))  # fmt: skip
#: The first words of all forms that do not begin with a digit.
FIRST_WORDS: Final = frozenset((
    *(name for name, code in _CODES.items() if code != "and"), *_TRANSLATED, *_FEASTS, *LEADING_WORDS,
    "past", "fines", "hace", "il",
)) - {"and"}  # fmt: skip


def read_dates(text: str, today: date) -> Meaning | None:
    """Return the meaning of the first words of a text; None if they are no date.

    Args:
        text: folded words, with single blanks between them.
    """
    text = " ".join(_CODES.get(word, word) for word in text.split(" "))
    bound, _, rest = text.partition(" ")
    if bound in _BOUNDS and (period := _read_bound(rest)):
        return Meaning(period.words + 1, f"taken:{_BOUNDS[bound]}{_first(period)}")
    opens_span = bound in {"between", "from", "de"}
    if span := _read_span(rest if opens_span else text):
        return span._replace(words=span.words + opens_span)
    if (period := _read_period(text)) and (period.words > 1 or len(period.query) > 4):
        return period._replace(query=f"taken:{period.query}")
    for form, read in _FORMS:
        if match := form.match(text):
            try:
                meaning = read(match, today)
            except (ValueError, OverflowError):  # no such day
                continue
            return meaning if isinstance(meaning, Meaning) else Meaning(match[0].count(" ") + 1, meaning)
    return period._replace(query=f"year:{period.query}") if period else None


def _read_bound(text: str) -> Meaning | None:
    """Return the period behind a word such as `before`, and articles between the two."""
    article = match[0] if (match := _ARTICLE.match(text)) else ""
    period = _read_period(text.removeprefix(article))
    return period._replace(words=period.words + article.count(" ")) if period else None


def _read_span(text: str) -> Meaning | None:
    """Return the days between two periods."""
    first = _read_period(text)
    if first is None:
        return None
    rest = " ".join(text.split(" ")[first.words :])
    second = _read_period(rest.partition(" ")[2]) if rest.startswith(_TO) else None
    if second is None:
        return None
    return Meaning(first.words + 1 + second.words, f"taken:{_first(first)}..{_first(second)}")


def _first(period: Meaning) -> str:
    """Return the first reading of a period, because ranges have one reading only."""
    return period.query.partition("|")[0]


def _read_period(text: str) -> Meaning | None:
    """Return the day, month or year at the beginning of a text, as a value of `taken`."""
    for form, places in _PERIODS:
        if match := form.match(text):
            parts = [match[place] for place in places]
            periods = [_written(parts)]
            if match.re.groupindex and match["sign"] == "/" and places[0] == 4:  # the month may stand before the day
                periods.append(_written([parts[0], parts[2], parts[1]]))
            query = "|".join(dict.fromkeys(filter(None, periods)))
            if query:
                return Meaning(match[0].count(" ") + 1, query)
    return None


def _written(parts: list[str]) -> str:
    """Return a year, month and day as ISO 8601 writes them; empty if there is no such day."""
    try:
        return date(*[*map(int, parts), 1, 1][:3]).isoformat()[: (4, 7, 10)[len(parts) - 1]]
    except ValueError:
        return ""
