# Written by internal/sdkgen from openapi.json; do not edit.
"""The operations of the service, a method each."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional

from . import types as t


class Operations:
    """Methods of the client. A member that is None is not sent. request_key makes a repeated change happen once."""

    def _call(self, method: str, path: str, body: bool, members: Dict[str, Any], request_key: Optional[str]) -> Any:
        raise NotImplementedError

    def ack_message(
        self,
        *,
        message_ids: Optional[List[str]],
        request_key: Optional[str] = None,
    ) -> t.AckedMessages:
        """Acknowledges messages; who asked for it is told. Twice changes nothing."""
        members = {
            "message_ids": message_ids,
        }
        return self._call("POST", "/messages/ack", True, members, request_key)

    def acquire_lock(
        self,
        *,
        branch: Optional[str] = None,
        file_path: Optional[str] = None,
        file_paths: Optional[List[str]] = None,
        mode: Optional[Literal["exclusive", "shared"]] = None,
        reason: Optional[str] = None,
        ttl_minutes: Optional[int] = None,
        wait_seconds: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.LockResult:
        """Reserves a path, a directory, a glob or a logical key, or several at once, all or none. Call it before
        editing any file. Success carries expires_at and a fencing token; asking again for what the session
        holds renews it. A refusal names who holds what until when, and what is free nearby. wait_seconds
        waits in line, first come first served.
        """
        members = {
            "branch": branch,
            "file_path": file_path,
            "file_paths": file_paths,
            "mode": mode,
            "reason": reason,
            "ttl_minutes": ttl_minutes,
            "wait_seconds": wait_seconds,
        }
        return self._call("POST", "/locks/acquire", True, members, request_key)

    def add_event(
        self,
        *,
        event_type: str,
        session_id: str,
        timestamp: str,
        content: Optional[List[Dict[str, Any]]] = None,
        error: Optional[str] = None,
        exit_code: Optional[int] = None,
        reason: Optional[str] = None,
        result_data: Any = None,
        result_text: Optional[str] = None,
        role: Optional[str] = None,
        tool_input: Optional[Dict[str, Any]] = None,
        tool_name: Optional[str] = None,
        tool_output: Any = None,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """The older way to add an event: session_start opens the session, session_stop finishes it, and no
        parent is told.
        """
        members = {
            "event_type": event_type,
            "session_id": session_id,
            "timestamp": timestamp,
            "content": content,
            "error": error,
            "exit_code": exit_code,
            "reason": reason,
            "result_data": result_data,
            "result_text": result_text,
            "role": role,
            "tool_input": tool_input,
            "tool_name": tool_name,
            "tool_output": tool_output,
        }
        return self._call("POST", "/events", True, members, request_key)

    def add_session_event(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """Stores what happened in a session and shows it to live views. session_stop finishes the session and
        tells its parent.
        """
        members = {
            "session_id": session_id,
        }
        return self._call("POST", "/sessions/{session_id}/events", True, members, request_key)

    def approve_act(
        self,
        *,
        act_id: str,
        request_key: Optional[str] = None,
    ) -> t.DecidedAct:
        """Does what waits, at once and once, in the name of who asked; a stopped command may be run once more
        within the hour. Nobody approves what they asked for. Changes of policies and rules need an
        administrator.
        """
        members = {
            "act_id": act_id,
        }
        return self._call("POST", "/acts/{act_id}/approve", True, members, request_key)

    def approve_change(
        self,
        *,
        approval_id: str,
        request_key: Optional[str] = None,
    ) -> t.Approval:
        """Votes for one commit. Who changed the code may not, nor the owner of the agent that did; a newer
        commit needs a vote of its own.
        """
        members = {
            "approval_id": approval_id,
        }
        return self._call("POST", "/approvals/{approval_id}/approve", True, members, request_key)

    def bind_session(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.OrchestratedSessionReply:
        """An executor says that it works on the session, where, and under which id of its own. The session runs
        from then on.
        """
        members = {
            "session_id": session_id,
        }
        return self._call("POST", "/sessions/{session_id}/bind", True, members, request_key)

    def blocked_work(
        self,
        *,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Tasks:
        """What waits for dependencies, oldest first, each with the reason."""
        members = {
            "limit": limit,
        }
        return self._call("GET", "/work/blocked", False, members, request_key)

    def cancel_changeset(
        self,
        *,
        changeset_id: str,
        request_key: Optional[str] = None,
    ) -> t.Changeset:
        """Ends what is being verified of a commit, also where it runs. It gets no verdict until it is run again."""
        members = {
            "changeset_id": changeset_id,
        }
        return self._call("POST", "/changesets/{changeset_id}/cancel", True, members, request_key)

    def cancel_work(
        self,
        *,
        task_id: str,
        reason: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Cancels a task for good, with everything that depends on it. For its submitter, its claimant, or a
        reviewer.
        """
        members = {
            "task_id": task_id,
            "reason": reason,
        }
        return self._call("POST", "/work/cancel", True, members, request_key)

    def check_guardrail(
        self,
        *,
        command: str,
        rules: Optional[List[str]],
        asks: Optional[bool] = None,
        tool: Optional[str] = None,
        why: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.GuardrailAnswer:
        """Says what is to be done with a command that meets rules, and keeps a record of it. What is refused
        waits for a person, who may let that very command through once. Hooks send it.
        """
        members = {
            "command": command,
            "rules": rules,
            "asks": asks,
            "tool": tool,
            "why": why,
        }
        return self._call("POST", "/guardrails/check", True, members, request_key)

    def check_locks(
        self,
        *,
        branch: Optional[str] = None,
        file_path: Optional[str] = None,
        file_paths: Optional[List[str]] = None,
        limit: Optional[int] = None,
        locked_by: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Locks:
        """Lists live locks: holder, reason, expiry, fencing token. file_paths narrows it to locks that overlap
        these paths. Takes nothing.
        """
        members = {
            "branch": branch,
            "file_path": file_path,
            "file_paths": file_paths,
            "limit": limit,
            "locked_by": locked_by,
        }
        return self._call("POST", "/locks/check", True, members, request_key)

    def cleanup_agents(
        self,
        *,
        dry_run: Optional[bool] = None,
        idle_minutes: Optional[int] = None,
        stale_threshold_minutes: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.CleanedAgents:
        """Lapses sessions of the project whose last heartbeat is older than the threshold: frees their locks,
        requeues their tasks. Sessions lapse by themselves; this is for shortening the wait or, with
        idle_minutes, for sessions that never sent a heartbeat.
        """
        members = {
            "dry_run": dry_run,
            "idle_minutes": idle_minutes,
            "stale_threshold_minutes": stale_threshold_minutes,
        }
        return self._call("POST", "/discovery/cleanup", True, members, request_key)

    def complete_tasks(
        self,
        *,
        tasks: Optional[List[Dict[str, Any]]],
        request_key: Optional[str] = None,
    ) -> t.CompletedTasks:
        """Ends several tasks you claimed in one transaction; each has its own outcome."""
        members = {
            "tasks": tasks,
        }
        return self._call("POST", "/work/complete/batch", True, members, request_key)

    def complete_work(
        self,
        *,
        success: bool,
        task_id: str,
        error_message: Optional[str] = None,
        head_sha: Optional[str] = None,
        lease_token: Optional[str] = None,
        remember: Optional[bool] = None,
        result: Optional[Dict[str, Any]] = None,
        retryable: Optional[bool] = None,
        skill_id: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Ends a task you claimed: success true completes it and unblocks what depends on it; false fails it for
        good, or, with retryable, sends it back after a pause while attempts remain.
        """
        members = {
            "success": success,
            "task_id": task_id,
            "error_message": error_message,
            "head_sha": head_sha,
            "lease_token": lease_token,
            "remember": remember,
            "result": result,
            "retryable": retryable,
            "skill_id": skill_id,
        }
        return self._call("POST", "/work/complete", True, members, request_key)

    def create_agent(
        self,
        *,
        description: str,
        name: str,
        capabilities: Optional[List[str]] = None,
        demands: Optional[Dict[str, Any]] = None,
        mcp_servers: Optional[Dict[str, Dict[str, Any]]] = None,
        skills: Optional[List[str]] = None,
        system_prompt: Optional[str] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.AgentBlueprint:
        """Describes an agent: prompt, MCP servers, tags, demands on its runner."""
        members = {
            "description": description,
            "name": name,
            "capabilities": capabilities,
            "demands": demands,
            "mcp_servers": mcp_servers,
            "skills": skills,
            "system_prompt": system_prompt,
            "tags": tags,
        }
        return self._call("POST", "/agents", True, members, request_key)

    def create_capability(
        self,
        *,
        description: str,
        name: str,
        mcp_servers: Optional[Dict[str, Dict[str, Any]]] = None,
        text: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Capability:
        """Describes a part that several agents share."""
        members = {
            "description": description,
            "name": name,
            "mcp_servers": mcp_servers,
            "text": text,
        }
        return self._call("POST", "/capabilities", True, members, request_key)

    def create_key(
        self,
        *,
        name: str,
        agent_id: Optional[str] = None,
        agent_type: Optional[str] = None,
        all_projects: Optional[bool] = None,
        expires_in_days: Optional[int] = None,
        person: Optional[str] = None,
        project: Optional[str] = None,
        rate_limit: Optional[int] = None,
        scopes: Optional[List[Literal["read", "write", "runner", "reviewer", "admin"]]] = None,
        stream_limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.CreatedKey:
        """Makes an API key and returns its secret, this once. It may be bound to a project, an agent or a
        person.
        """
        members = {
            "name": name,
            "agent_id": agent_id,
            "agent_type": agent_type,
            "all_projects": all_projects,
            "expires_in_days": expires_in_days,
            "person": person,
            "project": project,
            "rate_limit": rate_limit,
            "scopes": scopes,
            "stream_limit": stream_limit,
        }
        return self._call("POST", "/keys", True, members, request_key)

    def create_orchestrated_session(
        self,
        *,
        session_id: str,
        agent_name: Optional[str] = None,
        execution_mode: Optional[Literal["sync", "async_poll", "async_callback"]] = None,
        parent_session_id: Optional[str] = None,
        project_dir: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.OrchestratedSessionReply:
        """Opens a session without a run. POST /runs makes its session by itself."""
        members = {
            "session_id": session_id,
            "agent_name": agent_name,
            "execution_mode": execution_mode,
            "parent_session_id": parent_session_id,
            "project_dir": project_dir,
        }
        return self._call("POST", "/sessions", True, members, request_key)

    def create_person(
        self,
        *,
        name: str,
        roles: Optional[List[Literal["read", "write", "runner", "reviewer", "admin"]]],
        request_key: Optional[str] = None,
    ) -> t.CreatedPerson:
        """Registers a person, or gives a known one other roles. Keys of a person hold at most these roles."""
        members = {
            "name": name,
            "roles": roles,
        }
        return self._call("POST", "/persons", True, members, request_key)

    def create_policy(
        self,
        *,
        name: str,
        patterns: Optional[List[str]],
        tier: int,
        accept_conclusions: Optional[List[Literal["skipped", "neutral", "stale", "action_required"]]] = None,
        approvals: Optional[Dict[str, Any]] = None,
        branch: Optional[str] = None,
        command: Optional[str] = None,
        default: Optional[bool] = None,
        enabled: Optional[bool] = None,
        exclude_patterns: Optional[List[str]] = None,
        executors: Optional[List[Literal["inline", "github", "e2b", "ntm", "human"]]] = None,
        fail_on: Optional[Literal["note", "warning", "error"]] = None,
        fold_case: Optional[bool] = None,
        priority: Optional[int] = None,
        repository: Optional[str] = None,
        required: Optional[bool] = None,
        required_env: Optional[List[str]] = None,
        requires_approval: Optional[bool] = None,
        retry_max: Optional[int] = None,
        template: Optional[str] = None,
        timeout_seconds: Optional[int] = None,
        tools: Optional[List[str]] = None,
        waivable: Optional[bool] = None,
        workflow: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.VerificationPolicy:
        """Adds a rule: which paths need which tier, run by which executor. What is left out has the default of
        its tier.
        """
        members = {
            "name": name,
            "patterns": patterns,
            "tier": tier,
            "accept_conclusions": accept_conclusions,
            "approvals": approvals,
            "branch": branch,
            "command": command,
            "default": default,
            "enabled": enabled,
            "exclude_patterns": exclude_patterns,
            "executors": executors,
            "fail_on": fail_on,
            "fold_case": fold_case,
            "priority": priority,
            "repository": repository,
            "required": required,
            "required_env": required_env,
            "requires_approval": requires_approval,
            "retry_max": retry_max,
            "template": template,
            "timeout_seconds": timeout_seconds,
            "tools": tools,
            "waivable": waivable,
            "workflow": workflow,
        }
        return self._call("POST", "/policies", True, members, request_key)

    def create_run(
        self,
        *,
        prompt: str,
        type: Literal["start_session", "resume_session"],
        additional_demands: Optional[Dict[str, Any]] = None,
        agent_name: Optional[str] = None,
        deadline: Optional[str] = None,
        delay_seconds: Optional[float] = None,
        execution_mode: Optional[Literal["sync", "async_poll", "async_callback"]] = None,
        parent_session_id: Optional[str] = None,
        priority: Optional[int] = None,
        project_dir: Optional[str] = None,
        retries: Optional[int] = None,
        session_id: Optional[str] = None,
        timeout_seconds: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.CreatedRun:
        """Starts a session or resumes one. The first runner that meets the demands of session, blueprint and
        request executes it; a session has one run at work at a time, a further one waits behind it.
        """
        members = {
            "prompt": prompt,
            "type": type,
            "additional_demands": additional_demands,
            "agent_name": agent_name,
            "deadline": deadline,
            "delay_seconds": delay_seconds,
            "execution_mode": execution_mode,
            "parent_session_id": parent_session_id,
            "priority": priority,
            "project_dir": project_dir,
            "retries": retries,
            "session_id": session_id,
            "timeout_seconds": timeout_seconds,
        }
        return self._call("POST", "/runs", True, members, request_key)

    def delete_agent(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Removes a blueprint. Sessions of it stay."""
        members = {
            "name": name,
        }
        return self._call("DELETE", "/agents/{name}", False, members, request_key)

    def delete_budget(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """Ends a budget, and with it what it stopped. What was used stays on record."""
        members = {
            "name": name,
        }
        return self._call("DELETE", "/budgets/{name}", False, members, request_key)

    def delete_capability(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Removes a capability; refused while an agent names it."""
        members = {
            "name": name,
        }
        return self._call("DELETE", "/capabilities/{name}", False, members, request_key)

    def delete_session(
        self,
        *,
        session_id: str,
        tree: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.DeletedSession:
        """Deletes a session with its runs and events and everything below it, and counts them. Refused while
        anything of it is at work.
        """
        members = {
            "session_id": session_id,
            "tree": tree,
        }
        return self._call("DELETE", "/sessions/{session_id}", False, members, request_key)

    def deny_act(
        self,
        *,
        act_id: str,
        request_key: Optional[str] = None,
    ) -> t.DecidedAct:
        """Ends what waits without doing it. Who asked is told."""
        members = {
            "act_id": act_id,
        }
        return self._call("POST", "/acts/{act_id}/deny", True, members, request_key)

    def deny_change(
        self,
        *,
        approval_id: str,
        request_key: Optional[str] = None,
    ) -> t.Approval:
        """Votes against one commit: its verdict is failed, for good."""
        members = {
            "approval_id": approval_id,
        }
        return self._call("POST", "/approvals/{approval_id}/deny", True, members, request_key)

    def deregister_runner(
        self,
        *,
        runner_id: str,
        self_: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.DeregisteredRunner:
        """Takes a runner off the list: itself at once, another at its next poll, which tells it to end."""
        members = {
            "runner_id": runner_id,
            "self": self_,
        }
        return self._call("DELETE", "/runners/{runner_id}", False, members, request_key)

    def disable_policy(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.VerificationPolicy:
        """Takes a policy out of use; enabled=true in a change brings it back. Its versions stay."""
        members = {
            "name": name,
        }
        return self._call("DELETE", "/policies/{name}", False, members, request_key)

    def discover_agents(
        self,
        *,
        capability: Optional[str] = None,
        limit: Optional[int] = None,
        status: Optional[Literal["active", "idle", "disconnected"]] = None,
        request_key: Optional[str] = None,
    ) -> t.Agents:
        """Every session of the project, closed ones too, open ones first. status: active = heard within 15
        minutes, idle = open but silent for longer, disconnected = ended or lapsed.
        """
        members = {
            "capability": capability,
            "limit": limit,
            "status": status,
        }
        return self._call("GET", "/discovery/agents", False, members, request_key)

    def drain_agent(
        self,
        *,
        agent: str,
        reason: str,
        session: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """The agent finishes what it has, with the locks that takes, and gets no new work until it is undrained.
        list_holds says when nothing is left.
        """
        members = {
            "agent": agent,
            "reason": reason,
            "session": session,
        }
        return self._call("POST", "/holds/drain", True, members, request_key)

    def drain_runner(
        self,
        *,
        runner_id: str,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """The runner finishes the runs it has and is given no new ones, until it is undrained. It stays so when
        it registers anew.
        """
        members = {
            "runner_id": runner_id,
        }
        return self._call("POST", "/runners/{runner_id}/drain", True, members, request_key)

    def end_session(
        self,
        *,
        reason: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.EndedSession:
        """Ends the calling session: its locks are freed and its tasks requeued, at once. Other sessions of the
        same agent are untouched.
        """
        members = {
            "reason": reason,
        }
        return self._call("POST", "/discovery/end", True, members, request_key)

    def force_release_lock(
        self,
        *,
        file_path: str,
        reason: str,
        locked_by: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.ForceReleased:
        """A reviewer takes a lock away from its holder, who is told why. For a stuck team; the holder may still
        be writing.
        """
        members = {
            "file_path": file_path,
            "reason": reason,
            "locked_by": locked_by,
        }
        return self._call("POST", "/locks/force-release", True, members, request_key)

    def get_agent(
        self,
        *,
        name: str,
        raw: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.AgentBlueprint:
        """One blueprint with its capabilities worked in: prompts joined, MCP servers merged; raw as it is
        written.
        """
        members = {
            "name": name,
            "raw": raw,
        }
        return self._call("GET", "/agents/{name}", False, members, request_key)

    def get_capability(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.Capability:
        """One capability with its text and servers."""
        members = {
            "name": name,
        }
        return self._call("GET", "/capabilities/{name}", False, members, request_key)

    def get_changeset(
        self,
        *,
        changeset_id: str,
        request_key: Optional[str] = None,
    ) -> t.ChangesetDetail:
        """Reads one changeset: why these tiers, every run with its findings, approvals, and the timeline."""
        members = {
            "changeset_id": changeset_id,
        }
        return self._call("GET", "/changesets/{changeset_id}", False, members, request_key)

    def get_orchestrated_session(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.OneOrchestratedSession:
        """Reads one session."""
        members = {
            "session_id": session_id,
        }
        return self._call("GET", "/sessions/{session_id}", False, members, request_key)

    def get_policy(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.VerificationPolicy:
        """Reads one policy."""
        members = {
            "name": name,
        }
        return self._call("GET", "/policies/{name}", False, members, request_key)

    def get_project(
        self,
        *,
        project: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Project:
        """One project with its repositories; the caller's when none is named."""
        members = {
            "project": project,
        }
        return self._call("GET", "/project", False, members, request_key)

    def get_run(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.Run:
        """Reads one run."""
        members = {
            "run_id": run_id,
        }
        return self._call("GET", "/runs/{run_id}", False, members, request_key)

    def get_safeguards(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Safeguards:
        """Which acts need a second person in this project."""
        members = {
        }
        return self._call("GET", "/safeguards", False, members, request_key)

    def get_task(
        self,
        *,
        task_id: str,
        request_key: Optional[str] = None,
    ) -> t.TaskReply:
        """Reads one task with its result, whoever has it, and why it is not ready if it is not. Claims nothing."""
        members = {
            "task_id": task_id,
        }
        return self._call("POST", "/work/get", True, members, request_key)

    def get_work(
        self,
        *,
        lease_seconds: Optional[int] = None,
        limit: Optional[int] = None,
        tags: Optional[List[str]] = None,
        task_types: Optional[List[str]] = None,
        wait_seconds: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.Work:
        """Claims the best task for you, by priority (1 first), then age, and returns it with what you need to
        begin. It stays yours while its lease is renewed. success false with reason no_tasks_available says
        that there is none; queue tells why.
        """
        members = {
            "lease_seconds": lease_seconds,
            "limit": limit,
            "tags": tags,
            "task_types": task_types,
            "wait_seconds": wait_seconds,
        }
        return self._call("POST", "/work/claim", True, members, request_key)

    def hand_over(
        self,
        *,
        from_: str,
        note: str,
        to: str,
        file_paths: Optional[List[str]] = None,
        from_session: Optional[str] = None,
        task_ids: Optional[List[str]] = None,
        to_session: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HandedOver:
        """Moves tasks and locks from one agent to another, all of what is named (nothing named: all it has) or
        nothing. Tokens rise, so what the old holder still sends is refused. Both are told, and the note is
        kept as a handoff. An agent may hand over its own work, a reviewer anybody's.
        """
        members = {
            "from": from_,
            "note": note,
            "to": to,
            "file_paths": file_paths,
            "from_session": from_session,
            "task_ids": task_ids,
            "to_session": to_session,
        }
        return self._call("POST", "/handoffs/over", True, members, request_key)

    def handoff(
        self,
        *,
        action: Literal["write", "read"],
        agent_name: Optional[str] = None,
        completed_work: Optional[List[str]] = None,
        decisions: Optional[List[str]] = None,
        in_progress: Optional[List[str]] = None,
        limit: Optional[int] = None,
        next_steps: Optional[List[str]] = None,
        relevant_files: Optional[List[str]] = None,
        summary: Optional[str] = None,
        to: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HandoffReply:
        """action write: leaves a summary for the next session (done, in progress, decisions, next steps, files).
        action read: returns the newest ones.
        """
        members = {
            "action": action,
            "agent_name": agent_name,
            "completed_work": completed_work,
            "decisions": decisions,
            "in_progress": in_progress,
            "limit": limit,
            "next_steps": next_steps,
            "relevant_files": relevant_files,
            "summary": summary,
            "to": to,
        }
        return self._call("POST", "/handoffs", True, members, request_key)

    def heartbeat(
        self,
        *,
        current_task: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Session:
        """A sign of life. The first one starts the session's lapse clock (120 s unless registered otherwise): a
        session silent for longer loses its locks and its tasks go back to the queue.
        """
        members = {
            "current_task": current_task,
        }
        return self._call("POST", "/discovery/heartbeat", True, members, request_key)

    def heartbeat_work(
        self,
        *,
        task_id: str,
        lease_seconds: Optional[int] = None,
        lease_token: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Renews the lease of a task you claimed, for as long as it was claimed or for lease_seconds."""
        members = {
            "task_id": task_id,
            "lease_seconds": lease_seconds,
            "lease_token": lease_token,
        }
        return self._call("POST", "/work/heartbeat", True, members, request_key)

    def limit_key(
        self,
        *,
        name: str,
        rate_limit: Optional[int] = None,
        stream_limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.LimitedKey:
        """Sets an API key's own limits of requests a second and of waiting calls and open streams; what is left
        out goes back to the server's default. Within ten seconds everywhere.
        """
        members = {
            "name": name,
            "rate_limit": rate_limit,
            "stream_limit": stream_limit,
        }
        return self._call("POST", "/keys/limit", True, members, request_key)

    def list_acts(
        self,
        *,
        limit: Optional[int] = None,
        status: Optional[Literal["pending", "approved", "denied", "used", "expired", "all"]] = None,
        request_key: Optional[str] = None,
    ) -> t.Acts:
        """Acts that wait for a person: destructive commands that were stopped, tasks and runs that ask for such,
        and what needs a second person.
        """
        members = {
            "limit": limit,
            "status": status,
        }
        return self._call("GET", "/acts", False, members, request_key)

    def list_agents(
        self,
        *,
        tags: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.AgentBlueprints:
        """Blueprints by name as they are written, inactive ones too; with tags those that have all of them."""
        members = {
            "tags": tags,
        }
        return self._call("GET", "/agents", False, members, request_key)

    def list_approvals(
        self,
        *,
        limit: Optional[int] = None,
        status: Optional[Literal["waiting", "pending", "approved", "denied", "expired", "voided", "all"]] = None,
        request_key: Optional[str] = None,
    ) -> t.ApprovalList:
        """What people are asked to decide, oldest first: which commit, which policy, why, until when, and who
        said what.
        """
        members = {
            "limit": limit,
            "status": status,
        }
        return self._call("GET", "/approvals", False, members, request_key)

    def list_budgets(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Budgets:
        """The budgets of the project, what is used of each and its state, the fullest first."""
        members = {
        }
        return self._call("GET", "/budgets", False, members, request_key)

    def list_capabilities(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Capabilities:
        """What agents may share: texts for their prompts, MCP servers."""
        members = {
        }
        return self._call("GET", "/capabilities", False, members, request_key)

    def list_changesets(
        self,
        *,
        agent_id: Optional[str] = None,
        before: Optional[str] = None,
        branch: Optional[str] = None,
        head_sha: Optional[str] = None,
        limit: Optional[int] = None,
        open: Optional[bool] = None,
        pr_number: Optional[int] = None,
        repository: Optional[str] = None,
        state: Optional[Literal["received", "routing", "verifying", "awaiting_approval", "passed", "failed", "error", "superseded", "cancelled"]] = None,
        task_id: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Changesets:
        """Changes under verification and decided ones, newest first: state, verdict and why."""
        members = {
            "agent_id": agent_id,
            "before": before,
            "branch": branch,
            "head_sha": head_sha,
            "limit": limit,
            "open": open,
            "pr_number": pr_number,
            "repository": repository,
            "state": state,
            "task_id": task_id,
        }
        return self._call("GET", "/changesets", False, members, request_key)

    def list_events(
        self,
        *,
        session_id: str,
        after_id: Optional[int] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.SessionEvents:
        """The older way to read a session's events; a session that is not known has none."""
        members = {
            "session_id": session_id,
            "after_id": after_id,
            "limit": limit,
        }
        return self._call("GET", "/events/{session_id}", False, members, request_key)

    def list_guardrail_hits(
        self,
        *,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.GuardrailHits:
        """Commands and tasks that rules caught, who sent them and what was done, newest first."""
        members = {
            "agent": agent,
            "limit": limit,
        }
        return self._call("GET", "/guardrails/hits", False, members, request_key)

    def list_guardrails(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Guardrails:
        """The rules on destructive commands: what each catches, what is done by default and what in this
        project, and the project's own.
        """
        members = {
        }
        return self._call("GET", "/guardrails", False, members, request_key)

    def list_holds(
        self,
        *,
        agent: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Holds:
        """Who is kept from new work, by whom, why and until when: pauses, drains and exhausted budgets; and what
        they still have.
        """
        members = {
            "agent": agent,
        }
        return self._call("GET", "/holds", False, members, request_key)

    def list_keys(
        self,
        *,
        include_revoked: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.Keys:
        """API keys with their scopes, bindings and last use; never a secret."""
        members = {
            "include_revoked": include_revoked,
        }
        return self._call("GET", "/keys", False, members, request_key)

    def list_lock_waits(
        self,
        *,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.LockWaits:
        """Lists who waits for which lock, first in line first, and who is in the way."""
        members = {
            "limit": limit,
        }
        return self._call("GET", "/locks/waits", False, members, request_key)

    def list_messages(
        self,
        *,
        box: Optional[Literal["unread", "all", "sent"]] = None,
        limit: Optional[int] = None,
        peek: Optional[bool] = None,
        thread: Optional[str] = None,
        wait_seconds: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Messages:
        """The caller's mailbox: unread messages (marked read by this), all, or what it sent and what became of
        it.
        """
        members = {
            "box": box,
            "limit": limit,
            "peek": peek,
            "thread": thread,
            "wait_seconds": wait_seconds,
        }
        return self._call("GET", "/messages", False, members, request_key)

    def list_orchestrated_sessions(
        self,
        *,
        agent_name: Optional[str] = None,
        before: Optional[str] = None,
        limit: Optional[int] = None,
        parent_session_id: Optional[str] = None,
        status: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.OrchestratedSessions:
        """Sessions that runners execute, newest first."""
        members = {
            "agent_name": agent_name,
            "before": before,
            "limit": limit,
            "parent_session_id": parent_session_id,
            "status": status,
        }
        return self._call("GET", "/sessions", False, members, request_key)

    def list_persons(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Persons:
        """Persons, their roles and how many keys stand for them."""
        members = {
        }
        return self._call("GET", "/persons", False, members, request_key)

    def list_policies(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Policies:
        """What must be verified where: every policy in the order they run, disabled ones too."""
        members = {
        }
        return self._call("GET", "/policies", False, members, request_key)

    def list_projects(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Projects:
        """The projects this key is good for, with their repositories."""
        members = {
        }
        return self._call("GET", "/projects", False, members, request_key)

    def list_runners(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Runners:
        """The runners, with what they offer and when they were heard."""
        members = {
        }
        return self._call("GET", "/runners", False, members, request_key)

    def list_runs(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        newest: Optional[bool] = None,
        runner_id: Optional[str] = None,
        session_id: Optional[str] = None,
        status: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Runs:
        """Runs of the project, by pages."""
        members = {
            "after": after,
            "limit": limit,
            "newest": newest,
            "runner_id": runner_id,
            "session_id": session_id,
            "status": status,
        }
        return self._call("GET", "/runs", False, members, request_key)

    def list_session_events(
        self,
        *,
        session_id: str,
        after_id: Optional[int] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.SessionEvents:
        """What happened in a session, oldest first, by pages."""
        members = {
            "session_id": session_id,
            "after_id": after_id,
            "limit": limit,
        }
        return self._call("GET", "/sessions/{session_id}/events", False, members, request_key)

    def list_skills(
        self,
        *,
        include_archived: Optional[bool] = None,
        limit: Optional[int] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.Skills:
        """Skills of the project, those that work best first."""
        members = {
            "include_archived": include_archived,
            "limit": limit,
            "tags": tags,
        }
        return self._call("GET", "/memory/procedural", False, members, request_key)

    def list_snoozed(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.SnoozedItems:
        """The items that the caller put off, and until when."""
        members = {
        }
        return self._call("GET", "/snoozed", False, members, request_key)

    def list_trust(
        self,
        *,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        repository: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.TrustList:
        """How far agents are trusted, by repository, and the evidence behind it; of one agent also what
        happened.
        """
        members = {
            "agent": agent,
            "limit": limit,
            "repository": repository,
        }
        return self._call("GET", "/trust", False, members, request_key)

    def list_violations(
        self,
        *,
        by: Optional[str] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Violations:
        """Lists changes of files that another session held: who changed what, how, and whose lock it was."""
        members = {
            "by": by,
            "limit": limit,
        }
        return self._call("GET", "/locks/violations", False, members, request_key)

    def list_work(
        self,
        *,
        claimed_by: Optional[str] = None,
        cursor: Optional[str] = None,
        label: Optional[str] = None,
        limit: Optional[int] = None,
        status: Optional[List[Literal["ready", "blocked", "scheduled", "pending", "claimed", "running", "verifying", "completed", "failed", "dead", "cancelled"]]] = None,
        submitted_by: Optional[str] = None,
        tag: Optional[str] = None,
        task_types: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.Tasks:
        """Tasks, newest first, filtered by state, type, tag, label, claimant or submitter."""
        members = {
            "claimed_by": claimed_by,
            "cursor": cursor,
            "label": label,
            "limit": limit,
            "status": status,
            "submitted_by": submitted_by,
            "tag": tag,
            "task_types": task_types,
        }
        return self._call("GET", "/work", False, members, request_key)

    def lock_status(
        self,
        *,
        file_path: str,
        request_key: Optional[str] = None,
    ) -> t.LockState:
        """Tells whether a lock overlaps one path, and which."""
        members = {
            "file_path": file_path,
        }
        return self._call("GET", "/locks/status/{+file_path}", False, members, request_key)

    def memory_export(
        self,
        *,
        after: Optional[int] = None,
        format: Optional[Literal["markdown", "jsonl"]] = None,
        include_archived: Optional[bool] = None,
        layer: Optional[Literal["episodic", "procedural"]] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.ExportedMemory:
        """Memories and skills as Markdown to read or as JSON lines to import elsewhere, page by page, oldest
        first.
        """
        members = {
            "after": after,
            "format": format,
            "include_archived": include_archived,
            "layer": layer,
            "limit": limit,
        }
        return self._call("GET", "/memory/export", False, members, request_key)

    def memory_forget(
        self,
        *,
        memory_ids: Optional[List[str]],
        reason: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.ForgottenMemory:
        """Deletes memories for good; the audit trail keeps the ids and the reason. An agent forgets what it
        remembered itself, a reviewer anything.
        """
        members = {
            "memory_ids": memory_ids,
            "reason": reason,
        }
        return self._call("POST", "/memory/forget", True, members, request_key)

    def memory_get(
        self,
        *,
        memory_id: str,
        request_key: Optional[str] = None,
    ) -> t.Memory:
        """One memory or skill by its id."""
        members = {
            "memory_id": memory_id,
        }
        return self._call("GET", "/memory/item/{memory_id}", False, members, request_key)

    def memory_import(
        self,
        *,
        jsonl: str,
        source: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.ImportedMemory:
        """Takes in JSON lines as memory_export writes them, all or nothing; what is there already is left alone."""
        members = {
            "jsonl": jsonl,
            "source": source,
        }
        return self._call("POST", "/memory/import", True, members, request_key)

    def memory_retention(
        self,
        *,
        archive_days: Optional[int] = None,
        delete_days: Optional[int] = None,
        layer: Optional[Literal["episodic", "working", "procedural"]] = None,
        request_key: Optional[str] = None,
    ) -> t.MemoryPolicies:
        """Shows after how many days each layer is archived and deleted; with layer it sets that one."""
        members = {
            "archive_days": archive_days,
            "delete_days": delete_days,
            "layer": layer,
        }
        return self._call("POST", "/memory/retention", True, members, request_key)

    def nudge_agent(
        self,
        *,
        agent: str,
        session: Optional[str] = None,
        text: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Nudged:
        """A person's short word: told once, with the next call or hook of the agent's open sessions, before
        everything else. While an earlier nudge was not taken, another is not added.
        """
        members = {
            "agent": agent,
            "session": session,
            "text": text,
        }
        return self._call("POST", "/messages/nudge", True, members, request_key)

    def override_changeset(
        self,
        *,
        changeset_id: str,
        request_key: Optional[str] = None,
    ) -> t.Changeset:
        """A reviewer sets the verdict of one commit, with a reason that is shown wherever the verdict is. It
        holds for that commit alone and does not expire; who changed the code may not.
        """
        members = {
            "changeset_id": changeset_id,
        }
        return self._call("POST", "/changesets/{changeset_id}/override", True, members, request_key)

    def pause_agent(
        self,
        *,
        agent: str,
        reason: str,
        session: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """The agent, one of its sessions or (*) every agent takes no new locks and no new work, and its runs are
        not dispatched, until it is resumed. What it holds it keeps. It is told with its next call or hook,
        and why.
        """
        members = {
            "agent": agent,
            "reason": reason,
            "session": session,
        }
        return self._call("POST", "/holds/pause", True, members, request_key)

    def policy_history(
        self,
        *,
        name: str,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.PolicyVersions:
        """Every version of a policy, newest first, and who made it."""
        members = {
            "name": name,
            "limit": limit,
        }
        return self._call("GET", "/policies/{name}/history", False, members, request_key)

    def prioritise_work(
        self,
        *,
        priority: int,
        task_id: str,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Gives a task another priority; one that is ready moves in its lane at once. For its submitter or a
        reviewer.
        """
        members = {
            "priority": priority,
            "task_id": task_id,
        }
        return self._call("POST", "/work/prioritise", True, members, request_key)

    def progress_work(
        self,
        *,
        task_id: str,
        lease_token: Optional[str] = None,
        note: Optional[str] = None,
        percent: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Shows others how far a task you claimed is, and renews its lease."""
        members = {
            "task_id": task_id,
            "lease_token": lease_token,
            "note": note,
            "percent": percent,
        }
        return self._call("POST", "/work/progress", True, members, request_key)

    def project_digest(
        self,
        *,
        peek: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.Digest:
        """What others changed in the project since the caller looked last, as markdown and as data, and the
        tasks whose type starts with newsletter.
        """
        members = {
            "peek": peek,
        }
        return self._call("GET", "/status/digest", False, members, request_key)

    def purge_audit(
        self,
        *,
        days: int,
        request_key: Optional[str] = None,
    ) -> t.PurgedAudit:
        """Removes rows of the audit trail older than so many days (at least 30) and records that it did. Nothing
        else can remove or change them.
        """
        members = {
            "days": days,
        }
        return self._call("POST", "/audit/purge", True, members, request_key)

    def query_audit(
        self,
        *,
        agent_id: Optional[str] = None,
        limit: Optional[int] = None,
        operation: Optional[str] = None,
        since: Optional[str] = None,
        success: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.AuditEntries:
        """Executed changes and refused calls of the project, newest first: who, what, when, with which result.
        Heartbeats and renewals are not in it.
        """
        members = {
            "agent_id": agent_id,
            "limit": limit,
            "operation": operation,
            "since": since,
            "success": success,
        }
        return self._call("GET", "/audit", False, members, request_key)

    def read_handoff(
        self,
        *,
        agent_name: Optional[str] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Handoffs:
        """The newest handoffs, of one agent or of anybody."""
        members = {
            "agent_name": agent_name,
            "limit": limit,
        }
        return self._call("POST", "/handoffs/read", True, members, request_key)

    def ready_work(
        self,
        *,
        limit: Optional[int] = None,
        task_types: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.Tasks:
        """What can be claimed now, in the order it will be: priority, then age."""
        members = {
            "limit": limit,
            "task_types": task_types,
        }
        return self._call("GET", "/work/ready", False, members, request_key)

    def recall(
        self,
        *,
        event_type: Optional[str] = None,
        explain: Optional[bool] = None,
        include_archived: Optional[bool] = None,
        include_stale: Optional[bool] = None,
        limit: Optional[int] = None,
        min_relevance: Optional[float] = None,
        paths: Optional[List[str]] = None,
        scope: Optional[Literal["project", "own", "all"]] = None,
        tags: Optional[List[str]] = None,
        task_description: Optional[str] = None,
        token_budget: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Recalled:
        """Finds what agents of this project remembered, and skills, by relevance. Without words, tags and paths:
        the newest. nothing_relevant means that it looked and found nothing; a failure is an error.
        """
        members = {
            "event_type": event_type,
            "explain": explain,
            "include_archived": include_archived,
            "include_stale": include_stale,
            "limit": limit,
            "min_relevance": min_relevance,
            "paths": paths,
            "scope": scope,
            "tags": tags,
            "task_description": task_description,
            "token_budget": token_budget,
        }
        return self._call("POST", "/memory/query", True, members, request_key)

    def register_runner(
        self,
        *,
        executor_profile: str,
        hostname: str,
        project_dir: str,
        capacity: Optional[int] = None,
        executor: Optional[Dict[str, Any]] = None,
        instance_id: Optional[str] = None,
        require_matching_tags: Optional[bool] = None,
        run_ids: Optional[List[str]] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.RegisteredRunner:
        """Makes a runner known under the id of its host, directory and profile. Refused while another process of
        that identity is heard.
        """
        members = {
            "executor_profile": executor_profile,
            "hostname": hostname,
            "project_dir": project_dir,
            "capacity": capacity,
            "executor": executor,
            "instance_id": instance_id,
            "require_matching_tags": require_matching_tags,
            "run_ids": run_ids,
            "tags": tags,
        }
        return self._call("POST", "/runner/register", True, members, request_key)

    def register_session(
        self,
        *,
        capabilities: Optional[List[str]] = None,
        current_task: Optional[str] = None,
        delegated_from: Optional[str] = None,
        lapse_seconds: Optional[int] = None,
        metadata: Optional[Dict[str, Any]] = None,
        request_key: Optional[str] = None,
    ) -> t.Session:
        """Describes the session of the calling agent: capabilities, current task, metadata. A new session_id
        opens a session; without one the agent's implicit session is meant. Sessions open by themselves on
        first use, so this is for being found.
        """
        members = {
            "capabilities": capabilities,
            "current_task": current_task,
            "delegated_from": delegated_from,
            "lapse_seconds": lapse_seconds,
            "metadata": metadata,
        }
        return self._call("POST", "/discovery/register", True, members, request_key)

    def release_lock(
        self,
        *,
        all: Optional[bool] = None,
        branch: Optional[str] = None,
        file_path: Optional[str] = None,
        file_paths: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.ReleaseResult:
        """Gives back locks as soon as the edit is done: one path, several, or all of the session. Only the owner
        can; without a session the path is freed in whichever session of the agent holds it. What others wait
        for goes to the next in line.
        """
        members = {
            "all": all,
            "branch": branch,
            "file_path": file_path,
            "file_paths": file_paths,
        }
        return self._call("POST", "/locks/release", True, members, request_key)

    def release_work(
        self,
        *,
        task_id: str,
        lease_token: Optional[str] = None,
        reason: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Gives a task you claimed back to the queue at once. The attempt counts; a task without attempts left
        is dead.
        """
        members = {
            "task_id": task_id,
            "lease_token": lease_token,
            "reason": reason,
        }
        return self._call("POST", "/work/release", True, members, request_key)

    def remember(
        self,
        *,
        summary: str,
        branch: Optional[str] = None,
        details: Optional[Dict[str, Any]] = None,
        digest: Optional[str] = None,
        event_type: Optional[str] = None,
        lessons: Optional[List[str]] = None,
        line_from: Optional[int] = None,
        line_to: Optional[int] = None,
        outcome: Optional[str] = None,
        path: Optional[str] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.Remembered:
        """Stores an experience for every agent of the project: an error and its fix, a decision, a lesson. The
        same summary again within an hour is merged. Bound to a file and a digest, it is marked stale when the
        file changes.
        """
        members = {
            "summary": summary,
            "branch": branch,
            "details": details,
            "digest": digest,
            "event_type": event_type,
            "lessons": lessons,
            "line_from": line_from,
            "line_to": line_to,
            "outcome": outcome,
            "path": path,
            "tags": tags,
        }
        return self._call("POST", "/memory/store", True, members, request_key)

    def renew_locks(
        self,
        *,
        ttl_minutes: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.RenewedLocks:
        """Prolongs every lock of the session. Expired ones are not brought back."""
        members = {
            "ttl_minutes": ttl_minutes,
        }
        return self._call("POST", "/locks/renew", True, members, request_key)

    def renew_work(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.RenewedWork:
        """Renews the lease of every task the session holds, each for as long as it was claimed. MCP servers and
        runners call it with their heartbeat.
        """
        members = {
        }
        return self._call("POST", "/work/renew", True, members, request_key)

    def report_changes(
        self,
        *,
        files: Optional[List[Dict[str, Any]]],
        branch: Optional[str] = None,
        bypass: Optional[str] = None,
        command: Optional[str] = None,
        stage: Optional[Literal["edit", "commit", "push"]] = None,
        tool: Optional[str] = None,
        unknown: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.ReportedChanges:
        """Tells which files a tool call, a commit or a push changed. Files that another session holds are
        recorded as violations and told to their holder; digests mark memories about other contents stale.
        Hooks send it.
        """
        members = {
            "files": files,
            "branch": branch,
            "bypass": bypass,
            "command": command,
            "stage": stage,
            "tool": tool,
            "unknown": unknown,
        }
        return self._call("POST", "/locks/changes", True, members, request_key)

    def report_digests(
        self,
        *,
        files: Optional[List[Dict[str, Any]]],
        branch: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.ReportedDigests:
        """Tells what files are like now: memories bound to another content of them become stale, those of this
        content fresh again.
        """
        members = {
            "files": files,
            "branch": branch,
        }
        return self._call("POST", "/memory/digests", True, members, request_key)

    def report_usage(
        self,
        *,
        reports: Optional[List[Dict[str, Any]]],
        request_key: Optional[str] = None,
    ) -> t.ReportedUsage:
        """Tells what a model used: tokens, cost, of which run, session and task. A report whose key was counted
        before changes nothing, so every report may be sent again. Runners and hooks send them.
        """
        members = {
            "reports": reports,
        }
        return self._call("POST", "/usage", True, members, request_key)

    def rerun_changeset(
        self,
        *,
        changeset_id: str,
        request_key: Optional[str] = None,
    ) -> t.Changeset:
        """Verifies a commit again: routed anew, or only one tier and what did not succeed above it. A denied
        commit stays denied, a superseded one stays superseded.
        """
        members = {
            "changeset_id": changeset_id,
        }
        return self._call("POST", "/changesets/{changeset_id}/rerun", True, members, request_key)

    def resolve_repository(
        self,
        *,
        name: Optional[str] = None,
        project: Optional[str] = None,
        remote: Optional[str] = None,
        root_commit: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.ResolvedRepository:
        """Maps what a checkout knows about itself (remote, root commit, name) to its project and repository, and
        creates both on first sight.
        """
        members = {
            "name": name,
            "project": project,
            "remote": remote,
            "root_commit": root_commit,
        }
        return self._call("POST", "/projects/resolve", True, members, request_key)

    def resume_agent(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        session: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """Ends a pause. Runs that waited for it are dispatched again; the agent is told."""
        members = {
            "agent": agent,
            "reason": reason,
            "session": session,
        }
        return self._call("POST", "/holds/resume", True, members, request_key)

    def retry_work(
        self,
        *,
        task_id: str,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """Puts a failed or dead task back into the queue, its attempts counted anew. For its submitter or a
        reviewer.
        """
        members = {
            "task_id": task_id,
        }
        return self._call("POST", "/work/retry", True, members, request_key)

    def revoke_key(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.RevokedKey:
        """Ends an API key with all its secrets: at once in this server, within ten seconds in others."""
        members = {
            "name": name,
        }
        return self._call("DELETE", "/keys/{name}", False, members, request_key)

    def rotate_key(
        self,
        *,
        name: str,
        grace: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.RotatedKey:
        """Gives an API key a new secret and returns it, this once. Name, scopes, bindings and limits stay; the
        old secret stays good for the grace, and the list of keys shows until when and whether it is still
        used. A key that got out: rotate with grace 0, which ends every older secret within ten seconds. Keys
        of COORDINATION_API_KEYS are changed there: name the new one beside the old, restart, remove the old
        one. The keys that coordctl up made for itself (named local … and runner …) lie in the files key
        and runner.key of COORD_HOME: write the new secret there, then coordctl down and coordctl up, which
        writes up.json anew; MCP servers, hooks and coordctl read that. A host that was given
        COORDINATION_API_KEY needs the new secret there.
        """
        members = {
            "name": name,
            "grace": grace,
        }
        return self._call("POST", "/keys/rotate", True, members, request_key)

    def run_completed(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """The run's executor ended well. Its session is finished and its parent told."""
        members = {
            "run_id": run_id,
        }
        return self._call("POST", "/runner/runs/{run_id}/completed", True, members, request_key)

    def run_failed(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """The run's executor failed, and how. It is tried again while attempts remain; else its session has
        failed and its parent is told.
        """
        members = {
            "run_id": run_id,
        }
        return self._call("POST", "/runner/runs/{run_id}/failed", True, members, request_key)

    def run_started(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """The runner executes the run. Without this report the run goes to another after half a minute."""
        members = {
            "run_id": run_id,
        }
        return self._call("POST", "/runner/runs/{run_id}/started", True, members, request_key)

    def run_stopped(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """The runner ended the run's executor as it was told."""
        members = {
            "run_id": run_id,
        }
        return self._call("POST", "/runner/runs/{run_id}/stopped", True, members, request_key)

    def runner_heartbeat(
        self,
        *,
        runner_id: str,
        request_key: Optional[str] = None,
    ) -> t.Ok:
        """A sign of life. A runner that was stale is online again; polls and reports count as well."""
        members = {
            "runner_id": runner_id,
        }
        return self._call("POST", "/runner/heartbeat", True, members, request_key)

    def send_message(
        self,
        *,
        text: str,
        ack_required: Optional[bool] = None,
        allow_unknown: Optional[bool] = None,
        kind: Optional[Literal["note", "question", "answer", "request", "warning"]] = None,
        reply_to: Optional[str] = None,
        thread: Optional[str] = None,
        to: Optional[List[str]] = None,
        urgency: Optional[Literal["normal", "high"]] = None,
        request_key: Optional[str] = None,
    ) -> t.SentMessage:
        """Sends a message to agents by name, or to everybody active with "*". It is kept until read, and shown
        to each open session of the recipient with its next call; an agent without a session is told when it
        opens one. A name never seen in the project is refused.
        """
        members = {
            "text": text,
            "ack_required": ack_required,
            "allow_unknown": allow_unknown,
            "kind": kind,
            "reply_to": reply_to,
            "thread": thread,
            "to": to,
            "urgency": urgency,
        }
        return self._call("POST", "/messages", True, members, request_key)

    def session_affinity(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.SessionAffinity:
        """Where a session's conversation lives: executor session, host, directory, profile. A resume goes there."""
        members = {
            "session_id": session_id,
        }
        return self._call("GET", "/sessions/{session_id}/affinity", False, members, request_key)

    def session_brief(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.Brief:
        """Everything a session needs to begin, in one call of at most 600 tokens: locks and tasks it holds,
        locks of others, the first ready tasks, unread messages, the newest handoff. The messages shown count
        as told.
        """
        members = {
        }
        return self._call("GET", "/brief", False, members, request_key)

    def session_result(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.SessionResult:
        """The text a finished session ended with: the assistant's last message."""
        members = {
            "session_id": session_id,
        }
        return self._call("GET", "/sessions/{session_id}/result", False, members, request_key)

    def session_status(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.SessionStatus:
        """The status alone; not_existent for a session that is not known."""
        members = {
            "session_id": session_id,
        }
        return self._call("GET", "/sessions/{session_id}/status", False, members, request_key)

    def set_agent_status(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.AgentBlueprint:
        """An inactive agent is not started."""
        members = {
            "name": name,
        }
        return self._call("PATCH", "/agents/{name}/status", True, members, request_key)

    def set_budget(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.Budget:
        """Limits what the project or an agent may use in a day, a month or in all. At warn_percent people are
        told; at the limit claims and dispatch are refused, with action stop, until the period ends or the
        limit is raised. What was used before counts.
        """
        members = {
            "name": name,
        }
        return self._call("PUT", "/budgets/{name}", True, members, request_key)

    def set_guardrail(
        self,
        *,
        rule: str,
        request_key: Optional[str] = None,
    ) -> t.Guardrail:
        """Says what is done in this project with commands that a rule catches, or adds a rule of the project's
        own (a pattern over the command).
        """
        members = {
            "rule": rule,
        }
        return self._call("PUT", "/guardrails/{rule}", True, members, request_key)

    def set_safeguards(
        self,
        *,
        reason: str,
        two_person: Optional[List[Literal["force_release", "policies", "guardrails"]]],
        request_key: Optional[str] = None,
    ) -> t.Safeguards:
        """Sets which acts need a second person: force_release (of locks), policies (of verification), guardrails
        (rules on commands). While the list is not empty, changing it needs one, too. Persons need keys of
        their own for it.
        """
        members = {
            "reason": reason,
            "two_person": two_person,
        }
        return self._call("PUT", "/safeguards", True, members, request_key)

    def set_trust(
        self,
        *,
        agent: str,
        ceiling: Optional[int] = None,
        level: Optional[int] = None,
        reason: Optional[str] = None,
        repository: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.AgentTrust:
        """Sets an agent's level (0 to 4) and the ceiling that evidence may raise it to. A new agent has 1 until
        then.
        """
        members = {
            "agent": agent,
            "ceiling": ceiling,
            "level": level,
            "reason": reason,
            "repository": repository,
        }
        return self._call("PUT", "/trust", True, members, request_key)

    def simulate_policies(
        self,
        *,
        files: Optional[List[Dict[str, Any]]],
        branch: Optional[str] = None,
        draft: Optional[bool] = None,
        fork: Optional[bool] = None,
        lock_violations: Optional[List[Dict[str, Any]]] = None,
        prior_failures: Optional[int] = None,
        repository: Optional[str] = None,
        truncated: Optional[bool] = None,
        trust_level: Optional[int] = None,
        unavailable_executors: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.RouteDecision:
        """Says which tiers, policies and executors a change would need, and why. The code that routes answers;
        nothing is stored.
        """
        members = {
            "files": files,
            "branch": branch,
            "draft": draft,
            "fork": fork,
            "lock_violations": lock_violations,
            "prior_failures": prior_failures,
            "repository": repository,
            "truncated": truncated,
            "trust_level": trust_level,
            "unavailable_executors": unavailable_executors,
        }
        return self._call("POST", "/policies/simulate", True, members, request_key)

    def skill_store(
        self,
        *,
        name: str,
        description: Optional[str] = None,
        steps: Optional[List[Any]] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.StoredSkill:
        """Keeps how something is done, as steps; the same name again changes it. recall finds it beside
        experiences.
        """
        members = {
            "name": name,
            "description": description,
            "steps": steps,
            "tags": tags,
        }
        return self._call("POST", "/memory/procedural/store", True, members, request_key)

    def skill_use(
        self,
        *,
        skill_id: str,
        success: bool,
        request_key: Optional[str] = None,
    ) -> t.UsedSkill:
        """Counts whether a skill worked. Skills are ranked by the mean of that: (successes + 1) / (uses + 2)."""
        members = {
            "skill_id": skill_id,
            "success": success,
        }
        return self._call("POST", "/memory/procedural/record-use", True, members, request_key)

    def snooze(
        self,
        *,
        item: str,
        minutes: Optional[float] = None,
        reason: Optional[str] = None,
        until: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.Snoozed:
        """Hides an item that needs a person, for the caller alone, until a time: an hour unless said otherwise."""
        members = {
            "item": item,
            "minutes": minutes,
            "reason": reason,
            "until": until,
        }
        return self._call("POST", "/snoozed", True, members, request_key)

    def stop_run(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.StoppedRun:
        """Stops a run: at once when nobody has it, else its runner is told until it reports."""
        members = {
            "run_id": run_id,
        }
        return self._call("POST", "/runs/{run_id}/stop", True, members, request_key)

    def stop_session(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.StoppedSession:
        """Stops the run a session is at and cancels those that wait behind it; with tree, everything below it as
        well.
        """
        members = {
            "session_id": session_id,
        }
        return self._call("POST", "/sessions/{session_id}/stop", True, members, request_key)

    def submit_changes(
        self,
        *,
        branch: str,
        head_sha: str,
        base_ref: Optional[str] = None,
        base_sha: Optional[str] = None,
        bundle: Optional[str] = None,
        changed_files: Optional[List[str]] = None,
        repository: Optional[str] = None,
        task_id: Optional[str] = None,
        title: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.SubmittedChangeset:
        """Hands a pushed commit over for verification: it is routed by policy, verified in the tiers it needs,
        and ends in one verdict. Submitting the same commit again returns what is known of it. A commit that
        is not pushed comes with a git bundle.
        """
        members = {
            "branch": branch,
            "head_sha": head_sha,
            "base_ref": base_ref,
            "base_sha": base_sha,
            "bundle": bundle,
            "changed_files": changed_files,
            "repository": repository,
            "task_id": task_id,
            "title": title,
        }
        return self._call("POST", "/changesets", True, members, request_key)

    def submit_tasks(
        self,
        *,
        tasks: Optional[List[Dict[str, Any]]],
        request_key: Optional[str] = None,
    ) -> t.SubmittedTasks:
        """Puts many tasks into the queue, all or none. depends_on may name tasks of the batch by their ref.
        Cycles are refused.
        """
        members = {
            "tasks": tasks,
        }
        return self._call("POST", "/work/submit/batch", True, members, request_key)

    def submit_work(
        self,
        *,
        description: str,
        task_type: str,
        agent_requirements: Optional[Dict[str, Any]] = None,
        deadline: Optional[str] = None,
        delay_seconds: Optional[float] = None,
        depends_on: Optional[List[str]] = None,
        files: Optional[List[str]] = None,
        input_data: Optional[Dict[str, Any]] = None,
        labels: Optional[List[str]] = None,
        max_attempts: Optional[int] = None,
        priority: Optional[int] = None,
        run_at: Optional[str] = None,
        tags: Optional[List[str]] = None,
        request_key: Optional[str] = None,
    ) -> t.SubmittedWork:
        """Puts a task into the queue. It is ready once its dependencies completed and its start time came; the
        first agent that meets its demands gets it.
        """
        members = {
            "description": description,
            "task_type": task_type,
            "agent_requirements": agent_requirements,
            "deadline": deadline,
            "delay_seconds": delay_seconds,
            "depends_on": depends_on,
            "files": files,
            "input_data": input_data,
            "labels": labels,
            "max_attempts": max_attempts,
            "priority": priority,
            "run_at": run_at,
            "tags": tags,
        }
        return self._call("POST", "/work/submit", True, members, request_key)

    def undrain_agent(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        session: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """Ends a drain: the agent takes new work again."""
        members = {
            "agent": agent,
            "reason": reason,
            "session": session,
        }
        return self._call("POST", "/holds/undrain", True, members, request_key)

    def undrain_runner(
        self,
        *,
        runner_id: str,
        request_key: Optional[str] = None,
    ) -> t.HoldResult:
        """The runner is given runs again."""
        members = {
            "runner_id": runner_id,
        }
        return self._call("POST", "/runners/{runner_id}/undrain", True, members, request_key)

    def unsnooze(
        self,
        *,
        item: str,
        request_key: Optional[str] = None,
    ) -> t.Snoozed:
        """Ends the caller's snooze of an item."""
        members = {
            "item": item,
        }
        return self._call("DELETE", "/snoozed", False, members, request_key)

    def update_agent(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.AgentBlueprint:
        """Changes members of a blueprint; what is left out stays, an empty value clears."""
        members = {
            "name": name,
        }
        return self._call("PATCH", "/agents/{name}", True, members, request_key)

    def update_capability(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.Capability:
        """Changes members of a capability; what is left out stays, an empty value clears."""
        members = {
            "name": name,
        }
        return self._call("PATCH", "/capabilities/{name}", True, members, request_key)

    def update_policy(
        self,
        *,
        name: str,
        request_key: Optional[str] = None,
    ) -> t.VerificationPolicy:
        """Changes a policy from the next routing on. What is left out stays; every version is kept."""
        members = {
            "name": name,
        }
        return self._call("PUT", "/policies/{name}", True, members, request_key)

    def update_session_metadata(
        self,
        *,
        session_id: str,
        request_key: Optional[str] = None,
    ) -> t.OrchestratedSessionReply:
        """Changes what is known about a session; what is left out stays as it is."""
        members = {
            "session_id": session_id,
        }
        return self._call("PATCH", "/sessions/{session_id}/metadata", True, members, request_key)

    def update_work(
        self,
        *,
        action: Literal["heartbeat", "progress", "release"],
        task_id: str,
        lease_seconds: Optional[int] = None,
        lease_token: Optional[str] = None,
        note: Optional[str] = None,
        percent: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.TaskChange:
        """For a task you claimed: heartbeat renews its lease; progress also shows others how far it is; release
        gives it back (the attempt counts).
        """
        members = {
            "action": action,
            "task_id": task_id,
            "lease_seconds": lease_seconds,
            "lease_token": lease_token,
            "note": note,
            "percent": percent,
        }
        return self._call("POST", "/work/update", True, members, request_key)

    def usage_summary(
        self,
        *,
        agent: Optional[str] = None,
        by: Optional[Literal["project", "agent", "session", "task", "run", "model", "day", "change"]] = None,
        limit: Optional[int] = None,
        model: Optional[str] = None,
        run_id: Optional[str] = None,
        session: Optional[str] = None,
        since: Optional[str] = None,
        task_id: Optional[str] = None,
        until: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.UsageSummary:
        """Tokens and cost by agent, session, task, run, model, day or verified change."""
        members = {
            "agent": agent,
            "by": by,
            "limit": limit,
            "model": model,
            "run_id": run_id,
            "session": session,
            "since": since,
            "task_id": task_id,
            "until": until,
        }
        return self._call("GET", "/usage", False, members, request_key)

    def verification_status(
        self,
        *,
        changeset_id: Optional[str] = None,
        head_sha: Optional[str] = None,
        task_id: Optional[str] = None,
        wait_seconds: Optional[float] = None,
        request_key: Optional[str] = None,
    ) -> t.VerificationState:
        """Where a commit stands: its state, what ran and what was found. It may wait for the verdict. Only state
        passed means that it passed.
        """
        members = {
            "changeset_id": changeset_id,
            "head_sha": head_sha,
            "task_id": task_id,
            "wait_seconds": wait_seconds,
        }
        return self._call("GET", "/verification", False, members, request_key)

    def verify_lock(
        self,
        *,
        fencing_token: str,
        file_path: str,
        request_key: Optional[str] = None,
    ) -> t.VerifiedLock:
        """Checks a fencing token right before a write: valid, or lease_lost (410) when the lock expired, was
        released or passed to another.
        """
        members = {
            "fencing_token": fencing_token,
            "file_path": file_path,
        }
        return self._call("POST", "/locks/verify", True, members, request_key)

    def who_is_active(
        self,
        *,
        capability: Optional[str] = None,
        limit: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.Agents:
        """Who works in this project now, on what, holding how many locks and tasks. Call it before asking or
        messaging somebody.
        """
        members = {
            "capability": capability,
            "limit": limit,
        }
        return self._call("GET", "/discovery/active", False, members, request_key)

    def whoami(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.WhoAmI:
        """Says what the service makes of this call: principal, scopes, project, agent and session."""
        members = {
        }
        return self._call("GET", "/whoami", False, members, request_key)

    def why_not_ready(
        self,
        *,
        task_id: str,
        request_key: Optional[str] = None,
    ) -> t.WhyNotReady:
        """Says what a task waits for: dependencies, a time, its claimant, or an agent that meets its demands."""
        members = {
            "task_id": task_id,
        }
        return self._call("GET", "/work/why/{task_id}", False, members, request_key)

    def why_run(
        self,
        *,
        run_id: str,
        request_key: Optional[str] = None,
    ) -> t.RunWhy:
        """Says what a run waits for: its session, a time, its turn, or a runner; and for each runner what it
        lacks.
        """
        members = {
            "run_id": run_id,
        }
        return self._call("GET", "/runs/{run_id}/why", False, members, request_key)

    def work_stats(
        self,
        *,
        request_key: Optional[str] = None,
    ) -> t.WorkStats:
        """How many tasks are ready (by type and demands), blocked, scheduled and in work, and how the latest
        ended.
        """
        members = {
        }
        return self._call("GET", "/work/stats", False, members, request_key)

    def working_get(
        self,
        *,
        limit: Optional[int] = None,
        originals: Optional[bool] = None,
        request_key: Optional[str] = None,
    ) -> t.Working:
        """What the session has in mind, oldest first, within its token budget."""
        members = {
            "limit": limit,
            "originals": originals,
        }
        return self._call("GET", "/memory/working", False, members, request_key)

    def working_update(
        self,
        *,
        context_item: Dict[str, Any],
        token_budget: Optional[int] = None,
        request_key: Optional[str] = None,
    ) -> t.WorkingUpdated:
        """Adds an item to what the session has in mind. Over the token budget older items are shortened; pinned
        and recent ones stay whole, and every original stays readable.
        """
        members = {
            "context_item": context_item,
            "token_budget": token_budget,
        }
        return self._call("POST", "/memory/working/update", True, members, request_key)

    def write_handoff(
        self,
        *,
        summary: str,
        completed_work: Optional[List[Any]] = None,
        decisions: Optional[List[Any]] = None,
        in_progress: Optional[List[Any]] = None,
        next_steps: Optional[List[Any]] = None,
        relevant_files: Optional[List[Any]] = None,
        to: Optional[str] = None,
        request_key: Optional[str] = None,
    ) -> t.WrittenHandoff:
        """Leaves a structured summary for the next session."""
        members = {
            "summary": summary,
            "completed_work": completed_work,
            "decisions": decisions,
            "in_progress": in_progress,
            "next_steps": next_steps,
            "relevant_files": relevant_files,
            "to": to,
        }
        return self._call("POST", "/handoffs/write", True, members, request_key)
