import type { DialRequest, SpaceClient } from '@meup/agent-sdk'
import { brief } from '@meup/folds'
import { ProtocolError } from '@meup/protocol'
import { type ConnectionFlags, enter } from '../connection.js'
import { chosen } from '../trust/chosen.js'
import { openProposal, readProposals } from '../trust/proposal-list.js'

/** Milliseconds that a tool may take for what was approved. */
const patienceMs = 60_000

/** Decides proposals in the place of whoever types. `flags` and `at` say where. */
export class Decisions {
  readonly #space: SpaceClient
  readonly #flags: ConnectionFlags
  readonly #at: DialRequest

  constructor(space: SpaceClient, flags: ConnectionFlags, at: DialRequest) {
    this.#space = space
    this.#flags = flags
    this.#at = at
  }

  /** Does what was proposed; `isAlways`: and lets its proposer do the same from now on. Gives a line for people. */
  approve(start: string, isAlways: boolean): Promise<string> {
    return this.#with(start, async (space, id) => {
      if (isAlways) {
        const { recipient, id: grant } = await space.proposals.allowAlways(id)
        return `✓ approved; ${recipient} may do the same from now on (grant ${grant})`
      }
      const { content, isError } = await space.proposals.approve(id, { timeoutMs: patienceMs })
      const blocks = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : []
      const text = blocks.flatMap((block) => (typeof block?.text === 'string' ? block.text : [])).join(' ')
      return isError === true
        ? `✗ the tool failed: ${brief(text, 200)}`
        : `✓ approved: ${brief(text || 'done', 200)}`
    })
  }

  reject(start: string, why: string): Promise<string> {
    return this.#with(start, async (space, id) => {
      await space.proposals.reject(id, { reason: 'disagree', ...(why !== '' && { message: why }) })
      return '✓ rejected'
    })
  }

  /** Where the proposal is older than this connection, another one is shown it to the letter. */
  async #with(start: string, act: (space: SpaceClient, id: string) => Promise<string>): Promise<string> {
    const known = chosen(this.#space.proposals.list(), start, 'proposal')
    if (known !== undefined) return act(this.#space, known.id)
    const { id, source } = openProposal(await readProposals(this.#at), start, Date.now())
    const space = await enter(this.#flags, { after: source.seq - 1 })
    try {
      if (space.welcome.resume.from > source.seq)
        throw new ProtocolError('proposal_not_found', `${id} is pruned`)
      for await (const envelope of space.envelopes()) if (envelope.id === id) break
      return await act(space, id)
    } finally {
      space.close()
    }
  }
}
