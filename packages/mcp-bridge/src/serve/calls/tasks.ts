import { Bounded } from '@meup/folds'
import { type AnyEnvelope, omitUndefined } from '@meup/protocol'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { serveError } from '../errors.js'
import type { Elicitation } from './calls.js'

/** Maximum open tasks per client, and maximum tasks of all clients that are kept. */
const [maxOpenTasks, maxKnownTasks] = [100, 1000]
/** Maximum characters of kept results. Results of older tasks are read from the log. */
const maxResultChars = 32 * 1024 * 1024
/** Milliseconds for which a task is kept at most, and the polling interval suggested to clients. */
export const [maxTtlMs, pollMs] = [24 * 60 * 60 * 1000, 1000]
/** Maximum characters of a status message. */
const maxStatusChars = 2000

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** The state of an MCP task of revision 2025-11-25. */
export interface TaskState {
  readonly taskId: string
  readonly status: Status
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds from the creation of the task until it may be removed. */
  readonly ttl: number
  readonly pollInterval: number
}

/** The work of a task: a call of a participant's tool, or a question to the space. */
export interface TaskWork {
  /** Never rejects: errors become results with `isError`, as for ordinary calls. */
  readonly result: Promise<CallToolResult>
  cancel(reason: string): void
  /** Resolves with the next elicitation for the user, or with `undefined` when the work has ended. */
  next?(): Promise<Elicitation | undefined>
}

/** Parameters for starting the work of a task. */
export interface TaskStart {
  /** Id of the task, and of the envelope that starts the work. */
  readonly id: string
  readonly timeoutMs: number
  onStatus(status: { readonly message?: string | undefined; readonly isInputRequired?: boolean }): void
}

/** An MCP task: work whose result is kept, so that its client can disconnect. */
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

  /** Changes the state of the task, unless it has ended. */
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
  /** Number of characters of the result. */
  chars: number
}

interface BeginOptions {
  readonly client: string
  readonly ttl: number | undefined
  readonly begin: (start: TaskStart) => Promise<TaskWork>
  readonly onChange: (state: TaskState) => void
}

/** The tasks of all clients, by the id of the envelope that started the work. */
export class Tasks {
  /**
   * Envelopes that started tasks of earlier processes of this server, by task id: found in the log once, and kept for the next
   * request.
   */
  readonly begun = new Bounded<AnyEnvelope>(maxKnownTasks)
  readonly #known = new Map<string, Known>()
  #resultChars = 0

  /** Starts a task. Throws `McpError` if the client has too many open tasks. Rejects like `begin`. */
  async begin(id: string, { client, ttl = maxTtlMs, begin, onChange }: BeginOptions): Promise<Task> {
    const open = [...this.#known.values()].filter((each) => each.client === client && each.task.isOpen)
    if (open.length >= maxOpenTasks) throw serveError('too_many_tasks', { limit: maxOpenTasks })
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

  /** The states of all tasks, oldest first. */
  list(): TaskState[] {
    return [...this.#known.values()].map(({ task }) => task.state)
  }

  /** Removes all tasks. Their work continues, and its results are in the log. */
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

  /** Removes the oldest finished task, or the oldest task if none is finished. */
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
