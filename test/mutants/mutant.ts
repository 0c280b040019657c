/** A small wrong edit that a good set of tests notices. */
export interface Mutant {
  /** Folder of the package with the function, such as `packages/gateway`. */
  readonly package: string
  /**
   * The innermost function around the place of the edit: `admit`, `Outbox.flush` for a method, `createGateway` for a factory.
   */
  readonly function: string
  /** Source text to replace, as formatted; it occurs exactly once in the function. */
  readonly replace: string
  readonly by: string
  /** Tests that should fail, which are run first: parts of paths of test files, as `vitest` accepts them. */
  readonly tests: readonly string[]
}
