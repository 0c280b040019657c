/** A file that was read, but does not hold what it should. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
