import { lastFrom, type Span } from '../spans.js'

/** A span to mask. `rank`: index of the detector that found it. */
export interface Secret extends Span {
  readonly rank: number
}

/** Sorts secrets, and merges overlapping ones. A merged secret has the rank of its first detector. */
export function merge(secrets: readonly Secret[]): Secret[] {
  const merged: Secret[] = []
  for (const secret of secrets.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last === undefined || secret.start >= last.end) merged.push(secret)
    else {
      const end = Math.max(last.end, secret.end)
      merged[merged.length - 1] = { start: last.start, end, rank: Math.min(last.rank, secret.rank) }
    }
  }
  return merged
}

/** Replaces secrets by marks with the names of their rules. The secrets must be merged. */
export function replaceSecrets(text: string, secrets: readonly Secret[], names: readonly string[]): string {
  let redacted = ''
  let read = 0
  for (const { start, end, rank } of secrets) {
    redacted += text.slice(read, start) + formatMark(names[rank] ?? '')
    read = end
  }
  return redacted + text.slice(read)
}

/** Returns the redaction mark with the name of a rule. */
const formatMark = (rule: string): string => `[redacted:${rule}]`

const mark = /\[redacted:([a-z0-9-]+)\]/g

/** Finds the redaction marks of known rules in a text. Other marks count as ordinary text. */
export const findMarks = (text: string, isRule: (name: string) => boolean): Span[] =>
  Array.from(text.matchAll(mark)).flatMap(({ 0: { length }, 1: name = '', index }) =>
    isRule(name) ? [{ start: index, end: index + length }] : [],
  )

const saying = /[\p{L}\p{N}]/u

/** Whether a span contains nothing but marks and parts of marks. */
export function isMarked(text: string, { start, end }: Span, marks: readonly Span[]): boolean {
  const first = lastFrom(marks, start)
  const last = lastFrom(marks, end - 1)
  const from = first !== undefined && first.end > start ? first.end : start
  const to = last !== undefined && last.end >= end ? last.start : end
  return (from > start || to < end) && !saying.test(text.slice(from, to))
}
