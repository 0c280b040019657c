import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '@meup/folds'
import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  RELATED_TASK_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { markNumbers } from '../../exact-numbers.js'
import { serveError } from '../errors.js'
import { formatCodedError } from '../results.js'
import type { SpaceService } from '../service.js'
import { askNow } from './follow-call.js'
import { cancelRecalled, type RecalledTask, recallTask } from './recall-task.js'
import { pollMs, type Task, type TaskState } from './tasks.js'

/** The task capabilities of a server in revision 2025-11-25. */
export const tasksCapability = { list: {}, cancel: {}, requests: { tools: { call: {} } } }

const params = fromJsonSchema<{ taskId: string }>({
  type: 'object',
  properties: { taskId: { type: 'string' } },
  required: ['taskId'],
})
const noParams = fromJsonSchema<object>({ type: 'object' })

/** Serves the methods `tasks/*` of revision 2025-11-25. Later revisions have another extension for tasks. */
export function serveTasks(server: McpServer, service: SpaceService): void {
  const { tasks, space } = service
  const { server: protocol } = server
  protocol.setRequestHandler('tasks/get', { params }, async ({ taskId }) => {
    const { state } = tasks.get(taskId) ?? (await recall(service, taskId))
    return { ...state }
  })
  protocol.setRequestHandler('tasks/list', { params: noParams }, async () => ({ tasks: tasks.list() }))
  protocol.setRequestHandler('tasks/cancel', { params }, async ({ taskId }) => {
    const task = tasks.get(taskId)
    const recalled = task === undefined ? await recall(service, taskId) : undefined
    const { status } = (task ?? recalled)?.state ?? {}
    if (status !== 'working' && status !== 'input_required')
      throw serveError('task_over', { task: taskId, status: String(status) })
    task?.cancel(cancelReason)
    if (recalled === undefined) return { ...task?.state }
    await cancelRecalled(space, recalled, cancelReason)
    return { ...recalled.state, status: 'cancelled', statusMessage: cancelReason }
  })
  protocol.setRequestHandler('tasks/result', { params }, async ({ taskId }, context) => {
    const task = tasks.get(taskId)
    const result = task
      ? await followTask(server, service, task, context)
      : await whenRecalled(service, taskId, context.mcpReq.signal)
    return markNumbers({ ...result, _meta: { ...result._meta, [RELATED_TASK_META_KEY]: { taskId } } })
  })
}

const cancelReason = 'the asker has cancelled it'

/** Notifies the client that a task has changed. */
export function sendTaskStatus({ server }: McpServer, { log }: SpaceService, state: TaskState): void {
  if (server.transport === undefined) return
  // The SDK's types do not contain task methods, but it accepts them.
  const notification = { method: 'notifications/tasks/status', params: { ...state } }
  server
    .notification(notification as unknown as Parameters<typeof server.notification>[0])
    .catch((error: unknown) => log(`the state of a task could not be sent: ${formatCodedError(error)}`))
}

/** Waits for the result of a task. In the meantime, forwards its elicitations to the user of the waiting client. */
async function followTask(
  server: McpServer,
  { log }: SpaceService,
  task: Task,
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const ask = askNow(server, mcpReq.id)
  const { taskId } = task.state
  for (let asked = await task.next(); asked !== undefined; asked = await task.next()) {
    const { params: form, signal, answer } = asked
    const _meta = { ...(isObject(form._meta) && form._meta), [RELATED_TASK_META_KEY]: { taskId } }
    try {
      answer(await ask({ ...form, _meta }, AbortSignal.any([signal, mcpReq.signal])))
    } catch (error) {
      if (mcpReq.signal.aborted) throw error // The elicitation stays open until the client requests the result again.
      log(`a question of the task ${taskId} has no answer: ${formatCodedError(error)}`)
      answer({ action: 'cancel' })
    }
  }
  const result = await task.result
  if (task.state.status === 'cancelled') throw serveError('task_cancelled', { task: taskId })
  return result
}

async function recall(service: SpaceService, taskId: string): Promise<RecalledTask> {
  const recalled = await recallTask(service, taskId)
  if (recalled !== undefined) return recalled
  throw serveError('unknown_task', { task: taskId })
}

async function whenRecalled(
  service: SpaceService,
  taskId: string,
  signal: AbortSignal,
): Promise<CallToolResult> {
  for (;;) {
    const { state, result } = await recall(service, taskId)
    if (result !== undefined) return result
    if (state.status === 'cancelled') throw serveError('task_cancelled', { task: taskId })
    await sleep(pollMs, undefined, { signal })
  }
}
