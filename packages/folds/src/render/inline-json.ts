import { cut } from '../text.js'

/** JSON on one line for people, `{ "query": "updates", "limit": 5 }`; past `most` characters it is cut. */
export const inlineJson = (value: unknown, most: number): string => cut(spaced(value, { left: most }), most)

/** Stops to look further once there is enough text. */
function spaced(value: unknown, budget: { left: number }): string {
  if (budget.left <= 0) return ''
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) ?? 'null'
    budget.left -= text.length
    return text
  }
  if (Array.isArray(value)) return `[${value.map((each) => spaced(each, budget)).join(', ')}]`
  const members = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${spaced(each, budget)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
