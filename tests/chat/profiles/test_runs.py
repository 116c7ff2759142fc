"""A run is what its profile makes of it: prompt, tools, settings, model, approvals."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import Settings

from accounts.language import choose_language
from chat.agent import runner
from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.agent.tools.base import Tool, ToolArguments
from chat.agent.tools.kit import Evidence, Kit
from chat.events.address import RunAddress
from chat.models import ChatSession, LLMCall, Run
from chat.models.run import Status
from chat.profiles.active import ProfileUnknown, profile_for, profiles_of
from chat.profiles.loading import load, shipped_files
from chat.profiles.models import Profile
from chat.runs import start_run
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.profiles.test_loading import definition
from tests.chat.support import (
    claimed,
    db,
    events_of,
    loaded,
    make_run,
    make_session,
    use_tools,
)
from tests.conftest import Valkey
from tests.fakes.provider import Request, ScriptedProvider, calls, says

Changing = ("create_nodes", "create_links", "start_nodes", "stop_nodes")


@pytest.fixture
def executed(checkpoints: Checkpoints, valkey: Valkey, llm: LLMConfig) -> Any:
    async def execute(run: Run) -> Run:
        run = await db(claimed)(run)
        await Execution(run, checkpoints).execute()
        return await db(loaded)(run)

    return execute


@db
def of_profile(session: ChatSession, name: str, **changes: Any) -> Run:
    """A queued run of a shipped profile, or of one that differs from `definition`."""
    load(shipped_files())
    if changes:
        profile = Profile.objects.create(slug=name)
        made = definition(slug=name, **changes)
        profile.use(profile.add_version(source="operator", definition=made))
    active = profile_for(name)
    return make_run(
        session, profile=name, profile_version=active.version, agent=active.agent
    )


def system(request: Request) -> str:
    return str(request.messages[0]["content"])


def names(request: Request) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", [])}


async def test_the_model_is_told_the_profiles_prompt_filled_for_this_run(
    session: ChatSession, executed: Any, provider: ScriptedProvider
) -> None:
    prompt = "Date {date}, time {time}, for {user} in {project}, in {language}."
    run = await of_profile(session, "tutor", prompt=prompt)
    provider.script(says("ok"))

    await executed(run)

    (asked,) = provider.requests
    assert timezone.localtime().strftime("%d %B %Y") in system(asked)
    assert f">{session.user.get_username()}</user-" in system(asked)
    assert f">{session.project.name}</project-" in system(asked)  # type: ignore[union-attr]
    assert "in the language of the person's message" in system(asked)


async def test_the_model_sees_the_tables_that_it_may_ask(
    session: ChatSession,
    executed: Any,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Data:
        def names(self) -> Sequence[str]:
            return ["shop"]

        async def schema(self, source: str) -> str:
            return f"{source}: orders(id, total)"

        async def query(self, source: str, sql: str) -> Evidence:
            return Evidence({})

    async def kit_of(context: Any, say: Any) -> Kit:
        return Kit(data=Data())

    monkeypatch.setattr(runner, "kit_of", kit_of)
    run = await of_profile(session, "analyst")
    provider.script(says("ok"))

    await executed(run)

    assert "shop: orders(id, total)" in system(provider.requests[0])


async def test_a_tool_outside_the_profile_is_neither_offered_nor_run(
    session: ChatSession, executed: Any, provider: ScriptedProvider
) -> None:
    run = await of_profile(session, "teaching")
    arguments = {"nodes": [{"template": "VPCS"}]}
    provider.script(calls(("create_nodes", arguments)), says("I cannot."))

    run = await executed(run)

    first, second = provider.requests
    assert "read_topology" in names(first)
    assert not names(first) & set(Changing)
    assert "There is no tool “create_nodes”" in second.messages[-1]["content"]
    assert run.status == Status.SUCCEEDED


async def test_a_profile_that_never_changes_refuses_a_command_that_does(
    session: ChatSession, executed: Any, provider: ScriptedProvider
) -> None:
    run = await of_profile(session, "teaching")
    commands = {"devices": [{"device": "PC1", "commands": ["ip 10.0.0.1/24"]}]}
    provider.script(calls(("run_commands", commands)), says("Type it yourself."))

    run = await executed(run)

    assert "never change it" in provider.requests[1].messages[-1]["content"]
    assert run.status == Status.SUCCEEDED


async def test_a_tool_finds_what_the_profile_sets_for_it(
    session: ChatSession,
    executed: Any,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    class Nothing(ToolArguments):
        pass

    async def look(arguments: Nothing, kit: Kit) -> dict[str, bool]:
        seen.append(kit.settings)
        return {"ok": True}

    use_tools(monkeypatch, {"look": Tool("look", "Look.", Nothing, look)})
    tools = {
        "query_data": {"row_limit": 7, "time_limit": 3},
        "search_web": {"topic": "news", "include_domains": ["example.org"]},
    }
    run = await of_profile(session, "tutor", tools=tools)
    provider.script(calls(("look", {})), says("ok"))

    await executed(run)

    assert seen == [tools]


@pytest.mark.parametrize("shows", [True, False])
async def test_a_status_call_becomes_a_status_event_where_the_profile_shows_it(
    session: ChatSession, executed: Any, provider: ScriptedProvider, shows: bool
) -> None:
    run = await of_profile(
        session,
        "tutor",
        tools={"report_status": {}},
        streaming={"status": shows},
    )
    told = {"text": "Looking at PC1"}
    provider.script(calls(("report_status", told)), says("done"))

    await executed(run)

    events = await events_of(RunAddress.of(run))
    lines = [one["text"] for one in events if one["type"] == "status"]
    assert ("Looking at PC1" in lines) is shows
    assert "Looking at PC1" not in "".join(one.get("content", "") for one in events)


@pytest.mark.parametrize("shows", [True, False])
async def test_reasoning_is_shown_where_the_profile_says_so(
    session: ChatSession, executed: Any, provider: ScriptedProvider, shows: bool
) -> None:
    run = await of_profile(session, "tutor", streaming={"reasoning": shows})
    provider.script(says("<think>Hm, the mask.</think>It is the mask."))

    await executed(run)

    kinds = {one["type"] for one in await events_of(RunAddress.of(run))}
    assert ("reasoning" in kinds) is shows


async def test_operations_of_the_profile_choose_the_model_of_each_task(
    alice: User,
    lab: Project,
    executed: Any,
    llm: LLMConfig,
    provider: ScriptedProvider,
) -> None:
    @db
    def begin() -> ChatSession:
        LLMConfig.objects.update(mode="thorough")
        LLMConfig.objects.create(
            name="Quick", base_url=provider.url, model="quick-1", mode="fast"
        )
        return make_session(alice, lab)

    run = await of_profile(await begin(), "teaching")
    provider.script(says("ok"))

    await executed(run)

    used = {one.operation: one.model async for one in LLMCall.objects.filter(run=run)}
    assert used == {"chat": "scripted-1", "title": "quick-1"}


@pytest.mark.parametrize(
    ("name", "used"), [("analyst", "numbers-1"), ("teaching", "scripted-1")]
)
async def test_data_analyses_are_answered_by_the_model_for_analysis(
    alice: User,
    lab: Project,
    executed: Any,
    llm: LLMConfig,
    provider: ScriptedProvider,
    name: str,
    used: str,
) -> None:
    @db
    def begin() -> ChatSession:
        LLMConfig.objects.create(
            name="Numbers",
            base_url=provider.url,
            model="numbers-1",
            operations=["analysis"],
        )
        return make_session(alice, lab)

    run = await of_profile(await begin(), name)
    provider.script(says("ok"))

    await executed(run)

    call = await LLMCall.objects.aget(run=run, operation="chat")
    assert call.model == used
    assert ("made for data analysis" in call.reason) == (used == "numbers-1")


async def test_an_analysis_without_a_model_for_it_is_answered_as_others_are(
    alice: User,
    lab: Project,
    executed: Any,
    llm: LLMConfig,
    provider: ScriptedProvider,
) -> None:
    @db
    def begin() -> ChatSession:
        LLMConfig.objects.update(operations=["chat", "title"])
        return make_session(alice, lab)

    run = await of_profile(await begin(), "analyst")
    provider.script(says("ok"))

    await executed(run)

    call = await LLMCall.objects.aget(run=run, operation="chat")
    assert call.model == "scripted-1"


async def test_titles_are_asked_for_in_the_language_a_person_chose(
    alice: User, lab: Project, executed: Any, provider: ScriptedProvider
) -> None:
    @db
    def begin() -> ChatSession:
        choose_language(alice, "de")
        return make_session(alice, lab)

    run = await of_profile(await begin(), "lab")
    provider.script(says("ok"))

    await executed(run)

    (title,) = provider.title_requests
    assert "one line, in German" in system(title)
    assert "(German, if in doubt)" in system(provider.requests[0])


async def test_a_run_keeps_the_version_it_was_started_with(
    session: ChatSession, executed: Any, provider: ScriptedProvider
) -> None:
    run = await of_profile(session, "tutor", prompt="As it was.")

    @db
    def edit() -> None:
        profile = Profile.objects.get(slug="tutor")
        edited = definition(prompt="As it is.")
        profile.use(profile.add_version(source="operator", definition=edited))
        profile.is_enabled = False
        profile.save()

    await edit()
    provider.script(says("ok"))
    await executed(run)

    assert system(provider.requests[0]).startswith("As it was.")


# --- Which profile a round has ---------------------------------------------------


@pytest.fixture
def hers(alice: User, lab: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks as Alice and ends the round; nothing is executed."""
    monkeypatch.setattr("chat.runs.publish", lambda run: True)
    load(shipped_files())

    def ask(session_id: str | None = None, **wanted: Any) -> Run:
        run = start_run(
            user=alice, project=lab, message="Why?", session_id=session_id, **wanted
        ).run
        Run.objects.filter(pk=run.pk).update(status=Status.SUCCEEDED)
        return run

    return ask


@pytest.mark.django_db
def test_a_round_has_the_profile_asked_for_and_the_next_keeps_it(hers: Any) -> None:
    first = hers(profile="teaching")
    second = hers(first.session.thread_id)
    third = hers(first.session.thread_id, profile="lab")

    assert [run.profile for run in (first, second, third)] == [
        *("teaching", "teaching", "lab")
    ]
    assert first.profile_version == 1


@pytest.mark.django_db
def test_a_new_conversation_has_the_sites_default(
    hers: Any, settings: Settings
) -> None:
    settings.DEFAULT_PROFILE = "teaching"

    assert hers().profile == "teaching"


@pytest.mark.django_db
def test_a_profile_that_was_disabled_gives_way_to_the_default(hers: Any) -> None:
    first = hers(profile="teaching")
    Profile.objects.filter(slug="teaching").update(is_enabled=False)

    assert hers(first.session.thread_id).profile == "lab"


@pytest.mark.django_db
def test_a_profile_of_a_group_is_for_its_members(hers: Any, alice: User) -> None:
    group = Group.objects.create(name="Teachers")
    Profile.objects.get(slug="teaching").groups.add(group)
    with pytest.raises(ProfileUnknown, match="lab, analyst, campus"):
        hers(profile="teaching")
    assert ChatSession.objects.count() == 0

    alice.groups.add(group)

    assert hers(profile="teaching").profile == "teaching"
    assert len(profiles_of(alice)) == 4
