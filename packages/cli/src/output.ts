import { printable, printableJson } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { Conversation } from './render/conversation.js'

/** Data for stdout; everything else a command says goes to stderr, and may repeat what others have said. */
export const print = (line: string): boolean => process.stdout.write(`${line}\n`)
export const tell = (line: string): boolean => process.stderr.write(`${printable(line)}\n`)

/** One object of data, as JSON on a line. */
export const printJson = (value: unknown): boolean => print(printableJson(value))

/** Prints envelopes: NDJSON, or lines for people. */
export function printer(json: boolean | undefined): (envelope: AnyEnvelope) => void {
  if (json) return (envelope) => void printJson(envelope)
  const conversation = new Conversation()
  return (envelope) => {
    for (const line of conversation.lines(envelope)) print(line)
  }
}
