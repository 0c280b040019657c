import { Crowd } from '../load/crowd.js'
import { type Connection, openLine } from '../load/line.js'
import type { Options } from '../load/options.js'
import { checkOrder, until } from '../load/waiting.js'
import { chosen, type Running } from '../peers/contenders.js'
import { count, decimals, median, type Section } from '../report/section.js'

const missed = 1000
const size = 600

interface Storm {
  /** Milliseconds until the last reader has its welcome, and until the last reader has all missed envelopes. */
  readonly welcomed: number
  readonly complete: number
  /** Milliseconds of the gateway's processor time. */
  readonly cpu: number
}

/** Measures a reconnect storm: all readers lose their connections, miss the same envelopes, and reconnect at once. */
export async function resume(options: Options): Promise<Section[]> {
  const readers = options.receivers?.[0] ?? 200
  const shape = { receivers: readers, senders: 1, size }
  const figures: (Storm & { key: string; name: string })[] = []
  for (const contender of chosen(options.only ?? ['sqlite', 'memory'])) {
    if (contender.key.length === 1) continue
    const server = await contender.start(shape)
    const found: Storm[] = []
    try {
      for (let round = 0; round < options.rounds; round++) {
        found.push(await storm(server, readers, round * (missed + 1)))
      }
    } finally {
      await server.stop()
    }
    const of = (figure: keyof Storm): number => median(found.map((each) => each[figure]))
    figures.push({ ...contender, welcomed: of('welcomed'), complete: of('complete'), cpu: of('cpu') })
  }
  return [
    {
      id: 'resume',
      title: 'Resume storm',
      about: `${readers} readers come back at once, each after ${missed} messages of ${size} B.`,
      columns: [
        '',
        'all welcomed, ms',
        'all have everything, ms',
        'replayed a second',
        'CPU of the gateway, ms',
      ],
      rows: figures.map(({ name, welcomed, complete, cpu }) => [
        name,
        ...[decimals(welcomed, 0), decimals(complete, 0)],
        ...[count((readers * missed * 1000) / complete), decimals(cpu, 0)],
      ]),
      figures: figures.map(({ key, name, welcomed, complete, cpu }) => ({
        key,
        name,
        welcomed,
        complete,
        cpu,
      })),
    },
  ]
}

async function storm(server: Running, readers: number, first: number): Promise<Storm> {
  const crowd = await Crowd.gather(server, { receivers: readers, senders: 1, size, first })
  const [sender] = crowd.senders
  const [oldest] = crowd.receivers
  if (sender === undefined || oldest === undefined) throw new Error('nobody is there')
  const query = placeIn(oldest)
  await Promise.all(crowd.receivers.map((line) => line.close()))
  sender.send(missed)
  await until(() => sender.underway === 0)
  await sender.line.close()

  const [begin, cpu] = [performance.now(), server.cpu()]
  let welcomed = 0
  const heard = crowd.receivers.map(() => [first])
  const lines = await Promise.all(
    crowd.receivers.map(async ({ seat }, i) => {
      const line = await openLine(
        server,
        { ...seat, query },
        { least: size - 60, maximum: size + 60 },
        (reader) => checkOrder(reader, seat.participant, heard[i] ?? []),
      )
      welcomed = performance.now() - begin
      return line
    }),
  )
  const isComplete = ([next]: readonly number[]): boolean => next === sender.sent
  await Promise.race([until(() => heard.every(isComplete)), ...lines.map(({ failed }) => failed)])
  const complete = performance.now() - begin
  const used = server.cpu() - cpu
  await Promise.all(lines.map((line) => line.close()))
  return { welcomed, complete, cpu: used }
}

/** Query with the position in the first reader's welcome. All readers resume there, so that all miss the same envelopes. */
function placeIn({ greeting }: Connection): string {
  const { payload } = JSON.parse(greeting) as { payload: { space: { head: number; epoch: string } } }
  return `?after=${payload.space.head}&epoch=${payload.space.epoch}`
}
