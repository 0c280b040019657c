/** Thrown if a file does not have the expected content. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
