import { Crowd } from '../load/crowd.js'
import { called, inspectable } from '../load/inspector.js'
import type { Options } from '../load/options.js'
import { pause, until } from '../load/waiting.js'
import { chosen } from '../peers/contenders.js'
import { decimals, type Section } from '../report/section.js'

/** Folders of the gateway in the order in which a frame passes them; files outside of them, such as those of `protocol`, come last. */
const order = ['transport', 'host', 'core/admission', 'core/state', 'core', 'storage', 'log', 'core/delivery']
/** Files that read the log after the delivery: the index of turns, and the parsers that it uses. */
const readsLater = [
  ...['packages/gateway/src/index/', 'packages/folds/'],
  ...['packages/gateway/src/core/parsed-rows.ts', 'protocol/src/exact-json.ts'],
]
/** Milliseconds after which a new gateway process has finished its initial work. */
const warmUpMs = 8000
/** Minimum function calls per message for a file to be listed. Files with fewer calls do not handle the message. */
const minCalls = 0.5
/**
 * Minimum number of messages, so that functions called by timers, such as heartbeats, are rare in comparison, even on a busy
 * machine.
 */
const minMessages = 1000
const cell = { receivers: 1, senders: 1, size: 300, window: 1 } as const

/** Lists the files of this repository with functions that run between the arrival of a frame and its delivery. */
export async function way({ only = ['sqlite'] }: Options): Promise<Section[]> {
  const [contender] = chosen(only)
  if (contender === undefined) throw new Error('nobody is to be looked into')
  const server = await contender.start({ ...cell, senderKind: 'human' }, { nodeArgs: inspectable })
  try {
    const crowd = await Crowd.gather(server, cell)
    crowd.keep(1)
    await crowd.within(pause(warmUpMs))
    const begin = crowd.echoed
    const scripts = await called(server.said, () =>
      crowd.within(until(() => crowd.echoed - begin >= minMessages)),
    )
    const messages = crowd.echoed - begin
    await crowd.drain()
    await crowd.close()
    const calls = new Map<string, number>()
    for (const { url, functions } of scripts) {
      const [, name, path] = /\/(protocol|packages\/[^/]+)\/dist\/(.+)\.js$/.exec(url) ?? []
      const count = functions
        .filter(({ functionName }) => functionName !== '')
        .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0)
      const file = `${name}/src/${path}.ts`
      if (name === undefined || count === 0 || readsLater.some((each) => file.startsWith(each))) continue
      calls.set(file, (calls.get(file) ?? 0) + count)
    }
    const files = [...calls]
      .map(([file, count]) => [file, count / messages] as const)
      .filter(([, count]) => count >= minCalls)
      .sort(([one], [other]) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1))
    return [
      {
        id: 'way',
        title: `The way of one chat: ${files.length} files`,
        about: 'Functions that one message calls, from one sender to one receiver.',
        columns: ['file', 'calls'],
        rows: files.map(([file, count]) => [file, decimals(count, 1)]),
        figures: files,
      },
    ]
  } finally {
    await server.stop()
  }
}

function placeOf(file: string): number {
  const [folder = ''] = order
    .filter((each) => file.startsWith(`packages/gateway/src/${each}/`))
    .sort((one, other) => other.length - one.length)
  return folder === '' ? order.length : order.indexOf(folder)
}
