import { cases } from './cases/index.js'
import { readCommandLine } from './load/options.js'
import { pinGenerator, pinning } from './peers/process.js'
import { maxFall } from './quick/compare.js'
import { quickFigures } from './quick/figures.js'
import { quick } from './quick/index.js'
import { print } from './report/section.js'
import { circumstances, write } from './report/write.js'

const usage = `pnpm bench [case…] [options]
pnpm bench --quick [figure…] [options]

Cases, all of those with a * when none is named:
${Object.entries(cases)
  .map(([name, { about, usual }]) => `  ${usual ? '*' : ' '} ${name.padEnd(14)} ${about}`)
  .join('\n')}

Figures of --quick, ratios that are compared with the committed ones:
${Object.entries(quickFigures)
  .map(([name, { about, reference }]) => `    ${name.padEnd(14)} ${about} / ${reference}`)
  .join('\n')}

Options:
  --only a,sqlite       contenders: a b c d e sqlite power memory; ours = the last three
  --receivers 1,50      --senders 1,4      --size 300,2048 (bytes)      --window 256,1 (messages on their way per sender)
  --texts prose,mixture of thoughts: prose technical mixture cut
  --rounds 3            measurements of each; medians are told
  --ms 3000 --warm 2000 milliseconds of a measurement, and of the load before it
  --minutes 10          how long the soak takes
  --verify              receivers check the order of all messages, which costs the generator something
  --smoke               shows in seconds that a case works: short logs, few calls, one round; its figures say nothing
  --full                all combinations, the longest logs, and what the safety gate gets wrong
  --quick               ten ratios in ten minutes; exits with 1 where one is ${maxFall * 100} % below the committed one
  --data <folder>       the recorded runs for why; default ../shared/fixtures/attribution
  --write               writes the figures into docs/performance
`

const { cases: named, options, help } = readCommandLine(process.argv.slice(2))
const known = options.quick ? quickFigures : cases
const unknown = named.filter((name) => !Object.hasOwn(known, name))
if (help || unknown.length > 0) {
  if (unknown.length > 0)
    console.error(`there is no ${options.quick ? 'figure' : 'case'} ${unknown.join(', ')}\n`)
  console.log(usage)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const about = circumstances(pinning, ['pnpm bench', ...process.argv.slice(2)].join(' '))
pinGenerator()
console.error(pinning)
if (options.quick) {
  const fallen = await quick(named, options, about)
  process.exitCode = fallen.length > 0 && !options.smoke ? 1 : 0
} else {
  for (const [name, { usual, run }] of Object.entries(cases)) {
    if (named.length === 0 ? !usual : !named.includes(name)) continue
    const begin = performance.now()
    const sections = await run(options)
    for (const section of sections) print(section)
    console.error(`${name} took ${Math.round((performance.now() - begin) / 1000)} s`)
    // Writes the results of each case at once, so that they are kept if a later case fails.
    if (options.write) write(sections, about)
  }
}
