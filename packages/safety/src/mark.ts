import { lastFrom, type Span } from './span.js'

/** What stands in place of a secret that `rule` found. */
export const markOf = (rule: string): string => `[redacted:${rule}]`

const mark = /\[redacted:([a-z0-9-]+)\]/g

/** Where a text has marks of rules that there are; any other is nothing but text. */
export const marksIn = (text: string, isRule: (name: string) => boolean): Span[] =>
  Array.from(text.matchAll(mark)).flatMap(({ 0: { length }, 1: name = '', index }) =>
    isRule(name) ? [{ start: index, end: index + length }] : [],
  )

const saying = /[\p{L}\p{N}]/u

/** Whether a span of a text has nothing to say beside the mark that it begins or ends in. */
export function isMarked(text: string, { start, end }: Span, marks: readonly Span[]): boolean {
  const first = lastFrom(marks, start)
  const last = lastFrom(marks, end - 1)
  const from = first !== undefined && first.end > start ? first.end : start
  const to = last !== undefined && last.end >= end ? last.start : end
  return (from > start || to < end) && !saying.test(text.slice(from, to))
}
