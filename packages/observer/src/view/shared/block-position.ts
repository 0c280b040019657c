/** Position of a row among the adjacent rows of its question, which are drawn as one block. */
export type BlockPosition = 'alone' | 'start' | 'middle' | 'end'

/** Computes a row's position from its origin and those of its neighbours. */
export function findBlockPosition(
  before: string | undefined,
  origin: string | undefined,
  after: string | undefined,
): BlockPosition {
  const [followsOn, goesOn] = [before, after].map((other) => origin !== undefined && other === origin)
  if (followsOn) return goesOn ? 'middle' : 'end'
  return goesOn ? 'start' : 'alone'
}
