import type { McpServer } from '@modelcontextprotocol/server'
import { decideBy } from './decide.js'
import type { Desk } from './desk.js'
import { formOf, hasForms } from './elicitation.js'
import { explain } from './failures.js'
import { onceClosed } from './subscriptions.js'

/** The SDK needs a limit; people take their time, and what is decided elsewhere ends the form. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Puts what this identity may approve to the user of a client that can show forms: one proposal after the other, each
 * once, as long as the client stays. Who dismisses the form has decided nothing.
 */
export function putApprovals(server: McpServer, desk: Desk): void {
  const gone = new AbortController()
  onceClosed(server, () => gone.abort('the client has gone'))
  server.server.oninitialized = () => {
    if (!hasForms(server.server.getClientCapabilities()?.elicitation)) return
    putAll(server, desk, gone.signal).catch((error: unknown) => desk.log(`no more is put: ${explain(error)}`))
  }
}

async function putAll(server: McpServer, desk: Desk, gone: AbortSignal): Promise<void> {
  const { approvals } = desk
  const seen = new Set<string>()
  for (
    let next = await approvals.next(seen, gone);
    next !== undefined;
    next = await approvals.next(seen, gone)
  ) {
    seen.add(next.id)
    await putOne(server, desk, next.id, gone)
  }
}

async function putOne(server: McpServer, desk: Desk, id: string, gone: AbortSignal): Promise<void> {
  const { approvals, log } = desk
  const settled = approvals.settled(id)
  const signal = AbortSignal.any([gone, settled.signal])
  try {
    const form = formOf(approvals.view(id), approvals.mayReject(id))
    const { action, content } = await server.server.elicitInput(form, { signal, timeout: longestTimerMs })
    if (action === 'accept') decideBy(desk, id, content)
  } catch (error) {
    if (!signal.aborted) log(`the proposal ${id} was not decided by the user: ${explain(error)}`)
  } finally {
    settled.close()
  }
}
