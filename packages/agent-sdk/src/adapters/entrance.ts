import type { SpaceClient } from '../space-client.js'

type Entrance = () => Promise<SpaceClient>

let next: Entrance | undefined

/**
 * The next `connect()` call that names no gateway gets the client that `entrance` creates, such as in a test space. The
 * returned function cancels that.
 */
export function leadNextConnect(entrance: Entrance): () => void {
  if (next !== undefined) throw new Error('another program has not connected yet. Await its connect() first.')
  next = entrance
  return () => {
    if (next === entrance) next = undefined
  }
}

/** Returns the function that creates the client for a `connect()` call, if there is one, and forgets it. */
export function takeEntrance(): Entrance | undefined {
  const entrance = next
  next = undefined
  return entrance
}
