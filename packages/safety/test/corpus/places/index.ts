import { config } from './config.js'
import { languages } from './languages.js'
import type { Place } from './place.js'
import { speech } from './speech.js'

/** Places in which agents find secrets, with the notations used there. */
export const places: readonly Place[] = [...config, ...languages, ...speech]
