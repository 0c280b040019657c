import fc from 'fast-check'
import { times } from './soak.js'

/**
 * Random tests use the same seed each time, so that a new failure comes from a change of the code. `MEUP_SEED=<number>` uses
 * another seed, `MEUP_SEED=random` a new one each time; a failure prints the seed. A property runs 10 times by default.
 */
const { MEUP_SEED: seed = '20261121' } = process.env
fc.configureGlobal({ numRuns: times(10, 1000), ...(seed !== 'random' && { seed: Number(seed) }) })
