import { formatDuration } from '@meup/folds'
import { type Clock, type ImportedRow, importLog, systemClock } from '@meup/gateway'
import { type AnyEnvelope, Kind, omitUndefined, READ_TARGETED, SpaceName } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import type { ConnectionFlags } from '../lib/connection.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import {
  createDimmer,
  createHighlighter,
  getStdoutStyle,
  isAtTerminal,
  print,
  printJson,
  printNotice,
} from '../lib/output.js'
import { AgentLines } from '../render/agent-lines.js'
import { createPrinter } from '../render/conversation.js'
import { ActivityFold } from '../view/activity-fold.js'
import { Screen } from '../view/screen.js'
import { liveSurface, type Surface } from '../view/surface.js'
import {
  openRecording,
  type RecordedItem,
  type Recording,
  type RecordingExtent,
  readRecording,
} from './recording.js'

export interface ReplayFlags extends ConnectionFlags {
  /** Speed factor, or `max` to play without pauses. */
  readonly speed?: string
  readonly from?: number
  readonly to?: number
  readonly into?: string
  readonly name?: string
}

/** `meup replay`: plays a log in the terminal or imports it into a new space. Verifies the whole log first. */
export async function replay(file: string | undefined, flags: ReplayFlags): Promise<void> {
  const speed = parseSpeed(flags.speed ?? '1')
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

/** Verifies the recording. If it is damaged, prints the damage and returns `undefined`. */
async function examine(
  recording: Recording,
): Promise<{ extent: RecordingExtent; name?: string } | undefined> {
  let name: string | undefined
  const items = readRecording(recording)
  for (;;) {
    const { done, value } = await items.next()
    if (!done) {
      name ??= readSpaceName(value)
      continue
    }
    if (value.ok) return { extent: value, ...omitUndefined({ name }) }
    printNotice(
      `meup: line ${value.line} of ${recording.name} is wrong: ${value.problem}; nothing was played`,
    )
    process.exitCode = exitCodes.auditMismatch
    return undefined
  }
}

/** Name of the recorded space, from the envelope that opened it. */
function readSpaceName(item: RecordedItem): string | undefined {
  if (!('envelope' in item) || item.envelope.kind !== Kind.systemSpace) return undefined
  const { event, space } = item.envelope.payload as { event: string; space?: unknown }
  return event === 'opened' && typeof space === 'string' ? space : undefined
}

/** Reads a recording that has been verified. Throws if it has changed since. */
async function* again(recording: Recording): AsyncGenerator<RecordedItem, void> {
  const end = yield* readRecording(recording)
  if (!end.ok) throw new Error(`${recording.name} was changed while it was played; play it again`)
}

async function show(
  items: AsyncIterable<RecordedItem>,
  { first, head, erased = 0 }: RecordingExtent,
  speed: number,
  { from = 0, to = Number.POSITIVE_INFINITY, json }: ReplayFlags,
): Promise<void> {
  const stage = openReplayScreen(json)
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
    await play(selected(), { clock: systemClock, speed, show: stage.show, notify: stage.notify })
    const { shown, withheld } = seen
    if (withheld > 0) {
      const reader = 'the exporter was not allowed to read them'
      const whose = erased > 0 ? `they were erased, or ${reader}` : reader
      stage.notify(`${withheld} of ${shown + withheld} envelopes could not be shown: ${whose}`)
    }
    if (shown + withheld === 0) stage.notify(`nothing was played: this has the envelopes ${first} to ${head}`)
  } finally {
    stage.close()
  }
}

function parseSpeed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY
  const speed = /^\d/.test(text) ? Number(text) : Number.NaN
  if (speed === 0) return Number.POSITIVE_INFINITY
  if (speed > 0) return speed
  throw invalidValue('--speed', 'speed', text)
}

interface ReplayScreen {
  show(envelope: AnyEnvelope): void
  notify(line: string): void
  close(): void
}

/** Prints lines, or in a terminal a live screen, in which Ctrl+T toggles thoughts, as in `meup watch`. */
const openReplayScreen = (json: boolean | undefined): ReplayScreen =>
  json || !isAtTerminal()
    ? { show: createPrinter(json).print, notify: printNotice, close: () => {} }
    : createLiveScreen()

function createLiveScreen(): ReplayScreen {
  const style = getStdoutStyle()
  const activity = new ActivityFold()
  let showsThoughts = true
  const lines = new AgentLines({
    style,
    highlight: createHighlighter(style),
    columns: () => surface.columns,
    contexts: () => activity.contexts,
  })
  const screen = new Screen(
    (shown) => surface.print(shown),
    () => showsThoughts,
    lines,
  )
  const surface: Surface = liveSurface({
    parts: () => ({
      heading: 'replay',
      answers: () => [], // A log has no unfinished answers.
      thinkers: activity.thinkers(),
      tools: activity.tools(),
      showsThoughts,
      pending: undefined,
    }),
    dim: createDimmer(style),
    echoes: false,
    completer: undefined,
    keys: { 'ctrl+t': toggle },
  })
  return {
    show: (envelope) => {
      activity.onEnvelope(envelope)
      screen.show(envelope)
      surface.refresh()
    },
    notify: (line) => surface.notify(line),
    close: () => surface.close(),
  }

  function toggle(): void {
    showsThoughts = !showsThoughts
    surface.notify(showsThoughts ? 'thinking visible' : 'thinking hidden')
    if (showsThoughts) screen.catchUp([], true)
    else screen.hide()
  }
}

/** Maximum pause between two envelopes. */
const maxPauseMs = 2000
/** Milliseconds of delay that playback catches up with; after a longer delay, it continues at normal speed. */
const slackMs = 250

interface Playing {
  readonly clock: Clock
  /** Speed factor; `Infinity` plays without pauses. */
  readonly speed: number
  show(envelope: AnyEnvelope): void
  notify(line: string): void
}

/** Plays envelopes with their original pauses. Long pauses are shortened, with a notice. */
export async function play(
  envelopes: Iterable<AnyEnvelope> | AsyncIterable<AnyEnvelope>,
  { clock, speed, show, notify }: Playing,
): Promise<void> {
  let last = Number.NaN
  let due = clock.now()
  for await (const envelope of envelopes) {
    const ts = Date.parse(envelope.ts)
    // NaN and negative differences count as 0: first envelope, invalid time, or clock set back.
    const passed = Math.max(0, ts - last) || 0
    last = ts
    if (passed / speed > maxPauseMs) notify(`… ${formatDuration(passed)} later`)
    due += Math.min(passed / speed, maxPauseMs)
    if (clock.now() - due > slackMs) due = clock.now()
    await until(due, clock)
    show(envelope)
  }
}

function until(time: number, clock: Clock): Promise<void> | undefined {
  const ms = time - clock.now()
  if (ms >= 1) return new Promise((resolve) => void clock.after(ms, resolve))
  return undefined
}

const legalName = new RegExp(SpaceName.pattern ?? '')

/** Imports a recording into a database as a space. Rejects if envelopes are missing or the space is not empty. */
export async function copyInto(
  path: string,
  items: AsyncIterable<RecordedItem>,
  extent: RecordingExtent,
  { name: space, json }: { readonly name?: string; readonly json?: boolean },
): Promise<void> {
  const lack = findMissing(extent)
  if (lack !== undefined) throw new Error(`${lack}; nothing was written`)
  if (space === undefined) throw new UsageError('unnamed_space', {})
  if (!legalName.test(space)) throw invalidValue('--name', 'space', space)
  const { head: seq, proof } = extent
  const proven = proof && { epoch: proof.epoch, head: { seq, hash: proof.hash } }
  const log = await importLog({ path, space, rows: toRows(items), ...proven })
  if (proof === undefined) {
    printNotice('plain envelopes prove nothing: this is a log of its own, with a new epoch and other hashes')
  }
  if (json) return void printJson<JsonOf<'replay --into'>>({ space, path, ...log })
  print(`${log.head} envelopes are in the space ${space} of ${path}`)
  print(`epoch ${log.epoch}`)
  print(`head ${log.head}:${log.hash}`)
}

/** Reason why a recording cannot be imported. */
function findMissing({ first, gap, withheld, erased = 0, proof }: RecordingExtent): string | undefined {
  const advice = `a participant with the capability ${READ_TARGETED} can export all of them, while no run is hidden`
  if (proof !== undefined && first > 1) {
    return `this begins at seq ${first}: what came before was pruned, and a space needs its beginning`
  }
  if (erased > 0)
    return `a space needs all envelopes, and ${erased} of these were erased: meup backup copies the log`
  if (withheld > 0) {
    return `a space needs all envelopes, and ${withheld} of these were withheld from the exporter: ${advice}`
  }
  return gap === undefined ? undefined : `a space needs all envelopes, and seq ${gap} is missing: ${advice}`
}

async function* toRows(items: AsyncIterable<RecordedItem>): AsyncGenerator<ImportedRow, void> {
  for await (const item of items) if ('row' in item && item.row !== undefined) yield item.row
}
