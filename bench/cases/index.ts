import type { Options } from '../load/options.js'
import type { Section } from '../report/section.js'
import { append } from './append.js'
import { attacks } from './attacks.js'
import { fanout } from './fanout.js'
import { idle } from './idle.js'
import { jetstream } from './jetstream.js'
import { latency } from './latency.js'
import { model } from './model.js'
import { publish } from './publish.js'
import { resume } from './resume.js'
import { safety } from './safety.js'
import { script } from './scripts.js'
import { slopes } from './slopes.js'
import { soak } from './soak.js'
import { stages } from './stages.js'
import { thoughts } from './thoughts.js'
import { transcript } from './transcript.js'
import { way } from './way.js'
import { why } from './why.js'

export interface BenchCase {
  readonly about: string
  /** Whether the case runs if the command line names no cases. */
  readonly usual: boolean
  run(options: Options): Promise<Section[]>
}

const history = (options: Options): NodeJS.ProcessEnv => ({
  ENVELOPES: options.full ? '10000,100000,1000000' : '10000,100000',
})

/** The measurements of `pnpm bench`, in order. */
export const cases: Readonly<Record<string, BenchCase>> = {
  fanout: { about: 'deliveries to 1, 10, 50, 200 receivers, beside others', usual: true, run: fanout },
  thoughts: { about: 'thoughts of one agent, guarded, to 50 receivers', usual: true, run: thoughts },
  latency: { about: '500 messages a second to 50 receivers', usual: true, run: latency },
  publish: { about: 'accepted, logged, acknowledged, with no receiver', usual: true, run: publish },
  stages: { about: 'what a message costs, by stage', usual: true, run: stages },
  way: { about: 'the files that one chat passes in the gateway', usual: false, run: way },
  append: { about: 'the log alone, by durability', usual: true, run: append },
  resume: { about: '200 readers that come back at once', usual: true, run: resume },
  idle: { about: 'memory of 2,000 idle connections', usual: true, run: idle },
  slopes: { about: 'what a message costs where there is much', usual: true, run: slopes },
  soak: { about: 'memory over minutes of the same load', usual: false, run: soak },
  attacks: { about: 'what the honest get while one attacks', usual: false, run: attacks },
  jetstream: { about: 'two gateways on one space over NATS, and what ends', usual: false, run: jetstream },
  model: { about: 'what an agent adds to the calls of a model', usual: true, run: model },
  capabilities: { about: 'capability checks', usual: true, run: script('capabilities', 'Capability checks') },
  history: { about: 'reading long logs', usual: true, run: script('history', 'Reading long logs', history) },
  safety: {
    about: 'secrets that are hidden, texts that are touched, and the time',
    usual: false,
    run: safety,
  },
  regexes: { about: 'patterns against texts', usual: false, run: script('regexes', 'Patterns') },
  extract: {
    about: 'reading streamed responses',
    usual: false,
    run: script('extract', 'Streamed responses'),
  },
  transcript: { about: 'what a transcript costs a turn', usual: false, run: transcript },
  why: { about: 'how soon `why` leads to the step that decided a failed run', usual: false, run: why },
  page: { about: 'the page in a browser', usual: false, run: script('page', 'The page') },
}
