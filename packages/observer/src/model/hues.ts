import { hashToBucket } from './text.js'

/** Number of hues that a reader can distinguish. */
const count = 12
const taken = new Map<string, number>()

/** The hue of a participant, in degrees: stable while the page is open, and unique as long as there are enough hues. */
export function hueOf(id: string): number {
  const known = taken.get(id)
  if (known !== undefined) return (known * 360) / count
  const first = hashToBucket(id, count)
  if (taken.size >= count) return (first * 360) / count
  const used = new Set(taken.values())
  const places = Array.from({ length: count }, (_, by) => (first + by) % count)
  const free = places.find((place) => !used.has(place)) ?? first
  taken.set(id, free)
  return (free * 360) / count
}

/** Initials, such as `SA` for `security-agent` and `AN` for `ana`. */
export function initialsOf(id: string): string {
  const [first = '', second] = id.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '')
  const letters = second === undefined ? [...first].slice(0, 2) : [[...first][0], [...second][0]]
  return letters.join('').toUpperCase()
}
