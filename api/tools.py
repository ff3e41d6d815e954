"""The memory tools of a model, run by its host: the schemas to offer, and one call."""

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Router
from pydantic import Field

from api.auth import Caller, HostCaller, HostGate, HostRequest, host_may
from api.bodies import JSON_BODY
from api.hosts import ActorIn, SourceIn, check_actor, link_verified
from api.schemas import In, Name, Out, Text
from junior_memory import tools
from junior_memory.errors import NotFound
from junior_memory.tools.schemas import MAX_QUERY

router = Router(tags=["tools"], by_alias=True)


class FunctionOut(Out):
    """One tool as a model is shown it."""

    name: str
    description: str
    strict: bool
    parameters: dict[str, Any]


class ToolOut(Out):
    """An OpenAI function schema."""

    type: Literal["function"]
    function: FunctionOut


class TraitsOut(Out):
    """What a host may assume of a tool: MCP's hints, whether a person approves, one at a time."""

    title: str
    read_only_hint: bool
    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool
    needs_approval: bool
    sequential: bool


class ToolsOut(Out):
    """The tools to offer, and what to know of each by its name."""

    tools: list[ToolOut]
    annotations: dict[str, TraitsOut]


class ToolCallIn(In):
    """One call as the model made it, and who acts in which conversation, as the host knows it."""

    arguments: dict[str, Any]
    tool_call_id: Name | None = None
    source: SourceIn
    actor: ActorIn | None = None
    conversation_id: Name
    user_text: Annotated[Text, Field(max_length=MAX_QUERY)] | None = None


class ToolGate(HostGate):
    """A host's gate by the tool that is called: reading ones are no writes."""

    def __init__(self) -> None:
        super().__init__("tools", intake=JSON_BODY, is_write=True)
        self._reading = HostGate("tools", intake=JSON_BODY)

    def __call__(self, request: HttpRequest) -> Caller | HostCaller:
        """See Gate. Raises NotFound for a name that is no tool."""
        match = request.resolver_match
        tool = tools.plain_name(str(match.kwargs["name"])) if match else None
        is_write = tool in tools.WRITE_TOOLS
        caller = super().__call__(request) if is_write else self._reading(request)
        if tool is None:
            raise NotFound("There is no tool of that name.")
        return caller


@router.get("/tools", auth=host_may("tools"), response=ToolsOut)
def get_tools(request: HostRequest) -> ToolsOut:  # noqa: ARG001
    """Return the tools to offer to a model."""
    return ToolsOut(
        tools=[ToolOut.model_validate(one) for one in tools.function_schemas()],
        annotations={
            name: TraitsOut.model_validate(
                {
                    **hints,
                    "needsApproval": name in tools.APPROVAL_GATED,
                    "sequential": name in tools.SEQUENTIAL,
                }
            )
            for name, hints in tools.TOOL_ANNOTATIONS.items()
        },
    )


@router.post("/tools/{name}", auth=ToolGate(), response=dict[str, Any])
def post_tool(request: HostRequest, name: str, body: ToolCallIn) -> dict[str, Any]:
    """Run one tool for the actor; the same `toolCallId` again changes nothing more."""
    caller = request.auth
    check_actor(caller, body.actor)
    if body.actor is not None and tools.plain_name(name) in tools.WRITE_TOOLS:
        link_verified(caller, body.actor)
    context = tools.host_context(
        caller.token,
        actor=body.actor.to_domain() if body.actor else None,
        source=body.source.to_domain(),
        conversation_id=body.conversation_id,
        user_text=body.user_text,
    )
    return tools.call_tool(name, body.arguments, context=context, tool_call_id=body.tool_call_id)
