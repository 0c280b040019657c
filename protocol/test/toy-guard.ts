import { EnvelopeGuard, type GuardSettings, type Tail, type Utterance } from '@meup/protocol'

export const found = (rule: string, action: string) => ({ rule, action })
export const pass = (text: string) => ({ text, isWithheld: false, findings: [] })

export const readText = (tail: Tail | string): string => (typeof tail === 'string' ? tail : tail.said)

/** A guard that masks `secret`, even if the previous text begins it, withholds texts with `evil`, and cuts long texts. */
export function compile({ maxLength }: GuardSettings) {
  return {
    guard(text: string, tail: Tail | string = '') {
      const before = readText(tail)
      if (text.includes('evil')) return { text: '', isWithheld: true, findings: [found('evil', 'block')] }
      const at = `${before}${text}`.lastIndexOf('secret')
      const [start, end] = [Math.max(0, at - before.length), at + 'secret'.length - before.length]
      if (at === -1 || end <= 0) return pass(text.slice(0, maxLength))
      return {
        text: `${text.slice(0, start)}[redacted]${text.slice(end)}`,
        isWithheld: false,
        findings: [found('word', 'mask')],
      }
    },
  }
}
export const tailOf = ({ said }: Tail, text: string): Tail => ({
  said: (said + text).slice(-100),
  seams: [],
  isProse: false,
})
export const settings = { maxLength: 500, rules: [], policy: [] }

/** Returns a function that guards envelopes with default fields, and parses the resulting payload. */
export function guardian(maker = { compile, tailOf }, by: GuardSettings = settings) {
  const guard = new EnvelopeGuard(maker, by)
  let ids = 0
  return (fields: Partial<Utterance>, json?: string) => {
    const envelope = { id: `e${++ids}`, from: 'ana', kind: 'reasoning.thought', payload: {}, ...fields }
    const { payload, ...parts } = guard.guard(envelope, Buffer.from(json ?? JSON.stringify(envelope.payload)))
    return { ...parts, ...(payload !== undefined && { payload: JSON.parse(payload) as unknown }) }
  }
}
