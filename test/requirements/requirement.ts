export interface Requirement {
  /** Document and section that asks for it. */
  readonly source: string
  readonly text: string
}
