import { setTimeout as delay } from 'node:timers/promises'
import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { type AnyEnvelope, ConnectionError, type SpaceClient, type SpaceEvents } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { thoughtChunk } from './content.js'
import { editorError } from './errors.js'
import type { Permissions } from './permissions.js'
import type { ToolKinds } from './tool-calls.js'
import { TurnUpdates } from './turn-updates.js'

interface PromptParts {
  readonly space: SpaceClient
  readonly permissions: Permissions
  readonly kinds: ToolKinds
  readonly notify: (update: SessionUpdate) => void
}

interface Prompt {
  /** The client's session id. */
  readonly session: string
  /** The id of the chat that asks the agent. */
  readonly id: string
  readonly agent: string
  readonly text: string
}

/**
 * Milliseconds to wait for an answer after the agent's run has ended without one; maximum milliseconds to wait until a
 * retraction is sent.
 */
const [graceMs, takeBackMs] = [2000, 1000]

/**
 * Asks an agent, and sends its turn to the client until it has answered. An abort retracts the question. Survives a restart of
 * the gateway. Rejects if the question is rejected, the client is closed, or the log was replaced.
 */
export async function runPrompt(
  parts: PromptParts,
  prompt: Prompt,
  signal: AbortSignal,
): Promise<StopReason> {
  const { space, permissions, notify } = parts
  const { session, id, agent, text } = prompt
  const turn = new TurnUpdates({ id, from: space.id, agent }, parts.kinds)
  const over = new AbortController()
  let isAsked = false
  const ended = new Promise<StopReason>((resolve, reject) => {
    let grace: ReturnType<typeof setTimeout> | undefined
    const onEnvelope = (envelope: AnyEnvelope): void => {
      for (const update of turn.apply(envelope)) notify(update)
      if (turn.proposals.includes(envelope.id)) permissions.ask(session, envelope.id, over.signal)
      const { state, givenUp = null } = turn.end ?? {}
      if (givenUp !== null) grace ??= setTimeout(() => resolve('end_turn'), graceMs)
      else if (state !== undefined) resolve(state === 'takenBack' ? 'cancelled' : 'end_turn')
      else if (grace !== undefined) {
        clearTimeout(grace)
        grace = undefined
      }
    }
    const onClosed = (error: Error | undefined): void =>
      reject(error ?? new ConnectionError('closed', 'the connection to the space was closed'))
    const onLost = (): void => reject(editorError('replaced', {}))
    // Rejects if the agent's program has ended without an answer. If the end of the program has also ended the run, the turn
    // has ended too, and the text of its end explains why: then there is nothing to reject.
    const onUnanswered = ({ id: asked, agent: gone }: SpaceEvents['unanswered'][0]): void => {
      if (asked === id && turn.end === undefined) reject(editorError('program_ended', { agent: gone }))
    }
    const onAbort = (): void => resolve('cancelled')
    space.on('envelope', onEnvelope).on('closed', onClosed).on('lost', onLost).on('unanswered', onUnanswered)
    signal.addEventListener('abort', onAbort)
    over.signal.addEventListener('abort', () => {
      clearTimeout(grace)
      space.off('envelope', onEnvelope).off('closed', onClosed).off('lost', onLost)
      space.off('unanswered', onUnanswered)
      signal.removeEventListener('abort', onAbort)
    })
    if (signal.aborted) onAbort()
    if (space.ended !== undefined) onClosed(space.ended.error)
    permissions.askAll(session, over.signal)
    const ask = async (): Promise<void> => {
      await whenHere(parts, agent, over.signal)
      isAsked = true
      const payload = { message: text, format: 'markdown' }
      await space.sendWhenAllowed({ kind: Kind.chat, id, to: [agent], payload }, over.signal)
    }
    ask().catch(reject)
  })
  try {
    const reason = await ended
    if (signal.aborted && isAsked) await takeBack(space, prompt)
    return reason
  } finally {
    over.abort('the prompt has ended')
    for (const proposal of turn.proposals) permissions.follow(session, proposal)
    for (const update of turn.close()) notify(update)
  }
}

/** Waits until the agent is present: agents do not receive messages that were sent while they were away. */
async function whenHere({ space, notify }: PromptParts, agent: string, signal: AbortSignal): Promise<void> {
  if (!space.participants.some(({ id, status }) => id === agent && status === 'away')) return
  notify(thoughtChunk(`waiting for ${agent} to join`))
  await space.whenPresent([agent], { signal, timeoutMs: Number.POSITIVE_INFINITY })
}

async function takeBack(space: SpaceClient, { id, agent }: Prompt): Promise<void> {
  const payload = { reason: 'the asker has cancelled it' }
  const draft = { kind: Kind.chatCancel, to: [agent], correlationId: id, payload }
  if (!space.can(draft)) return
  // Waits only for a limited time: if the gateway is unreachable, the client sends the retraction after reconnecting.
  await Promise.race([space.send(draft).catch(() => {}), delay(takeBackMs, undefined, { ref: false })])
}
