import { lastFrom, type Span } from '../span.js'
import type { View } from '../views/view.js'
import { viewsOf } from '../views/views.js'
import type { Detector } from './detector.js'
import { compileKeywords } from './keywords.js'
import { merge, type Secret } from './secret.js'
import { endOfToken } from './secret-end.js'

/** Gives every secret in a text, in no order, some overlapping; or, with a `seam`, those told by what goes over that place. */
export type Finder = (text: string, seam?: number) => Secret[]

/** Compiles detectors to a search in all views of a text; a secret's rank is its detector's place among them. */
export function compileFinder(detectors: readonly Detector[]): Finder {
  const search = compileKeywords(detectors.map(({ words }) => words))

  /** By rank, the words at which a detector looks closer, in the order of their ends. */
  function wordsIn(text: string): Map<number, Span[]> {
    const found = new Map<number, Span[]>()
    for (const [rank, { words }] of detectors.entries()) if (words.length === 0) found.set(rank, [])
    search(text, (rank, start, end) => {
      const glance = detectors[rank]?.glance
      if (glance !== undefined && !isAt(glance, text, start)) return
      const words = found.get(rank)
      if (words === undefined) found.set(rank, [{ start, end }])
      else words.push({ start, end })
    })
    return found
  }

  return (text, seam) => {
    const secretsIn = (view: View): Secret[] => {
      const secrets: Secret[] = []
      if (view.text === '') return secrets
      const isWanted = (span: Span): boolean => seam === undefined || isAcross(seam, view.origin(span))
      for (const [rank, words] of wordsIn(view.text)) {
        for (const secret of detectors[rank]?.find(view.text, words, isWanted) ?? []) {
          secrets.push({ ...wholeToken(view, secret, seam), rank })
        }
      }
      return secrets
    }
    const { certain, joined } = viewsOf(text)
    const found = certain.flatMap(secretsIn)
    if (joined.length === 0) return found
    const known = merge(found)
    return [...found, ...joined.flatMap(secretsIn).filter((secret) => !addsMereWord(text, secret, known))]
  }
}

function isAt(glance: RegExp, text: string, start: number): boolean {
  glance.lastIndex = start
  return glance.test(text)
}

/** Where a secret is, with the rest of its token; but what ends before the seam has its end there. */
function wholeToken(view: View, secret: Span, seam: number | undefined): Span {
  const whole = view.origin({ start: secret.start, end: endOfToken(view.text, secret.end) })
  const isDone = seam !== undefined && view.origin(secret).end <= seam
  return isDone ? { start: whole.start, end: Math.min(whole.end, seam) } : whole
}

const isAcross = (place: number, { start, end }: Span): boolean => start < place && place < end

const word = /^[A-Z]?[a-z]+[.,;:!?)]*\s*\n\s*$/

/** Whether a secret that goes over lines is a known one, to which the last word of the line before was added. */
function addsMereWord(text: string, secret: Secret, known: readonly Secret[]): boolean {
  const inside = lastFrom(known, secret.end - 1)
  if (inside === undefined || inside.end < secret.end || inside.start <= secret.start) return false
  return word.test(text.slice(secret.start, inside.start))
}
