import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamStore } from '@meup/jetstream'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIdsIn } from '../support/chain.js'
import { retry, seat, startSharing, tokenOf, wireOf } from '../support/cluster.js'
import { type Nats, natsServer, startNats } from '../support/nats.js'
import { times } from '../support/soak.js'
import { needing } from '../verifies.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
const rounds = times(1, 10)

async function nats(nodes: number): Promise<Nats> {
  const started = await startNats({ nodes })
  onTestFinished(() => started.stop())
  return started
}

const hashOf = (frames: readonly string[]): string =>
  createHash('sha256').update(frames.join('\n')).digest('hex')

test(
  'whoever is connected to either gateway sees the identical bytes, and can do the same',
  withNats(async () => {
    const { servers } = await nats(1)
    const one = await startSharing(servers, 1)
    const two = await startSharing(servers, 1)
    const wires = await Promise.all([wireOf(one.url, 'reader'), wireOf(two.url, 'reader')])
    const [ana, bob] = await Promise.all([seat(one.url, 'ana'), seat(two.url, 'bob')])
    const sent = []
    for (let i = 0; i < 50; i++) {
      sent.push(ana.send({ kind: 'chat', payload: { message: `from one ${i}` } }))
      sent.push(bob.send({ kind: 'chat', payload: { message: `from two ${i}` } }))
    }
    const start = await bob.send({ kind: 'reasoning.start', payload: {} })
    await bob.send({ kind: 'reasoning.thought', context: start.id, payload: { message: 'hm' } })
    const posted = await fetch(`${two.url}/spaces/demo/envelopes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenOf('bob')}` },
      body: JSON.stringify([{ id: 'posted', kind: 'chat', payload: { message: 'over HTTP' } }]),
    })
    expect(posted.status).toBe(201)
    const [receipt] = (await posted.json()) as { seq: number }[]
    const head = Math.max(receipt?.seq ?? 0, ...(await Promise.all(sent)).map(({ seq = 0 }) => seq))
    for (const { frames } of wires) await expect.poll(() => frames.length).toBeGreaterThanOrEqual(head)
    const [first, second] = wires.map(({ frames }) => frames.slice(0, head))
    expect(hashOf(first ?? [])).toBe(hashOf(second ?? []))
    expect(first).toEqual(second)

    // Refusals, known ids and subscriptions are handled by the gateway that the participant is connected to.
    await expect(
      bob.send({ kind: 'space.kick', payload: { participantId: 'reader' } }),
    ).rejects.toMatchObject({
      code: 'capability_violation',
    })
    const again = await bob.send({ id: 'posted', kind: 'chat', payload: { message: 'over HTTP' } })
    expect(again.seq).toBe(receipt?.seq)
    const { line, others } = await wireOf(two.url, 'bob')
    line.send(JSON.stringify({ kind: 'observe.subscribe', payload: { reasoning: 'none' } }))
    // The gateway confirms the subscription only after the replay, so wait for the confirmation.
    await expect.poll(() => others.filter((text) => text.includes('"reasoning":"none"'))).not.toEqual([])

    // Both gateways list the same present participants. None that is connected to the other gateway has left.
    const present = async (url: string): Promise<string[]> => {
      const response = await fetch(`${url}/spaces/demo/participants`, {
        headers: { authorization: `Bearer ${tokenOf('ana')}` },
      })
      const { participants } = (await response.json()) as { participants: { id: string; status: string }[] }
      return participants.filter(({ status }) => status === 'present').map(({ id }) => id)
    }
    for (const { url } of [one, two]) await expect.poll(() => present(url)).toEqual(['ana', 'bob', 'reader'])
    const left = wires[0]?.frames.filter((frame) => frame.includes('"event":"leave"'))
    expect(left).toEqual([])
  }),
)

for (const [what, end] of [
  ['killed', (process: { kill(signal: NodeJS.Signals): unknown }) => process.kill('SIGKILL')],
  ['stopped for a while', (process: { kill(signal: NodeJS.Signals): unknown }) => process.kill('SIGSTOP')],
] as const) {
  test(
    `the gateway that sequences is ${what} under load ${rounds} times: nothing acknowledged is lost or twice`,
    withNats(async () => {
      const { servers } = await nats(1)
      let leader = await startSharing(servers, 1)
      let other = await startSharing(servers, 1)
      const accepted: { id: string; seq?: number }[] = []
      let sent = 0
      for (let round = 0; round < rounds; round++) {
        const [ana, reader] = await Promise.all([seat(other.url, 'ana'), wireOf(other.url, 'reader')])
        // A participant of the stopped gateway sends envelopes that the gateway has not read, or not forwarded, when it stops.
        const bob = what === 'killed' ? undefined : await seat(leader.url, 'bob')
        const sending: ReturnType<typeof retry>[] = []
        const stopped: ReturnType<typeof retry>[] = []
        const load = async (): Promise<void> => {
          for (let burst = 0; burst < 60; burst++) {
            for (let i = 0; i < 5; i++) {
              const envelope = { id: `m${sent++}`, kind: 'chat', payload: { message: 'x'.repeat(300) } }
              sending.push(retry(ana, envelope))
              if (bob) stopped.push(retry(bob, { ...envelope, id: `b${envelope.id}` }))
            }
            await pause(10)
          }
        }
        const loaded = load()
        await pause(300)
        end(leader.process)
        await loaded
        accepted.push(...(await Promise.all(sending)))
        const head = Math.max(...accepted.map(({ seq = 0 }) => seq))
        await expect.poll(() => reader.frames.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(head)
        const seqs = reader.frames.map((frame) => (JSON.parse(frame) as { seq: number }).seq)
        expect(seqs).toEqual(seqs.map((_, i) => i + 1))
        const before = leader
        leader = other
        if (what === 'killed') {
          other = await startSharing(servers, 1)
        } else {
          // The stopped gateway continues as a follower, and sends its readers the same bytes as the leader.
          before.process.kill('SIGCONT')
          other = before
          accepted.push(...(await Promise.all(stopped)))
          bob?.close()
          const { frames, line } = await wireOf(before.url, 'reader')
          await expect.poll(() => frames.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(head)
          expect(hashOf(frames.slice(0, head))).toBe(hashOf(reader.frames.slice(0, head)))
          line.close(1000, '')
        }
        ana.close()
        reader.line.close(1000, '')
      }
      const path = join(leader.folder, 'another-replica.db')
      await Promise.all([leader.stop('SIGTERM'), other.stop('SIGTERM')])
      const ids = await verifiedIdsIn(await jetstreamStore({ servers, replicas: 1, path }), 'demo')
      expect(new Set(ids).size).toBe(ids.length)
      for (const { id, seq = 0 } of accepted) expect(ids[seq - 1]).toBe(id)
    }),
    60_000 + rounds * 60_000,
  )
}
