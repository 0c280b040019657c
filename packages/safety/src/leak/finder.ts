import { lastFrom, type Span } from '../span.js'
import { surroundings } from '../surroundings.js'
import type { View } from '../views/view.js'
import { viewsOf } from '../views/views.js'
import { compileKeywords } from './keywords.js'
import type { Detector } from './rule.js'
import { merge, type Secret } from './secret.js'

/** Gives every secret in a text, in no order, some overlapping; or, with a `seam`, those that go over that place. */
export type Finder = (text: string, seam?: number) => Secret[]

/** Compiles detectors to a search in all views of a text; a secret's rank is its detector's place among them. */
export function compileFinder(detectors: readonly Detector[]): Finder {
  const search = compileKeywords(detectors.map(({ keywords }) => keywords))
  const everywhere = [...detectors.keys()].filter((rank) => detectors[rank]?.keywords.length === 0)

  return (text, seam) => {
    const secretsIn = (view: View): Secret[] => {
      const secrets: Secret[] = []
      if (view.text === '') return secrets
      const look = (rank: number, spans: readonly Span[]): void => {
        const wanted = seam === undefined ? spans : spans.filter((span) => isAcross(seam, view.origin(span)))
        for (const secret of detectors[rank]?.find(view.text, wanted) ?? []) {
          secrets.push({ ...view.origin(secret), rank })
        }
      }
      for (const rank of everywhere) look(rank, [{ start: 0, end: view.text.length }])
      for (const [rank, places] of search(view.text)) look(rank, surroundings(view.text, places))
      return secrets
    }
    const { certain, joined } = viewsOf(text)
    const found = certain.flatMap(secretsIn)
    if (joined.length === 0) return found
    const known = merge(found)
    return [...found, ...joined.flatMap(secretsIn).filter((secret) => !addsMereWord(text, secret, known))]
  }
}

const isAcross = (place: number, { start, end }: Span): boolean => start < place && place < end

const word = /^[A-Z]?[a-z]+[.,;:!?)]*\s*\n\s*$/

/** Whether a secret that goes over lines is a known one, to which the last word of the line before was added. */
function addsMereWord(text: string, secret: Secret, known: readonly Secret[]): boolean {
  const inside = lastFrom(known, secret.end - 1)
  if (inside === undefined || inside.end < secret.end || inside.start <= secret.start) return false
  return word.test(text.slice(secret.start, inside.start))
}
