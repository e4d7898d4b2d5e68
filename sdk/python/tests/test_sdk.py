"""Run against a real service: COORDINATION_API_URL and COORDINATION_API_KEY name it."""

import os
import sys
import threading
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from agent_coordinator import AgentCoordinationClient, CoordinatorError, Failed, LeaseLost, LockRefused, Worker

URL, KEY = os.environ["COORDINATION_API_URL"], os.environ["COORDINATION_API_KEY"]


def agent(name, **more):
    return AgentCoordinationClient(URL, KEY, agent_id=name, session_id=name, project=PROJECT, **more)


PROJECT = "python-" + uuid.uuid4().hex[:8]


class TestSDK(unittest.TestCase):
    def test_calls(self):
        ana, bob = agent("ana"), agent("bob")
        self.assertEqual(ana.whoami()["agent_id"], "ana")
        self.assertTrue(ana.acquire_lock(file_path="dir/a b&?.py")["success"])
        self.assertTrue(bob.lock_status(file_path="dir/a b&?.py")["locked"])
        self.assertFalse(bob.acquire_lock(file_path="dir/")["success"])
        sent = bob.send_message(to=["ana"], text="hello", request_key="one")
        self.assertEqual(bob.send_message(to=["ana"], text="hello", request_key="one")["message_id"], sent["message_id"])
        inbox = ana.list_messages()["messages"]
        self.assertEqual([m["from"] for m in inbox], ["bob"])
        self.assertTrue(ana.release_lock(all=True)["success"])
        with self.assertRaises(CoordinatorError) as e:
            ana.acquire_lock(file_path="../outside")
        self.assertEqual((e.exception.code, e.exception.status), ("invalid", 422))
        with self.assertRaises(CoordinatorError) as e:
            AgentCoordinationClient(URL, "wrong").whoami()
        self.assertEqual(e.exception.code, "unauthenticated")
        with self.assertRaises(CoordinatorError) as e:
            AgentCoordinationClient("http://127.0.0.1:1", retries=1).whoami()
        self.assertEqual(e.exception.code, "unavailable")
        with self.assertRaises(ValueError):
            AgentCoordinationClient("localhost")

    def test_limits_are_waited_out(self):
        made = agent("boss").create_key(name="limited " + PROJECT, rate_limit=1)  # ten at once, then one a second
        limited = AgentCoordinationClient(URL, made["secret"])
        began = time.monotonic()
        for _ in range(12):
            limited.list_projects()
        self.assertGreater(time.monotonic() - began, 0.9)
        with self.assertRaises(CoordinatorError) as e:
            for _ in range(3):
                AgentCoordinationClient(URL, made["secret"], retries=0).list_projects()
        self.assertEqual((e.exception.code, e.exception.status, e.exception.retry_after), ("exhausted", 429, 1))

    def test_lock(self):
        ana, bob = agent("ann"), agent("ben")
        ana._lease = 1.5  # renewed every half second
        with ana.with_lock("x.py", reason="mine") as held:
            self.assertTrue(held.fencing_token)
            with self.assertRaises(LockRefused) as refused:
                with bob.with_lock("x.py"):
                    self.fail("both hold it")
            self.assertEqual(refused.exception.result["locked_by"], "ann")
            self.assertFalse(held.lost.wait(1.2))
        with bob.with_lock(file_paths=["x.py", "y/"]) as held:
            self.assertEqual(len(held.locks), 2)
        with self.assertRaises(LeaseLost):
            with ana.with_lock("x.py") as held:
                ana.release_lock(file_path="x.py")  # as if it had expired
                bob.acquire_lock(file_path="x.py")
                self.assertTrue(held.lost.wait(20))
        bob.release_lock(all=True)

    def test_worker(self):
        c = agent("worker")
        ids = {k: c.submit_work(task_type=k, description=k, max_attempts=1)["task_id"] for k in ("good", "bad", "slow")}
        begun, errors = threading.Event(), []

        def do(task, give_up):
            if task["task_type"] == "bad":
                raise Failed("cannot be done")
            if task["task_type"] == "slow":
                begun.set()
                give_up.wait(30)
                raise RuntimeError("stopped")
            return {"did": task["description"]}

        w = Worker(c, do, drain_seconds=0.1, on_error=lambda task, err: errors.append((task, err)))
        thread = threading.Thread(target=w.run)
        thread.start()
        self.assertTrue(begun.wait(30))
        w.stop()
        thread.join(30)
        self.assertFalse(thread.is_alive())
        state = {k: c.get_task(task_id=i)["task"] for k, i in ids.items()}
        self.assertEqual((state["good"]["status"], state["good"]["result"]), ("completed", {"did": "good"}))
        self.assertEqual((state["bad"]["status"], state["bad"]["error_message"]), ("failed", "cannot be done"))
        self.assertIn("the worker stops", state["slow"]["error_message"])
        self.assertEqual([t for t, _ in errors], [ids["bad"]])


if __name__ == "__main__":
    unittest.main()
