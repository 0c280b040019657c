import { inspectJetStream, type JetStreamReport, LogError } from '@meup/gateway'
import type { Config } from '../../config/config.js'
import { type Check, fail, pass } from './check.js'

/** Whether the servers of NATS can be used, and what they have of the spaces; none where the log is kept elsewhere. */
export async function natsChecks({ storage, spaces }: Config): Promise<Check[]> {
  if (storage.kind !== 'jetstream') return []
  const names = spaces.map(({ config }) => config.name)
  const { servers, streams } = await inspectJetStream(storage, names)
  return [...servers.map(serverCheck), ...streams.map((stream) => streamCheck(stream, storage.replicas))]
}

function serverCheck({ server, found }: JetStreamReport['servers'][number]): Check {
  if (typeof found === 'string') return pass('nats', `${server} answers (version ${found}, with JetStream)`)
  // Of a refusal the message says what to do.
  const advice =
    found.code === 'unavailable' ? 'is it running, and is this its address? (storage.servers)' : 'see above'
  return fail('nats', found.message, advice)
}

function streamCheck({ stream, spaces, found }: JetStreamReport['streams'][number], replicas: number): Check {
  const kept = `${stream} (${spaces.join(', ')})`
  if (found === undefined) return pass('stream', `${kept} is made at the first start`)
  if (found instanceof LogError) return fail('stream', found.message, 'see above')
  const { leader, current, behind } = found
  if (replicas === 1) return pass('stream', `${kept} is there`)
  const whole = 1 + current.length
  if (leader === '') {
    return fail('stream', `${kept} has no leader`, 'see that most of its servers run and reach each other')
  }
  const detail = `${kept} is led by ${leader}; ${whole} of ${replicas} servers have everything`
  if (whole >= replicas) return pass('stream', detail)
  return fail(
    'stream',
    `${detail}, but not ${behind.join(', ')}`,
    'see that these servers run, and reach the others',
  )
}
