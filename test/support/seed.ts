import fc from 'fast-check'
import { times } from './soak.js'

/**
 * Random tests take the same course each time, so that a failure means a change of the code. `MEUP_SEED=<number>` takes
 * another course, `MEUP_SEED=random` a new one each time; a failure tells the seed. A property that does not say how often it
 * is tried is tried 25 times.
 */
const { MEUP_SEED: seed = '20261121' } = process.env
fc.configureGlobal({ numRuns: times(25, 1000), ...(seed !== 'random' && { seed: Number(seed) }) })
