import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { conversation } from './support/conversation.js'

/** What reading costs, and how much more of it there is where the log is a hundred times as long. */
const sizes = [10_000, Number(process.env.ENVELOPES ?? 1_000_000)]
const rounds = 200
const agents = 50
const config = testSpaceConfig({
  participants: Object.fromEntries(
    ['ana', 'files', ...Array.from({ length: agents }, (_, i) => `agent-${i}`)].map((id) => [id, ['*']]),
  ),
})

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`
const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`

/** Middle one of the milliseconds that each of these requests took, one after another, all of the answer read. */
async function median(ask: (round: number) => Promise<Response>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds / 4; round++) await (await ask(round * 4)).text()
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const answer = await ask(round)
    const text = await answer.text()
    times.push(performance.now() - start)
    if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text.slice(0, 200)}`)
  }
  return times.sort((a, b) => a - b)[rounds / 2] ?? Number.NaN
}

async function measure(size: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))
  const store = await sqliteStore({ path: join(folder, 'space.db') })
  const filling = performance.now()
  const log = await store.open(config.name)
  for (let seq = 1; seq <= size; seq += 500) {
    await log.append(conversation(seq, Math.min(500, size - seq + 1), agents))
  }
  console.log(`\n${size} envelopes were logged in ${secondsSince(filling)}`)

  const starting = performance.now()
  const tokens = Object.fromEntries(Object.keys(config.participants).map((id) => [id, testToken(id)]))
  const authenticator = tokenAuthenticator({ [config.name]: tokens })
  const gateway = await createGateway({ spaces: [config], store, authenticator })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  console.log(`the gateway started in ${secondsSince(starting)}`)
  const get = (path: string): Promise<Response> =>
    fetch(`${url}/spaces/${config.name}/${path}`, {
      headers: { authorization: `Bearer ${testToken('ana')}` },
    })
  const projecting = performance.now()
  for (let status = 503; status === 503; ) {
    const answer = await get(`turns?thread_id=${config.name}/agent-0`)
    await answer.text()
    status = answer.status
  }
  console.log(
    `turns and steps were there after ${secondsSince(projecting)}; ${megabytes(process.memoryUsage().rss)} in memory`,
  )

  const turns = Math.floor(size / 10)
  const some = (round: number): number => Math.floor((turns * (round + 0.5)) / rounds)
  const medians = new Map([
    [
      'the latest 20 turns of a thread',
      await median((i) => get(`turns?thread_id=${config.name}/agent-${i % agents}`)),
    ],
    [
      '20 turns in the middle of a thread',
      await median((i) =>
        get(`turns?thread_id=${config.name}/agent-${i % agents}&before=${turns / agents / 2}`),
      ),
    ],
    ['what happened in one context', await median((i) => get(`envelopes?context=run-${some(i)}`))],
    ['the latest 100 steps of the audit', await median(() => get('audit?limit=100'))],
    ['100 steps from the middle', await median((i) => get(`audit?limit=100&before=${some(i) * 10 + 2}`))],
    [
      'the steps of one turn',
      await median((i) => get(`audit?thread_id=${config.name}/agent-${i % agents}&turn=7`)),
    ],
    ['the latest 20 errors', await median(() => get('audit?limit=20&phase=error'))],
  ])
  console.log(`${megabytes(process.memoryUsage().rss)} in memory after ${rounds * medians.size} requests`)
  await close()
  rmSync(folder, { recursive: true })
  return medians
}

const [few, many] = [await measure(sizes[0] ?? 0), await measure(sizes[1] ?? 0)]
console.log(`\n${''.padEnd(40)}${sizes.map((size) => `${size}`.padStart(14)).join('')}`)
for (const [name, before] of few) {
  const after = many.get(name) ?? Number.NaN
  const row = [`${before.toFixed(1)} ms`, `${after.toFixed(1)} ms`, `${(after / before).toFixed(2)} x`]
  console.log(name.padEnd(40) + row.map((text) => text.padStart(14)).join(''))
}
