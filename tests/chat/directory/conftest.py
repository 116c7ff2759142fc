"""A small campus in the directory."""

import pytest

from chat.directory.importing import apply, preview
from chat.directory.lookup import kind_named
from chat.directory.models import Record
from chat.directory.reading import read_rows
from projects.models import Project

CAMPUS = {
    "departments": "code;name;head;building\nCS;Computer Science;mweber;B\n"
    "PH;Physics;jmueller;A",
    "faculty": "id,name,department,office,office_day,office_start,office_end,subjects\n"
    "mweber,Dr. Maria Weber,CS,B-204,Mon,10:00,12:00,Networks;Routing\n"
    "jmueller,Prof. Jörg Müller,PH,A-101,Dienstag,14 Uhr,15:30,Optics",
    "facilities": "code,name,type,capacity,equipment,opens,closes\n"
    "B-204,Networking lab,Lab,20,12 routers; 20 PCs,8:00,20:00\n"
    "A-101,Physics lab,Lab,18,Lasers,9:00,17:00\n"
    "L-1,Library,Library,200,,20:00,02:00",
    "courses": "Code,Name,Department,Teacher,Credits\n"
    "NET-201,Computer networks,CS,mweber,6\n"
    "NET-301,Network security,CS,mweber,6\n"
    "PHY-101,Optics,PH,jmueller,5",
    "timetables": "id,title,course,weekday,start,end,room,teacher\n"
    "T1,Computer networks lecture,NET-201,Monday,10:00,11:30,B-204,mweber\n"
    "T2,Optics lecture,PHY-101,Tuesday,9:00,10:30,A-101,jmueller\n"
    "T3,Networks exercise,NET-201,Monday,14:00,15:30,B-204,mweber",
}


def load(kind: str, text: str, project: Project | None = None) -> None:
    apply(preview(read_rows(text.encode()), kind_named(kind), project), source="test")


@pytest.fixture
def campus(transactional_db: None) -> None:
    """All five shipped kinds."""
    for kind, text in CAMPUS.items():
        load(kind, text)
    assert Record.objects.count() == 13
