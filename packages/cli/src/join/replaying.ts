import type { DialRequest } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { UsageError } from '../exit.js'
import { readLog } from '../reading.js'
import type { Lines } from '../render/conversation.js'

/** Envelopes that are shown where nobody says how many, and at most. */
const [usual, most] = [50, 1000]

/** The lines of `/replay <argument>`: the last of the log, or `<from>-<to>`. Throws `UsageError`. */
export async function replayLines(argument: string, at: DialRequest, lines: Lines): Promise<string[]> {
  const envelopes = await readPart(argument, at)
  const [first, last] = [envelopes[0]?.seq, envelopes.at(-1)?.seq]
  if (first === undefined) return ['there is nothing in the log there']
  return [`── replay ${first}–${last}`, ...envelopes.flatMap((each) => lines.lines(each)), '── end of replay']
}

async function readPart(argument: string, at: DialRequest): Promise<AnyEnvelope[]> {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(argument) ?? []
  const found: AnyEnvelope[] = []
  if (from !== undefined && to !== undefined) {
    const range = { after: `${Math.max(Number(from) - 1, 0)}`, before: `${Number(to) + 1}` }
    for await (const envelope of readLog(at, range)) if (found.push(envelope) === most) break
    return found
  }
  if (argument !== '' && !/^[1-9]\d{0,5}$/.test(argument)) {
    throw new UsageError(`/replay takes how many, or <from>-<to>, not ${argument}`)
  }
  const count = Math.min(argument === '' ? usual : Number(argument), most)
  for await (const envelope of readLog(at, {}, 'desc')) if (found.push(envelope) === count) break
  return found.reverse()
}
