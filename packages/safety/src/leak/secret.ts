import { markOf } from '../mark.js'
import type { Span } from '../span.js'

/** What must not be seen, and the place in the list of rules of the one that found it. */
export interface Secret extends Span {
  readonly rank: number
}

/** Secrets in order, those that overlap as one, found by the first of their rules. */
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

/** A text with marks in place of its merged secrets, which have the names of their rules. */
export function redact(text: string, secrets: readonly Secret[], names: readonly string[]): string {
  let redacted = ''
  let read = 0
  for (const { start, end, rank } of secrets) {
    redacted += text.slice(read, start) + markOf(names[rank] ?? '')
    read = end
  }
  return redacted + text.slice(read)
}
