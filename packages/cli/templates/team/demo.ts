/** Runs the space, asks for a report, approves the proposed calls, prints the written file, and exits. */
import { readFileSync } from 'node:fs'
import { connect } from '@meup/agent-sdk'
import { loadConfig, operatorLog, up } from 'meup'

const config = loadConfig('space.yaml')
const [space] = config.spaces
if (space === undefined) throw new Error('space.yaml has no space')
const { name, participants } = space.config
const person = Object.keys(participants).find((id) => participants[id]?.kind === 'human')
const running = await up({ ...config, gateway: { ...config.gateway, port: 0 } }, operatorLog('warn'))
try {
  await using ana = await connect({ url: running.url, space: name, as: person ?? '', directory: '.' })
  await ana.whenPresent(Object.keys(participants), { timeoutMs: 60_000 })
  ana.on('envelope', ({ from, kind, payload }) => {
    if (kind === 'chat' || kind === 'reasoning.thought') console.log(`${from}: ${payload.message}\n`)
  })
  ana.proposals.on('proposal', ({ id, from, to = [], params }) => {
    console.log(`${ana.id} lets ${from} call ${to.join()}/${params?.name}\n`)
    void ana.proposals.approve(id)
  })
  await ana.ask('Write a report about the tides.', { timeoutMs: 60_000 })
  console.log(`reports/tides.md:\n\n${readFileSync('reports/tides.md', 'utf8')}`)
} finally {
  await running.close()
}
