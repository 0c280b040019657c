import { stringifyExact } from '@meup/protocol'
import { type Guard, guarded, redact } from '../redact.js'
import { isBlank, isObject } from '../text.js'
import { readBlocks } from './blocks.js'

/** The size of a result. `unit`: `chars`, `bytes`, or the name of the items. */
export interface ResultSize {
  readonly count: number
  readonly unit: string
}

export interface Result {
  readonly outcome: 'success' | 'error'
  /** The text of the result or the error, redacted. */
  readonly text: string
  readonly size: ResultSize | null
}

type Payload = Readonly<Record<string, unknown>>

/** `error` for a JSON-RPC error and for a result with `isError`. */
export const getOutcome = ({ result, error }: Payload): Result['outcome'] =>
  isGiven(error) || (isObject(result) && result.isError === true) ? 'error' : 'success'

/** Outcome and size of a JSON-RPC response. */
export function measureOutcome(payload: Payload): Pick<Result, 'outcome' | 'size'> {
  const { result } = payload
  if (getOutcome(payload) === 'error') return { outcome: 'error', size: null }
  if (!isObject(result)) {
    return {
      outcome: 'success',
      size: Array.isArray(result) ? { count: result.length, unit: 'items' } : null,
    }
  }
  return { outcome: 'success', size: measureResult(result, readBlocks(result.content)) }
}

/** The exit code of a command, if its tool reports one. */
export function getCommandExitCode({ result }: Payload): number | undefined {
  const structured = isObject(result) ? result.structuredContent : undefined
  if (!isObject(structured)) return undefined
  return exitCodeNames.map((name) => structured[name]).find((code) => typeof code === 'number')
}

const exitCodeNames = ['exitCode', 'exit_code', 'exitStatus', 'returncode'] as const

/** Reads outcome, size and text of a JSON-RPC response. */
export function readResult(payload: Payload, guard: Guard): Result {
  const { result, error } = payload
  if (isGiven(error)) return failure(errorText(error, guard), guard)
  const { outcome, size } = measureOutcome(payload)
  if (!isObject(result)) return { outcome, text: asJson(result, guard), size }
  const blocks = readBlocks(result.content)
  const text = getTexts(blocks).join('\n')
  if (outcome === 'error') return failure(text, guard)
  const said = isBlank(text)
    ? asJson(result.structuredContent ?? withoutBlocks(result), guard)
    : guarded(text, guard)
  return { outcome, text: said, size }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const failure = (text: string, guard: Guard): Result => ({
  outcome: 'error',
  text: isBlank(text) ? 'failed without saying why' : guarded(text, guard),
  size: null,
})

const errorText = (error: unknown, guard: Guard): string =>
  isObject(error) && typeof error.message === 'string' ? error.message : asJson(error, guard)

/** Masks a value and writes it as JSON; `''` for an empty result. */
function asJson(value: unknown, guard: Guard): string {
  if (!isGiven(value) || (isObject(value) && Object.keys(value).length === 0)) return ''
  return stringifyExact(redact(value, guard).value) ?? ''
}

function withoutBlocks({ content, _meta, isError, ...rest }: Payload): Payload {
  return rest
}

const getTexts = (blocks: readonly Payload[]): string[] =>
  blocks.map(({ text }) => text).filter((text) => typeof text === 'string')

function measureResult(result: Payload, blocks: readonly Payload[]): ResultSize | null {
  const parts = [
    ...readBlocks(result.contents),
    ...blocks.map(({ resource, ...block }) => resource ?? block),
  ].filter(isObject)
  if (parts.some(isResource)) return { count: sum(parts.map(countBytes)), unit: 'bytes' }
  const texts = getTexts(blocks)
  const [, count, things] = foundIn.exec(texts[0] ?? '') ?? []
  if (things !== undefined) return { count: Number(count), unit: `${things.toLowerCase()} found` }
  // A command's structured content lists the files that it touched, which are not results.
  const structured = getCommandExitCode({ result }) === undefined ? result.structuredContent : undefined
  const list = soleArray(structured) ?? (blocks.length === 0 ? soleArray(withoutBlocks(result)) : undefined)
  if (list !== undefined) return countItems(...list)
  return texts.length === 0 ? null : { count: countCharacters(texts.join('\n')), unit: 'chars' }
}

/** Search tools report the number of hits in their text: `Found 3 documents matching …`. */
const foundIn = /^found (\d{1,9}) ([a-z]{1,32})\b/i
/** Names of lists that can serve as units: `documents`, `search_results`. */
const unitName = /^[a-z]{1,32}(_[a-z]{1,32})?$/
const genericNames: ReadonlySet<string> = new Set([
  'result',
  'results',
  'data',
  'value',
  'values',
  'list',
  'content',
])

/** Counts a list in units of its name: `3 documents`, `1 match`. */
function countItems(name: string, { length: count }: readonly unknown[]): ResultSize {
  const unit = unitName.test(name) && !genericNames.has(name) ? name.replace('_', ' ') : 'items'
  return { count, unit: count === 1 ? toSingular(unit) : unit }
}

const toSingular = (unit: string): string =>
  unit
    .replace(/ies$/, 'y')
    .replace(/(x|ch|sh|ss)es$/, '$1')
    .replace(/([^s])s$/, '$1')

/** A resource, an image or audio, whose size is given in bytes. */
const isResource = ({ uri, data }: Payload): boolean => typeof uri === 'string' || typeof data === 'string'

/** Finds the only array of a result: `{"tools": […]}`, `{"result": […]}`. */
function soleArray(value: unknown): [name: string, items: readonly unknown[]] | undefined {
  if (!isObject(value)) return undefined
  const arrays = Object.entries(value).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  )
  return arrays.length === 1 ? arrays[0] : undefined
}

function countBytes({ text, blob, data }: Payload): number {
  if (typeof text === 'string') return new TextEncoder().encode(text).length
  const base64 = typeof blob === 'string' ? blob : data
  return typeof base64 === 'string' ? Math.floor((base64.replace(/=+$/, '').length * 3) / 4) : 0
}

function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
