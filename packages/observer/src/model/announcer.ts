import { cut, getToolName, onOneLine } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { nameText, textOf, withoutMarks } from './text.js'

/** What is told of one envelope. */
const longest = 120
/** What is told at once; of more only how many. */
const most = 3

/** What somebody who does not see the page is told: starts and ends of runs, and proposals; never what is thought. */
export class Announcer {
  #news: string[] = []

  take(envelope: Envelope): void {
    const text = newsOf(envelope)
    if (text !== undefined) this.#news.push(text)
  }

  /** All there is to tell since the last time; `''`: nothing. */
  tell(): string {
    const news = this.#news
    this.#news = []
    const rest = news.length - most
    return [...news.slice(0, most), ...(rest > 0 ? [`and ${rest} more`] : [])].join('. ')
  }
}

function newsOf(envelope: Envelope): string | undefined {
  const { kind, from, context } = envelope
  const said = cut(onOneLine(withoutMarks(textOf(envelope))), longest)
  if (kind === Kind.reasoningStart && context === undefined) return `${from} began to think`
  if (kind === Kind.reasoningConclusion) return `${from} concluded${said === '' ? '' : `: ${said}`}`
  if (kind === Kind.mcpProposal) return `${from} proposes ${nameText(getToolName(envelope.payload))}`
  return kind === Kind.chat && context === undefined ? `${from} says: ${said}` : undefined
}
