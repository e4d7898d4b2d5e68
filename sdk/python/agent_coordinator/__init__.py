"""Python SDK of Agent Coordinator: locks, work and messages for agents that share code."""

from .client import AgentCoordinationClient, CoordinatorError, Failed, HeldLock, LeaseLost, LockRefused, Worker

__all__ = ["AgentCoordinationClient", "CoordinatorError", "Failed", "HeldLock", "LeaseLost", "LockRefused", "Worker"]
__version__ = "0.1.0"
