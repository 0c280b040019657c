import { UsageError } from '../exit.js'

/** The one with this id, or else whose id begins so; `undefined` = none does. Throws `UsageError` where several do. */
export function chosen<Item extends { readonly id: string }>(
  items: readonly Item[],
  start: string,
  what: string,
): Item | undefined {
  const exact = items.find(({ id }) => id === start)
  if (exact !== undefined) return exact
  const [first, ...others] = start === '' ? [] : items.filter(({ id }) => id.startsWith(start))
  if (first === undefined || others.length === 0) return first
  const ids = [first, ...others].slice(0, 10).map(({ id }) => id)
  throw new UsageError(`${start} may be any ${what} of ${ids.join(', ')}${others.length > 9 ? ', …' : ''}`)
}
