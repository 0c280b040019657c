import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A program that `node` loads before another one: its clock is off by what the file says, from each SIGUSR2 on. */
const shiftedClock = (file: string): string => `
import { readFileSync } from 'node:fs'
const [RealDate, now] = [Date, Date.now]
let offset = 0
const read = () => { offset = Number(readFileSync(${JSON.stringify(file)}, 'utf8')) }
globalThis.Date = class extends RealDate {
  constructor(...args) { if (args.length === 0) super(now() + offset); else super(...args) }
  static now() { return now() + offset }
}
read()
process.on('SIGUSR2', () => { read(); process.stderr.write('the offset was read\\n') })
`

/**
 * A command line before that of a Node program, for `startMeup`, which gives it a clock that is off by `setOffset` milliseconds: at its
 * start, and after each SIGUSR2, when it prints "the offset was read" to stderr.
 */
export function shiftClock(folder: string) {
  const [program, file] = [join(folder, 'clock.mjs'), join(folder, 'offset')]
  const setOffset = (ms: number): void => writeFileSync(file, `${ms}`)
  setOffset(0)
  writeFileSync(program, shiftedClock(file))
  return { through: ['env', `NODE_OPTIONS=--import=${program}`], setOffset }
}
