"""Pages of the directory: kinds, their records, and one record as citations open it."""

import uuid

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.directory.lookup import (
    UnknownKind,
    find,
    kind_named,
    kinds_with_counts,
    of_person,
)
from chat.directory.related import Related, lines_of
from chat.directory.when import WhenUnclear

_PER_PAGE = 50
_LONGEST_QUESTION = 200


@require_safe
@never_cache
@login_required
def kinds(request: HttpRequest) -> HttpResponse:
    counted = kinds_with_counts(of_person(request.user))
    return render(request, "directory/kinds.html", {"kinds": counted})


@require_safe
@never_cache
@login_required
def records(request: HttpRequest, slug: str) -> HttpResponse:
    """All of a kind, or what fits the words in `q`."""
    try:
        kind = kind_named(slug)
    except UnknownKind as error:
        raise Http404(str(error)) from None
    question = request.GET.get("q", "")[:_LONGEST_QUESTION]
    readable = of_person(request.user)
    problem = ""
    try:
        found = find(readable, kind, text=question)
    except WhenUnclear as error:
        found, problem = find(readable, kind), str(error)
    page = Paginator(found.records, _PER_PAGE).get_page(request.GET.get("page"))
    lines = [
        (one, lines_of(one, found.related, is_named=True)) for one in page.object_list
    ]
    return render(
        request,
        "directory/records.html",
        {
            "kind": kind,
            "question": question,
            "page": page,
            "records": lines,
            "nearest": found.nearest,
            "problem": problem,
        },
    )


@require_safe
@never_cache
@login_required
def record(request: HttpRequest, record_id: uuid.UUID) -> HttpResponse:
    """A stranger's is not found."""
    readable = of_person(request.user).select_related("kind", "project")
    found = readable.filter(pk=record_id).first()
    if found is None:
        raise Http404("There is no such record.")
    related = Related(readable)
    context = {
        "record": found,
        "lines": lines_of(found, related),
        "facts": related.facts([found]),
    }
    return render(request, "directory/record.html", context)
