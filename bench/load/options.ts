import { parseArgs } from 'node:util'
import { type TextKind, textKinds } from './texts.js'

/** Options of the command line: what to measure, and for how long. */
export interface Options {
  readonly receivers: readonly number[] | undefined
  readonly senders: readonly number[] | undefined
  readonly sizes: readonly number[] | undefined
  readonly windows: readonly number[] | undefined
  readonly only: readonly string[] | undefined
  /** Kinds of the messages' texts. */
  readonly texts: readonly TextKind[] | undefined
  readonly rounds: number
  /** Milliseconds of one measurement, after `warmMs` milliseconds of warm-up. */
  readonly ms: number
  readonly warmMs: number
  readonly minutes: number
  /** Measures only the ten figures that are compared with committed ones. */
  readonly quick: boolean
  /** Measures all combinations of parameters of each case, which takes much longer. */
  readonly full: boolean
  readonly verify: boolean
  /** Runs with minimal sizes, to check that the benchmark works. */
  readonly smoke: boolean
  readonly write: boolean
  /** Folder of the recorded runs for the case `why`. */
  readonly data: string | undefined
}

const usualTimes = {
  full: { rounds: '3', ms: '3000', warm: '2000' },
  quick: { rounds: '5', ms: '1500', warm: '1000' },
  smoke: { rounds: '1', ms: '60', warm: '20' },
}

export interface CommandLine {
  readonly cases: readonly string[]
  readonly options: Options
  readonly help: boolean
}

export function readCommandLine(args: readonly string[]): CommandLine {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args: args.filter((each) => each !== '--'),
    allowPositionals: true,
    options: {
      ...{ receivers: text, senders: text, size: text, window: text, only: text, texts: text, data: text },
      ...{ rounds: text, ms: text, warm: text },
      minutes: { ...text, default: '10' },
      ...{ full: flag, verify: flag, write: flag, quick: flag, smoke: flag, help: flag },
    },
  })
  const usual = values.smoke ? usualTimes.smoke : values.quick ? usualTimes.quick : usualTimes.full
  const number = (name: string, value: string): number => {
    const read = Number(value)
    if (!(read > 0)) throw new Error(`--${name} is a number above 0, not ${value}`)
    return read
  }
  const textKind = (value: string): TextKind => {
    const kind = textKinds.find((each) => each === value)
    if (kind === undefined) throw new Error(`--texts are of ${textKinds.join(', ')}, not ${value}`)
    return kind
  }
  const list = (name: string, value: string | undefined): number[] | undefined =>
    value?.split(',').map((each) => number(name, each))
  return {
    cases: positionals,
    help: values.help,
    options: {
      receivers: list('receivers', values.receivers),
      senders: list('senders', values.senders),
      sizes: list('size', values.size),
      windows: list('window', values.window),
      only: values.only?.split(','),
      texts: values.texts?.split(',').map(textKind),
      rounds: number('rounds', values.rounds ?? usual.rounds),
      ms: number('ms', values.ms ?? usual.ms),
      warmMs: number('warm', values.warm ?? usual.warm),
      minutes: number('minutes', values.minutes),
      quick: values.quick,
      full: values.full,
      verify: values.verify,
      smoke: values.smoke,
      write: values.write,
      data: values.data,
    },
  }
}
