import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { demoInMemory, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { findProgram } from '../support/programs.js'
import { needing } from '../verifies.js'

const withPromtool = needing('promtool', () => findProgram('promtool'))
const file = join(repositoryRoot, 'deploy/alerts.yaml')
const rules = (
  parse(readFileSync(file, 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap((group) => group.rules)
const config = `${demoInMemory}participants:
  ana: { kind: human, capabilities: ["*"] }
`

test(
  'Prometheus accepts the alert rules',
  withPromtool((program) => {
    const said = execFileSync(program, ['check', 'rules', file], { encoding: 'utf8' })
    expect(said).toContain(`SUCCESS: ${rules.length} rules found`)
  }),
)

/** Lists the metrics in a rule. `up` is one of Prometheus itself. */
const namesIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:up|(?:meup|process|nodejs)_\w+)\b/g)].map(([name]) => name)

test('every metric of the alert rules is one that a gateway has', async () => {
  const { url } = await startMeup('gateway', temporaryFolder({ 'space.yaml': config }))
  const text = await (await fetch(`${url}/metrics`)).text()
  const known = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  for (const { alert, expr } of rules) {
    const names = namesIn(expr)
    expect(names, alert).not.toEqual([])
    for (const name of names) expect(['up', ...known], alert).toContain(name)
  }
})
