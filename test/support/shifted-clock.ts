import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A module that `node` loads first. It shifts the clock by the offset in a file, and reads the file again at each SIGUSR2. */
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
 * Returns the beginning of a command that runs a Node program with a shifted clock, for `startMeup`. `setOffset`: milliseconds,
 * which apply at the next start, or at SIGUSR2, when the program prints "the offset was read" to stderr.
 */
export function shiftClock(folder: string) {
  const [program, file] = [join(folder, 'clock.mjs'), join(folder, 'offset')]
  const setOffset = (ms: number): void => writeFileSync(file, `${ms}`)
  setOffset(0)
  writeFileSync(program, shiftedClock(file))
  return { through: ['env', `NODE_OPTIONS=--import=${program}`], setOffset }
}
