export interface Requirement {
  /** Document and section with the requirement. */
  readonly source: string
  readonly text: string
}
