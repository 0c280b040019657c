import type { SpaceClient } from '../space-client.js'

type Entrance = () => Promise<SpaceClient>

let next: Entrance | undefined

/** Redirects the next `connect()` without a gateway, once; the returned function undoes that. */
export function leadNextConnect(entrance: Entrance): () => void {
  if (next !== undefined) throw new Error('another program has not connected yet; await it first')
  next = entrance
  return () => {
    if (next === entrance) next = undefined
  }
}

/** The redirect for `connect()`, if one is set. */
export function takeEntrance(): Entrance | undefined {
  const entrance = next
  next = undefined
  return entrance
}
