import type { SpaceClient } from '../space-client.js'

type Entrance = () => Promise<SpaceClient>

let next: Entrance | undefined

/** Makes the next `connect()` that names no gateway lead elsewhere, once; what is returned takes that back. */
export function leadNextConnect(entrance: Entrance): () => void {
  if (next !== undefined) throw new Error('another program has not connected yet; await it first')
  next = entrance
  return () => {
    if (next === entrance) next = undefined
  }
}

/** Where `connect()` leads, if it is not to the gateway of the environment. */
export function takeEntrance(): Entrance | undefined {
  const entrance = next
  next = undefined
  return entrance
}
