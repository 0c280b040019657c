import { type Cell, measureRounds, ratiosBetween } from '../cases/measure.js'
import type { Options } from '../load/options.js'
import { eventStream } from './event-stream.js'
import { guardAlone } from './guard-alone.js'
import { mcpCall } from './mcp-call.js'
import { logInMemory, reading, start } from './processes.js'

/** Number of rounds, and their lengths. */
export type QuickOptions = Pick<Options, 'rounds' | 'ms' | 'warmMs' | 'verify' | 'smoke'>

/** A figure that users notice, as a ratio to a reference that is measured alternately. Higher is better. */
export interface QuickFigure {
  readonly about: string
  readonly reference: string
  /** Measures one ratio per round. */
  measure(options: QuickOptions): Promise<number[]>
}

const throughput =
  (cell: Pick<Cell, 'texts' | 'window' | 'thoughts'>) =>
  async (options: QuickOptions): Promise<number[]> => {
    const shape = { receivers: options.smoke ? 5 : 50, senders: 1, size: 300, ...cell }
    // The first round warms up, because V8 has not compiled everything yet.
    const rounds = options.rounds + 1
    const measured = await measureRounds(shape, { ...options, rounds, only: ['e', 'sqlite'] })
    const of = (key: string) => measured.find(({ contender }) => contender.key === key)?.found ?? []
    return ratiosBetween(of('sqlite'), of('e')).slice(1)
  }

const pipeline = '(e)'

export const quickFigures: Readonly<Record<string, QuickFigure>> = {
  chats: {
    about: 'chats a second to 50 receivers, window 256',
    reference: pipeline,
    measure: throughput({ texts: 'prose', window: 256 }),
  },
  'one-chat': {
    about: 'chats a second to 50 receivers, window 1',
    reference: pipeline,
    measure: throughput({ texts: 'prose', window: 1 }),
  },
  thoughts: {
    about: 'thoughts of prose a second to 50 receivers, window 256',
    reference: pipeline,
    measure: throughput({ texts: 'prose', window: 256, thoughts: true }),
  },
  mixture: {
    about: 'thoughts of the mixture a second to 50 receivers, window 256',
    reference: pipeline,
    measure: throughput({ texts: 'mixture', window: 256, thoughts: true }),
  },
  guard: {
    about: 'texts of the mixture a second through the safety gate',
    reference: 'JSON.parse of their envelopes',
    measure: guardAlone,
  },
  events: {
    about: 'chats to 10 event streams per CPU time',
    reference: '(e), 10 sockets',
    measure: eventStream,
  },
  reading: {
    about: 'pages of turns, audit and envelopes over HTTP per CPU time',
    reference: 'a bare HTTP server, as many bytes',
    measure: reading,
  },
  start: {
    about: 'starts of `meup gateway` with 10,000 envelopes per time',
    reference: 'a bare HTTP server',
    measure: start,
  },
  'mcp-call': {
    about: 'calls through the MCP bridge per time, one after another',
    reference: 'the same server without a space',
    measure: mcpCall,
  },
  memory: {
    about: 'envelopes in a log in memory per byte of the heap',
    reference: 'the bytes of the envelopes',
    measure: logInMemory,
  },
}
