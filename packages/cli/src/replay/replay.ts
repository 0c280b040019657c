import { systemClock } from '@meup/gateway'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import type { ConnectionFlags } from '../connection.js'
import { exitCodes, UsageError } from '../exit.js'
import { tell } from '../output.js'
import { copyInto } from './copy.js'
import { play } from './play.js'
import { readRecording } from './read-recording.js'
import type { Extent, Item } from './recorded.js'
import { openRecording, type Recording } from './recording.js'
import { openStage } from './stage.js'

export interface ReplayFlags extends ConnectionFlags {
  /** A number, or `max`. */
  readonly speed?: string
  readonly from?: number
  readonly to?: number
  readonly into?: string
  readonly name?: string
}

/** `meup replay`: plays a log, at the terminal or into a space of its own. What is damaged is not played at all. */
export async function replay(file: string | undefined, flags: ReplayFlags): Promise<void> {
  const speed = speedOf(flags.speed ?? '1')
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  const recording = await openRecording(file, flags)
  try {
    const found = await examine(recording)
    if (found === undefined) return
    const items = again(recording)
    const { into } = flags
    if (into === undefined) await show(items, found.extent, speed, flags)
    else await copyInto(into, items, found.extent, { ...found, ...flags })
  } finally {
    await recording.close()
  }
}

/** `undefined` = it is damaged, which has been told. */
async function examine(recording: Recording): Promise<{ extent: Extent; name?: string } | undefined> {
  let name: string | undefined
  const items = readRecording(recording)
  for (;;) {
    const { done, value } = await items.next()
    if (!done) {
      name ??= nameIn(value)
      continue
    }
    if (value.ok) return { extent: value, ...(name !== undefined && { name }) }
    tell(`meup: line ${value.line} of ${recording.name} is wrong: ${value.problem}; nothing was played`)
    process.exitCode = exitCodes.auditMismatch
    return undefined
  }
}

/** What the space was called, as its first envelope says. */
function nameIn(item: Item): string | undefined {
  if (!('envelope' in item) || item.envelope.kind !== Kind.systemSpace) return undefined
  const { event, space } = item.envelope.payload as { event: string; space?: unknown }
  return event === 'opened' && typeof space === 'string' ? space : undefined
}

/** Reads once more what was found whole. */
async function* again(recording: Recording): AsyncGenerator<Item, void> {
  const end = yield* readRecording(recording)
  if (!end.ok) throw new Error(`${recording.name} was changed while it was played; play it again`)
}

async function show(
  items: AsyncIterable<Item>,
  { first, head }: Extent,
  speed: number,
  { from = 0, to = Number.POSITIVE_INFINITY, json }: ReplayFlags,
): Promise<void> {
  const stage = openStage(json)
  const seen = { shown: 0, withheld: 0 }
  async function* selected(): AsyncGenerator<AnyEnvelope, void> {
    let seq = 0
    for await (const item of items) {
      seq = ('withheld' in item ? item.withheld : item.envelope.seq) ?? seq
      if (seq < from) continue
      if (seq > to) return
      if ('withheld' in item) seen.withheld++
      else {
        seen.shown++
        yield item.envelope
      }
    }
  }
  try {
    await play(selected(), { clock: systemClock, speed, show: stage.show, tell: stage.tell })
    const { shown, withheld } = seen
    if (withheld > 0) {
      const whose = 'whoever exported this was not allowed to read them'
      stage.tell(`${withheld} of ${shown + withheld} envelopes could not be shown: ${whose}`)
    }
    if (shown + withheld === 0) stage.tell(`nothing was played: this has the envelopes ${first} to ${head}`)
  } finally {
    stage.close()
  }
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY
  const speed = /^\d/.test(text) ? Number(text) : Number.NaN
  if (speed === 0) return Number.POSITIVE_INFINITY
  if (speed > 0) return speed
  throw new UsageError(`--speed takes a number, such as 10 or 0.5, or max, not ${text}`)
}
