import { Bounded } from '@meup/folds'
import { type AnyEnvelope, omitUndefined } from '@meup/protocol'
import {
  type CallToolResult,
  ProtocolError as McpError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { Elicitation } from './calls.js'

/** Limits: open tasks per client, and remembered tasks in all. */
const [maxOpenTasks, maxKnownTasks] = [100, 1000]
/** Characters of kept results; those of older tasks are in the log. */
const maxResultChars = 32 * 1024 * 1024
/** Milliseconds that a task is kept, and the suggested polling interval. */
export const [maxTtlMs, pollMs] = [24 * 60 * 60 * 1000, 1000]
/** Characters of a status message. */
const maxStatusChars = 2000

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** An MCP task of revision 2025-11-25. */
export interface TaskState {
  readonly taskId: string
  readonly status: Status
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds since its creation. */
  readonly ttl: number
  readonly pollInterval: number
}

/** The work of a task. */
export interface TaskWork {
  /** Never rejects: as for an ordinary call, errors are results of the tool. */
  readonly result: Promise<CallToolResult>
  cancel(reason: string): void
  /** The next elicitation for the client's user; `undefined` once there is a result. */
  next?(): Promise<Elicitation | undefined>
}

/** The start of work. */
export interface TaskStart {
  /** Id of the task and of the envelope that begins the work. */
  readonly id: string
  readonly timeoutMs: number
  onStatus(status: { readonly message?: string | undefined; readonly isInputRequired?: boolean }): void
}

/** Work whose result is kept for its client. */
export class Task {
  readonly result: Promise<CallToolResult>
  #state: TaskState
  readonly #work: TaskWork
  readonly #onChange: (state: TaskState) => void

  constructor(state: TaskState, work: TaskWork, onChange: (state: TaskState) => void) {
    this.#state = state
    this.#work = work
    this.#onChange = onChange
    this.result = work.result
    work.result.then(
      () => this.update({ status: 'completed' }),
      () => this.update({ status: 'failed' }),
    )
  }

  get state(): TaskState {
    return this.#state
  }

  get isOpen(): boolean {
    return this.#state.status === 'working' || this.#state.status === 'input_required'
  }

  /** A finished task does not change. */
  update({ status, statusMessage }: Partial<Pick<TaskState, 'status' | 'statusMessage'>>): void {
    if (!this.isOpen) return
    this.#state = {
      ...this.#state,
      ...omitUndefined({ status }),
      ...(statusMessage !== undefined && {
        statusMessage: statusMessage.slice(0, maxStatusChars).toWellFormed(),
      }),
      lastUpdatedAt: new Date().toISOString(),
    }
    this.#onChange(this.#state)
  }

  cancel(reason: string): void {
    if (!this.isOpen) return
    this.update({ status: 'cancelled', statusMessage: reason })
    this.#work.cancel(reason)
  }

  next(): Promise<Elicitation | undefined> {
    return this.#work.next?.() ?? this.result.then(() => undefined)
  }
}

interface Known {
  readonly task: Task
  readonly client: string
  readonly timer: NodeJS.Timeout
  /** Characters of the result. */
  chars: number
}

interface BeginOptions {
  readonly client: string
  readonly ttl: number | undefined
  readonly begin: (start: TaskStart) => Promise<TaskWork>
  readonly onChange: (state: TaskState) => void
}

/** The tasks of all clients, by id of the envelope that began their work. */
export class Tasks {
  /** The first envelopes of earlier processes' tasks that were found in the log. */
  readonly begun = new Bounded<AnyEnvelope>(maxKnownTasks)
  readonly #known = new Map<string, Known>()
  #resultChars = 0

  /** Throws `McpError` if the client has too many tasks. Rejects like `begin`. */
  async begin(id: string, { client, ttl = maxTtlMs, begin, onChange }: BeginOptions): Promise<Task> {
    const open = [...this.#known.values()].filter((each) => each.client === client && each.task.isOpen)
    if (open.length >= maxOpenTasks) {
      const advice = 'Cancel some, or wait for their results.'
      throw new McpError(
        ProtocolErrorCode.InvalidParams,
        `This client has ${maxOpenTasks} open tasks. ${advice}`,
      )
    }
    const timeoutMs = Math.min(Math.max(ttl, 1), maxTtlMs)
    const now = new Date().toISOString()
    const times = { createdAt: now, lastUpdatedAt: now, ttl: timeoutMs, pollInterval: pollMs }
    const state: TaskState = { taskId: id, status: 'working', ...times }
    let task: Task | undefined
    const onStatus: TaskStart['onStatus'] = ({ message, isInputRequired }) =>
      task?.update({
        ...(isInputRequired !== undefined && { status: isInputRequired ? 'input_required' : 'working' }),
        ...omitUndefined({ statusMessage: message }),
      })
    task = new Task(state, await begin({ id, timeoutMs, onStatus }), onChange)
    this.#keep(id, task, client, timeoutMs)
    return task
  }

  get(id: string): Task | undefined {
    return this.#known.get(id)?.task
  }

  /** Oldest first. */
  list(): TaskState[] {
    return [...this.#known.values()].map(({ task }) => task.state)
  }

  /** Drops all tasks. Their work continues, with results in the log. */
  close(): void {
    for (const { timer } of this.#known.values()) clearTimeout(timer)
    this.#known.clear()
  }

  #keep(id: string, task: Task, client: string, ttl: number): void {
    const timer = setTimeout(() => this.#forget(id), ttl).unref()
    const known: Known = { task, client, timer, chars: 0 }
    this.#known.set(id, known)
    const count = (result: CallToolResult): void => {
      if (this.#known.get(id) !== known) return
      known.chars = JSON.stringify(result).length
      this.#resultChars += known.chars
      while (this.#resultChars > maxResultChars) this.#forgetOldest()
    }
    task.result.then(count, () => this.#forget(id))
    if (this.#known.size > maxKnownTasks) this.#forgetOldest()
  }

  /** Drops the oldest finished task, if any. */
  #forgetOldest(): void {
    const ids = [...this.#known.keys()]
    const oldest = ids.find((each) => this.get(each)?.isOpen === false) ?? ids[0]
    if (oldest !== undefined) this.#forget(oldest)
  }

  #forget(id: string): void {
    const known = this.#known.get(id)
    this.#known.delete(id)
    this.#resultChars -= known?.chars ?? 0
    clearTimeout(known?.timer)
    known?.task.cancel('its time is over')
  }
}
