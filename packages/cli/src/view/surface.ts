import type { Interface } from 'node:readline'

/** Where a view shows its lines, and where somebody types. */
export interface Surface {
  print(lines: readonly string[]): void
  /** Says something beside the conversation; it may repeat what others have said. */
  say(line: string): void
  /** What goes on at present is something else now. */
  refresh(): void
  /** Lets one of these be chosen, by its place; `undefined` = none, or it cannot be asked here. */
  choose(question: string, choices: readonly string[]): Promise<number | undefined>
  /** Columns of a line, perhaps without end. */
  readonly columns: number
  /** What is typed, where keys are taken one by one. */
  readonly lines: Interface | undefined
  close(): void
}
