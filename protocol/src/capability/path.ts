/** Keys from the payload down to a place in it. Equal ones are the same object. */
export type Path = readonly string[]

/** Paths that are known; when there are more, they begin anew, so that lists which are gone let go of theirs. */
const mostKnown = 4096
const known = new Map<string, Path>()

export function pathOf(keys: readonly string[]): Path {
  const name = JSON.stringify(keys)
  const path = known.get(name) ?? [...keys]
  if (known.size >= mostKnown) known.clear()
  known.set(name, path)
  return path
}

/** What is there in a payload; `undefined` where nothing is. Fields of arrays and inherited ones are nothing. */
export function valueAt(payload: unknown, path: Path): unknown {
  let value = payload
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) {
      return undefined
    }
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
