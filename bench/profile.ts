import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nameOf } from './cases/fanout.js'
import { profileOf, shapes } from './cases/profiling.js'
import { readCommandLine } from './load/options.js'
import { pinGenerator, pinning } from './peers/process.js'
import { decimals, print } from './report/section.js'
import { timesOf, topOf } from './report/self-times.js'
import { stagesOf } from './report/stages.js'

/** `pnpm run profile [case] [options]`: where the gateway spends its time, with a file for a browser's developer tools. */
const folder = fileURLToPath(new URL('profiles/', import.meta.url))
const maximum = 25

const { cases, options, help } = readCommandLine(process.argv.slice(2))
const [shape = 'fanout'] = cases
if (help || !Object.hasOwn(shapes, shape)) {
  console.log(
    `pnpm run profile [${Object.keys(shapes).join(' | ')}] [--only sqlite] [--receivers 50] [--ms 500] …`,
  )
  process.exit(help ? 0 : 2)
}
pinGenerator()
console.error(pinning)
const { cell, contender, profiles, whole } = await profileOf(shape, options)
mkdirSync(folder, { recursive: true })
console.log(
  `${contender}, ${nameOf(cell)}: ${decimals(whole.all, 1)} µs a message, ${decimals(whole.main, 1)} of the main thread`,
)
for (const { thread, profile } of profiles) {
  const file = join(folder, `${shape}-${thread.replace(/\.js$/, '')}.cpuprofile`)
  writeFileSync(file, JSON.stringify(profile))
  const times = timesOf(profile)
  for (const by of ['function', 'file'] as const) {
    print({
      ...{
        id: thread,
        title: `${thread}: own time by ${by}`,
        columns: ['', 'of its time'],
        figures: undefined,
      },
      rows: topOf(times, by, maximum).map(({ name, part }) => [name, `${decimals(part * 100, 1)} %`]),
    })
  }
  console.log(`written to ${relative(process.cwd(), file)}`)
}
print({
  ...{ id: 'stages', title: 'By stage', columns: ['stage', 'thread', 'µs'], figures: undefined },
  rows: stagesOf(profiles, whole).map(({ stage, thread, microseconds }) => [
    stage,
    thread,
    decimals(microseconds),
  ]),
})
