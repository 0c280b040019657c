/** What is wrong inside a value, beyond its shape. */
export interface ProblemInside {
  /** JSON pointer into the value. */
  readonly pointer: string
  readonly message: string
}
