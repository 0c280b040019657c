import type { DialRequest } from '@meup/agent-sdk'
import { brief, createProposalFold, type ProposalView, reasonText } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { readLog } from '../reading.js'
import { isOpen, settling } from '../trust/proposal-list.js'
import { argumentsText, outcomeText } from '../trust/proposal-text.js'

/** Characters of the arguments and of a text. */
const longest = 2000

/** What waits for a decision: what the log has of before, and what comes. */
export class Pending {
  readonly #self: string
  #fold = createProposalFold()
  readonly #proposals = new Map<string, ProposalView>()
  /** What came before the log was read. */
  #early: AnyEnvelope[] | undefined = []

  constructor(self: string) {
    this.#self = self
  }

  /** Reads what was proposed before; what comes meanwhile counts as well, once. */
  async read(at: DialRequest): Promise<void> {
    try {
      for await (const envelope of readLog(at, { kind: settling.join() })) this.#apply(envelope)
    } finally {
      const early = this.#early ?? []
      this.#early = undefined
      for (const envelope of early) this.#apply(envelope)
    }
  }

  take(envelope: AnyEnvelope): void {
    if (!settling.includes(envelope.kind)) return
    if (this.#early === undefined) this.#apply(envelope)
    else this.#early.push(envelope)
  }

  /** The log is another one now. */
  restart(): void {
    this.#fold = createProposalFold()
    this.#proposals.clear()
  }

  /** What one may still decide, oldest first. */
  list(now = Date.now()): ProposalView[] {
    const own = (each: ProposalView): boolean => each.rejections.some(({ by }) => by === this.#self)
    return [...this.#proposals.values()].filter((each) => isOpen(each, now) && !own(each))
  }

  /** On a line, for who looks on; `undefined` = nothing waits. */
  summary(): string | undefined {
    const open = this.list()
    const latest = open.at(-1)
    if (latest === undefined) return undefined
    const { source, rationale } = latest
    return `⚠ ${open.length} pending · ${source.from}: ${targetOf(latest)} — ${brief(reasonText(rationale), 60)} · Ctrl+P`
  }

  /** In full: what is to be done, why, what it takes, and how it stands. */
  lines(now = Date.now()): string[] {
    const open = this.list(now)
    if (open.length === 0) return ['no proposal waits for a decision']
    return open.flatMap((each) => [
      `⚠ ${each.source.from} proposes ${targetOf(each)}`,
      `    ${argumentsText(each.parameters, longest)}`,
      `    why: ${brief(reasonText(each.rationale), longest)}`,
      `    takes: mcp.request to ${each.source.to?.join(', ') ?? 'everyone'}, ${brief(each.tool, 128)} · ${outcomeText(each, now)}`,
      `    /approve ${each.id} · /reject ${each.id} <why>`,
    ])
  }

  #apply(envelope: AnyEnvelope): void {
    for (const changed of this.#fold.apply(envelope)) {
      if (changed.usesLeft > 0 && changed.withdrawal === null) this.#proposals.set(changed.id, changed)
      else this.#proposals.delete(changed.id)
    }
  }
}

const targetOf = ({ source, tool }: ProposalView): string =>
  [...(source.to === undefined ? [] : [source.to.join(',')]), brief(tool, 128)].join('/')
