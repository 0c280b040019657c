import { stripVTControlCharacters } from 'node:util'
import {
  brief,
  type ContextFold,
  Describer,
  type Description,
  defaultGuard,
  formatDuration,
  getAsked,
  getCallRationale,
  isLate,
  onOneLine,
  printable,
  sentence,
} from '@meup/folds'
import { type AnyEnvelope, contextParent } from '@meup/protocol'
import { isBackground, isPrivate, type LineRenderer, messageAlone } from './conversation.js'

/** Maximum characters of a text other than a message. */
const maxTextChars = 300

/** Renders a conversation for screen readers: sentences that name the speaker, without symbols and indentation. */
export class SpokenLines implements LineRenderer {
  readonly #contexts: () => ContextFold
  readonly #describer: Describer

  constructor(contexts: () => ContextFold) {
    this.#contexts = contexts
    this.#describer = new Describer(defaultGuard, (context) => contexts().get(context)?.owner)
  }

  lines(envelope: AnyEnvelope): string[] {
    if (isBackground(envelope)) return []
    const description = this.#describer.describe(messageAlone(envelope))
    if (description.tone === 'message') return formatSpeech(envelope, description)
    const { tone, verb } = description
    const detail = brief(description.detail, maxTextChars)
    switch (tone) {
      case 'thought':
      case 'plan':
      case 'error': {
        const late = isLate(envelope, (each) => this.#contexts().get(each)) ? ', late' : ''
        return detail === '' ? [] : [sentence({ ...description, verb: `${verb}${late}`, detail })]
      }
      case 'end':
        return [`${sentence({ ...description, detail })}${this.#formatCost(envelope.context)}`]
      case 'call':
        return [`${sentence({ ...description, detail: '' })}${formatWhy(envelope)}`]
      case 'result':
        return [sentence({ ...description, detail: '' })]
      case 'proposal': {
        const { id } = envelope
        // Arguments are included, because the reader has to decide.
        const asked = `${sentence({ ...description, detail })}${formatWhy(envelope)}`
        return [`${asked}. To decide: /approve ${id} or /reject ${id}`]
      }
      default:
        return [onOneLine(sentence({ ...description, detail }))]
    }
  }

  #formatCost(context: string | undefined): string {
    if (context === undefined || contextParent(context) !== undefined) return ''
    const view = this.#contexts().get(context)
    if (view?.duration == null) return ''
    return `. It took ${formatDuration(view.duration)} and ${view.counts.calls === 1 ? '1 tool' : `${view.counts.calls} tools`}`
  }
}

/** Removes the symbols that `reasoningLines` of @meup/folds draws; keeps the indentation. `[]` for an empty line. */
export function speakLine(line: string): string[] {
  const spoken = stripVTControlCharacters(line)
    .replace(/^( *)┄ *(?:↳ *)?/, '$1')
    .replace(/^( *)→ */, '$1outcome: ')
  return spoken.trim() === '' ? [] : [spoken]
}

function formatWhy(call: AnyEnvelope): string {
  if (call.rationale) return `, because: ${brief(call.rationale, maxTextChars)}`
  const why = getCallRationale({ ...call })
  return why === '' ? '' : `, ${why}`
}

/** Names the speaker on each line, so that no line can be attributed to someone else. */
function formatSpeech(envelope: AnyEnvelope, description: Description): string[] {
  const names = getAsked(envelope)
  const whom =
    names.length === 0 ? '' : ` to ${onOneLine(names.join(', '))}${isPrivate(envelope) ? ' in private' : ''}`
  return printable(description.detail)
    .split('\n')
    .map((detail, at) => sentence({ ...description, verb: at === 0 ? `says${whom}` : 'goes on', detail }))
}
