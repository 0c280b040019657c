import fc from 'fast-check'

/**
 * Random tests take the same course each time, so that a failure means a change of the code. `MEUP_SEED=<number>` takes
 * another course, `MEUP_SEED=random` a new one each time; a failure tells the seed.
 */
const { MEUP_SEED: seed = '20261121' } = process.env
fc.configureGlobal(seed === 'random' ? {} : { seed: Number(seed) })
