import { ConnectionError } from '@meup/agent-sdk'
import { omitUndefined } from '@meup/protocol'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { serveTexts } from '../errors.js'
import { textResult } from '../results.js'
import type { SpaceService } from '../service.js'
import { addressees, addTool, describeTool, message, type OwnTools } from './tool.js'

interface SendArgs {
  readonly message: string
  readonly to?: readonly string[]
  readonly reply_to?: string
}

/** Milliseconds to wait until a message is in the log, including reconnects. */
const sendTimeoutMs = 60_000

const sending = describeTool<SendArgs>({
  title: 'Say something',
  description: 'Sends a message to the space without waiting for an answer; answers are in the transcript.',
  input: {
    message,
    to: addressees,
    reply_to: { type: 'string', description: 'id of the message that this answers' },
  },
  required: ['message'],
  annotations: { openWorldHint: true, destructiveHint: false },
})

export function addSendTool(tools: OwnTools, { space }: SpaceService): void {
  addTool(
    tools,
    'send',
    sending,
    async ({ message: text, to, reply_to: correlationId }, { mcpReq }): Promise<CallToolResult> => {
      const sent = space.chat(text, {
        ...(to && { to }),
        ...omitUndefined({ correlationId }),
      })
      const { id, seq } = await withTimeout(sent, mcpReq.signal)
      return textResult([`said as ${space.id}, seq ${seq}, id ${id}`], { id, seq })
    },
  )
}

/** Adds a timeout to sending. It does not cancel the message, which may still be sent after a reconnect. */
function withTimeout<Value>(sending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(sendTimeoutMs)])
    const late = new ConnectionError('timeout', serveTexts.unsent)
    giveUp.addEventListener('abort', () => reject(late), { once: true })
    sending.then(resolve, reject)
  })
}
