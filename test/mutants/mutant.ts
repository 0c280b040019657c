/** A small wrong edit that a good set of tests notices. */
export interface Mutant {
  /** Folder of the package whose sources hold the function, such as `packages/gateway`. */
  readonly package: string
  /** The innermost function around the place: `admit`, `Outbox.flush` for a method, `createGateway` for a factory. */
  readonly function: string
  /** Source text inside that function, as formatted; it occurs exactly once. */
  readonly replace: string
  readonly by: string
  /** Tests that should notice, tried first: parts of the paths of test files, as `vitest` takes them. */
  readonly tests: readonly string[]
}
