export * from "./types.js";
import type { AcquireLock, CallOptions, LockResult, Operations, Work } from "./types.js";

export interface ClientOptions {
  agentId?: string;
  agentType?: string;
  sessionId?: string;
  project?: string;
  repository?: string;
  /** tries after the first when the service is away; 3 unless set */
  retries?: number;
}

export class CoordinatorError extends Error {
  code: "invalid" | "unauthenticated" | "forbidden" | "not_found" | "conflict" | "lease_lost" | "too_large" | "exhausted" | "internal" | "unavailable";
  status: number;
  what: string;
  why: string;
  next: string;
  field: string;
  retryable: boolean;
  /** seconds */
  retryAfter: number;
  requestId: string;
}

export class LockRefused extends Error {
  result: LockResult;
}

export class LeaseLost extends Error {}

export class Failed extends Error {
  constructor(message?: string, options?: { cause?: unknown });
}

export interface HeldLock {
  /** aborted with LeaseLost when the lock is lost */
  signal: AbortSignal;
  filePath: string;
  /** send it along with writes */
  fencingToken: string;
  locks: NonNullable<LockResult["locks"]>;
}

export interface AgentCoordinationClient extends Operations {}
export class AgentCoordinationClient {
  constructor(url: string, apiKey?: string, options?: ClientOptions);
  call(method: string, path: string, hasBody: boolean, members?: Record<string, unknown>, options?: CallOptions): Promise<any>;
  withLock<T>(members: AcquireLock, fn: (held: HeldLock) => T | Promise<T>, options?: { signal?: AbortSignal }): Promise<T>;
}

export interface WorkerOptions {
  taskTypes?: string[];
  tags?: string[];
  /** seconds without a sign of life after which a task goes to another; 300 unless set */
  leaseSeconds?: number;
  /** seconds that the task under way may go on after the worker was told to stop; 30 unless set */
  drainSeconds?: number;
  onError?: (taskId: string, error: Error) => void;
}

export class Worker {
  constructor(client: AgentCoordinationClient, work: (task: Work, context: { signal: AbortSignal }) => unknown, options?: WorkerOptions);
  run(options?: { signal?: AbortSignal }): Promise<void>;
}
