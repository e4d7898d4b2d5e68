"""The client of Agent Coordinator's HTTP API, over urllib alone.

A lost race (a path is held, no work is waiting) is an answer with ``success`` false. A failure is ``CoordinatorError``;
its ``code`` is stable, and ``unavailable`` means "cannot tell", never "nothing there". Changes carry an Idempotency-Key,
the same for all tries, so each happens once however often it is sent.
"""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional

from .operations import Operations


class CoordinatorError(Exception):
    """A failure that the service answered, or a service that cannot be reached."""

    def __init__(self, problem: Dict[str, Any]):
        self.code: str = problem.get("code") or "internal"
        self.status: int = int(problem.get("status") or 500)
        self.what: str = problem.get("what") or problem.get("title") or "the call failed"
        self.why: str = problem.get("why") or ""
        self.next: str = problem.get("next") or ""
        self.field: str = problem.get("field") or ""
        self.retryable: bool = bool(problem.get("retryable"))
        self.retry_after: float = float(problem.get("retry_after") or 0)
        self.request_id: str = problem.get("request_id") or ""
        super().__init__(self.code + ": " + self.what + (" (" + self.why + ")" if self.why else "") + ("; " + self.next if self.next else ""))


class LockRefused(Exception):
    """Others hold the path; ``result`` names them."""

    def __init__(self, result: Dict[str, Any]):
        self.result = result
        super().__init__("%s is locked by %s until %s" % (result.get("file_path"), result.get("locked_by"), result.get("expires_at")))


class LeaseLost(Exception):
    """A lock or a task was lost: whoever works under it must stop writing."""


class Failed(Exception):
    """Raised by a worker's function: the task failed for good and is not tried again."""


CODES = {401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 410: "lease_lost", 413: "too_large", 429: "exhausted", 502: "unavailable", 503: "unavailable", 504: "unavailable"}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects would carry the key to another host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class AgentCoordinationClient(Operations):
    """Calls the service at ``url``. It is safe for use by several threads."""

    def __init__(
        self,
        url: str,
        api_key: str = "",
        *,
        agent_id: str = "",
        agent_type: str = "",
        session_id: str = "",
        project: str = "",
        repository: str = "",
        retries: int = 3,
        timeout: float = 30.0,
    ):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("the service's address %r is not like http://127.0.0.1:8765" % url)
        self._url = url.rstrip("/")
        self._retries, self._timeout = max(retries, 0), timeout
        self._headers = {"Accept": "application/json", "User-Agent": "agent-coordinator-python"}
        for name, value in (
            ("X-Api-Key", api_key), ("X-Agent-Id", agent_id), ("X-Agent-Type", agent_type), ("X-Session-Id", session_id),
            ("X-Project", project), ("X-Repository", repository),
        ):
            if value:
                self._headers[name] = value
        self._opener = urllib.request.build_opener(_NoRedirect())

    def _call(self, method: str, path: str, body: bool, members: Dict[str, Any], request_key: Optional[str]) -> Any:
        members = {name: value for name, value in members.items() if value is not None}
        key = request_key or uuid.uuid4().hex
        timeout = self._timeout + float(members.get("wait_seconds") or 0)
        target, data = self._address(method, path, body, members, key)
        for attempt in range(self._retries + 1):
            try:
                return self._send(method, target, data, key, timeout)
            except CoordinatorError as err:
                if attempt == self._retries or not (err.retryable or err.status >= 500):
                    raise
                pause = min(0.1 * 2**attempt, 5.0) * random.uniform(0.5, 1.0)
                time.sleep(max(pause, min(err.retry_after, 30.0)))

    def _address(self, method: str, path: str, body: bool, members: Dict[str, Any], key: str) -> Any:
        target = path
        for name in list(members):
            for hole, safe in (("{%s}" % name, ""), ("{+%s}" % name, "/")):
                if hole in target:
                    if members[name] == "":
                        raise ValueError(name + " is needed")
                    target = target.replace(hole, urllib.parse.quote(str(members.pop(name)), safe=safe))
                    break
        if body:
            members = members or {"request_key": key}  # an empty body is taken for a probe
            return target, json.dumps(members).encode()
        if members:
            target += "?" + urllib.parse.urlencode({n: v if isinstance(v, str) else json.dumps(v) for n, v in members.items()})
        return target, None

    def _send(self, method: str, target: str, data: Optional[bytes], key: str, timeout: float) -> Any:
        headers = dict(self._headers)
        if data is not None:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(self._url + target, data=data, method=method, headers=headers)
        try:
            with self._opener.open(request, timeout=timeout) as reply:
                text = reply.read()
            return json.loads(text) if text else {}
        except urllib.error.HTTPError as err:
            with err:
                raise CoordinatorError(_problem(err.code, err.read(), err.headers.get("Retry-After"))) from None
        except json.JSONDecodeError:
            raise CoordinatorError({"code": "internal", "status": 200, "what": "the reply is no JSON", "next": "check that the address is that of the service"}) from None
        except OSError as err:  # URLError and timeouts too
            raise CoordinatorError({
                "code": "unavailable", "status": 503, "what": "the service cannot be reached", "why": str(err), "retryable": True,
                "next": "check that it runs (coordctl status) and try again; this does not mean that there is nothing",
            }) from None

    @contextmanager
    def with_lock(self, file_path: Optional[str] = None, *, file_paths: Optional[List[str]] = None, ttl_minutes: int = 2, **more: Any) -> Iterator["HeldLock"]:
        """Holds locks while the block runs, renewing them every third of their TTL.

        Raises LockRefused when others hold a path, and LeaseLost at the end of a block whose lock was lost; ``held.lost`` is set
        as soon as that is known. A lock that the session held before is renewed and left to its holder.
        """
        asked = time.monotonic()
        got = self.acquire_lock(file_path=file_path, file_paths=file_paths, ttl_minutes=ttl_minutes, **more)
        if not got["success"]:
            raise LockRefused(got)  # type: ignore[arg-type]
        more.pop("wait_seconds", None)

        def renew() -> None:
            again = self.acquire_lock(file_path=file_path, file_paths=file_paths, ttl_minutes=ttl_minutes, **more)
            if not again["success"] or again.get("fencing_token") != got.get("fencing_token") or again.get("locks") != got.get("locks"):
                raise LeaseLost("the lock on %s was lost" % got.get("file_path"))

        held = HeldLock(got.get("file_path", ""), got.get("fencing_token", ""), list(got.get("locks") or []))
        keeper = _Keeper(renew, self._lease or ttl_minutes * 60.0, asked + float(got.get("waited_ms") or 0) / 1000, held.lost)
        try:
            yield held
        finally:
            keeper.stop()
            if got.get("action") != "refreshed":
                try:
                    self.release_lock(file_path=file_path, file_paths=file_paths, branch=more.get("branch"))
                except CoordinatorError:
                    pass  # it ends by itself
        if held.lost.is_set():
            raise LeaseLost("the lock on %s was lost while it was needed" % held.file_path)

    _lease: float = 0.0  # seconds; tests shorten it


def _problem(status: int, text: bytes, retry_after: Optional[str]) -> Dict[str, Any]:
    try:
        problem = json.loads(text)
        if isinstance(problem, dict) and problem.get("code"):
            problem.setdefault("status", status)
            return problem
    except ValueError:
        pass
    code = CODES.get(status, "invalid" if 400 <= status < 500 else "internal")
    return {
        "code": code, "status": status, "what": "the service answered %d" % status, "retryable": code in ("unavailable", "exhausted"),
        "retry_after": int(retry_after) if (retry_after or "").isdigit() else 0,
    }


class HeldLock:
    """What a block under with_lock holds. Send fencing_token along with writes."""

    def __init__(self, file_path: str, fencing_token: str, locks: List[Any]):
        self.file_path, self.fencing_token, self.locks = file_path, fencing_token, locks
        self.lost = threading.Event()


class _Keeper:
    """Renews a lease every third of it until it is stopped; sets lost when that fails for good."""

    def __init__(self, renew: Callable[[], Any], lease: float, began: float, lost: threading.Event):
        self._renew, self._lease, self._began, self._lost = renew, lease, began, lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agent-coordinator-renewal", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._lease / 3):
            asked = time.monotonic()
            try:
                self._renew()
                self._began = asked
            except LeaseLost:
                self._lost.set()
            except CoordinatorError as err:
                if err.code == "lease_lost" or time.monotonic() > self._began + self._lease:
                    self._lost.set()
            if self._lost.is_set():
                return

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(5)


class Worker:
    """Takes tasks and does them until stop() is called.

    ``do`` gets the task and an Event that is set when the task is lost or the worker must give it up; what it returns (a
    dictionary) is the task's result. An exception sends the task back while attempts remain, Failed ends it for good.
    """

    def __init__(
        self,
        client: AgentCoordinationClient,
        do: Callable[[Dict[str, Any], threading.Event], Optional[Dict[str, Any]]],
        *,
        task_types: Optional[List[str]] = None,
        tags: Optional[List[str]] = None,
        lease_seconds: int = 300,
        drain_seconds: float = 30.0,
        on_error: Callable[[str, Exception], None] = lambda task, err: None,
    ):
        self._client, self._do, self._types, self._tags = client, do, task_types, tags
        self._lease, self._drain, self._on_error = lease_seconds, drain_seconds, on_error
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Takes no more tasks. The one under way may go on for drain_seconds, then it is given back."""
        self._stopping.set()

    def run(self) -> None:
        """Works until stop() is called. Outlives outages; raises when the service refuses the worker."""
        while not self._stopping.is_set():
            try:
                # Claims wait a little only, so that stop() is heard soon.
                got = self._client.get_work(task_types=self._types, tags=self._tags, wait_seconds=2, lease_seconds=max(self._lease, 10))
            except CoordinatorError as err:
                self._on_error("", err)
                if not err.retryable and err.status < 500:
                    raise
                self._stopping.wait(1)
                continue
            if got.get("success") and got.get("task_id"):
                self._one(dict(got))

    def _one(self, task: Dict[str, Any]) -> None:
        task_id, token = task["task_id"], task.get("lease_token")
        give_up = threading.Event()
        lost = threading.Event()

        def renew() -> None:
            if self._client.heartbeat_work(task_id=task_id, lease_token=token)["success"]:
                return
            raise LeaseLost(task_id)

        keeper = _Keeper(renew, self._lease, time.monotonic(), lost)
        outcome: Dict[str, Any] = {}

        def work() -> None:
            try:
                outcome["result"] = self._do(task, give_up)
            except Exception as err:  # a defect of one task ends that task, not the worker
                outcome["error"] = err

        thread = threading.Thread(target=work, name="agent-coordinator-task", daemon=True)
        thread.start()
        until: Optional[float] = None
        while thread.is_alive():
            thread.join(0.1)
            if self._stopping.is_set() and until is None:
                until = time.monotonic() + self._drain
            if lost.is_set() or (until is not None and time.monotonic() > until):
                give_up.set()
                thread.join(5)
                break
        keeper.stop()
        try:
            self._report(task_id, token, outcome, lost.is_set(), give_up.is_set())
        except CoordinatorError as err:
            self._on_error(task_id, err)

    def _report(self, task_id: str, token: Optional[str], outcome: Dict[str, Any], lost: bool, given_up: bool) -> None:
        err = outcome.get("error")
        if lost:  # it is somebody else's now
            self._on_error(task_id, LeaseLost("task %s was lost" % task_id))
        elif "result" in outcome:
            self._client.complete_work(task_id=task_id, success=True, result=outcome["result"] or {}, lease_token=token)
        elif given_up:
            self._client.release_work(task_id=task_id, reason="the worker stops", lease_token=token)
        else:
            self._on_error(task_id, err)
            self._client.complete_work(
                task_id=task_id, success=False, error_message=str(err) or type(err).__name__, retryable=not isinstance(err, Failed), lease_token=token
            )
