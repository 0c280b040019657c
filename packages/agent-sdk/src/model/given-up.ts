/** There will be no answer, and why: for everyone to read. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}
