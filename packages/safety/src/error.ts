/** A setting that can't be used. `path` is a JSON pointer into the settings. */
export class SafetyError extends Error {
  override readonly name = 'SafetyError'

  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message)
  }
}
