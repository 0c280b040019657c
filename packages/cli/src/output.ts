import type { AnyEnvelope } from '@meup/protocol'
import { Conversation } from './render/conversation.js'

/** Data for stdout; everything else a command says goes to stderr. */
export const print = (line: string): boolean => process.stdout.write(`${line}\n`)
export const tell = (line: string): boolean => process.stderr.write(`${line}\n`)

/** Prints envelopes: NDJSON, or lines for people. */
export function printer(json: boolean | undefined): (envelope: AnyEnvelope) => void {
  if (json) return (envelope) => void print(JSON.stringify(envelope))
  const conversation = new Conversation()
  return (envelope) => {
    for (const line of conversation.lines(envelope)) print(line)
  }
}
